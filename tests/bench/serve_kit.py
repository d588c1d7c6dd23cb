"""What the benchmark of serving runs: programs behind one nginx on free ports,
and the client. Everything that is started ends with this process."""

import ctypes
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system"))
from stack import BUILD, TOP, Stack, find_nginx, free_port, wait_until  # noqa

PROGRAMS = os.path.join(BUILD, "tests", "bench")


def die_with_parent():
    """In a child before it runs: also a kill -9 leaves nothing behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def start(words, **options):
    return subprocess.Popen(words, stdin=subprocess.DEVNULL,
                            preexec_fn=die_with_parent, **options)


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Program:
    """A program that listens on a socket: the floor, a peer."""

    def __init__(self, folder, name, *words, argument=None):
        self.socket = os.path.join(folder, name + ".sock")
        before = [argument] if argument else []
        self.process = start([os.path.join(PROGRAMS, words[0])] + before +
                             [self.socket] + list(words[1:]))
        wait_until(self.listens, name + " listens")

    def listens(self):
        assert self.process.poll() is None, "it has ended: " + self.socket
        return os.path.exists(self.socket)

    def sockets(self):
        return self.socket, self.socket

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop(self.process)


class Pool(Stack):
    """gridapi on a data directory, without an nginx of its own."""

    def __init__(self, a_set, folder):
        """Works on a copy: a benchmark leaves its sets as they are."""
        self.set = a_set
        super().__init__(data=a_set.copy(folder), nginx=False)
        self.key = a_set.gridctl("key", "create", "--name", "bench",
                                 "--scope", "read", data=folder).strip()

    def sockets(self):
        return self.path("run/pages.sock"), self.path("run/slow.sock")

    def pack(self, supplier):
        """What the first compressed dump would have done in its wake."""
        self.set.gridctl("pack", "-q", supplier, data=self.data)

    def slow_worker(self):
        """Of the workers, the one that listens for what takes seconds."""
        return self.workers()[-1]


class Site:
    """Where one contender is reached."""

    def __init__(self, name, backend, changes=(), kept=True):
        self.name, self.backend, self.changes = name, backend, changes
        self.kept = kept  # nginx's connections to the backend
        self.key = getattr(backend, "key", "none")
        self.port = free_port()

    def get(self, path, headers=None, timeout=120):
        connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                timeout=timeout)
        try:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


class Front:
    """One nginx: gridapi's own site file, once for each contender."""

    def __init__(self, folder, files):
        self.folder, self.files = folder, files
        self.sites, self.process = [], None
        # nginx-conf.sh fills the file in; the words that differ are put in
        # place below.
        subprocess.run(["sh", os.path.join(TOP, "tools/dev/nginx-conf.sh"),
                        folder, "@ADDRESS@", files], check=True)
        with open(os.path.join(folder, "nginx", "gridapi.conf")) as file:
            text = file.read()
        self.common, rest = text.split("\nupstream ", 1)
        self.server = "\nupstream " + rest

    def site(self, name, backend, changes=(), kept=True):
        self.sites.append(Site(name, backend, changes, kept))
        return self.sites[-1]

    def server_of(self, site):
        """With upstreams of its own: what one has of them no other may."""
        text = re.sub(r"\bgrid_(to_)?(pages|slow)\b",
                      r"grid_\1\2_%d" % self.sites.index(site), self.server)
        if not site.kept:
            text = re.sub(r"\bGET grid_(pages|slow)_\d+;",
                          r"GET unix:%s/run/\1.sock;" % self.folder, text)
        pages, slow = site.backend.sockets()
        for old, new in ((self.folder + "/run/pages.sock", pages),
                         (self.folder + "/run/slow.sock", slow),
                         ("@ADDRESS@", "127.0.0.1:%d" % site.port)):
            assert old in text, old
            text = text.replace(old, new)
        for old, new in site.changes:
            assert old in text, old
            text = text.replace(old, new)
        return text

    def write(self):
        with open(os.path.join(self.folder, "nginx", "gridapi.conf"),
                  "w") as file:
            file.write(self.common)
            for site in self.sites:
                file.write(self.server_of(site))

    def serve(self):
        """Starts nginx, or lets it know of sites that have come."""
        self.write()
        if self.process:
            self.process.send_signal(signal.SIGHUP)
        else:
            self.process = start(
                [find_nginx(), "-p", self.folder,
                 "-e", self.folder + "/log/nginx.log",
                 "-c", self.folder + "/nginx/nginx.conf",
                 "-g", "daemon off;"], env=Stack.nginx_environment())
        for site in self.sites:
            wait_until(lambda: self.connects(site), "nginx listens")

    def connects(self, site):
        assert self.process.poll() is None, "nginx has ended"
        try:
            socket.create_connection(("127.0.0.1", site.port), 1).close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            stop(self.process)


class Client:
    """wrk, and a reader of long bodies."""

    def __init__(self, folder):
        self.folder = folder

    def write_paths(self, paths):
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=".paths")
        with os.fdopen(handle, "w") as file:
            file.write("".join(path + "\n" for path in paths))
        return name

    def load(self, site, file, seconds, connections, accept="identity"):
        """Answers a second and the rest of what serve.lua prints."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run(
            ["wrk", "-t1", "-c%d" % connections, "-d%ds" % seconds, "-s",
             os.path.join(HERE, "serve.lua"),
             "http://127.0.0.1:%d/" % site.port],
            check=True, stdout=subprocess.PIPE, timeout=seconds + 60,
            preexec_fn=die_with_parent,
            env=dict(os.environ, SERVE_PATHS=file, SERVE_KEY=site.key,
                     SERVE_ACCEPT=accept)
        ).stdout.decode()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seen = json.loads(out[out.rindex("{"):])
        assert seen["errors"] == 0, (site.name, seen)
        assert seen["answers"] > 0, (site.name, seen)
        seen["rate"] = seen["answers"] / seen["seconds"]
        seen["client"] = (after.ru_utime + after.ru_stime - before.ru_utime -
                          before.ru_stime) / seen["seconds"]
        return seen

    def ask(self, site, path, headers=None):
        headers = dict(headers or {}, **{"X-API-Key": site.key})
        status, head, body = site.get(path, headers)
        assert status == 200, (site.name, path, status, body[:300])
        return head, body

    def fetch(self, site, path, headers=(), keep=False):
        """A long body: seconds to the first byte and to the last, its bytes
        and its head."""
        wanted = ["GET %s HTTP/1.0" % path, "Host: localhost",
                  "X-API-Key: " + site.key] + list(headers)
        room = memoryview(bytearray(1 << 20))
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", site.port), 300) as sock:
            sock.sendall(("\r\n".join(wanted) + "\r\n\r\n").encode())
            count = sock.recv_into(room)
            first = time.monotonic() - began
            head, _, start_ = bytes(room[:count]).partition(b"\r\n\r\n")
            kept, total = [start_] if keep else [], len(start_)
            while True:
                count = sock.recv_into(room)
                if count == 0:
                    break
                total += count
                if keep:
                    kept.append(bytes(room[:count]))
        assert head.startswith(b"HTTP/1.1 200"), head
        return {"first": first, "seconds": time.monotonic() - began,
                "bytes": total, "head": head.decode().lower(),
                "body": b"".join(kept)}


class InMemory:
    """Keeps all files below a folder in memory, whoever they are of: some
    kernels take away within a minute what nobody has read, and then the disk
    is measured."""

    LEAST = 1 << 16  # bytes of a file that is worth it
    READ, SHARED = 1, 1  # PROT_READ, MAP_SHARED

    def __init__(self, folder):
        self.held, self.bytes, self.trouble = [], 0, ""
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.mmap.restype = ctypes.c_void_p
        self.libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + \
            3 * [ctypes.c_int] + [ctypes.c_long]
        self.libc.mlock.argtypes = self.libc.munmap.argtypes = [
            ctypes.c_void_p, ctypes.c_size_t]
        sizes = {}
        for path, _, names in os.walk(folder):
            for name in names:
                name = os.path.join(path, name)
                if os.path.isfile(name) and not os.path.islink(name):
                    sizes[name] = os.path.getsize(name)
        free = re.search(r"MemAvailable:\s+(\d+)", open("/proc/meminfo").read())
        if sum(sizes.values()) > int(free.group(1)) * 1024 * 0.7:
            self.trouble = "there is not memory enough"
            return
        for name, size in sizes.items():
            if size >= self.LEAST and not self.trouble:
                self.hold(name, size)

    def hold(self, name, size):
        fd = os.open(name, os.O_RDONLY)
        place = self.libc.mmap(None, size, self.READ, self.SHARED, fd, 0)
        os.close(fd)
        if place in (None, ctypes.c_void_p(-1).value) or \
                self.libc.mlock(place, size) != 0:
            self.trouble = os.strerror(ctypes.get_errno())
            return
        self.held.append((place, size))
        self.bytes += size

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for place, size in self.held:
            self.libc.munmap(place, size)


class Watch(threading.Thread):
    """The most that a process has of memory which belongs to no file."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.over = pid, 0, False

    def now(self):
        with open("/proc/%d/status" % self.pid) as file:
            for line in file:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
        return 0

    def run(self):
        while not self.over:
            self.most = max(self.most, self.now())
            time.sleep(0.002)

    def __enter__(self):
        self.before = self.now()
        self.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.join()

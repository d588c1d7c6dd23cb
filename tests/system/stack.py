"""nginx and gridapi on loopback, in a scratch folder, for tests.

    with Stack(gridapi=PROGRAM, data=DATA_DIR) as stack:
        reply = stack.get("/api/v1/openapi.json")

Ports are free ones, nothing outside the folder is touched, and what was
started is ended, also when a test fails. Without nginx the test is skipped.
"""

import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

TOP = os.environ.get("abs_top_srcdir") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("abs_top_builddir") or TOP
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "tests", "support"))
from patience import PATIENCE, free_port, wait_until  # noqa: E402,F401


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def find_nginx():
    path = os.environ.get("NGINX", "")
    if path in ("", "no"):
        path = shutil.which("nginx", path=os.environ.get("PATH", "") +
                            ":/usr/sbin:/sbin")
    if not path:
        skip("nginx is not installed")
    return path


def needs_build_folder():
    """For tests of quickstart: skips where it cannot run. SIGTERM and SIGHUP raise
    SystemExit, so that a test that is stopped ends the programs it has started."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    find_nginx()
    for program in ("curl", "flock", "bash"):
        if not shutil.which(program):
            skip(program + " is not installed")
    if os.path.exists(os.path.join(TOP, "config.status")):
        skip("the source folder is configured itself, which quickstart refuses")
    if not os.path.exists(os.path.join(BUILD, "config.status")):
        skip("%s is no build folder" % BUILD)


def children(pid):
    """The pids of a process's children."""
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


def has_ended(pid):
    """With its last thread: until then its sockets are open. Who shall reap
    it need not have."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            state = file.read().rsplit(")", 1)[1].split()[0]
        return state in "ZX" and len(os.listdir("/proc/%d/task" % pid)) < 2
    except OSError:
        return True


def kill(pid):
    """Who has ended since its pid was looked up is no fault."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def is_sanitized(program):
    """Whether the address sanitizer is in it: its memory is then not what
    others would take."""
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


def links_of(folder):
    """Where the links of a folder of /proc lead that a process changes
    meanwhile: what has gone before it could be read is left out, and only
    that."""
    links = set()
    try:
        names = os.listdir(folder)
    except OSError:
        return links  # the process has ended
    for name in names:
        try:
            links.add(os.readlink(os.path.join(folder, name)))
        except OSError:
            pass  # a file closed since the folder was listed
    return links


def flip_bits(path, text, behind):
    """Of the byte so far behind each place of the text, as a bad disk does: also in
    older copies of its page."""
    with open(path, "r+b") as file:
        data = file.read()
        at = data.find(text)
        assert at >= 0, text
        while at >= 0:
            place = at + len(text) + behind
            file.seek(place)
            file.write(bytes([data[place] ^ 1]))
            at = data.find(text, at + len(text))


class Reply:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.body = body


class Stack:
    def __init__(self, gridapi=None, data=None, settings=None, html=None,
                 read_timeout="310s", nginx=True):
        self.folder = tempfile.mkdtemp(prefix="grid-")
        os.chmod(self.folder, 0o755)
        self.gridapi = gridapi or os.path.join(BUILD, "fcgi", "gridapi")
        self.data = data or os.path.join(self.folder, "data")
        self.settings = {
            "data.dir": self.data,
            "pages.socket": self.path("run/pages.sock"),
            "slow.socket": self.path("run/slow.sock"),
            "compute.gridctl": os.path.join(BUILD, "tools", "gridctl",
                                            "gridctl"),
            "hooks.deliver": "no",
        }
        self.settings.update(settings or {})
        self.html = html or os.path.join(TOP, "nginx", "html")
        self.read_timeout = read_timeout
        self.inodes = {}  # of the pools' sockets, as /proc names them
        self.options = []  # more of gridapi's command line
        self.wrapper = []  # a command that runs gridapi
        self.enter = []  # and one that runs nginx, too: in another network
        self.address = "127.0.0.1"
        self.pass_fds = ()
        self.directives = []  # more for nginx's server{}
        self.port = free_port()
        self.with_nginx = nginx
        self.nginx_program = find_nginx() if nginx else None
        self.pool = None
        self.nginx = None

    def path(self, name):
        return os.path.join(self.folder, name)

    # --- starting and ending ---------------------------------------------

    def start(self):
        subprocess.run(
            ["sh", os.path.join(TOP, "tools/dev/nginx-conf.sh"), self.folder,
             "%s:%d" % (self.address, self.port), self.html,
             self.read_timeout],
            check=True)
        self.add_directives()
        self.start_pool()
        if self.with_nginx:
            self.start_nginx()
        return self

    def add_directives(self):
        """Each instead of the one of its name that is there, if any."""
        path = self.path("nginx/gridapi.conf")
        with open(path) as file:
            text = file.read()
        mark = "\tserver_tokens off;\n"
        assert text.count(mark) == 1
        for line in self.directives:
            text, count = re.subn(r"(?m)^\t%s .*;\n" % line.split()[0], "",
                                  text)
            assert count < 2, line
            text = text.replace(mark, mark + "\t%s;\n" % line)
        with open(path, "w") as file:
            file.write(text)

    def arguments(self):
        words = [self.gridapi] + self.options
        for name, value in self.settings.items():
            words += ["--set", "%s=%s" % (name, value)]
        return words

    def start_pool(self):
        """Starts gridapi and waits until it tells systemd that it serves."""
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = self.path("run/notify.sock")
        if os.path.exists(path):
            os.unlink(path)
        notify.bind(path)
        os.chmod(path, 0o666)  # gridapi may run as somebody else
        notify.settimeout(0.1)
        with open(self.path("log/gridapi.log"), "ab") as log:
            self.pool = subprocess.Popen(
                self.enter + self.wrapper + self.arguments(),
                stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, pass_fds=self.pass_fds,
                env=dict(os.environ, NOTIFY_SOCKET=path))
        try:
            said = self.first_word(notify)
        finally:
            notify.close()
        assert said == b"READY=1", said

    def first_word(self, notify):
        end = time.monotonic() + PATIENCE
        while self.pool.poll() is None and time.monotonic() < end:
            try:
                return notify.recv(4096)
            except socket.timeout:
                pass
        self.stop()
        raise AssertionError("gridapi did not serve:\n" + self.log())

    def start_nginx(self):
        self.nginx = subprocess.Popen(
            self.enter +
            [self.nginx_program, "-p", self.folder,
             "-e", self.path("log/nginx.log"),
             "-c", self.path("nginx/nginx.conf"), "-g", "daemon off;"],
            stdin=subprocess.DEVNULL, env=self.nginx_environment())
        wait_until(self.connects, "nginx listens")

    @staticmethod
    def nginx_environment():
        """nginx takes $NGINX for sockets to inherit."""
        return {name: value for name, value in os.environ.items()
                if name != "NGINX"}

    def connects(self):
        assert self.nginx.poll() is None, "nginx ended:\n" + self.nginx_log()
        try:
            socket.create_connection((self.address, self.port), 1).close()
            return True
        except OSError:
            return False

    def stop(self, seconds=40):
        for process in (self.nginx, self.pool):
            if process is None or process.poll() is not None:
                continue
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.nginx = self.pool = None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.stop()
        log = self.log()
        shutil.rmtree(self.folder, ignore_errors=True)
        assert "Sanitizer" not in log and "runtime error" not in log, log

    # --- looking ----------------------------------------------------------

    def text_of(self, name):
        if not os.path.exists(self.path(name)):
            return ""
        with open(self.path(name), errors="replace") as file:
            return file.read()

    def log(self):
        return self.text_of("log/gridapi.log")

    def nginx_log(self):
        return self.text_of("log/nginx.log")

    def workers(self):
        """The worker processes; housekeeping's is one of the children too,
        but only for a moment."""
        return children(self.pool.pid)

    def workers_of(self, *pools):
        """The workers of "pages" or "slow": those that hold its socket, and
        not the other one's too, as housekeeping's process does."""
        return [pid for pid in self.workers()
                if self.sockets_of(pid) in [[pool] for pool in pools]]

    def sockets_of(self, pid):
        paths = {self.settings[pool + ".socket"]: pool
                 for pool in ("pages", "slow")}
        with open("/proc/net/unix") as file:
            words = [line.split() for line in file]
        # Kept, as a look at the whole machine's table may miss a line of it
        # while others come and go.
        self.inodes.update(
            {"socket:[%s]" % line[6]: paths[line[7]] for line in words
             if len(line) == 8 and line[7] in paths})
        return sorted({self.inodes[link]
                       for link in links_of("/proc/%d/fd" % pid)
                       if link in self.inodes})

    def connections_to(self, pool):
        """How many a pool's socket has: those that a worker serves, and those
        that queue there."""
        with open("/proc/net/unix") as file:
            words = [line.split() for line in file]
        path = self.settings[pool + ".socket"]
        # Flags are 00010000 for who listens.
        return sum(line[-1] == path and line[3] == "00000000"
                   for line in words if len(line) > 6)

    def metric(self, name):
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return int(line.split()[1])
        raise AssertionError("no metric " + name)

    # --- asking -----------------------------------------------------------

    def connect(self, timeout=PATIENCE):
        return http.client.HTTPConnection(self.address, self.port,
                                          timeout=timeout)

    def get(self, path, method="GET", headers=None, body=None,
            timeout=PATIENCE):
        connection = self.connect(timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return Reply(response, response.read())
        finally:
            connection.close()

    def raw(self, data, timeout=PATIENCE):
        """What nginx answers to these very bytes, as status and body."""
        with socket.create_connection((self.address, self.port),
                                      timeout) as sock:
            sock.sendall(data)
            answer = http.client.HTTPResponse(sock)
            answer.begin()
            return Reply(answer, answer.read())


def run_in_a_namespace(script, option):
    """A script of ours once more, as root of a mount namespace of its own; where
    there is none it says so."""
    done = subprocess.run(
        ["unshare", "-rm", sys.executable, os.path.abspath(script), option],
        capture_output=True, text=True, check=False)
    if "unshare" in done.stderr and done.returncode != 0 and not done.stdout:
        print("left out: no mount namespace here: " + done.stderr.strip())
        return
    assert done.returncode == 0, done.stdout + done.stderr
    if done.stdout:
        print(done.stdout.strip())


def run_tests(tests):
    """Runs functions by their names; closes as every script of ours does."""
    wanted = sys.argv[1:]
    unknown = set(wanted) - {test.__name__ for test in tests}
    if unknown:
        sys.exit("no test is named " + ", ".join(sorted(unknown)))
    failed = 0
    count = 0
    for test in tests:
        if wanted and test.__name__ not in wanted:
            continue
        count += 1
        try:
            test()
            print("ok: " + test.__name__, flush=True)
        except Exception:
            failed += 1
            print("not ok: " + test.__name__)
            traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()
    print("%d passed, %d failed" % (count - failed, failed))
    sys.exit(1 if failed else 0)

"""Very many clients that ask for a whole dump and read it slowly, and pages
asked for beside them.

    GRID_READERS=1000   readers of one key (default 200)
    GRID_ARTICLES=12000 articles in the dump, about 1 KB each (default 12000)
    GRID_PAGES=2000     pages asked for meanwhile (default 300)
"""

import collections
import json
import os
import selectors
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid  # noqa: E402
from stack import (PATIENCE, children, run_tests,  # noqa: E402
                   wait_until)

READERS = int(os.environ.get("GRID_READERS", "200"))
ARTICLES = int(os.environ.get("GRID_ARTICLES", "12000"))
PAGES = int(os.environ.get("GRID_PAGES", "300"))
BY_CALLER = 32  # as nginx/gridapi.conf.in has them
IN_ALL = 64
FILE_MAX = 256 << 20


# --- the readers, in a process of their own ------------------------------------


class Reader:
    def __init__(self, port, key):
        self.head = b""
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(("127.0.0.1", port))
        self.sock.sendall(b"GET /api/v1/grid?fournisseur=S1 HTTP/1.1\r\n"
                          b"Host: x\r\nX-API-Key: %s\r\n\r\n" % key.encode())
        self.sock.setblocking(False)

    def read(self, most):
        """False when the server has ended the connection."""
        try:
            data = self.sock.recv(most)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if len(self.head) < 4096:
            self.head += data
        return data != b""


def status_of(head):
    words = head.split(b" ", 2)
    return int(words[1]) if len(words) > 2 else 0


def read_slowly(port, count, key):
    """Prints the heads when all have begun; then reads a little of each, turn
    by turn, until its input ends."""
    readers = [Reader(port, key) for _ in range(count)]
    selector = selectors.DefaultSelector()
    for reader in readers:
        selector.register(reader.sock, selectors.EVENT_READ, reader)
    end = time.monotonic() + PATIENCE
    while selector.get_map() and time.monotonic() < end:
        for event, _ in selector.select(1):
            event.data.read(4096)
            selector.unregister(event.data.sock)
    print(json.dumps([reader.head.decode("latin-1") for reader in readers]),
          flush=True)
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    while not selector.select(0.5):
        for reader in readers:
            if status_of(reader.head) == 200:
                reader.read(4096)


class Readers:
    def __init__(self, grid, count, key):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--read-slowly",
             str(grid.port), str(count)], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        # Not as an argument: whoever lists processes would see it.
        self.process.stdin.write(key + "\n")
        self.process.stdin.flush()
        self.heads = None

    def begun(self):
        """How many got which status."""
        if self.heads is None:
            self.heads = json.loads(self.process.stdout.readline())
        return collections.Counter(status_of(head.encode("latin-1"))
                                   for head in self.heads)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


# --- what is asked beside them ---------------------------------------------------


def ask_beside(grid, count):
    """Seconds that pages took, and files; each on a connection of its own
    now and then, as browsers have it."""
    took = {"page": [], "file": []}
    connection = grid.connect()
    for turn in range(count):
        if turn % 20 == 0:
            connection.close()
            connection = grid.connect()
        for kind, path in (("page", "/api/v1/grid?fournisseur=S1&limit=100"),
                           ("file", "/icon.svg")):
            begin = time.monotonic()
            connection.request("GET", path, headers={"X-API-Key":
                                                     grid.read_key})
            response = connection.getresponse()
            response.read()
            took[kind].append(time.monotonic() - begin)
            assert response.status == 200, (path, response.status)
    connection.close()
    return took


def tell(title, took):
    for kind, times in took.items():
        times = sorted(times)
        print("%s: %d of kind %s: median %.1f ms, p99 %.1f ms, longest %.1f ms"
              % (title, len(times), kind, times[len(times) // 2] * 1000,
                 times[len(times) * 99 // 100] * 1000, times[-1] * 1000))


def kept_files(grid):
    """What nginx keeps for slow readers: how many files, and bytes."""
    count = size = 0
    for pid in children(grid.nginx.pid):
        folder = "/proc/%d/fd" % pid
        for name in os.listdir(folder):
            try:
                path = os.readlink(os.path.join(folder, name))
                length = os.stat(os.path.join(folder, name)).st_size
            except OSError:
                continue
            if path.startswith(grid.path("tmp/")):
                count += 1
                size += length
    return count, size


def error_of(head, status):
    """The error of an answer that was refused; its head has Retry-After."""
    text, body = head.split("\r\n\r\n", 1)
    assert "\r\nRetry-After: " in text, text
    assert "\r\nContent-Type: application/json" in text, text
    assert text.startswith("HTTP/1.1 %d " % status), text
    error = json.loads(body)["error"]
    assert set(error) == {"code", "message"}, error
    return error


# --- tests -----------------------------------------------------------------------


def slow_readers_of_one_key_leave_room_for_others_and_pages():
    with Grid(articles=ARTICLES, settings={"slow.threads": 16}) as grid:
        tell("alone", ask_beside(grid, PAGES))
        with Readers(grid, READERS, grid.key) as readers:
            took = ask_beside(grid, PAGES)
            counts = readers.begun()
            tell("beside %d readers that begin" % READERS, took)
            print("statuses: %s" % dict(counts))
            tell("beside %d readers" % READERS, ask_beside(grid, PAGES))
            print("kept for slow readers: %d files of %d bytes in all" %
                  kept_files(grid))
            print("nginx takes %d KB" % resident_kb(grid))
            assert counts == {200: BY_CALLER, 503: READERS - BY_CALLER}, counts
            for head in readers.heads:
                if not head.startswith("HTTP/1.1 200 "):
                    assert error_of(head, 503)["code"] == "internal_error"
            # Another key has places of its own, up to those of all.
            with Readers(grid, 1, grid.read_key) as other:
                assert other.begun() == {200: 1}, other.begun()
        wait_until(lambda: kept_files(grid)[0] == 0,
                   "what was kept for them is gone")
        # The places are free again.
        answer = grid.ask("GET", "/api/v1/grid?fournisseur=S1")
        assert answer.status == 200, answer.status


def all_keys_together_have_a_limit_too():
    with Grid(articles=ARTICLES, settings={"slow.threads": 16}) as grid:
        third = grid.make_key("third", "read")
        with Readers(grid, BY_CALLER, grid.key) as one, \
                Readers(grid, BY_CALLER, grid.read_key) as two:
            assert one.begun() == {200: BY_CALLER}, one.begun()
            assert two.begun() == {200: BY_CALLER}, two.begun()
            with Readers(grid, 5, third) as more:
                assert more.begun() == {503: 5}, more.begun()
            count, size = kept_files(grid)
            assert 0 < count <= IN_ALL and size <= IN_ALL * FILE_MAX, (count,
                                                                       size)
            tell("beside readers of all keys", ask_beside(grid, 50))


def resident_kb(grid):
    total = 0
    for pid in [grid.nginx.pid] + children(grid.nginx.pid):
        with open("/proc/%d/status" % pid) as file:
            total += sum(int(line.split()[1]) for line in file
                         if line.startswith("VmRSS"))
    return total


if sys.argv[1:2] == ["--read-slowly"]:
    read_slowly(int(sys.argv[2]), int(sys.argv[3]),
                sys.stdin.readline().strip())
else:
    run_tests([
        slow_readers_of_one_key_leave_room_for_others_and_pages,
        all_keys_together_have_a_limit_too,
    ])

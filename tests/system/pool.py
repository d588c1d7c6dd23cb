"""The pool behind nginx: what happens when workers die, sleep and are many.

pooldouble stands for gridapi, see there: main(), supervisor and workers are
gridapi's own, and serve() does as the path says.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stack import (BUILD, PATIENCE, TOP, Stack, has_ended,  # noqa: E402
                   run_tests, wait_until)

DOUBLE = os.path.join(BUILD, "tests", "system", "pooldouble")
GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")


def stack(**options):
    settings = {"pages.processes": 2, "pages.threads": 2,
                "slow.processes": 1, "slow.threads": 3}
    settings.update(options.pop("settings", {}))
    made = Stack(gridapi=DOUBLE, settings=settings, **options)
    subprocess.run([GRIDCTL, "--data", made.data, "init"], check=True,
                   stdout=subprocess.DEVNULL)
    return made


def open_gate(grid):
    """Lets those pass who asked for GATE."""
    with open(os.path.join(grid.data, "go"), "w"):
        pass


# Held in the slow pool until the gate is opened, or a client's patience ends.
GATE = "/api/v1/gate/600000"


def under_way(grid, count):
    """So many are served at this moment, the one that asks besides."""
    wait_until(lambda: metric(grid, "gridapi_requests_in_flight") == count + 1,
               "%d requests are served" % count)


def at_gate(grid, count):
    """So many who asked for GATE have been let into a worker, since the start."""
    def lines():
        try:
            with open(os.path.join(grid.data, "gated")) as file:
                return len(file.readlines())
        except FileNotFoundError:
            return 0
    wait_until(lambda: lines() == count, "%d are at the gate" % count)


def worker_pid(grid):
    return json.loads(grid.get("/api/v1/pid").body)["pid"]


def metric(grid, name):
    for line in grid.get("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return int(line.split()[1])
    raise AssertionError("no metric " + name)


class Asker(threading.Thread):
    """Asks in a loop, or once; keeps what came."""

    def __init__(self, grid, path, times=1, timeout=PATIENCE):
        super().__init__(daemon=True)
        self.grid, self.path, self.times = grid, path, times
        self.timeout = timeout
        self.statuses, self.errors, self.took = [], [], []
        self.stop = False
        self.start()

    def run(self):
        while self.times != 0 and not self.stop:
            self.times -= 1
            begin = time.monotonic()
            try:
                reply = self.grid.get(self.path, timeout=self.timeout)
                self.statuses.append(reply.status)
            except (OSError, http.client.HTTPException) as error:
                self.errors.append(repr(error))
            self.took.append(time.monotonic() - begin)


# --- answers ------------------------------------------------------------------


def answers_of_every_size_arrive_whole():
    record = 65528
    sizes = [0, 1, 7, 8, 100, 30000, record - 200, record - 1, record,
             record + 1, 2 * record - 1, 2 * record + 1, 200000, 3000000]
    with stack() as grid:
        connection = grid.connect()
        for size in sizes:
            connection.request("GET", "/api/v1/ok/%d" % size)
            body = connection.getresponse().read()
            assert body == b"x" * size, (size, len(body))
        body = grid.get("/api/v1/stream/40").body
        assert body == b"x" * (40 << 20), len(body)


def bodies_of_every_size_are_read_whole():
    with stack(settings={"api.body_max": 100000}) as grid:
        for size in [0, 1, 8191, 16383, 16384, 16385, 99999, 100000]:
            reply = grid.get("/api/v1/body", "POST", body=b"a" * size)
            told = json.loads(reply.body)
            assert told == {"len": size, "sum": 97 * size}, (size, told)
        for size in [100001, 116384, 116385, 200000, 1000000]:
            reply = grid.get("/api/v1/body", "POST", body=b"a" * size)
            assert reply.status == 413, (size, reply.status)
            assert json.loads(reply.body) == {"error": "worker"}
        # A body that nobody looks at does no harm to the next request.
        for _ in range(20):
            assert grid.get("/api/v1/ok/5", "POST",
                            body=b"a" * 300000).status == 200


def a_failed_answer_is_cut():
    with stack() as grid:
        for size in [100000, 3000000]:
            try:
                grid.get("/api/v1/fail/%d" % size)
                raise AssertionError("it looked whole")
            except (http.client.IncompleteRead, ConnectionError):
                pass
        # Nothing of this one had left: the client is told.
        reply = grid.get("/api/v1/fail/10")
        assert reply.status == 502, reply.status
        error = json.loads(reply.body)["error"]
        assert error["code"] == "internal_error", error
        assert error["message"].startswith("The worker broke off"), error


def a_killed_worker_cuts_its_answer_and_is_replaced():
    with stack() as grid:
        connection = grid.connect()
        connection.request("GET", "/api/v1/drip/20")
        response = connection.getresponse()
        response.read(200000)
        for pid in grid.workers_of("pages", "slow"):  # one has the answer
            os.kill(pid, signal.SIGKILL)
        try:
            while response.read(65536):
                pass
            raise AssertionError("it looked whole")
        except (http.client.IncompleteRead, ConnectionError):
            pass
        wait_until(lambda: grid.get("/api/v1/ok/5").status == 200,
                   "the next request works")
        wait_until(lambda: metric(grid, "gridapi_workers_replaced_total") == 3,
                   "all three deaths are noticed")
        assert grid.log().count("a worker was killed") == 3


def a_client_that_left_frees_its_thread():
    with stack() as grid:
        socks = []
        for _ in range(3):  # all threads, for longer than anybody waits
            sock = socket.create_connection(("127.0.0.1", grid.port))
            sock.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" %
                         GATE.encode())
            socks.append(sock)
        under_way(grid, 3)
        for sock in socks:
            sock.close()
        assert grid.get("/api/v1/slow/10").status == 200
        wait_until(lambda: metric(grid, "gridapi_requests_aborted_total") == 3,
                   "all three have left")


# --- load ---------------------------------------------------------------------


def page_times(grid, count=150):
    times = []
    connection = grid.connect()
    for _ in range(count):
        begin = time.monotonic()
        connection.request("GET", "/api/v1/ok/30000")
        assert len(connection.getresponse().read()) == 30000
        times.append(time.monotonic() - begin)
    return times


def slow_readers_do_not_hold_up_pages():
    with stack() as grid:
        readers = []
        turns = []
        for _ in range(4):  # twice the threads for pages, in the end
            alone = statistics.median(page_times(grid))
            for _ in range(2):
                sock = socket.socket()
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
                sock.connect(("127.0.0.1", grid.port))
                sock.sendall(b"GET /api/v1/stream/20 HTTP/1.1\r\n"
                             b"Host: x\r\n\r\n")
                sock.recv(1000)
                readers.append(sock)
            under_way(grid, 0)  # nginx has taken it all and set it aside
            turns.append((alone, statistics.median(page_times(grid))))
        print("   a page alone, and beside slow readers: " + ", ".join(
            "%.0f and %.0f us" % (alone * 1e6, beside * 1e6)
            for alone, beside in turns))
        for sock in readers:
            sock.close()
        # In turns, since nobody knows what else the machine does.
        assert min(beside - 3 * alone for alone, beside in turns) < 0.002


def slow_requests_leave_pages_alone():
    with stack() as grid:
        alone = statistics.median(page_times(grid))
        slow = [Asker(grid, GATE) for _ in range(6)]
        # Three threads, six requests: all threads serve, and three queue.
        under_way(grid, 3)
        wait_until(lambda: grid.connections_to("slow") == 6, "three queue")
        beside = statistics.median(page_times(grid))
        assert [asker.statuses for asker in slow] == [[]] * 6
        open_gate(grid)
        for asker in slow:
            asker.join(PATIENCE)
        assert [asker.statuses for asker in slow] == [[200]] * 6, \
            [(asker.statuses, asker.errors) for asker in slow]
        print("   a page alone %.0f us, beside slow requests %.0f us" %
              (alone * 1e6, beside * 1e6))


# --- the supervisor -----------------------------------------------------------


def sighup_replaces_all_and_loses_nothing():
    with stack() as grid:
        before = set(grid.workers())
        askers = [Asker(grid, "/api/v1/ok/70000", times=-1)
                  for _ in range(4)]
        long = Asker(grid, GATE)
        at_gate(grid, 1)
        grid.pool.send_signal(signal.SIGHUP)
        wait_until(lambda: "all workers were replaced" in grid.log(),
                   "all are replaced")
        wait_until(lambda: len(before & set(grid.workers())) == 1,
                   "the old ones have left, but for one")
        assert not long.statuses
        open_gate(grid)
        wait_until(lambda: not before & set(grid.workers()),
                   "the old ones have left")
        wait_until(lambda: all(len(asker.statuses) > 20 or asker.errors
                               for asker in askers), "they go on")
        for asker in askers:
            asker.stop = True
            asker.join(PATIENCE)
            assert not asker.errors, asker.errors
            assert set(asker.statuses) == {200}, set(asker.statuses)
        long.join(PATIENCE)
        assert long.statuses == [200], (long.statuses, long.errors)
        assert metric(grid, "gridapi_workers_replaced_total") == 0


def sighup_reads_the_settings_again():
    with stack() as grid:
        config = grid.path("gridapi.conf")
        with open(config, "w") as file:
            file.write("[api]\nbody_max = 2K\n")
        grid.stop()
        grid.options = ["--config", config]
        grid.start_pool()
        grid.start_nginx()
        assert grid.get("/api/v1/body", "POST",
                        body=b"a" * 3000).status == 413
        with open(config, "w") as file:
            file.write("[api]\nbody_max = 4K\n")
        grid.pool.send_signal(signal.SIGHUP)
        wait_until(lambda: "all workers were replaced" in grid.log(),
                   "all are replaced")
        wait_until(lambda: grid.get("/api/v1/body", "POST",
                                    body=b"a" * 3000).status == 200,
                   "the new ceiling holds")
        with open(config, "w") as file:
            file.write("[api]\nbody_max = much\n")
        grid.pool.send_signal(signal.SIGHUP)
        wait_until(lambda: "the settings stay as they were" in grid.log(),
                   "a bad file is told")
        assert grid.get("/api/v1/body", "POST",
                        body=b"a" * 3000).status == 200


def sigterm_finishes_what_is_under_way():
    with stack() as grid:
        # Three are served, three queue: all are under way.
        slow = [Asker(grid, GATE) for _ in range(6)]
        under_way(grid, 3)
        wait_until(lambda: grid.connections_to("slow") == 6, "three queue")
        pool = grid.pool
        pool.send_signal(signal.SIGTERM)
        wait_until(lambda: not os.path.exists(grid.path("run/pages.sock")),
                   "nobody more is let in")
        open_gate(grid)
        for asker in slow:
            asker.join(PATIENCE)
        assert [asker.statuses for asker in slow] == [[200]] * 6, \
            [(asker.statuses, asker.errors) for asker in slow]
        assert pool.wait(PATIENCE) == 0
        assert not os.path.exists(grid.path("run/pages.sock"))
        assert grid.get("/api/v1/ok/5").status == 502


def draining_is_bounded():
    with stack(settings={"pages.drain": 1}) as grid:
        slow = Asker(grid, GATE)
        under_way(grid, 1)
        begin = time.monotonic()
        grid.pool.send_signal(signal.SIGTERM)
        # The gate stays shut: nothing but the limit ends it.
        assert grid.pool.wait(PATIENCE) == 0
        assert time.monotonic() - begin > 0.5
        slow.join(PATIENCE)
        assert slow.statuses == [502], slow.statuses


def workers_do_not_outlive_their_supervisor():
    with stack() as grid:
        workers = grid.workers()
        grid.pool.kill()
        grid.pool.wait()
        wait_until(lambda: all(map(has_ended, workers)), "they have ended")
        # The sockets' files are left, and are no obstacle.
        grid.start_pool()
        assert grid.get("/api/v1/ok/5").status == 200


def a_killed_supervisor_leaves_nobody_and_no_obstacle():
    """Under load, and with a request in each pool that nobody answers: the
    next gridapi serves at once, all that the one before began has ended."""
    rounds = 20
    with stack(settings={"pages.drain": 1}) as grid:
        askers = [Asker(grid, "/api/v1/ok/70000", times=-1)
                  for _ in range(3)]
        before, slowest = set(), 0
        for number in range(rounds):
            served = len(askers[0].statuses) + len(askers[0].errors)
            held = Asker(grid, GATE)
            at_gate(grid, number + 1)
            workers = grid.workers()
            before.update(workers)
            grid.pool.kill()
            if number % 2:  # nobody has looked after the dead one yet
                old, begin = grid.pool, time.monotonic()
                grid.start_pool()
                old.wait()
            else:
                grid.pool.wait()
                begin = time.monotonic()
                grid.start_pool()
            slowest = max(slowest, time.monotonic() - begin)
            # A worker that is ending answers what came on its connections.
            wait_until(lambda: worker_pid(grid) not in before, "a new worker")
            held.join(PATIENCE)
            assert held.statuses == [502], (held.statuses, held.errors)
            wait_until(lambda: all(map(has_ended, workers)), "they end")
            wait_until(lambda: len(askers[0].statuses) > served, "load")
        for asker in askers:
            asker.stop = True
            asker.join(PATIENCE)
            assert set(asker.statuses) <= {200, 502}, set(asker.statuses)
        assert grid.log().count("serving: ") == rounds + 1
        print("   %d supervisors killed, the next one served after at most "
              "%.0f ms" % (rounds, slowest * 1000))


def what_cannot_start_says_why_and_ends():
    with stack() as grid:
        again = subprocess.run(grid.arguments(), capture_output=True,
                               timeout=PATIENCE, text=True)
        assert again.returncode == 1
        assert "is gridapi running?" in again.stderr, again.stderr
        grid.settings.update({
            "data.dir": grid.path("nowhere"),
            "pages.socket": grid.path("run/p2.sock"),
            "slow.socket": grid.path("run/s2.sock")})
        no_store = subprocess.run(grid.arguments(), capture_output=True,
                                  timeout=PATIENCE, text=True)
        assert no_store.returncode == 1
        assert grid.path("nowhere") in no_store.stderr, no_store.stderr
        check = subprocess.run(grid.arguments() + ["--check"],
                               capture_output=True, timeout=PATIENCE, text=True)
        assert check.returncode == 1
        assert grid.path("nowhere") in check.stderr, check.stderr
        grid.settings["data.dir"] = grid.data
        with open(grid.path("twice.conf"), "w", encoding="utf-8") as file:
            file.write("[log]\nlevel = warn\nlevel = info\n")
        noted = subprocess.run(
            grid.arguments() + ["--config", grid.path("twice.conf"), "--check"],
            capture_output=True, timeout=PATIENCE, text=True)
        assert noted.returncode == 0 and (
            "twice.conf: [log] level is set twice (lines 2 and 3): the later "
            "one counts" in noted.stdout), noted
        noted = subprocess.run(
            grid.arguments() + ["--set", "trail.archive=" + grid.path("run"),
                                "--check"],
            capture_output=True, timeout=PATIENCE, text=True)
        assert noted.returncode == 0 and noted.stdout.startswith(
            "[trail] archive is set, and [trail] keep is 0: "), noted


def a_setting_without_effect_is_noted_at_the_start_and_at_a_reload():
    with stack(settings={"trail.archive": "/srv/archive"}) as grid:
        note = "[trail] archive is set, and [trail] keep is 0: "
        assert grid.log().count(note) == 1, grid.log()
        grid.pool.send_signal(signal.SIGHUP)
        wait_until(lambda: grid.log().count(note) == 2, "the note")
        for words in (["--set", "pages.threads=none"], ["--set", "threads"],
                      ["--config", grid.path("nofile")]):
            bad = subprocess.run([DOUBLE] + words, capture_output=True,
                                 timeout=PATIENCE, text=True)
            assert bad.returncode == 1 and bad.stderr, (words, bad)


def sockets_of_systemd_are_taken_and_kept():
    with stack() as grid:
        grid.stop()
        listeners = []
        for name in ("slow", "pages"):  # by name, not by order
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(grid.path("run/%s.sock" % name))
            listener.listen(64)
            listeners.append(listener)
        fds = tuple(listener.fileno() for listener in listeners)
        grid.pass_fds = fds
        grid.wrapper = [  # sh takes no number of two digits
            "bash", "-c", "exec 3<&%d 4<&%d; LISTEN_PID=$$ LISTEN_FDS=2 "
            'LISTEN_FDNAMES=slow:pages exec "$0" "$@"' % fds]
        grid.start_pool()
        grid.start_nginx()
        assert grid.get("/api/v1/ok/5").status == 200
        assert grid.get("/api/v1/slow/10").status == 200
        grid.pool.send_signal(signal.SIGTERM)
        assert grid.pool.wait(PATIENCE) == 0
        assert os.path.exists(grid.path("run/pages.sock"))
        # Who asks now queues at systemd, until gridapi is there again.
        waiting = Asker(grid, "/api/v1/ok/5")
        time.sleep(0.3)
        assert not waiting.statuses and not waiting.errors
        grid.start_pool()
        waiting.join(PATIENCE)
        assert waiting.statuses == [200], (waiting.statuses, waiting.errors)


def sockets_have_the_mode_of_the_setting():
    """As chmod has it, whatever this process's umask is."""
    for mode in (600, 660, 700, 777):
        with stack(settings={"pages.socket_mode": mode}, nginx=False) as grid:
            found = [oct(os.stat(grid.path("run/%s.sock" % name)).st_mode)[-3:]
                     for name in ("pages", "slow")]
            assert found == [str(mode)] * 2, (mode, found)


# --- peers that are no nginx --------------------------------------------------

BEGIN = b"\1\1\0\1\0\x08\0\0" + b"\0\1\1\0\0\0\0\0"
END_PARAMS = b"\1\4\0\1\0\0\0\0"


def record(kind, content, number=1, padding=0):
    return struct.pack(">BBHHBB", 1, kind, number, len(content), padding,
                       0) + content + b"\0" * padding


def pair(name, value):
    return struct.pack(">II", 1 << 31 | len(name), 1 << 31 | len(value)) + \
        name + value


GOOD_HEAD = BEGIN + record(4, pair(b"REQUEST_URI", b"/api/v1/ok/5") +
                           pair(b"REQUEST_METHOD", b"GET")) + END_PARAMS
# One name of a management record, again and again, and lengths of 2 GB: what
# libfcgi itself takes for granted.
MANAGEMENT = record(9, b"\x0e\0FCGI_MAX_CONNS" * 400, number=0)
HOSTILE = [
    BEGIN + record(4, struct.pack(">II", length, length) + b"NAME") +
    END_PARAMS for length in (0xffffffff, 0xc0000000, 0x80ffffff)
] + [
    MANAGEMENT,
    GOOD_HEAD + record(5, b"part") + MANAGEMENT,
    GOOD_HEAD + record(9, b"\xff" * 8, number=0),
    BEGIN + record(4, pair(b"N", b"v" * 65000)) * 400 + END_PARAMS,
    BEGIN * 1000,
    b"\1\1\0\1\xff\xff\xff\0" + b"x" * 70000,
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    bytes(range(256)) * 100,
]


def peer(grid, pool, data=b""):
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(PATIENCE)
    sock.connect(grid.settings[pool + ".socket"])
    try:
        sock.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it was closed before all was sent
    return sock


def closed_without_an_answer(sock):
    try:
        return sock.recv(1000) == b""
    except ConnectionResetError:
        return True
    finally:
        sock.close()


def records_that_nginx_does_not_send_close_the_connection():
    with stack() as grid:
        workers = grid.workers_of("pages", "slow")
        sock = peer(grid, "pages", GOOD_HEAD + record(5, b""))
        assert b"xxxxx" in sock.recv(1000)
        sock.close()
        for pool in ("pages", "slow"):
            for data in HOSTILE:
                assert closed_without_an_answer(peer(grid, pool, data)), \
                    data[:40]
        assert grid.workers_of("pages", "slow") == workers
        assert metric(grid, "gridapi_workers_replaced_total") == 0
        assert grid.log().count("no request that nginx would send") == \
            2 * len(HOSTILE)
        assert grid.get("/api/v1/ok/5").status == 200


def half_a_request_holds_no_thread():
    """Nor does a connection on which nothing has come yet."""
    halves = [BEGIN, GOOD_HEAD[:20], GOOD_HEAD[:40],
              GOOD_HEAD + record(5, b"part")[:10]]
    with stack() as grid:
        silent = [peer(grid, "pages") for _ in range(20)]
        assert page_times(grid, 5)
        begin = time.monotonic()
        socks = [peer(grid, "pages", data) for data in halves]
        # All threads for pages. Whoever waits is served afterwards.
        assert grid.get("/api/v1/ok/5").status == 200
        for sock in socks:
            assert closed_without_an_answer(sock)
        waited = time.monotonic() - begin
        assert 4 < waited < 28, waited
        assert grid.log().count("did not arrive in time") == len(halves)
        for sock in silent:
            sock.sendall(GOOD_HEAD + record(5, b""))
            assert b"xxxxx" in sock.recv(1000)
            sock.close()


# --- nginx --------------------------------------------------------------------


def head(line, *more):
    return "\r\n".join([line, "Host: x"] + list(more) + ["", ""]).encode()


NGINX_ERRORS = [
    (400, "bad_request", head("GET /%zz HTTP/1.1")),
    (400, "bad_request", head("GET /api/v1/%00 HTTP/1.1")),
    (400, "bad_request", b"garbage\r\n\r\n"),
    (400, "bad_request", b"GET /api/v1/grid HTTP/1.1\r\n\r\n"),
    (400, "bad_request", head("GET /api/v1/grid HTTP/1.1", "Host: y")),
    (400, "bad_request", head("POST /api/v1/gammes HTTP/1.1",
                              "Content-Length: many")),
    (404, "not_found", head("GET /nothing HTTP/1.1")),
    (404, "not_found", head("GET /_error HTTP/1.1")),
    (405, "bad_request", head("TRACE /api/v1/grid HTTP/1.1")),
    (413, "bad_request", head("POST /api/v1/body HTTP/1.1",
                              "Content-Length: 99999999")),
    (414, "bad_request", head("GET /api/v1/grid?q=" + "a" * 60000 +
                              " HTTP/1.1")),
    (431, "bad_request", head("GET /api/v1/grid HTTP/1.1",
                              "X-API-Key: " + "a" * 20000)),
    (501, "bad_request", head("POST /api/v1/body HTTP/1.1",
                              "Transfer-Encoding: foo")),
    (505, "bad_request", head("GET / HTTP/3.0")),
]
LATE = head("GET /api/v1/sleep/600000 HTTP/1.1")


def nginx_errors_are_json():
    with stack() as grid:
        for status, code, data in NGINX_ERRORS:
            is_refused(grid, status, code, data)
        # An address that lacks the prefix is told it.
        for language, said in (("en", "the API is at /api/v1,"),
                               ("fr", "l'API est à /api/v1,")):
            reply = grid.get("/v1/fournisseurs",
                             headers={"Accept-Language": language})
            assert reply.status == 404, reply.status
            assert said in json.loads(reply.body)["error"]["message"], reply.body
        assert grid.raw(NGINX_ERRORS[8][2]).headers["Allow"] == \
            "GET, HEAD, OPTIONS"
        # The most that nginx lets in also fits into what a worker is sent.
        full = grid.raw(head("GET /api/v1/nothing?" + "a" * 12000 +
                             " HTTP/1.1", "X-API-Key: " + "b" * 12000,
                             "Cookie: " + "c" * 12000,
                             "Accept: " + "d" * 11000))
        assert full.status == 404, full.status
        grid.pool.send_signal(signal.SIGTERM)
        grid.pool.wait(PATIENCE)
        for path in ("/api/v1/ok/5", "/app/x", "/healthz", "/readyz"):
            for method in ("GET", "POST"):
                reply = grid.get(path, method, body=b"{}")
                assert reply.status == 502, (path, reply.status)
                check_error(reply, "internal_error")
                assert b"No worker could be reached" in reply.body, reply.body


def a_worker_that_says_nothing_in_time_is_an_error():
    with stack(read_timeout="1s") as grid:
        is_refused(grid, 504, "internal_error", LATE)


def is_refused(grid, status, code, data):
    reply = grid.raw(data)
    assert reply.status == status, (data[:60], reply.status)
    check_error(reply, code)


def check_error(reply, code):
    assert reply.headers["Content-Type"] == "application/json"
    assert len(reply.headers["X-Request-Id"]) == 32
    error = json.loads(reply.body)["error"]
    assert error["code"] == code, (code, error)
    assert set(error) == {"code", "message"} and error["message"]


def refusals_are_counted_and_slowed_down():
    with stack() as grid:
        begin = time.monotonic()
        askers = [Asker(grid, "/api/v1/refused", times=35) for _ in range(4)]
        beside = page_times(grid, 50)
        for asker in askers:
            asker.join(PATIENCE)
            assert asker.statuses == [401] * 35, asker.statuses
        # 100 pass at once, 40 more at 20 a second. Pages are not among them.
        assert time.monotonic() - begin > 1
        assert statistics.median(beside) < 0.5, beside
        assert worker_pid(grid) > 0


def the_log_tells_requests_and_no_keys():
    key = "grid_abcdefgh_0123456789abcdef0123456789abcdef"
    with stack() as grid:
        grid.get("/api/v1/ok/5", headers={"X-API-Key": key})
        grid.get("/api/v1/ok/5?key=" + key)
        grid.get("/api/v1/ok/5", headers={"Authorization": "Bearer " + key})
        path = grid.path("log/access.log")
        wait_until(lambda: os.path.getsize(path) > 0 and
                   open(path).read().count("\n") >= 3, "lines are there")
        text = open(path).read()
        assert key not in text and "0123456789abcdef0123" not in text
        for line in text.splitlines():
            entry = json.loads(line)
            assert len(entry["request_id"]) == 32
            assert entry["worker_seconds"] >= 0
            assert entry["status"] in (200, 404)
        assert key not in grid.log()


def figures_in_the_log_are_numbers():
    def is_number(value):
        return isinstance(value, (int, float))
    with stack() as grid:
        grid.get("/api/v1/ok/5")
        open_gate(grid)
        grid.get(GATE)  # by way of the slow pool: two workers had it
        grid.get("/api/v1/ok/20000", headers={"Accept-Encoding": "gzip"})
        grid.get("/nothing")  # no worker had it
        path = grid.path("log/access.log")
        wait_until(lambda: open(path).read().count("\n") >= 4, "lines")
        # nginx's processes write when they like: not in order.
        entries = {entry["uri"]: entry for entry in map(json.loads, open(path))}
        none = entries["/nothing"]
        for entry in entries.values():
            if entry is none:
                continue
            assert entry["worker_status"] == 200, entry
            assert is_number(entry["worker_seconds"]), entry
        for entry in entries.values():
            for name in ("status", "bytes", "seconds"):
                assert is_number(entry[name]), entry
            for name in ("worker_status", "worker_seconds"):
                assert entry[name] is None or is_number(entry[name]), entry
        assert none["worker_status"] is None, none
        assert none["worker_seconds"] is None, none


def span_maker():
    """What docs/operations.md says makes spans of the log."""
    with open(os.path.join(TOP, "docs", "operations.md")) as file:
        return re.search(r"```jq\n(.*?)```", file.read(), re.S).group(1)


def a_line_of_the_log_is_a_span_of_the_callers_trace():
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    with stack() as grid:
        began = time.time()
        for header in ("00-%s-%s-01" % (trace, parent), "00-%s-01" % trace,
                       "grid_abcdefgh_0123456789abcdef0123456789abcdef"):
            assert grid.get("/api/v1/ok/5",
                            headers={"traceparent": header}).status == 200
        path = grid.path("log/access.log")
        wait_until(lambda: open(path).read().count("\n") >= 3, "lines")
        ended = time.time()
        entries = [json.loads(line) for line in open(path)]
        assert sorted((entry["trace"], entry["parent"]) for entry in entries) \
            == [("", "")] * 2 + [(trace, parent)], entries
        assert shutil.which("jq"), "jq is not installed"
        said = subprocess.run(["jq", "-c", span_maker(), path], check=True,
                              capture_output=True, text=True).stdout
        one, = said.splitlines()  # of the line that has a trace
        span, = json.loads(one)["resourceSpans"][0]["scopeSpans"][0]["spans"]
        assert (span["traceId"], span["parentSpanId"]) == (trace, parent), span
        assert re.fullmatch("[0-9a-f]{16}", span["spanId"]), span
        times = [int(span[name + "TimeUnixNano"]) / 1e9
                 for name in ("start", "end")]
        # nginx's clock is some milliseconds behind.
        assert began - 0.5 < times[0] <= times[1] < ended + 0.5, (began, span)


def probes_are_not_for_those_whom_a_proxy_serves():
    with stack() as grid:
        for path in ("/healthz", "/readyz", "/metrics"):
            assert grid.get(path).status != 403, path
            for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via",
                         "X-Forwarded-Proto", "X-Forwarded-Host"):
                reply = grid.get(path, headers={name: "192.0.2.1"})
                assert reply.status == 403, (path, name, reply.status)
                check_error(reply, "forbidden")
        # What is for everybody passes through a proxy as before.
        reply = grid.get("/api/v1/ok/5", headers={"X-Forwarded-For": "::2"})
        assert reply.status == 200, reply.status


run_tests([
    answers_of_every_size_arrive_whole,
    bodies_of_every_size_are_read_whole,
    a_failed_answer_is_cut,
    a_killed_worker_cuts_its_answer_and_is_replaced,
    a_client_that_left_frees_its_thread,
    slow_readers_do_not_hold_up_pages,
    slow_requests_leave_pages_alone,
    sighup_replaces_all_and_loses_nothing,
    sighup_reads_the_settings_again,
    sigterm_finishes_what_is_under_way,
    draining_is_bounded,
    workers_do_not_outlive_their_supervisor,
    a_killed_supervisor_leaves_nobody_and_no_obstacle,
    what_cannot_start_says_why_and_ends,
    a_setting_without_effect_is_noted_at_the_start_and_at_a_reload,
    sockets_of_systemd_are_taken_and_kept,
    sockets_have_the_mode_of_the_setting,
    records_that_nginx_does_not_send_close_the_connection,
    half_a_request_holds_no_thread,
    nginx_errors_are_json,
    a_worker_that_says_nothing_in_time_is_an_error,
    refusals_are_counted_and_slowed_down,
    the_log_tells_requests_and_no_keys,
    figures_in_the_log_are_numbers,
    a_line_of_the_log_is_a_span_of_the_callers_trace,
    probes_are_not_for_those_whom_a_proxy_serves,
])

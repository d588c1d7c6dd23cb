"""Connections that nginx and the workers keep, under load, while workers are
replaced, ended and killed: no read fails that could be answered, no answer
looks whole that is not, no write is lost or done twice.

pooldouble stands for gridapi, see there. Each part lasts seconds; with
GRID_LONG=1 ten minutes, with GRID_LONG=NUMBER so many seconds.
"""

import collections
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stack import (BUILD, PATIENCE, Stack, run_tests,  # noqa: E402
                   wait_until)

DOUBLE = os.path.join(BUILD, "tests", "system", "pooldouble")
GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
LONG = int(os.environ.get("GRID_LONG") or 0)
SECONDS = {0: 4, 1: 600}.get(LONG, LONG)
CLIENTS = 12
RECORD = 65528  # of FastCGI, at most


def stack(**settings):
    made = Stack(gridapi=DOUBLE, settings=dict({
        "pages.processes": 2, "pages.threads": 4,
        "slow.processes": 2, "slow.threads": 2}, **settings))
    subprocess.run([GRIDCTL, "--data", made.data, "init"], check=True,
                   stdout=subprocess.DEVNULL)
    return made


# --- load ---------------------------------------------------------------------


class Client(threading.Thread):
    """Reads and writes on one connection to nginx, until it is told to end."""

    numbers = iter(range(1, 1 << 30))

    def __init__(self, grid, seed):
        super().__init__(daemon=True)
        self.grid, self.chance = grid, random.Random(seed)
        self.connection = grid.connect()
        self.reads, self.writes = 0, []
        self.failed_reads, self.failed_writes, self.wrong = [], [], []
        self.end = False

    def run(self):
        while not self.end:
            kind = self.chance.random()
            if kind < 0.15:
                self.write("POST" if kind < 0.08 else "PUT")
            elif kind < 0.2:
                self.read("/api/v1/stream/1", b"x" * (1 << 20))
            elif kind < 0.25:
                self.read("/api/v1/slow/1", b'{"slept":1}')
            else:
                size = self.chance.choice(
                    (0, 5, 3000, 30000, RECORD - 1, 200000))
                self.read("/api/v1/ok/%d" % size, b"x" * size)

    def ask(self, method, path, body=None):
        """Status and body, or why there is no whole answer."""
        try:
            self.connection.request(method, path, body)
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            return None, repr(error)

    def read(self, path, want):
        status, body = self.ask("GET", path)
        if status != 200:
            self.failed_reads.append((path, status, body[:200]))
        elif body != want:
            self.wrong.append((path, len(body)))
        else:
            self.reads += 1

    def write(self, method):
        number = next(self.numbers)
        status, body = self.ask(method, "/api/v1/count/%d" % number, b"{}")
        if status == 200:
            self.writes.append(number)
        else:
            self.failed_writes.append((number, status, body[:200]))


class Load:
    """Clients at work while the block runs."""

    def __init__(self, grid):
        self.clients = [Client(grid, seed) for seed in range(CLIENTS)]
        self.path = os.path.join(grid.data, "counted")

    def __enter__(self):
        for client in self.clients:
            client.start()
        wait_until(lambda: all(client.reads for client in self.clients),
                   "all have been answered")
        return self

    def __exit__(self, kind, *_):
        for client in self.clients:
            client.end = True
        for client in self.clients:
            client.join(PATIENCE)
            assert kind or not client.is_alive(), "a client still waits"

    def all(self, name):
        return [one for client in self.clients
                for one in getattr(client, name)]

    def judge(self, what, reads_may_fail=0, writes_may_fail=0):
        reads = sum(client.reads for client in self.clients)
        writes = self.all("writes")
        failed = self.all("failed_reads"), self.all("failed_writes")
        print("   %s: %d reads, %d of them failed; %d writes, %d of them "
              "failed" % (what, reads + len(failed[0]), len(failed[0]),
                          len(writes) + len(failed[1]), len(failed[1])))
        with open(self.path) as file:
            counted = collections.Counter(map(int, file))
        lost = [number for number in writes if counted[number] != 1]
        assert not lost, "answered, and not done once: %s" % lost[:5]
        twice = [number for number, count in counted.items() if count > 1]
        assert not twice, "done twice: %s" % twice[:5]
        assert not self.all("wrong"), self.all("wrong")[:5]
        assert len(failed[0]) <= reads_may_fail, failed[0][:5]
        assert len(failed[1]) <= writes_may_fail, failed[1][:5]


def turns(seconds=SECONDS):
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end or number < 2:
        yield number
        number += 1


# --- what is kept -------------------------------------------------------------


def connections_are_kept_and_spread_over_the_processes():
    with stack() as grid:
        seen = collections.Counter()

        def ask():
            connection = grid.connect()
            for _ in range(200):
                connection.request("GET", "/api/v1/pid")
                seen[json.loads(connection.getresponse().read())["pid"]] += 1

        def is_spread():
            return len(seen) == 2 and \
                min(seen.values()) > sum(seen.values()) / 10

        # One process may accept all while the other is kept from running; nginx
        # closes a connection after 1,000 requests, and its next finds both.
        end, rounds = time.monotonic() + PATIENCE, 0
        while not is_spread() and time.monotonic() < end:
            rounds += 1
            askers = [threading.Thread(target=ask) for _ in range(CLIENTS)]
            for asker in askers:
                asker.start()
            for asker in askers:
                asker.join(PATIENCE)
        total = sum(seen.values())
        assert total == 200 * CLIENTS * rounds, total
        accepted = grid.metric("gridapi_connections_total")
        print("   %d requests on %d connections; of the processes %s" % (
            total, accepted, " and ".join(
                "%.0f %%" % (100 * count / total) for count in seen.values())))
        assert accepted < total / 20, accepted
        assert is_spread(), seen


def writes_have_connections_of_their_own():
    with stack() as grid:
        for method in ("POST", "PUT", "DELETE", "HEAD"):
            before = grid.metric("gridapi_connections_total")
            for _ in range(10):
                assert grid.get("/api/v1/pid", method).status == 200
            after = grid.metric("gridapi_connections_total")
            assert after - before >= 10, (method, before, after)
            before = grid.connections_to("pages")
        wait_until(lambda: grid.connections_to("pages") <= before,
                   "those of the writes are closed")


def a_post_that_reads_comes_on_kept_connections():
    with stack() as grid:
        before = grid.metric("gridapi_connections_total")
        for _ in range(60):
            grid.get("/api/v1/products/lookup?fournisseur=1", "POST")
        made = grid.metric("gridapi_connections_total") - before
        assert made < 30, made


def idle_connections_end():
    """nginx closes after 60 seconds, a worker after 90."""
    if not LONG:
        print("   left out: it takes two minutes; GRID_LONG=1")
        return
    with stack() as grid:
        assert grid.get("/api/v1/ok/5").status == 200
        silent = socket.socket(socket.AF_UNIX)
        silent.connect(grid.settings["pages.socket"])
        begin = time.monotonic()
        wait_until(lambda: grid.connections_to("pages") == 1, "nginx's ends",
                   90)
        assert 50 < time.monotonic() - begin < 75
        silent.settimeout(60)
        assert silent.recv(1) == b""
        assert 85 < time.monotonic() - begin < 110


def a_process_without_a_free_thread_is_asked_nothing():
    """Its kept connections are given up when its last thread gets to work:
    what comes next is answered by the other one."""
    with stack(**{"slow.threads": 1}) as grid:
        for _ in turns(SECONDS / 2):
            warm = [threading.Thread(target=grid.get,
                                     args=("/api/v1/slow/20",))
                    for _ in range(4)]
            for one in warm:
                one.start()
            for one in warm:
                one.join(PATIENCE)
            held = socket.create_connection(("127.0.0.1", grid.port))
            held.sendall(b"GET /api/v1/slow/600000 HTTP/1.1\r\n"
                         b"Host: x\r\n\r\n")
            wait_until(lambda: grid.metric("gridapi_requests_in_flight") == 2,
                       "one is held")
            for _ in range(10):
                assert grid.get("/api/v1/slow/1").status == 200
            held.close()
            wait_until(lambda: grid.metric("gridapi_requests_in_flight") == 1,
                       "nobody is held")


# --- under load ---------------------------------------------------------------


def workers_are_replaced_and_no_request_fails():
    with stack() as grid:
        with Load(grid) as load:
            for number in turns():
                # Refused while those of the turn before have not left.
                wait_until(lambda: len(grid.workers()) == 4, "they have left")
                grid.pool.send_signal(signal.SIGHUP)
                wait_until(lambda: grid.log().count(
                    "all workers were replaced") > number, "replaced")
        load.judge("%d rolling restarts" % (number + 1))


def by_systemd(grid):
    """Sockets that stay when gridapi ends."""
    grid.stop()
    listeners = []
    for name in ("pages", "slow"):
        listeners.append(socket.socket(socket.AF_UNIX))
        listeners[-1].bind(grid.path("run/%s.sock" % name))
        listeners[-1].listen(64)
        os.chmod(grid.path("run/%s.sock" % name), 0o666)
    grid.pass_fds = fds = tuple(one.fileno() for one in listeners)
    grid.wrapper = [  # sh takes no number of two digits
        "bash", "-c", "exec 3<&%d 4<&%d; LISTEN_PID=$$ LISTEN_FDS=2 "
        'LISTEN_FDNAMES=pages:slow exec "$0" "$@"' % fds]
    grid.start_pool()
    grid.start_nginx()
    return listeners


def gridapi_is_restarted_and_no_request_fails():
    with stack() as grid:
        listeners = by_systemd(grid)
        with Load(grid) as load:
            for number in turns():
                grid.pool.send_signal(signal.SIGTERM)
                assert grid.pool.wait(PATIENCE) == 0
                grid.start_pool()
                time.sleep(0.1)
        load.judge("%d restarts" % (number + 1))
        for listener in listeners:
            listener.close()


def killed_workers_repeat_no_write_and_cut_what_they_had_begun():
    """A read that a killed worker had taken from a kept connection is asked
    again, unless its answer had begun. Others that it had taken fail."""
    with stack() as grid:
        chance, kills = random.Random(1), 0
        # In the long form seldom enough for a worker to be replaced at once.
        pause = (2.5, 4) if LONG else (0.1, 0.6)
        with Load(grid) as load:
            for _ in turns():
                workers = grid.workers_of("pages", "slow")
                if workers:
                    os.kill(chance.choice(workers), signal.SIGKILL)
                    kills += 1
                time.sleep(chance.uniform(*pause))
        assert grid.log().count("a worker was killed") >= kills - 1 > 0
        # At most what the threads of a process had begun, each time.
        load.judge("%d kills" % kills, 4 * kills, 4 * kills)


run_tests([
    connections_are_kept_and_spread_over_the_processes,
    writes_have_connections_of_their_own,
    a_post_that_reads_comes_on_kept_connections,
    idle_connections_end,
    a_process_without_a_free_thread_is_asked_nothing,
    workers_are_replaced_and_no_request_fails,
    gridapi_is_restarted_and_no_request_fails,
    killed_workers_repeat_no_write_and_cut_what_they_had_begun,
])

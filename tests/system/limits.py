"""What one client, or very many, can take from the others: nothing. Limits of
heads, bodies, addresses and refusals are in pool.py's nginx_errors_are_json
and refusals_are_counted_and_slowed_down.

    GRID_IDLE=10000     idle connections (default 10000 or what ulimit allows)
"""

import http.client
import json
import os
import re
import resource
import socket
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid  # noqa: E402
from stack import PATIENCE, run_tests, wait_until  # noqa: E402

ROWS = "/api/v1/grid?fournisseur=S1&limit=5"


def connect(grid):
    return socket.create_connection(("127.0.0.1", grid.port), PATIENCE)


def pages_are_served(grid, count=50, most=1.0):
    """The slowest of some pages, in seconds; none fails. Not that one is
    judged, which may have met a machine that did something else."""
    times = []
    for _ in range(count):
        begin = time.monotonic()
        answer = grid.ask("GET", ROWS)
        assert answer.status == 200, answer.text
        times.append(time.monotonic() - begin)
    assert statistics.median(times) < most, times
    return max(times)


def ended_within(sock, seconds):
    """What the server said until it ended the connection."""
    sock.settimeout(seconds)
    said = b""
    try:
        while True:
            data = sock.recv(65536)
            if not data:
                return said
            said += data
    except ConnectionResetError:
        return said
    except socket.timeout:
        raise AssertionError("not ended within %g s: %r" % (
            seconds, said[:200])) from None


class Short(Grid):
    """nginx gives up on a slow sender after a second, not after 15 or 30."""

    def __init__(self, **options):
        super().__init__(**options)
        self.directives = ["client_header_timeout 1s",
                           "client_body_timeout 1s", "send_timeout 1s"]


def slow_heads_and_bodies_are_ended_and_hold_up_nobody():
    """Slowloris: 300 connections that send a byte now and then."""
    with Short(settings={"pages.threads": 2}) as grid:
        head = b"GET %s HTTP/1.1\r\nHost: x\r\nX-A: " % ROWS.encode()
        body = (b"POST /api/v1/gammes HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n"
                b"Content-Length: 4000\r\n\r\n{" % grid.key.encode())
        socks = [connect(grid) for _ in range(300)]
        for i, sock in enumerate(socks):
            sock.sendall(head if i % 2 else body)
        begin = time.monotonic()
        slowest = 0
        while time.monotonic() < begin + 2:
            for sock in socks[::2]:  # a byte of the body restarts its second
                try:
                    sock.sendall(b"a")
                except OSError:
                    pass
            slowest = max(slowest, pages_are_served(grid, 5))
        for i, sock in enumerate(socks):
            said = ended_within(sock, PATIENCE)
            assert i % 2 == 0 or said == b"" or b" 408 " in said, said[:80]
            sock.close()
        print("300 slow senders: the slowest page took %.0f ms" %
              (slowest * 1000))


def many_idle_connections_cost_nothing_but_their_number():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = int(os.environ.get("GRID_IDLE", "10000"))
    limit = hard if hard != resource.RLIM_INFINITY else 1 << 20
    count = min(wanted, limit - 300)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 200), hard))
    try:
        with Grid() as grid:
            socks = []
            try:
                for _ in range(count):
                    socks.append(connect(grid))
                slowest = pages_are_served(grid, 100)
                print("%d idle connections: the slowest page took %.1f ms" %
                      (count, slowest * 1000))
                assert "worker_connections" not in grid.nginx_log(), \
                    grid.nginx_log()
                # They are known to nginx: one that speaks is answered.
                socks[0].sendall(b"GET /nothing HTTP/1.0\r\n\r\n")
                assert b"404" in ended_within(socks[0], PATIENCE)
                assert len(grid.log().splitlines()) < 20, grid.log()
            finally:
                for sock in socks:
                    sock.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connections_beyond_the_limit_are_refused_and_pages_come_back():
    with Grid() as grid:
        set_to(grid, 64)
        socks = []
        for _ in range(400):
            try:
                socks.append(connect(grid))
            except OSError:
                break
        wait_until(lambda: "worker_connections are not enough" in
                   grid.nginx_log(), "nginx has too many")
        for sock in socks:
            sock.close()
        wait_until(lambda: is_served(grid), "pages come back")
        pages_are_served(grid, 20)


def is_served(grid):
    try:
        return grid.ask("GET", ROWS).status == 200
    except (OSError, http.client.HTTPException):
        return False


def set_to(grid, connections):
    path = grid.path("nginx/nginx.conf")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(re.sub(r"worker_connections \d+", "worker_connections %d" %
                          connections, text))
    grid.nginx.terminate()
    grid.nginx.wait(PATIENCE)
    grid.start_nginx()


def let_go(grid):
    """The dumps that the access log has as ended: those begun and given up,
    and those that found no place in the queue of the slow pool."""
    with open(grid.path("log/access.log")) as file:
        lines = [json.loads(line) for line in file if line.endswith("\n")]
    lines = [line for line in lines
             if line["uri"] == "/api/v1/grid?fournisseur=S1"]
    given_up = sum(line["status"] == 200 and line["bytes"] < 10000000
                   for line in lines)
    return given_up, sum(line["status"] in (502, 503) for line in lines)


def a_client_that_never_reads_holds_no_worker():
    """One thread in all, and twenty clients that ask and read nothing. A dump
    is 12 MB, as the kernel's buffers alone may take 4."""
    with Short(articles=12000, settings={
            "pages.processes": 1, "pages.threads": 1, "slow.processes": 1,
            "slow.threads": 2, "compute.waiters": 1}) as grid:
        socks = []
        for _ in range(20):
            sock = connect(grid)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.sendall(b"GET /api/v1/grid?fournisseur=S1 HTTP/1.1\r\nHost: x"
                         b"\r\nX-API-Key: %s\r\n\r\n" % grid.key.encode())
            socks.append(sock)
        time.sleep(0.3)
        slowest = pages_are_served(grid, 50, 3.0)
        # nginx lets them go when they took nothing for send_timeout.
        wait_until(lambda: sum(let_go(grid)) == 20,
                   lambda: "nginx let them go: %d, %d" % let_go(grid))
        assert let_go(grid)[0] >= 10, let_go(grid)
        for sock in socks:
            sock.close()
        print("twenty that never read: the slowest page took %.0f ms" %
              (slowest * 1000))


run_tests([
    slow_heads_and_bodies_are_ended_and_hold_up_nobody,
    many_idle_connections_cost_nothing_but_their_number,
    connections_beyond_the_limit_are_refused_and_pages_come_back,
    a_client_that_never_reads_holds_no_worker,
])

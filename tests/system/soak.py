"""Everything at once, for a time: pages, dumps, searches, proposals, imports,
computations, settings read again, workers that are killed, clients that are
slow, that leave, and that never read.

    GRID_SOAK=180    seconds (default 15; GRID_LONG=1: two hours)

What must hold: no 5xx and no cut answer but beside a killed worker, no
acknowledged write lost, memory and open files of the workers flat, the disk
bounded, and `gridctl check` clean at the end.
"""

import http.client
import json
import os
import random
import shutil
import signal
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid  # noqa: E402
from stack import (has_ended, is_sanitized, kill,  # noqa: E402
                   run_tests, wait_until)

LONG = os.environ.get("GRID_LONG", "") not in ("", "0")
SECONDS = float(os.environ.get("GRID_SOAK", "7200" if LONG else "15"))
# A minute between kills, and more often in short forms.
KILL_EVERY = min(60.0, max(4.0, SECONDS / 9))
IMPORT_EVERY = min(60.0, max(5.0, SECONDS / 12))
ARTICLES = 3000 if SECONDS > 60 else 800
RETENTION_S = 10


# docs/operations.md: rows and lists that are kept, what threads keep, and what
# is free or belongs to a request; slow.threads are the most.
SLOW_THREADS = 8
CEILING_KB = (32 + 32 + 16) * 1024 + SLOW_THREADS * 5632


class Soak(Grid):
    """Demo data: one large supplier and some small ones."""

    def fill(self):
        csv = self.path("csv")
        self.ctl("demo", "--out", csv, "--articles", str(ARTICLES),
                 "--suppliers", "8", "--stores", "4", "--seed", "7")
        self.ctl("init")
        self.ctl("import", "--quiet", "--shares", "3", csv)
        self.ctl("compute", "--quiet", "--all")
        self.suppliers = sorted(
            (s for s in json.loads(self.ctl("suppliers", "--json"))
             if s.get("articles", 0) > 0),
            key=lambda s: -s["articles"])
        self.key = self.make_key("robot", "propose")
        self.big = self.suppliers[0]["code"]

    def sizes(self):
        """Bytes and snapshots on disk."""
        size = snapshots = 0
        for folder, _, files in os.walk(self.data):
            for name in files:
                try:
                    size += os.stat(os.path.join(folder, name)).st_blocks * 512
                except FileNotFoundError:
                    continue
                snapshots += "/snapshots/" in folder and name.endswith(".mdb")
        return size, snapshots


class Clock:
    """When workers were killed: who asked then may have been cut."""

    def __init__(self):
        self.kills = []  # [from, until]: before the signal, after the end
        self.end = time.monotonic() + SECONDS

    def begin_kill(self):
        self.kills.append([time.monotonic(), float("inf")])

    def end_kill(self):
        self.kills[-1][1] = time.monotonic()

    def over(self):
        return time.monotonic() > self.end

    def excuses(self, begin, end):
        return any(begin - 1 <= until and since <= end + 0.1
                   for since, until in self.kills)


class Client(threading.Thread):
    def __init__(self, grid, clock, number):
        super().__init__(daemon=True)
        self.grid, self.clock = grid, clock
        self.dice = random.Random(number)
        self.asked = self.excused = 0
        self.wrong, self.took = [], []

    def run(self):
        while not self.clock.over() and len(self.wrong) < 5:
            try:
                self.turn()
            except Exception as error:  # told at the end, with the others
                self.wrong.append(repr(error))

    def ask(self, method, path, body=None, headers=None, good=(200,)):
        """The body, or None where a killed worker excuses that it is none."""
        begin = time.monotonic()
        self.asked += 1
        connection = self.grid.connect(60)
        try:
            connection.request(
                method, path, body,
                dict(headers or {}, **{"X-API-Key": self.grid.key}))
            response = connection.getresponse()
            status, text = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            status, text = 0, repr(error).encode()
        finally:
            connection.close()
        self.took.append(time.monotonic() - begin)
        if status in good:
            return text
        if self.clock.excuses(begin, time.monotonic()) and (
                status == 0 or status >= 500):
            self.excused += 1
        else:
            self.wrong.append((method, path, status, text[:300]))
        return None


class Pages(Client):
    def turn(self):
        supplier = self.dice.choice(self.grid.suppliers)["code"]
        path = self.dice.choice([
            "/api/v1/grid?fournisseur=%s&limit=50&page=%d&sort=%s" % (
                supplier, self.dice.randint(1, 20),
                self.dice.choice(["totalCa", "libelle1", "stockActuel"])),
            "/api/v1/grid?fournisseur=%s&limit=200&fields=libelle1,totalCa"
            "&gamme=A" % supplier,
            "/api/v1/fournisseurs?withData=1",
            "/api/v1/nomenclatures?fournisseur=%s" % supplier,
            "/api/v1/products/search?q=%s&limit=20" % self.dice.choice(
                ["lait", "creme+br", "1000", "bio+pomme"]),
        ])
        text = self.ask("GET", path)
        if text is not None:
            json.loads(text)


class Dumps(Client):
    def turn(self):
        headers = {"Accept": "application/x-ndjson"}
        if self.dice.random() < 0.5:
            headers["Accept-Encoding"] = "gzip"
        text = self.ask("GET", "/api/v1/grid?fournisseur=" + self.grid.big,
                        headers=headers)
        if text is not None and "Accept-Encoding" not in headers:
            lines = text.splitlines()
            json.loads(lines[-1])
            assert len(lines) >= self.grid.suppliers[0]["articles"]
        time.sleep(0.3)


class Proposer(Client):
    """Proposes for articles of its own; remembers what each may be now."""

    def __init__(self, grid, clock, number, articles):
        super().__init__(grid, clock, number)
        self.may_be = {}
        self.articles = articles

    def turn(self):
        codein = self.dice.choice(self.articles)
        gamme = self.dice.choice("ABCYZ")
        text = self.ask("PUT", "/api/v1/products/%s/gamme" % codein,
                        json.dumps({"gamme": gamme,
                                    "fournisseur": self.grid.big}),
                        {"Content-Type": "application/json"})
        if text is None:  # cut: it may be stored, or not
            self.may_be.setdefault(codein, {None}).add(gamme)
        else:
            self.may_be[codein] = {gamme}
        time.sleep(0.01)

    def check(self, rows):
        for codein, may_be in self.may_be.items():
            row = rows[codein]
            # What equals the range as it stands is no proposal.
            wanted = {None if gamme == row["codeGamme"] else gamme
                      for gamme in may_be}
            assert row["gammeAValider"] in wanted, (codein, row, may_be)


class Slow(Client):
    """Reads a dump in small sips."""

    def turn(self):
        begin = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.grid.port), 30) as it:
            it.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            it.sendall(b"GET /api/v1/grid?fournisseur=%s HTTP/1.0\r\n"
                       b"X-API-Key: %s\r\n\r\n" % (
                           self.grid.big.encode(), self.grid.key.encode()))
            while not self.clock.over() and time.monotonic() < begin + 8:
                if not it.recv(2048):
                    break
                time.sleep(0.02)
        self.asked += 1


class Leaver(Client):
    """Goes away at some moment, with a reset."""

    def turn(self):
        with socket.create_connection(("127.0.0.1", self.grid.port), 30) as it:
            it.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                          b"\1\0\0\0\0\0\0\0")
            request = (b"GET /api/v1/grid?fournisseur=%s HTTP/1.1\r\nHost: x"
                       b"\r\nX-API-Key: %s\r\n\r\n" % (
                           self.grid.big.encode(), self.grid.key.encode()))
            it.sendall(request[:self.dice.choice([20, 1000])])
            time.sleep(self.dice.random() * 0.1)
        self.asked += 1
        time.sleep(0.1)


class NeverReads(Client):
    def turn(self):
        with socket.create_connection(("127.0.0.1", self.grid.port), 30) as it:
            it.sendall((b"GET /api/v1/grid?fournisseur=%s HTTP/1.1\r\nHost: x"
                        b"\r\nX-API-Key: %s\r\n\r\n" % (
                            self.grid.big.encode(),
                            self.grid.key.encode())) * 3)
            until = time.monotonic() + 15
            while not self.clock.over() and time.monotonic() < until:
                time.sleep(0.2)
        self.asked += 1


class Importer(Client):
    """Imports the same facts again, which makes every snapshot stale, and
    computes some of them: the rest is computed on demand."""

    def turn(self):
        self.grid.ctl("import", "--quiet", self.grid.path("csv"))
        self.asked += 1
        for supplier in self.grid.suppliers[:3]:
            self.grid.ctl("compute", "--quiet", supplier["code"])
        if self.dice.random() < 0.5:
            self.grid.ctl("compute", "--quiet", "--stale")
        wait_over(self.clock, IMPORT_EVERY)


class Killer(Client):
    def turn(self):
        wait_over(self.clock, KILL_EVERY)
        if self.clock.over():
            return
        workers = self.grid.workers()
        if self.asked % 3 == 2:
            self.grid.pool.send_signal(signal.SIGHUP)
        elif workers:
            victim = self.dice.choice(workers)
            self.clock.begin_kill()
            kill(victim)
            wait_until(lambda: has_ended(victim), "a killed worker ends")
            self.clock.end_kill()
        self.asked += 1


def wait_over(clock, seconds):
    until = time.monotonic() + seconds
    while not clock.over() and time.monotonic() < until:
        time.sleep(0.1)


class Watch(Client):
    """Memory of its own and open files, the most that a worker has; the
    disk."""

    def __init__(self, grid, clock):
        super().__init__(grid, clock, 0)
        self.memory, self.files, self.disk = [], [], []

    def turn(self):
        memory = files = 0
        for pid in self.grid.workers():
            try:
                with open("/proc/%d/status" % pid) as file:
                    for line in file:
                        if line.startswith("RssAnon:"):
                            memory = max(memory, int(line.split()[1]))
                files = max(files, len(os.listdir("/proc/%d/fd" % pid)))
            except OSError:
                continue
        if memory:
            self.memory.append(memory)
            self.files.append(files)
        self.disk.append(self.grid.sizes())
        wait_over(self.clock, max(0.5, SECONDS / 200))


def flat(values, slack):
    """The last third is not above the second one by more than `slack`; the
    first is for caches to fill."""
    third = len(values) // 3
    if third < 5:
        return True
    return max(values[-third:]) <= max(values[:-third]) * 1.3 + slack


def final_rows(grid):
    connection = grid.connect(120)
    connection.request("GET", "/api/v1/grid?fournisseur=%s&fields=codeGamme,"
                       "gammeAValider" % grid.big,
                       headers={"X-API-Key": grid.key})
    response = connection.getresponse()
    assert response.status == 200, response.status
    rows = json.loads(response.read())["data"]
    connection.close()
    return {row["codein"]: row for row in rows}


def everything_at_once():
    grid = Soak(settings={"api.retention": str(RETENTION_S),
                          "slow.processes": 1, "pages.threads": 6,
                          "slow.threads": SLOW_THREADS})
    with grid:
        before = grid.sizes()
        articles = sorted(final_rows(grid))
        clock = Clock()
        proposers = [Proposer(grid, clock, 10 + i, articles[i * 40:i * 40 + 40])
                     for i in range(2)]
        watch = Watch(grid, clock)
        clients = proposers + [
            Pages(grid, clock, 1), Pages(grid, clock, 2),
            Dumps(grid, clock, 3), Slow(grid, clock, 4),
            Leaver(grid, clock, 5), NeverReads(grid, clock, 6),
            Importer(grid, clock, 7), Killer(grid, clock, 8), watch]
        for client in clients:
            client.start()
        for client in clients:
            client.join(SECONDS + 120)
            assert not client.is_alive(), client
        for client in clients:
            assert not client.wrong, (client.__class__.__name__,
                                      client.wrong[:3], grid.log()[-2000:])
        rows = final_rows(grid)
        for proposer in proposers:
            proposer.check(rows)
        tell(clients, clock, watch, before, grid)
        check_ends(grid, watch, before, sum(p.asked for p in proposers))


def largest(grid):
    found = []
    for folder, _, files in os.walk(grid.data):
        for name in files:
            path = os.path.join(folder, name)
            found.append((os.stat(path).st_blocks * 512,
                          os.path.relpath(path, grid.data)))
    return sorted(found, reverse=True)[:8]


TRAIL_BYTES = 128  # of state.mdb, for a request of a proposer: kept for good


def check_ends(grid, watch, before, proposed):
    # 4 MB and 40 files are what a moment may bring. A sanitizer notes what
    # was mapped and has gone, and keeps what was freed.
    assert is_sanitized(grid.gridapi) or flat(watch.memory, 4096), \
        watch.memory
    assert is_sanitized(grid.gridapi) or max(watch.memory) < CEILING_KB, \
        watch.memory
    assert flat(watch.files, 40), watch.files
    grid.ctl("compute", "--quiet", "--stale")
    time.sleep(RETENTION_S + 1)
    grid.ctl("prune", "--grace", "%ds" % RETENTION_S)
    after = grid.sizes()
    assert after[1] <= len(grid.suppliers), after
    trail = TRAIL_BYTES * proposed
    assert after[0] <= before[0] * 1.5 + (8 << 20) + trail, (
        before, after, proposed, largest(grid))
    # Between two computations there are two of each, and those that are kept.
    most = max(size for size, _ in watch.disk)
    assert most <= before[0] * (3 + 90 / IMPORT_EVERY) + (32 << 20) + trail, (
        before, most, proposed)
    assert "damaged" not in grid.log().lower(), grid.log()[-3000:]
    grid.ctl("check", "--quiet")


def tell(clients, clock, watch, before, grid):
    counts = {}
    for client in clients:
        name = client.__class__.__name__
        counts[name] = counts.get(name, 0) + client.asked
    took = sorted(t for c in clients if isinstance(c, Pages) for t in c.took)
    print("%d s: %s" % (SECONDS, ", ".join(
        "%s %d" % pair for pair in sorted(counts.items()))))
    print("%d kills, %d answers that they cut; pages: median %.1f ms, 99 %% "
          "%.1f ms" % (len(clock.kills), sum(c.excused for c in clients),
                       took[len(took) // 2] * 1000,
                       took[len(took) * 99 // 100] * 1000))
    print("a worker: at most %d KB of its own, %d files; disk %d to %d MB, "
          "%d in the end" % (
              max(watch.memory), max(watch.files), before[0] >> 20,
              max(size for size, _ in watch.disk) >> 20,
              grid.sizes()[0] >> 20))


run_tests([everything_at_once])

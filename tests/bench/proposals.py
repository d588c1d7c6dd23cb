"""Proposals against SQLite that keeps its promises the same way (WAL,
synchronous=FULL), in turns, on this machine:

    POST /gammes with 10,000 changes, through nginx, whole, and the store's
    part of it alone: time and disk flushes, beside the same 10,000 upserts in
    one transaction. Against the whole counts all that is not storing: JSON in
    and out, the key, are all of them articles. SQLite is given the values
    ready; once the upserts alone, once with a trail as ours. And once it does
    the same work behind the same nginx: tests/bench/peer_propose.c reads the
    body, looks up each article, keeps a trail and answers the same JSON.

    PUT /products/{codein}/gamme by 8 clients at once, beside 8 processes with
    a connection each that upsert a row a transaction.

Flushes are counted by strace in turns of their own: fsync, fdatasync, msync,
and writes to a file that was opened with O_DSYNC.

    BENCH_QUICK=1      a short form
    BENCH_DIR=FOLDER   where the files are (a disk, not a tmpfs)
"""

import json
import multiprocessing
import os
import platform
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system"))
QUICK = os.environ.get("BENCH_QUICK", "") not in ("", "0")
if os.environ.get("BENCH_DIR"):
    tempfile.tempdir = os.environ["BENCH_DIR"]
from grid import Grid  # noqa: E402
from stack import BUILD, Stack, wait_until  # noqa: E402

CHANGES = 10000
TURNS = 5 if QUICK else 15
CLIENTS = 8
SECONDS = 1.0 if QUICK else 3.0
PUT_TURNS = 3 if QUICK else 7
RANGES = "ABCYZ"

SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE pending (fournisseur TEXT, codein TEXT, gamme TEXT NOT NULL,
    author TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (fournisseur, codein)) WITHOUT ROWID;
CREATE TABLE articles (fournisseur TEXT, codein TEXT, gamme TEXT,
    PRIMARY KEY (fournisseur, codein)) WITHOUT ROWID;
CREATE TABLE validated (fournisseur TEXT, codein TEXT, gamme TEXT NOT NULL,
    PRIMARY KEY (fournisseur, codein)) WITHOUT ROWID;
CREATE TABLE audit (number INTEGER PRIMARY KEY, at INTEGER NOT NULL,
    event TEXT NOT NULL, actor TEXT NOT NULL, fournisseur TEXT NOT NULL,
    codein TEXT NOT NULL, gamme TEXT NOT NULL, before TEXT NOT NULL);
"""
UPSERT = """INSERT INTO pending VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (fournisseur, codein) DO UPDATE SET gamme = excluded.gamme,
    author = excluded.author, at = excluded.at"""
TRAIL = """INSERT INTO audit (at, event, actor, fournisseur, codein, gamme,
    before) VALUES (?, 'replaced', 'robot', ?, ?, ?, 'A')"""


def connect(path):
    base = sqlite3.connect(path, timeout=60, isolation_level=None)
    base.execute("PRAGMA synchronous = FULL")
    return base


# --- 10,000 at once ----------------------------------------------------------


class Door(Stack):
    """peer_propose behind the nginx that gridapi has."""

    key = "none"

    def __init__(self, base):
        super().__init__()
        self.base = base

    def start_pool(self, seconds=20):
        socket_path = self.settings["pages.socket"]
        self.pool = subprocess.Popen(
            [os.path.join(BUILD, "tests", "bench", "peer_propose"),
             self.base, socket_path], stdin=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(socket_path),
                   "peer_propose listens", seconds)


def post(grid, bodies, turn):
    body = bodies[turn % len(bodies)]
    connection = grid.connect(60)
    connection.connect()
    start = time.perf_counter()
    connection.request("POST", "/api/v1/gammes", body, {
        "X-API-Key": grid.key, "Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    took = time.perf_counter() - start
    connection.close()
    assert response.status == 200, answer[:300]
    assert json.loads(answer)["meta"]["modifies"] == CHANGES
    return took


class Store:
    """Our store without HTTP around it: tests/bench/deposit."""

    def __init__(self, data):
        self.process = subprocess.Popen(
            [os.path.join(BUILD, "tests", "bench", "deposit"), data],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def deposit(self, turn):
        self.process.stdin.write(
            "propose S1 %s %d\n" % ("ABCY"[turn % 4], CHANGES))
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[0]) / 1000

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        self.process.stdout.close()


def theirs(base, codes, turn, trail):
    gamme, now = RANGES[turn % 4], int(time.time() * 1000)
    rows = [("S1", code, gamme, "robot", now) for code in codes]
    trails = [(now, "S1", code, gamme) for code in codes] if trail else []
    start = time.perf_counter()
    base.execute("BEGIN IMMEDIATE")
    base.executemany(UPSERT, rows)
    if trail:
        base.executemany(TRAIL, trails)
    base.execute("COMMIT")
    return time.perf_counter() - start


def synchronous_files(pids):
    """The files under data/ that some process has open with O_DSYNC."""
    found = set()
    for pid in pids:
        for fd in os.listdir("/proc/%d/fd" % pid):
            try:
                with open("/proc/%d/fdinfo/%s" % (pid, fd)) as file:
                    flags = int(re.search(r"flags:\s*(\d+)",
                                          file.read()).group(1), 8)
                if flags & os.O_DSYNC:
                    found.add("%s<%s" % (fd, os.readlink(
                        "/proc/%d/fd/%s" % (pid, fd))))
            except OSError:
                pass
    return found


def flushes(pids, work, run):
    """Flushes by these processes while `run` runs; None without strace."""
    if shutil.which("strace") is None:
        return None
    log = os.path.join(work, "strace")
    command = ["strace", "-f", "-y", "-o", log, "-e",
               "trace=fsync,fdatasync,msync,write,pwrite64,pwritev"]
    for pid in pids:
        command += ["-p", str(pid)]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        attached = 0
        while attached < len(pids):
            line = tracer.stderr.readline()
            if not line:
                return None
            attached += "attached" in line
        time.sleep(0.3)
        before = flush_lines_of(log, pids)
        run()
        time.sleep(0.2)
        return flush_lines_of(log, pids) - before
    finally:
        tracer.terminate()
        tracer.wait()
        tracer.stderr.close()


def flush_lines_of(log, pids):
    marks = ["%s>" % one for one in synchronous_files(pids)]
    count = 0
    with open(log, errors="replace") as file:
        for line in file:
            if re.search(r"\b(fsync|fdatasync|msync)\(", line):
                count += 1
            elif re.search(r"\bp?writev?(64)?\(", line):
                count += any("(" + mark in line for mark in marks)
    return count


def counted_sqlite(path, codes, trail, pipe):
    """In a process of its own, so that strace sees it alone."""
    base = connect(path)
    pipe.send(os.getpid())
    while True:
        turn = pipe.recv()
        if turn is None:
            return
        theirs(base, codes, turn, trail)
        pipe.send("done")


def sqlite_flushes(path, codes, trail, work):
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(
        target=counted_sqlite, args=(path, codes, trail, there), daemon=True)
    process.start()
    pid = here.recv()

    def run():
        for turn in range(4):
            here.send(turn)
            here.recv()

    count = flushes([pid], work, run)
    here.send(None)
    process.join()
    return None if count is None else count / 4


def median(values):
    return statistics.median(values)


def shown(count):
    return "?" if count is None else "%.1f" % count


def make_base(path, codes):
    base = sqlite3.connect(path)
    base.executescript(SCHEMA)
    base.executemany("INSERT INTO articles VALUES ('S1', ?, 'Z')",
                     [(code,) for code in codes])
    base.commit()
    base.close()


class Contender:
    """One way to store the changes; `run` takes the turn's number and gives
    seconds, `pids` are those whose flushes count."""

    def __init__(self, name, run, pids):
        self.name, self.run, self.pids = name, run, pids
        self.times, self.flushes = [], None


def measure(contenders, work):
    for turn in range(TURNS + 2):
        for one in contenders:
            took = one.run(turn)
            if turn >= 2:  # two turns to warm up
                one.times.append(took * 1000)
    for one in contenders:
        if one.pids is None:
            continue
        count = flushes(one.pids(), work, lambda one=one: [
            one.run(turn) for turn in range(TURNS + 2, TURNS + 6)])
        one.flushes = None if count is None else count / 4


def show(contenders):
    print("\n| %d changes in one transaction, %d turns | median ms | best ms "
          "| flushes | POST takes | the store takes |" % (CHANGES, TURNS))
    print("|---|---|---|---|---|---|")
    for one in contenders:
        print("| %s | %.1f | %.1f | %s | %.2f of it | %.2f of it |" % (
            one.name, median(one.times), min(one.times), shown(one.flushes),
            median([a / b for a, b in zip(contenders[0].times, one.times)]),
            median([a / b for a, b in zip(contenders[1].times, one.times)])))


def many_at_once(work):
    paths = [os.path.join(work, name) for name in ("plain", "trail", "door")]
    with Grid(articles=CHANGES, settings={
            "pages.processes": 2, "pages.threads": 8}) as grid:
        codes = grid.articles
        for path in paths:
            make_base(path, codes)
        # Recorded ranges are other than these: each change is one.
        all_z = grid.path("z.csv")
        with open(all_z, "w") as file:
            file.write("fournisseur,codein,gamme\n" + "".join(
                "S1,%s,Z\n" % code for code in codes))
        grid.ctl("gammes", "import", "--quiet", all_z)
        bodies = [json.dumps({"fournisseur": "S1", "changes": [
            {"codein": code, "gamme": gamme} for code in codes]}).encode()
            for gamme in "ABCY"]
        bases = [connect(path) for path in paths[:2]]
        # Its own data directory: the two do not write the same pages.
        shutil.copytree(grid.data, os.path.join(work, "data"))
        store = Store(os.path.join(work, "data"))
        contenders = [
            Contender("`POST /gammes`, whole, through nginx",
                      lambda turn: post(grid, bodies, turn), grid.workers),
            Contender("the store's part of it, alone", store.deposit,
                      lambda: [store.process.pid]),
            Contender("SQLite, the upserts alone",
                      lambda turn: theirs(bases[0], codes, turn, False), None),
            Contender("SQLite, the upserts and an audit trail",
                      lambda turn: theirs(bases[1], codes, turn, True), None)]
        if os.path.exists(os.path.join(BUILD, "tests/bench/peer_propose")):
            with Door(paths[2]) as door:
                contenders.append(Contender(
                    "SQLite, the whole `POST`, through nginx",
                    lambda turn: post(door, bodies, turn),
                    lambda: [door.pool.pid]))
                measure(contenders, work)
        else:
            print("without sqlite3.h: no SQLite behind nginx")
            measure(contenders, work)
        for base in bases:
            base.close()
        for one, path, trail in zip(contenders[2:4], paths, (False, True)):
            one.flushes = sqlite_flushes(path, codes, trail, work)
        store.end()
    show(contenders)


# --- 8 clients ---------------------------------------------------------------


def read_answer(sock, kept):
    while b"\r\n\r\n" not in kept:
        kept += sock.recv(65536)
    head, _, rest = kept.partition(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
    while len(rest) < length:
        rest += sock.recv(65536)
    assert head.startswith(b"HTTP/1.1 200"), head + rest
    return rest[length:]


def put_client(port, key, codes, seconds, gate, results, number):
    requests = []
    for gamme in "ABCY":
        for code in codes[number::CLIENTS][:50]:
            body = json.dumps({"gamme": gamme, "fournisseur": "S1"})
            requests.append((
                "PUT /api/v1/products/%s/gamme HTTP/1.1\r\nHost: x\r\n"
                "X-API-Key: %s\r\nContent-Type: application/json\r\n"
                "Content-Length: %d\r\n\r\n%s" % (
                    code, key, len(body), body)).encode())
    sock = socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.settimeout(30)
    times = []
    kept = b""
    gate.wait()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        sock.sendall(requests[len(times) % len(requests)])
        kept = read_answer(sock, kept)
        times.append(time.perf_counter() - start)
    results.put(times)


def sqlite_client(path, codes, seconds, gate, results, number):
    base = connect(path)
    mine = codes[number::CLIENTS][:50]
    times = []
    gate.wait()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        now = int(time.time() * 1000)
        code = mine[len(times) % len(mine)]
        gamme = RANGES[len(times) // len(mine) % 4]
        start = time.perf_counter()
        base.execute("BEGIN IMMEDIATE")
        base.execute(UPSERT, ("S1", code, gamme, "robot", now))
        base.execute(TRAIL, (now, "S1", code, gamme))
        base.execute("COMMIT")
        times.append(time.perf_counter() - start)
    results.put(times)


def eight(target, *args):
    """Requests a second, and their times in ms, of all clients."""
    gate = multiprocessing.Barrier(CLIENTS)
    results = multiprocessing.Queue()
    clients = [multiprocessing.Process(
        target=target, args=args + (SECONDS, gate, results, number),
        daemon=True) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    times = [one for _ in clients for one in results.get(timeout=120)]
    for client in clients:
        client.join()
    times.sort()
    return (len(times) / SECONDS, median(times) * 1000,
            times[len(times) * 99 // 100] * 1000)


def small_ones(work):
    path = os.path.join(work, "small")
    sqlite3.connect(path).executescript(SCHEMA)
    with Grid(articles=400, settings={
            "pages.processes": 2, "pages.threads": 8}) as grid:
        all_z = grid.path("z.csv")
        with open(all_z, "w") as file:
            file.write("fournisseur,codein,gamme\n" + "".join(
                "S1,%s,Z\n" % code for code in grid.articles))
        grid.ctl("gammes", "import", "--quiet", all_z)
        got = [[], []]
        for _ in range(PUT_TURNS):
            got[0].append(eight(put_client, grid.port, grid.key,
                                grid.articles))
            got[1].append(eight(sqlite_client, path, grid.articles))
        done = []

        def run():
            done.append(eight(put_client, grid.port, grid.key,
                              grid.articles)[0] * SECONDS)

        count = flushes(grid.workers(), work, run)
        each = None if count is None else count / done[0]
    print("\n| a row each transaction, %d clients, %d turns of %g s "
          "| a second | median ms | p99 ms | PUT is |" % (
              CLIENTS, PUT_TURNS, SECONDS))
    print("|---|---|---|---|---|")
    for name, turns in zip(("`PUT`, through nginx",
                            "SQLite, 8 processes, upsert and trail"), got):
        print("| %s | %.0f | %.2f | %.2f | %.2f times as fast |" % (
            (name,) + tuple(median([turn[i] for turn in turns])
                            for i in range(3)) +
            (median([a[0] / b[0] for a, b in zip(got[0], turns)]),)))
    print("\nFlushes a PUT: %s" % ("?" if each is None else "%.2f" % each))


def main():
    print("SQLite %s, Python %s, Linux %s, %d processors" % (
        sqlite3.sqlite_version, platform.python_version(), platform.release(),
        os.cpu_count()))
    print("Load of the machine at the start: %.1f" % os.getloadavg()[0])
    work = tempfile.mkdtemp(prefix="grid-bench-")
    try:
        many_at_once(work)
        small_ones(work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()

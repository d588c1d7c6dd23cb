"""What several nodes cost beside one, in turns, on this machine:

    instructions of a page, counted by callgrind in tests/fcgi/once, without
    and with a cluster.conf; processor time of gridapi's workers a page, of one
    machine, of a node of three, of three machines of their own and of three
    nodes that are asked at once, and how many pages that is for each second of
    a processor;

    PUT of one proposal, POST of 10,000, Save of one edit, a login: ms, and
    bytes of the entry in the log that it makes;

    an empty node that joins, and gets what was imported: ms, and bytes.

The three nodes, their etcd of three members and the clients are on this one
machine, with data on its disk and etcd's in memory: what an append waits for a
network and for three disks is not in the figures.

    GRID_ENGINE=postgres   by PostgreSQL instead of etcd
    BENCH_QUICK=1          a short form
"""

import base64
import glob
import json
import os
import resource
import statistics
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system"))
sys.path.insert(0, HERE)
import budgets  # noqa: E402
from etcd import Etcd, Other, begin_sharing  # noqa: E402
from grid import Grid  # noqa: E402
from join import Node, Spare  # noqa: E402
from postgres_kit import Postgres  # noqa: E402
from stack import wait_until  # noqa: E402

QUICK = os.environ.get("BENCH_QUICK", "") not in ("", "0")
ENGINE = {"etcd": Etcd, "postgres": Postgres}[
    os.environ.get("GRID_ENGINE") or "etcd"]
ARTICLES = 20000
MANY = 10000
PAGES = 500 if QUICK else 3000
WRITES = 30 if QUICK else 200
BULKS = 3 if QUICK else 9
PAGE = ("/api/v1/grid?fournisseur=S1&limit=100&fields=codein,libelle1,"
        "codeGamme,gammeAValider")


def count_instructions():
    """{page: (alone, with a cluster.conf)}; None where it cannot be counted."""
    names = ["ten-fields", "one-article"]
    try:
        budgets.need_usual_code()
        data, pages = budgets.make_pages(names)
        alone = budgets.instructions(pages)
        with ENGINE() as engine:
            engine.write_conf(data.folder)
            beside = budgets.instructions(pages)
        return {name: (alone[name], beside[name]) for name in names}
    except (budgets.Skipped, FileNotFoundError) as why:
        print("instructions are not counted: %s" % why)
        return {}


def processor_ns(pids):
    total = 0
    for pid in pids:
        for path in glob.glob("/proc/%d/task/*/schedstat" % pid):
            with open(path) as file:
                total += int(file.read().split()[0])
    return total


def ask_pages(grid):
    for _ in range(PAGES):
        answer = grid.ask("GET", PAGE)
        assert answer.status == 200, answer.text


def page_cost(*grids):
    """Microseconds of the workers a page, of nodes that are asked at once."""
    def spent():
        return sum(processor_ns(grid.workers_of("pages")) for grid in grids)

    before = spent()
    clients = [threading.Thread(target=ask_pages, args=(grid,))
               for grid in grids]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return (spent() - before) / 1000 / PAGES / len(grids)


def in_turns(*groups):
    """The median of what a page costs for each of them."""
    rounds = [[page_cost(*grids) for grids in groups] for _ in range(5)]
    return [statistics.median(costs) for costs in zip(*rounds)]


class Empty(Spare):
    """A node that has nothing yet."""

    def write_conf(self):
        self.engine.write_conf(
            self.data, "address = http://127.0.0.1:9\nsecret_file = %s\n" %
            self.one.path("secret"), "empty")


def join_cost():
    """{command: (ms, ms of a processor)}, and the bytes that came."""
    found = {}
    with ENGINE() as engine, Node(engine, articles=ARTICLES) as one, \
            Empty(engine, one) as empty:
        wait_until(one.is_current, "it is current")
        empty.write_conf()
        for word in ("join", "pull"):
            start, used = time.perf_counter(), children_s()
            empty.must("cluster", word)
            found[word] = ((time.perf_counter() - start) * 1000,
                           (children_s() - used) * 1000)
        folder = empty.data + "/files"
        came = sum(os.path.getsize(os.path.join(folder, name))
                   for name in os.listdir(folder))
    return found, came


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(ask):
    start = time.perf_counter()
    answer = ask()
    took = (time.perf_counter() - start) * 1000
    assert answer.status == 200, answer.text
    return took


class Bench:
    """One that clients write to, and how long it took."""

    def __init__(self, name, grid):
        self.name, self.grid, self.turn = name, grid, 0
        self.session = grid.login()
        self.times = {kind: [] for kind in KINDS}
        self.sizes = {}

    def gamme(self):
        self.turn += 1
        return "ABCY"[self.turn % 4]

    def one(self):
        code = self.grid.articles[self.turn % 1000]
        return lambda: self.grid.put(code, self.gamme())

    def many(self):
        gamme = self.gamme()
        body = json.dumps({"fournisseur": "S1", "changes": [
            {"codein": code, "gamme": gamme}
            for code in self.grid.articles[:MANY]]})
        return lambda: self.grid.ask("POST", "/api/v1/gammes", body,
                                     timeout=60)

    def save(self):
        edits = [{"codein": self.grid.articles[MANY + self.turn % 5000],
                  "gamme": self.gamme()}]
        return lambda: self.grid.app(self.session, "POST", "/save", {
            "fournisseur": "S1", "proposals": [], "edits": edits})

    def login(self):
        return lambda: self.grid.ask(
            "POST", "/app/session", {"user": "marie", "password":
                                     "correct horse battery"}, key="")

    def run(self, kind):
        self.times[kind].append(timed(getattr(self, kind)()))


KINDS = {"one": ("`PUT` of a proposal", WRITES),
         "many": ("`POST` of 10,000", BULKS),
         "save": ("Save of an edit", WRITES),
         "login": ("login", BULKS)}


def last_entry(engine):
    """Bytes of the newest entry of the state's log."""
    if isinstance(engine, Postgres):
        return int(engine.sql("SELECT octet_length(entry) FROM "
                              "product_grid_log WHERE log = 2 "
                              "ORDER BY number DESC LIMIT 1"))

    def key(text):
        return base64.b64encode(text.encode()).decode()
    prefix = "product-grid/log/state/"
    found = engine.ask(0, "/v3/kv/range", {
        "key": key(prefix), "range_end": key(prefix[:-1] + "0"),
        "sort_order": "DESCEND", "sort_target": "KEY", "limit": "1"})
    return len(base64.b64decode(found["kvs"][0]["value"]))


def p99(values):
    return sorted(values)[int(len(values) * 0.99)]


def show(benches, costs, counts, joined):
    alone, shared = benches
    print("load of the machine: " + " ".join(
        "%.1f" % value for value in os.getloadavg()))
    print("\n| | one machine | a node of three | |\n|---|---|---|---|")
    for name, (before, after) in counts.items():
        print("| instructions of a page, %s | %d | %d | %+.2f %% |" % (
            name, before, after, 100.0 * (after - before) / before))
    for name, pair in zip(("", ", three asked at once"), costs):
        print("| processor time of a page%s, us | %.0f | %.0f | |" %
              (name, *pair))
        print("| pages a second of a processor%s | %d | %d | |" %
              (name, *(1e6 / cost for cost in pair)))
    for kind, (name, _) in KINDS.items():
        print("| %s, median ms | %.1f | %.1f | %d bytes in the log |" % (
            name, statistics.median(alone.times[kind]),
            statistics.median(shared.times[kind]), shared.sizes[kind]))
        if len(alone.times[kind]) >= 30:
            print("| the same, p99 ms | %.1f | %.1f | |" % (
                p99(alone.times[kind]), p99(shared.times[kind])))
    times, came = joined
    for word, (took, used) in times.items():
        print("| `cluster %s` of an empty node, %d articles, ms | | %.0f | "
              "%.0f of a processor |" % (word, ARTICLES, took, used))
    print("| bytes that it got | | %d | |" % came)


def is_current(grid):
    answer = grid.ask("GET", PAGE)
    return answer.status == 200 and "X-Grid-Behind" not in answer.headers


def main():
    counts = count_instructions()
    joined = join_cost()
    with ENGINE(members=3) as engine, Grid(articles=ARTICLES) as alone, \
            Grid(articles=ARTICLES) as second, \
            Grid(articles=ARTICLES) as third, \
            Grid(articles=ARTICLES) as one, Other(one) as two, \
            Other(one) as three:
        begin_sharing(engine, one, two, three)
        wait_until(lambda: all(map(is_current, (one, two, three))),
                   "all nodes are current")
        benches = [Bench("one machine", alone), Bench("three nodes", one)]
        costs = (in_turns((alone,), (one,)),
                 in_turns((alone, second, third), (one, two, three)))
        for kind, (_, turns) in KINDS.items():
            for _ in range(turns):
                for bench in benches:
                    bench.run(kind)
            benches[1].sizes[kind] = last_entry(engine)
    show(benches, costs, counts, joined)


if __name__ == "__main__":
    main()

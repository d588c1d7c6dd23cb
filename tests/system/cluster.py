"""Three nodes on hosts of their own, with faults while clients write: what was
acknowledged is there once, on all of them, in an order that respects time.

    GRID_LONG=1         100 faults, two at a time; GRID_FAULTS for another number
    GRID_WRITES=50000   goes on until as many writes are acknowledged, an equal
                        share of them in the time from each fault to the next
    GRID_SEED=7         the same faults again; their moments differ

What the cluster has to show: GRID_LONG=1 GRID_FAULTS=200 GRID_WRITES=50000
"""

import os
import random
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster_kit import (  # noqa: E402
    FAULTS, Cluster, Cut, KilledGridapi, Lossy, Slow, can_shape)
from cluster_load import Load  # noqa: E402
from history import (  # noqa: E402
    accounts, not_fresh, not_linearizable, out_of_time, the_checker_finds_what_is_wrong)
from stack import run_tests, wait_until  # noqa: E402

LONG = os.environ.get("GRID_LONG", "") not in ("", "0")
COUNT = int(os.environ.get("GRID_FAULTS", "100" if LONG else "2"))
WRITES = int(os.environ.get("GRID_WRITES", "0"))
SEED = int(os.environ.get("GRID_SEED", time.time_ns() % 10 ** 6))


def hold(load, faults, seconds=0, writes=0):
    """Begins the faults, waits, and ends them."""
    acknowledged = load.acknowledged()
    for fault in faults:
        fault.run(True)
    time.sleep(seconds)
    wait_until(lambda: load.acknowledged() >= acknowledged + writes,
               "others go on beside " + ", ".join(map(str, faults)))
    # nginx first: a worker is back when a page comes through it.
    for fault in sorted(faults, key=lambda fault: fault.part != "nginx"):
        fault.run(False)
    load.faults += faults


def goes_on(load):
    acknowledged = load.acknowledged()
    wait_until(lambda: load.acknowledged() >= acknowledged + 10,
               lambda: "writes go on: " + load.last_words())


def share_is_written(load, faults):
    """Of GRID_WRITES, what belongs to the faults until now; however long it takes,
    as long as writes go on."""
    while load.acknowledged() * COUNT < WRITES * faults:
        goes_on(load)


def short_faults(cluster, load):
    """One kill and one cut, of the host with etcd's leader."""
    hold(load, [KilledGridapi(cluster, 0)], writes=20)
    goes_on(load)
    hold(load, [Cut(cluster, cluster.leader())], seconds=2, writes=20)
    share_is_written(load, COUNT)


def pairs(cluster, rng):
    """Two that do not meddle with one part of one host."""
    kinds = FAULTS + ([Slow, Lossy] if can_shape() else [])
    while True:
        faults = []
        for _ in range(2):
            kind = rng.choice(kinds)
            leads = rng.random() < 0.5
            faults.append(kind(cluster, cluster.leader() if leads
                               else rng.randrange(len(cluster.nodes))))
        parts = [(fault.part, fault.i) for fault in faults]
        network = [part for part, _ in parts if part == "network"]
        if parts[0] != parts[1] and len(network) < 2:
            yield faults


def long_faults(cluster, load):
    rng = random.Random(SEED)
    told = time.monotonic()
    for number, faults in zip(range(2, COUNT + 1, 2), pairs(cluster, rng)):
        hold(load, faults, seconds=rng.uniform(0.5, 4))
        goes_on(load)
        share_is_written(load, number)
        time.sleep(rng.uniform(0, 1))
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print("%d faults, %d acknowledged" % (
                number, load.acknowledged()), flush=True)


def all_are_equal(cluster):
    """Waits until all have the same, and returns the feed that they show."""
    tables = []

    def are_equal():
        tables[:] = [node.tables() for node in cluster.nodes]
        return len(set(tables)) == 1

    wait_until(lambda: all(node.is_current() for node in cluster.nodes),
               "all nodes are current")
    wait_until(are_equal, lambda: "the tables are equal:\n" +
               "\n".join(tables))
    feeds = [feed(node) for node in cluster.nodes]
    assert feeds[0] == feeds[1] == feeds[2]
    return feeds[0]


def feed(node):
    entries, cursor = [], ""
    while True:
        answer = node.ask("GET", "/api/v1/propositions?fournisseur=S1&order="
                          "asc&limit=10000" + cursor)
        assert answer.status == 200, answer.text
        entries += answer.json["data"]
        if answer.json["meta"]["complet"]:
            return entries
        cursor = "&depuis=%s" % answer.json["meta"]["suivant"]


def check(load, entries):
    """What the clients were told, against what is there."""
    stored = [entry["motif"] for entry in entries
              if entry["etat"] == "proposee"]
    assert load.acknowledged() >= WRITES
    wrong = accounts(load.names("acknowledged"), load.names("refused"), stored)
    assert wrong == [], wrong[:20]
    wrong = out_of_time(load.times(), stored)
    assert wrong == [], wrong[:20]
    # The checks find it if the log had forgotten, or repeated itself.
    assert accounts(load.names("acknowledged"), [], stored[1:]) != [] or \
        stored[0] not in load.names("acknowledged")
    assert accounts([], [], stored + stored[:1]) != []
    wrong = not_linearizable(load.register_history(), load.first_state)
    assert wrong == [], [op for op in load.register_history()
                         if op["key"] == wrong[0]]
    assert load.fallen == [], load.fallen[:20]
    wrong = not_fresh(load.shown)
    assert wrong == [], wrong[:5]
    assert load.fresh[True] > 0
    wrong = load.pages_that_failed()
    assert wrong == [], wrong[:20]


def tell(load, cluster):
    print("seed %d: %d faults, %s" % (SEED, len(load.faults), load.summary()))
    print("pages: %s" % load.pages_summary())
    print("seen on another node: %s" % load.staleness())
    print("with X-Grid-Seen: %d answered, %d not" % (
        load.fresh[True], load.fresh[False]))


def what_was_acknowledged_is_there_whatever_fails():
    with Cluster(articles=1500 if LONG else 60) as cluster:
        with Load(cluster, SEED) as load:
            goes_on(load)
            (long_faults if LONG else short_faults)(cluster, load)
            goes_on(load)
            load.measure_staleness(200 if LONG else 20)
        entries = all_are_equal(cluster)
        tell(load, cluster)
        try:
            check(load, entries)
        except AssertionError:
            for node in cluster.nodes:
                print(node.log()[-6000:])
            raise


if __name__ == "__main__":
    run_tests([the_checker_finds_what_is_wrong,
               what_was_acknowledged_is_there_whatever_fails])

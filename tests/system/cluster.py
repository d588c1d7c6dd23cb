"""Three nodes on hosts of their own, with faults while clients write, import and
compute: what was acknowledged is there once, on all of them, in an order that respects
time.

    GRID_LONG=1         100 faults, two at a time; GRID_FAULTS for another number
    GRID_WRITES=50000   goes on until as many writes are acknowledged, an equal
                        share of them in the time from each fault to the next
    GRID_SEED=7         the same faults again; their moments differ
    GRID_BEFORE=DIR     a folder where the version before was built: nodes run it,
                        too, for a while
    GRID_KINDS=Cut,...  these faults alone

What the cluster has to show: GRID_LONG=1 GRID_FAULTS=200 GRID_WRITES=50000
"""

import os
import random
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster_faults import Cut, KilledGridapi, kinds  # noqa: E402
from cluster_kit import Cluster, host_name  # noqa: E402
from cluster_load import Load  # noqa: E402
from cluster_works import (  # noqa: E402
    Keys, Looker, Works, are_shown, computed, settle)
from history import (  # noqa: E402
    accounts, not_fresh, not_linearizable, out_of_time,
    the_checker_finds_what_is_wrong, wrong_imports)
from stack import run_tests, wait_until  # noqa: E402

LONG = os.environ.get("GRID_LONG", "") not in ("", "0")
COUNT = int(os.environ.get("GRID_FAULTS", "100" if LONG else "2"))
WRITES = int(os.environ.get("GRID_WRITES", "0"))
SEED = int(os.environ.get("GRID_SEED", time.time_ns() % 10 ** 6))


def hold(load, faults, seconds=0, writes=0):
    """Begins the faults, waits, and ends them."""
    acknowledged = load.acknowledged()
    load.faults += faults
    for fault in faults:
        fault.run(True)
    time.sleep(seconds)
    wait_until(lambda: load.acknowledged() >= acknowledged + writes,
               "others go on beside " + ", ".join(map(str, faults)))
    # nginx first: a worker is back when a page comes through it.
    for fault in sorted(faults, key=lambda fault: fault.rank):
        fault.run(False)


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
    """Two that can be at work together; each kind comes as often."""
    named = os.environ.get("GRID_KINDS")
    found = [kind for kind in kinds()
             if not named or kind.__name__ in named.split(",")]
    rest = []
    while True:
        rest = rest or rng.sample(found, len(found))
        first = one_of(rest.pop(), cluster, rng)
        second = first
        while first.meddles_with(second) or second.meddles_with(first):
            second = one_of(rng.choice(found), cluster, rng)
        yield [first, second]


def one_of(kind, cluster, rng):
    leads = rng.random() < 0.5
    return kind(cluster, cluster.leader() if leads
                else rng.randrange(len(cluster.nodes)))


def long_faults(cluster, load):
    rng = random.Random(SEED)
    for number, faults in zip(range(2, COUNT + 1, 2), pairs(cluster, rng)):
        print("%d acknowledged; %s" % (
            load.acknowledged(), ", ".join(map(str, faults))), flush=True)
        hold(load, faults, max([rng.uniform(0.5, 4)] +
                               [fault.seconds for fault in faults]))
        goes_on(load)
        share_is_written(load, number)
        time.sleep(rng.uniform(0, 1))


def all_are_equal(cluster):
    """Waits until all have the same, and returns the feed that they show."""
    tables = []

    def are_equal():
        tables[:] = [node.tables() for node in cluster.nodes]
        return len(set(tables)) == 1

    cluster.are_current()
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


def check(load, entries, imported):
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
    works, looker, keys = load.others
    wrong = wrong_imports(works.imports, looker.seen, imported)
    assert wrong == [], wrong[:20]
    assert works.of("published") != []
    wrong = keys.still_taken()
    assert wrong == [], wrong[:20]
    # Without a fault; a short run has few of them, beside much else.
    assert not LONG or keys.p99() < 1000, keys.summary()


def tell(load):
    print("seed %d: %d faults, %s" % (SEED, len(load.faults), load.summary()))
    print("pages: %s" % load.pages_summary())
    print("seen on another node: %s" % load.staleness())
    print("with X-Grid-Seen: %d answered, %d not" % (
        load.fresh[True], load.fresh[False]))
    works, looker, keys = load.others
    print("%s; %d pages of them" % (works.summary(), len(looker.seen)))
    print(keys.summary(), flush=True)


def begin_again(cluster):
    """After the loss of all that etcd has."""
    for node in cluster.nodes:
        node.stop()
    cluster.etcd.lose()
    first = cluster.nodes[0]
    first.ctl("cluster", "init", "--from", first.tables().split("\n")[0])
    for node in cluster.nodes:
        if node is not first:
            node.ctl("cluster", "join", "--anew")
        node.start()
        wait_until(lambda: host_name(node.index) in [
            one["name"] for one in node.status()["nodes"]], "others find it")


def what_was_acknowledged_is_there_whatever_fails():
    with Cluster(articles=10100 if LONG else 60,
                 disk_mb=900 if LONG else 400) as cluster:
        load = Load(cluster, SEED)
        works = cluster.works = Works(load, 3000 if LONG else 60)
        load.others = [works, Looker(load), Keys(load)]
        computations = computed(cluster.nodes[0])
        works.import_(cluster.nodes[0])
        are_shown(cluster, works)
        with load:
            goes_on(load)
            (long_faults if LONG else short_faults)(cluster, load)
            goes_on(load)
            load.measure_staleness(200 if LONG else 20)
        entries = all_are_equal(cluster)
        try:
            tell(load)
            check(load, entries, settle(cluster, works, computations))
            begin_again(cluster)
            assert all_are_equal(cluster) == entries
        except AssertionError:
            for node in cluster.nodes:
                print(node.log()[-6000:])
            raise


if __name__ == "__main__":
    run_tests([the_checker_finds_what_is_wrong,
               what_was_acknowledged_is_there_whatever_fails])

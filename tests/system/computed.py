"""What one node of a cluster computes, on the others: with a real etcd, gridapi
and nginx, and a proxy before a node that cuts, flips and stops its files."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from editions import HEAD, Shop, flip_bytes  # noqa: E402
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import GRIDCTL, write  # noqa: E402
from stack import PATIENCE, kill, run_tests, wait_until  # noqa: E402


class Maker(Shop):
    """Suppliers C1 to C<count>, none of which is computed."""

    suppliers = 3

    def codes(self):
        return ["C%d" % (i + 1) for i in range(self.suppliers)]

    def delivery_of(self, label, suppliers=None, articles=300):
        """A folder in which each supplier has changed."""
        csv = self.path("csv-" + label)
        os.makedirs(csv)
        codes = suppliers or self.codes()
        chance = random.Random(label)
        write(csv + "/suppliers.csv", ["code,nom"] + [
            "%s,%s" % (code, label) for code in codes])
        write(csv + "/articles.csv", [HEAD] + [
            "%s,%05d,%s %d,%s,,,,,101010,1,1,2,20,A" % (
                code, 10000 + i, label, i, chance.getrandbits(200))
            for code in codes for i in range(articles)])
        return csv

    def deliver(self, label, **options):
        self.ctl("import", "--quiet", self.delivery_of(label, **options))

    def shown(self, supplier):
        """The generation of what a page shows; None: not computed."""
        answer = self.ask("GET", "/api/v1/grid?fournisseur=%s&limit=1"
                          "&compute=0" % supplier)
        if answer.status != 200:
            assert answer.status in (202, 404), answer.text
            return None
        return answer.json["meta"]["snapshot"]

    def tag(self, supplier):
        return self.ask("GET", "/api/v1/grid?fournisseur=%s&limit=1" %
                        supplier).headers["ETag"]

    def page(self, supplier):
        """By a connection of its own; computed if need be."""
        key = {"X-API-Key": self.key}
        answer = self.get("/api/v1/grid?fournisseur=%s" % supplier,
                          headers=key)
        assert answer.status == 200, (answer.status, answer.body[:300])
        return json.loads(answer.body)

    def computations(self):
        return self.status()["computations"]

    def has_computed(self, number):
        """So many computations, and no more, once it has followed."""
        wait_until(lambda: self.computations() >= number,
                   "it knows of %d computations" % number)
        assert self.computations() == number, (number, self.status())

    def begin_computing(self, supplier):
        return subprocess.Popen(
            [GRIDCTL, "--data", self.data, "compute", supplier],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def stop_computing(self, supplier):
        """A computation that is stopped before it is published."""
        folder = "%s/snapshots/%s" % (self.data, supplier)
        process = self.begin_computing(supplier)

        def writes():
            assert process.poll() is None, process.communicate()
            return os.path.isdir(folder) and any(
                name.endswith(".tmp") for name in os.listdir(folder))

        while not writes():
            pass
        process.send_signal(signal.SIGSTOP)
        assert writes(), "it was published before it was stopped"
        return process

    def links(self):
        """Files of snapshots that it gives the others, by supplier."""
        found = {}
        files = {os.stat(self.data + "/files/" + name).st_ino: name
                 for name in os.listdir(self.data + "/files")}
        for supplier in os.listdir(self.data + "/snapshots"):
            for name in os.listdir(self.data + "/snapshots/" + supplier):
                inode = os.stat("%s/snapshots/%s/%s" % (
                    self.data, supplier, name)).st_ino
                if inode in files:
                    found.setdefault(supplier, []).append(files[inode])
        return found

    def path_of(self, supplier):
        folder = "%s/snapshots/%s/" % (self.data, supplier)
        return folder + "%s.mdb" % self.shown(supplier)


def all_show_same(supplier, *nodes):
    wait_until(lambda: len({node.shown(supplier) for node in nodes}) == 1 and
               nodes[0].shown(supplier), "all nodes show the same of %s" %
               supplier)
    return nodes[0].shown(supplier)


class Three:
    """Three nodes that show an import of which nothing is computed."""

    def __init__(self, suppliers=3, articles=300):
        self.suppliers, self.articles = suppliers, articles
        self.nodes = []

    def __enter__(self):
        self.etcd = Etcd()
        self.etcd.__enter__()
        try:
            for _ in range(3):
                node = Maker(self.etcd, *self.nodes[:1])
                node.suppliers = self.suppliers
                self.nodes.append(node)
                node.__enter__()
            one = self.nodes[0]
            one.deliver("first", articles=self.articles)
            wait_until(lambda: len({node.live() for node in self.nodes}) == 1,
                       "all nodes show the import")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self.etcd, self.nodes

    def __exit__(self, *words):
        for node in self.nodes:
            node.__exit__(*words)
        self.etcd.__exit__(*words)


def together(*works):
    """Runs them at once, and gives what they return."""
    outcomes = [None] * len(works)
    ready = threading.Barrier(len(works))

    def run(i):
        ready.wait()
        outcomes[i] = works[i]()

    threads = [threading.Thread(target=run, args=(i,))
               for i in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(outcome is not None for outcome in outcomes), outcomes
    return outcomes


def one_node_computes_what_all_show():
    with Three(suppliers=9) as (etcd, nodes):
        asked_for_at_all_nodes(*nodes)
        all_nodes_share_the_work(*nodes)
        a_damaged_snapshot_comes_anew(*nodes)
        without_the_log_a_node_computes_for_itself(etcd, *nodes)
        an_older_one_takes_no_newer_ones_place(etcd, *nodes)
        what_is_gone_is_forgotten(*nodes)


def asked_for_at_all_nodes(one, two, three):
    nodes = (one, two, three)
    before = one.computations()
    # Asked for at three nodes at once.
    pages = together(*[lambda node=node: node.page("C1")
                       for node in nodes])
    one.has_computed(before + 1)
    assert len({page["meta"]["snapshot"] for page in pages}) == 1, pages
    assert pages[0]["data"] == pages[1]["data"] == pages[2]["data"]
    assert len({node.tag("C1") for node in nodes}) == 1
    # By a command, once; whoever comes later gets it.
    two.ctl("compute", "C2")
    all_show_same("C2", *nodes)
    one.has_computed(before + 2)
    assert two.ctl("compute", "--stale", "C2") == \
        "C2: its snapshot is current and usable\n"
    # One that is asked for is computed.
    was = two.shown("C2")
    two.ctl("compute", "--quiet", "C2")
    one.has_computed(before + 3)
    assert all_show_same("C2", *nodes) > was
    # A page of the one before goes on where it was, at any node.
    for node in nodes:
        answer = node.ask("GET", "/api/v1/grid?fournisseur=C2&snapshot=" +
                          was)
        assert answer.status == 200, answer.text
        assert len(node.links()["C2"]) == 2
        node.ctl("prune", "--grace", "0")
        assert len(node.links()["C2"]) == 1


def what_is_gone_is_forgotten(one, two, three):
    names = {name for node in (one, two, three)
             for name in node.links()["C1"]}
    one.deliver("gone", suppliers=["C2", "C3"])
    wait_until(lambda: two.live() == three.live() == one.live(),
               "all nodes show the import")
    for node in (one, two, three):
        node.ctl("prune", "--grace", "0")
        assert "C1" not in node.links()
        assert not names & set(os.listdir(node.data + "/files"))
    status = one.status()
    assert status["snapshots"] == status["snapshotsHere"] == 2, status
    assert two.shown("C2")


def what_each_says_is_so(said, suppliers):
    """Each supplier is computed by one, and not by the others."""
    made = 0
    for text in said:
        found = re.match(r"(\d+) of (\d+) suppliers computed, ([\d,]+) rows "
                         r"in [\d.]+ s(?:; (\d+) that other nodes have "
                         r"computed)?$", text.strip())
        assert found, text
        here, of, rows, others = found.groups()
        assert int(here) + int(others or 0) == int(of) == suppliers, text
        assert (rows == "0") == (here == "0"), text
        made += int(here)
    assert made == suppliers, said


def all_nodes_share_the_work(*nodes):
    one = nodes[0]
    for words in (["--all"], ["--stale"]):
        before = one.computations()
        done = together(*[lambda node=node: node.ctl(
            "compute", "--jobs", "1", *words) for node in nodes])
        one.has_computed(before + one.suppliers)
        if words == ["--all"]:
            what_each_says_is_so(done, one.suppliers)
        for code in one.codes():
            all_show_same(code, *nodes)
        one.deliver("after" + words[0])
        wait_until(lambda: len({node.live() for node in nodes}) == 1,
                   "all nodes show the import")
    wait_until(lambda: all(
        node.status()["snapshots"] == node.status()["snapshotsHere"]
        for node in nodes), "each node has them all")


def what_breaks_off_goes_on():
    with Three(articles=12000) as (_, nodes):
        computations_that_end(*nodes)
        a_flipped_byte(*nodes)
        a_holder_that_dies(*nodes)
        nodes[1].stop()
        a_puller_that_dies(nodes[0], nodes[2])
        no_holder(*nodes)


def computations_that_end(one, two, three):
    """One that is killed, and one that is stopped and wakes up late: other
    nodes wait until the lease ends, and this node need not."""
    killed, late = [one.stop_computing(code) for code in ("C1", "C2")]
    before = one.computations()
    killed.kill()
    killed.wait()
    pages = together(lambda: two.page("C1"), lambda: three.page("C2"))
    one.has_computed(before + 2)
    made = pages[1]["meta"]["snapshot"]
    assert all_show_same("C2", two, three) == made
    late.send_signal(signal.SIGCONT)
    out, err = late.communicate(timeout=PATIENCE)
    assert late.returncode == 0 and "by another node" in out, (out, err)
    assert "another node has computed the supplier" in err, err
    one.has_computed(before + 2)
    assert all_show_same("C2", one, two, three) == made
    killed = one.stop_computing("C3")
    killed.kill()
    killed.wait()
    assert "computed in" in one.ctl("compute", "C3")
    one.has_computed(before + 3)


def is_snapshot(body):
    return len(body) > 100000


def a_flipped_byte(one, two, three):
    flipped = []

    def flip(path, first, body):
        if len(flipped) < 2 and is_snapshot(body):
            flipped.append(path)
            body = body[:90000] + bytes([body[90000] ^ 1]) + body[90001:]
        return [body]

    one.proxy.fault = flip
    one.ctl("compute", "--quiet", "C1")
    all_show_same("C1", one, two, three)
    assert flipped and "error=" in two.log() + three.log()
    assert one.page("C1")["data"] == two.page("C1")["data"] == \
        three.page("C1")["data"]
    one.proxy.fault = None


def a_holder_that_dies(one, two, three):
    """It made the snapshot, and is cut off in the middle of the file, which
    another node has by now: that one gives the rest."""
    before = one.computations()
    three.stop()
    one.ctl("compute", "--quiet", "C2")
    all_show_same("C2", one, two)

    def cut(path, first, body):
        if not is_snapshot(body):
            return [body]
        one.proxy.behind = 1  # nobody listens there
        return [body[:len(body) // 2]]

    one.proxy.fault = cut
    three.begin()
    all_show_same("C2", two, three)
    assert one.proxy.behind == 1
    one.proxy.fault, one.proxy.behind = None, one.port
    one.has_computed(before + 1)


def a_puller_that_dies(one, three):
    """With SIGKILL, in the middle; the next one goes on where it was."""
    waiting, go_on = threading.Event(), threading.Event()

    def half(path, first, body):
        yield body[:len(body) // 2]
        if is_snapshot(body) and not waiting.is_set():
            waiting.set()
            go_on.wait(PATIENCE)
        yield body[len(body) // 2:]

    one.proxy.asked.clear()
    one.proxy.fault = half
    one.ctl("compute", "--quiet", "C1")
    assert waiting.wait(PATIENCE)
    for pid in three.follower():
        kill(pid)
    go_on.set()
    all_show_same("C1", one, three)
    assert any(first > 0 for _, first in one.proxy.asked), one.proxy.asked
    one.proxy.fault = None


def no_holder(one, two, three):
    """What no node gives any more is computed anew, and then comes."""
    three.stop()
    before = one.computations()
    one.ctl("compute", "--quiet", "C3")
    one.proxy.behind = 1
    made = one.shown("C3")
    assert "computed in" in two.ctl("compute", "C3")
    one.has_computed(before + 2)
    one.proxy.behind = one.port
    two.begin()
    three.begin()
    assert all_show_same("C3", one, two, three) > made


def a_damaged_snapshot_comes_anew(one, two, three):
    """By a command, and by gridapi when it comes on it."""
    one.ctl("compute", "--quiet", "--stale")
    for code in one.codes():
        all_show_same(code, one, two, three)
    before, rows = one.computations(), one.page("C1")["data"]
    was = two.shown("C1")
    flip_bytes(two.path_of("C1"))
    assert "by another node" in two.ctl("compute", "C1")

    def heals():
        answer = two.ask("GET", "/api/v1/grid?fournisseur=C1")
        return answer.status == 200 and answer.json["data"] == rows

    wait_until(heals, "gridapi shows what came")
    flip_bytes(two.path_of("C1"))
    wait_until(heals, "gridapi shows it again")
    assert two.shown("C1") == was and one.computations() == before
    assert two.ctl("check", "--quiet", check=False).returncode == 0


def cluster_lines(node):
    """What doctor says of the cluster, by level."""
    lines = json.loads(node.ctl("doctor", "--json", check=False).stdout)
    return {(line["level"], line["text"]) for line in lines
            if line["about"] == "cluster"}


def told_by_all(fault, one, two):
    """That the second node does not get something; the reason may come behind."""
    for node in one, two:
        wait_until(lambda node=node: any(text.startswith(fault) for text in
                                         node.status()["faults"]),
                   lambda node=node: "it is told: %s" % node.status())
        assert node.ctl("cluster", "status", check=False).returncode == 1
    for level, node in ("look", one), ("wrong", two):
        lines = cluster_lines(node)
        assert any(at == level and text.startswith(fault)
                   for at, text in lines), lines


def well_again(one, two):
    one.proxy.fault = None
    for node in one, two:
        wait_until(lambda node=node: node.status()["well"],
                   lambda node=node: "all is well again: %s" % node.status())
        assert {level for level, _ in cluster_lines(node)} == {"ok"}


def an_import_does_not_come(one, two):
    one.proxy.fault = lambda *_: []
    shown = two.status()["import"]
    one.deliver("second")
    assert two.get("/readyz").status == 200
    told_by_all("node node1 shows import %d, and does not get import %d" %
                (shown, shown + 1), one, two)
    assert ("look", "this node does not show the last import yet, which is "
            "%d" % (shown + 1)) in cluster_lines(two), cluster_lines(two)
    assert [node["lacksImport"] for node in one.status()["nodes"]] == \
        [False, True], one.status()
    # The answers of a node that keeps all are old: a balancer prefers others.
    wait_until(lambda: two.get("/readyz").status == 503, "it is not ready")
    said = two.get("/readyz").body.decode()
    assert "Import %d of node node0 does not come here" % (shown + 1) in said
    assert one.get("/readyz").status == 200
    assert two.ask("GET", "/api/v1/fournisseurs").status == 200
    well_again(one, two)
    wait_until(lambda: two.get("/readyz").status == 200, "it is ready again")


def snapshots_do_not_come(one, two):
    one.proxy.fault = lambda *_: []
    one.ctl("compute", "--quiet", "--all")
    told_by_all("node node1 does not get the snapshots that it lacks: 3",
                one, two)
    assert two.status()["snapshotsLacking"] == 3, two.status()
    assert one.status()["snapshotsLacking"] == 0, one.status()
    assert [node["lacksSnapshots"] for node in one.status()["nodes"]] == \
        [0, 3], one.status()
    well_again(one, two)


def a_snapshot_comes_without_the_log():
    """Of the node that has computed it, whose address its record has."""
    with Etcd() as etcd, Maker(etcd) as one, Maker(etcd, one) as two:
        one.deliver("first")
        wait_until(lambda: one.live() == two.live(), "both show it")
        one.proxy.fault = lambda *_: []
        one.ctl("compute", "--quiet", "--all")
        wait_until(lambda: two.status()["snapshotsLacking"] == 3,
                   lambda: "it lacks them: %s" % two.status())
        etcd.pause(0)
        one.proxy.fault = None
        try:
            shown = {code: two.page(code)["meta"]["snapshot"]
                     for code in two.codes()}
        finally:
            etcd.resume(0)
        assert shown == {code: one.shown(code) for code in one.codes()}


def what_does_not_come_is_told_by_all():
    def try_it(what):
        with Etcd() as etcd, Maker(etcd) as one, Maker(etcd, one) as two:
            one.deliver("first")
            wait_until(lambda: one.live() == two.live(), "both show it")
            what(one, two)
        return True

    # Each waits for half a minute, so both at once.
    together(lambda: try_it(an_import_does_not_come),
             lambda: try_it(snapshots_do_not_come))


def without_the_log_a_node_computes_for_itself(etcd, one, two, three):
    one.deliver("new", suppliers=one.codes() + ["N1"])
    wait_until(lambda: two.live() == three.live() == one.live(),
               "all nodes show the import")
    etcd.kill(0)
    before = two.page("N1")["data"]
    assert before and "for this node alone" in two.log()
    etcd.start(0)
    wait_until(etcd.answers, "etcd answers")
    for node in (one, two, three):
        wait_until(node.is_current, "it is current")
    # Then it is one of all nodes.
    all_show_same("N1", one, two, three)
    assert three.page("N1")["data"] == before


def an_older_one_takes_no_newer_ones_place(etcd, one, two, three):
    """Of two that are both stale, the others' and the node's own."""
    one.ctl("compute", "--quiet", "--all")
    old = all_show_same("C1", one, two, three)
    one.deliver("between")
    wait_until(lambda: two.live() == one.live(), "it shows the import")
    two.stop()
    etcd.kill(0)
    two.ctl("compute", "--quiet", "C1")
    etcd.start(0)
    wait_until(etcd.answers, "etcd answers")
    one.deliver("later")
    two.start()
    wait_until(lambda: two.live() == one.live(), "it shows the import")
    own = two.shown("C1")
    assert own > old, (own, old)
    # What comes with a look at all suppliers comes behind C1.
    one.ctl("compute", "--quiet", "C2")
    all_show_same("C2", one, two, three)
    assert two.shown("C1") == own
    assert "C1: " in two.ctl("compute", "--stale", "C1")
    assert all_show_same("C1", one, two, three) > own


if __name__ == "__main__":
    find_etcd()
    run_tests([what_does_not_come_is_told_by_all,
               a_snapshot_comes_without_the_log,
               one_node_computes_what_all_show,
               what_breaks_off_goes_on])

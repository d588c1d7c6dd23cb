"""Hooks of several nodes that share their state by a real etcd, and by a real
PostgreSQL where there is one: one node sends, and where it dies or is stopped
another one goes on."""

import os
import signal
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd import begin_sharing  # noqa: E402
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import GRIDCTL  # noqa: E402
from hooks import Hooks, Receiver  # noqa: E402
from postgres_kit import Postgres, find_bin  # noqa: E402
from shares import Sharer, settled  # noqa: E402
from stack import run_tests, wait_until  # noqa: E402


class Other(Hooks):
    """Another node of a grid: from a backup of its data."""

    def __init__(self, first):
        self.first = first
        super().__init__()

    def fill(self):
        backup = self.path("backup")
        self.first.ctl("backup", backup)
        self.ctl("restore", backup)
        self.key = self.first.key


def sender_log(node):
    return node.text_of("log/sender.log")


def sends(node):
    return sender_log(node).count("this node sends")


class Pair:
    """Two nodes with a sender each, and a hook; the first one sends."""

    def __init__(self, engine, receiver):
        self.engine, self.receiver = engine, receiver

    def __enter__(self):
        self.engine.__enter__()
        self.one = Hooks()
        self.one.__enter__()
        self.two = Other(self.one)
        self.two.__enter__()
        begin_sharing(self.engine, self.one, self.two)
        for node in (self.one, self.two):
            wait_until(lambda node=node: node.get("/readyz").status == 200,
                       "it is ready")
        self.one.add("erp", self.receiver)
        self.one.send()
        wait_until(lambda: sends(self.one) == 1, "the first sends")
        self.two.send()
        return self

    def __exit__(self, *words):
        for node in (self.two, self.one):
            if node.sender and node.sender.poll() is None:
                node.sender.send_signal(signal.SIGCONT)
            node.__exit__(*words)
        self.engine.__exit__(*words)
        self.receiver.stop()

    def wait_for_all(self):
        """Each proposal has arrived; how many there are."""
        count = len(self.one.trail("proposed", "replaced"))
        wait_until(lambda: len(self.receiver.first()) >= count,
                   lambda: "%d events, of %d: %s\n%s" % (
                       len(self.receiver.first()), count,
                       sender_log(self.one)[-2000:],
                       sender_log(self.two)[-2000:]))
        assert not self.receiver.wrong, self.receiver.wrong
        assert len(self.receiver.first()) == count
        return count

    def all_is_known(self, name):
        wait_until(lambda: name in self.two.hook_names(), "the other knows it")

    def all_is_noted(self, count):
        """Each event counts once, whichever node has sent it."""
        def shown(node):
            hook = node.hook("erp")
            return hook["waiting"], hook["delivered"]

        wait_until(lambda: shown(self.one) == shown(self.two) == (0, count),
                   lambda: "all is noted: %s %s" % (
                       shown(self.one), shown(self.two)))


def one_node_sends_and_another_takes_over(engine):
    receiver = Receiver()
    with Pair(engine, receiver) as pair:
        one, two = pair.one, pair.two
        for code in one.articles:
            for node, gamme in ((one, "Y"), (two, "Z")):
                wait_until(lambda node=node, gamme=gamme, code=code: node.put(
                    code, gamme).status == 200, "it is stored")
        count = pair.wait_for_all()
        assert count > len(one.articles), count
        pair.all_is_noted(count)
        assert len(receiver.tries) == count, len(receiver.tries)
        assert sends(two) == 0, sender_log(two)
        # Told to end, it lets go at once.
        one.kill(signal.SIGTERM)
        two.propose()
        assert pair.wait_for_all() > count
        assert sends(two) == 1, sender_log(two)
        one.send()
        # Killed, it has the lease until that ends.
        two.kill()
        two.propose()
        count = pair.wait_for_all()
        assert sends(one) == 2, sender_log(one)
        pair.all_is_noted(count)
        assert len(receiver.tries) == count, len(receiver.tries)


def who_wakes_up_late_sends_and_notes_nothing(engine):
    """Stopped while a receiver has its event: the other node sends it again,
    and the answer to the first one is nobody's any more."""
    receiver = Receiver()
    with Pair(engine, receiver) as pair:
        one, two = pair.one, pair.two
        code = one.articles[0]

        def stops(event):
            if event["data"]["codein"] == code and sends(two) == 0:
                one.sender.send_signal(signal.SIGSTOP)
            return 204

        receiver.status = stops
        assert one.put(code, "Y").status == 200
        wait_until(lambda: sends(two) == 1, "the other one takes over")
        wait_until(lambda: len(receiver.tries) == 2, "it is sent again")
        two.propose(codes=one.articles[1:])
        pair.wait_for_all()
        one.sender.send_signal(signal.SIGCONT)
        wait_until(lambda: "does not send any more" in sender_log(one),
                   "the first has lost it")
        two.propose(codes=one.articles[1:])
        count = pair.wait_for_all()
        pair.all_is_noted(count)
        assert len(receiver.tries) == count + 1, len(receiver.tries)
        two.ctl("check")
        assert sends(one) == 1 and sends(two) == 1


def a_removal_waits_for_the_node_that_sends(engine):
    """Also where it removes the only hook, of which nothing is left to send."""
    receiver = Receiver()
    with Pair(engine, receiver) as pair:
        one, two = pair.one, pair.two
        for others in (1, 0):
            begun, gate = threading.Event(), threading.Event()

            def waits(event, begun=begun, gate=gate):
                begun.set()
                gate.wait()
                return 204

            if others:
                one.add("erp2", receiver)
            name = "erp2" if others else "erp"
            pair.all_is_known(name)
            receiver.status = waits
            assert one.put(one.articles[others], "Y").status == 200
            begun.wait()
            removal = subprocess.Popen(
                [GRIDCTL, "--data", two.data, "hook", "remove", name],
                stdout=subprocess.PIPE, text=True)
            wait_until(lambda: name not in one.hook_names(), "it is removed")
            # The lease is renewed: moments later the sender still waits.
            number = one.number()
            wait_until(lambda: one.number() >= number + 2, "it renews")
            assert removal.poll() is None, "it has not waited"
            gate.set()
            out, _ = removal.communicate()
            assert removal.returncode == 0 and "nothing is sent" in out
            receiver.status = 204


class Keeper(Hooks, Sharer):
    """A node with a sender that keeps its part of the suppliers."""

    suppliers, keep = 8, 1

    def __init__(self, engine, first=None):  # not of Hooks: it has an engine
        self.sender, self.waits = None, ["--first-wait", "20"]
        Sharer.__init__(self, engine, first)


def newest(node, code):
    """The generation of the supplier's newest file there; "": it has none."""
    try:
        names = os.listdir("%s/snapshots/%s" % (node.data, code))
    except FileNotFoundError:
        return ""
    return max([name[:-len(".mdb")] for name in names
                if name.endswith(".mdb")] + [""])


class Told:
    """Snapshots of suppliers, of which each is told once."""

    def __init__(self, receiver, *nodes):
        self.receiver, self.nodes, self.wanted = receiver, nodes, []

    def compute(self, node, code):
        """Anew: at first a node gets the one that another node has."""
        before = max(newest(one, code) for one in self.nodes)
        while newest(node, code) <= before:
            node.ctl("compute", "--quiet", code)
        self.wanted.append((code, newest(node, code)))

    def come(self):
        return sorted((event["data"]["codeFournisseur"],
                       event["data"]["snapshot"])
                      for event in self.receiver.first())

    def must_come(self):
        wait_until(lambda: len(self.come()) >= len(self.wanted),
                   lambda: "all are told: %s of %s\n%s" % (
                       self.come(), sorted(self.wanted),
                       [sender_log(node)[-2000:] for node in self.nodes]))
        assert self.come() == sorted(self.wanted), (self.come(), self.wanted)
        assert not self.receiver.wrong, self.receiver.wrong


def a_snapshot_of_any_node_is_told_once(engine):
    """Whoever sends, and whoever keeps its supplier; also one that is computed
    while nobody sends."""
    receiver = Receiver()
    with engine, Keeper(engine) as one, Keeper(engine, one) as two:
        one.deliver("first", articles=20)
        wait_until(lambda: one.live() == two.live(), "both show the import")
        for node in (one, two):
            node.ctl("compute", "--quiet", "--all")
        settled((one, two))
        of_one, of_two = sorted(one.has()), sorted(two.has())
        assert len(of_one) > 1 and len(of_two) > 1, (of_one, of_two)
        one.add("erp", receiver, "computed")
        one.send()
        wait_until(lambda: sends(one) == 1, "the first sends")
        told = Told(receiver, one, two)
        told.compute(two, of_two[0])  # nothing of it is at the sender
        told.must_come()
        told.compute(one, of_one[0])
        told.must_come()
        # Another node than the ones that keep it may be asked for it.
        told.compute(one, of_two[1])
        told.must_come()
        told.compute(two, of_one[1])
        told.must_come()
        # A sender that is killed, and one that begins later.
        one.kill()
        for node, code in ((one, of_one[0]), (two, of_two[0])):
            told.compute(node, code)
        one.send()
        told.must_come()
        # A change of hands repeats none and loses none.
        two.send()
        one.kill(signal.SIGTERM)
        for node, code in ((two, of_two[0]), (one, of_one[0]),
                           (one, of_two[1]), (two, of_one[1])):
            told.compute(node, code)
        told.must_come()
        assert sends(two) == 1, sender_log(two)
        one.send()
        two.kill()
        for node, code in ((two, of_two[0]), (one, of_one[0])):
            told.compute(node, code)
        told.must_come()
        assert len(one.trail("computed")) == len(told.wanted)
    receiver.stop()


def engines():
    """etcd, and PostgreSQL where it is installed."""
    find_etcd()
    try:
        find_bin()
    except SystemExit:
        return [Etcd]
    return [Etcd, Postgres]


def over(engine, test):
    def run():
        test(engine())

    run.__name__ = "%s_by_%s" % (test.__name__, engine.__name__.lower())
    return run


if __name__ == "__main__":
    run_tests([over(engine, test) for engine in engines() for test in (
        one_node_sends_and_another_takes_over,
        who_wakes_up_late_sends_and_notes_nothing,
        a_removal_waits_for_the_node_that_sends,
        a_snapshot_of_any_node_is_told_once)])

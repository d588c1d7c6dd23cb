"""What can go wrong with the hosts of cluster_kit.py: a fault begins and ends."""

import glob
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster_kit import (  # noqa: E402
    NODES, among, host_name, inside, mac, run)
from grid import GRIDCTL  # noqa: E402
from stack import children, kill, wait_until  # noqa: E402

NOWHERE = "02:00:00:00:00:ff"


class Fault:
    """begin() and end() of one `part` of a host, or of that part of all hosts."""

    answers = True  # whether the node's pages go on
    everywhere = False
    seconds = 0  # at least so long
    rank = 1  # of the order in which two of them end

    def __init__(self, cluster, i):
        self.cluster, self.i = cluster, i
        self.node = cluster.nodes[i]
        self.began = self.ended = None

    def __str__(self):
        return "%s(%d)" % (type(self).__name__, self.i)

    def run(self, begins):
        """Pages may fail from before it begins until after it has ended."""
        if begins:
            self.began = time.monotonic()
            self.begin()
        else:
            self.end()
            self.ended = time.monotonic()

    def meddles_with(self, other):
        """Whether the two cannot be at work together."""
        if self.part != other.part:
            return False
        return self.i == other.i or self.part == "network" or \
            self.everywhere or other.everywhere


class KilledGridapi(Fault):
    part, answers = "gridapi", False

    def begin(self):
        self.node.kill("pool")

    def end(self):
        self.node.start_pool()


class OlderGridapi(KilledGridapi):
    """The version before, for a while: GRID_BEFORE is a folder where it was
    built."""

    build = os.environ.get("GRID_BEFORE", "")

    def run_of(self, program, gridctl):
        self.node.kill("pool")
        self.node.gridapi = program
        self.node.settings["compute.gridctl"] = gridctl
        self.node.start_pool()

    def begin(self):
        self.now = self.node.gridapi
        self.run_of(self.build + "/fcgi/gridapi",
                    self.build + "/tools/gridctl/gridctl")

    def end(self):
        self.run_of(self.now, GRIDCTL)


class KilledWorker(Fault):
    """Which its supervisor replaces."""

    part, answers = "gridapi", False

    def begin(self):
        for pid in random.sample(children(self.node.pool.pid), 1):
            kill(pid)

    def end(self):
        wait_until(lambda: self.node.page() is not None, "it serves again")


class KilledAtCommit(KilledWorker):
    """Each process of gridapi at the commit of what the log has already."""

    inject = "signal=SIGKILL"

    def begin(self):
        self.tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync",
             "-e", "inject=fdatasync:" + self.inject] +
            ["-p%d" % pid for pid in children(self.node.pool.pid)],
            stderr=subprocess.DEVNULL)

    def end(self):
        self.tracer.kill()
        self.tracer.wait()
        super().end()


class HeldAtCommit(KilledAtCommit):
    """Held there for longer than the leases last."""

    inject = "delay_enter=12000000:when=1"
    answers, seconds = True, 13


class StoppedGridapi(Fault):
    part, answers = "gridapi", False

    def begin(self):
        self.node.signal_pool(signal.SIGSTOP)

    def end(self):
        self.node.signal_pool(signal.SIGCONT)


class Rolling(Fault):
    """All workers are replaced, and no page fails."""

    part = "gridapi"
    said = "all workers were replaced"

    def begin(self):
        self.count = self.node.log().count(self.said)
        self.node.pool.send_signal(signal.SIGHUP)

    def end(self):
        wait_until(lambda: self.node.log().count(self.said) > self.count,
                   "they were replaced")


class Wiped(Fault):
    """A disk that is lost: the node joins with nothing."""

    part, answers, rank = "gridapi", False, 2

    def meddles_with(self, other):
        """Of COPIES files two at once may be all that there are."""
        return isinstance(other, (Wiped, FlippedBit)) or \
            super().meddles_with(other)

    def begin(self):
        self.node.kill("pool")
        while not self.node.in_use.acquire(timeout=0.1):
            self.cluster.works.kill_at(self.node)
        shutil.rmtree(self.node.data)

    def end(self):
        said = []

        def joins():
            done = self.node.join(check=False)
            said[:] = [done.stdout, done.stderr]
            return done.returncode == 0

        wait_until(joins, lambda: "it joins: %s" % said)
        self.node.in_use.release()
        self.node.start_pool()
        wait_until(lambda: self.node.page() is not None, "it serves again")


class WrongClock(Fault):
    """An hour behind or ahead, as gridapi sees it."""

    part, answers = "gridapi", False
    library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")

    def begin(self):
        self.node.kill("pool")
        self.node.wrapper = ["env", "LD_PRELOAD=" + self.library[0],
                             "FAKETIME=" + random.choice(["-1h", "+1h"]),
                             "FAKETIME_DONT_FAKE_MONOTONIC=1",
                             "FAKETIME_DONT_RESET=1"]
        self.node.start_pool()

    def end(self):
        self.node.kill("pool")
        self.node.wrapper = []
        self.node.start_pool()


class KilledNginx(Fault):
    part, answers, rank = "nginx", False, 0

    def begin(self):
        self.node.kill("nginx")

    def end(self):
        self.node.start_nginx()


class KilledEtcd(Fault):
    part = "etcd"

    def begin(self):
        self.cluster.etcd.kill(self.i)

    def end(self):
        self.cluster.etcd.start(self.i)


class KilledAllEtcd(Fault):
    part, everywhere = "etcd", True

    def begin(self):
        for i in range(NODES):
            self.cluster.etcd.kill(i)

    def end(self):
        for i in range(NODES):
            self.cluster.etcd.start(i)


class StoppedEtcd(Fault):
    part = "etcd"

    def begin(self):
        self.cluster.etcd.pause(self.i)

    def end(self):
        self.cluster.etcd.resume(self.i)


class NoSpace(Fault):
    """etcd's quota is used up: it stores nothing and goes on reading."""

    part, everywhere = "etcd", True

    def alarm(self, action):
        def asked(i):
            try:
                self.cluster.etcd.ask(i, "/v3/maintenance/alarm", {
                    "action": action, "memberID": 0, "alarm": "NOSPACE"})
                return True
            except OSError:
                return False

        wait_until(lambda: any(map(asked, range(NODES))), "etcd takes " + action)

    def begin(self):
        self.alarm("ACTIVATE")

    def end(self):
        self.alarm("DEACTIVATE")


class Cut(Fault):
    """Both ways."""

    part = "network"

    def begin(self):
        run("ip", "link", "set", "among%d" % self.i, "down")

    def end(self):
        run("ip", "link", "set", "among%d" % self.i, "up")


class Deaf(Fault):
    """What the others send does not arrive."""

    part = "network"

    def ways(self):
        return [(i, self.i) for i in range(NODES) if i != self.i]

    def begin(self):
        for sender, to in self.ways():
            inside(sender, "ip", "neigh", "replace", among(to), "lladdr",
                   NOWHERE, "nud", "permanent", "dev", "among")

    def end(self):
        for sender, to in self.ways():
            inside(sender, "ip", "neigh", "replace", among(to), "lladdr",
                   mac("among", to), "nud", "reachable", "dev", "among")


class Mute(Deaf):
    """What it sends does not arrive."""

    def ways(self):
        return [(self.i, i) for i in range(NODES) if i != self.i]


class Slow(Fault):
    """A narrow link with a long queue: hundreds of milliseconds."""

    part, queue = "network", ["latency", "400ms"]

    def begin(self):
        shape = ["root", "tbf", "rate", "400kbit", "burst", "1600"]
        inside(self.i, "tc", "qdisc", "add", "dev", "among", *shape, *self.queue)
        run("tc", "qdisc", "add", "dev", "among%d" % self.i, *shape, *self.queue)

    def end(self):
        inside(self.i, "tc", "qdisc", "del", "dev", "among", "root")
        run("tc", "qdisc", "del", "dev", "among%d" % self.i, "root")


class Lossy(Slow):
    """The same with hardly a queue: what does not fit is lost."""

    queue = ["limit", "3000"]


class Flapping(Cut):
    """Down for 50 ms, and up for as long."""

    def begin(self):
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.flap, daemon=True)
        self.thread.start()

    def flap(self):
        while not self.stop.wait(0.05):
            super().begin()
            time.sleep(0.05)
            super().end()

    def end(self):
        self.stop.set()
        self.thread.join()


class FullDisk(Fault):
    """Of gridapi; pages go on."""

    part = "disk"

    def name(self):
        return self.node.path("disk/filler")

    def begin(self):
        with open(self.name(), "wb") as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
            except OSError:
                pass

    def end(self):
        os.unlink(self.name())


class FlippedBit(Fault):
    """In one of the files that the node gives the others: facts, the copy of
    live.mdb, or a snapshot. Then an operator looks through them all."""

    part, answers, rank = "disk", False, 3

    def begin(self):
        folder = self.node.data + "/files/"
        try:
            path = folder + random.choice([
                name for name in os.listdir(folder) if len(name) == 64])
            with open(path, "r+b") as file:
                file.seek(random.randrange(os.path.getsize(path)))
                byte = file.read(1)[0]
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte ^ 1 << random.randrange(8)]))
        except (OSError, IndexError):
            pass  # a node that was wiped, or a file that has gone since

    def end(self):
        wait_until(lambda: self.node.ctl("cluster", "pull", "--verify",
                                         check=False).returncode == 0,
                   "all files are whole")
        wait_until(lambda: self.node.page() is not None, "it serves")


class KilledCommand(Fault):
    """An import, a computation or a removal of old files, somewhere in it."""

    part, everywhere, number = "command", True, signal.SIGKILL

    def begin(self):
        wait_until(lambda: self.cluster.works.process, "a command runs")
        time.sleep(random.uniform(0, 0.3))
        self.process = self.cluster.works.process
        if self.process:
            self.process.send_signal(self.number)

    def end(self):
        pass


class StoppedCommand(KilledCommand):
    """For longer than its lease lasts."""

    number, seconds = signal.SIGSTOP, 11

    def end(self):
        if self.process:
            self.process.send_signal(signal.SIGCONT)


def can_trace():
    done = shutil.which("strace") and subprocess.run(
        ["strace", "-qq", "-o", "/dev/null", "true"], check=False,
        capture_output=True)
    return done and done.returncode == 0


def can_shape():
    """Whether the kernel has a queue that is slow."""
    done = subprocess.run(
        ["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "400kbit",
         "burst", "1600", "latency", "1ms"], capture_output=True, check=False)
    if done.returncode == 0:
        run("tc", "qdisc", "del", "dev", "lo", "root")
    return done.returncode == 0


def kinds():
    """Those that can be had on this machine."""
    found = [KilledGridapi, KilledWorker, StoppedGridapi, Rolling, Wiped,
             KilledNginx, KilledEtcd, KilledAllEtcd, StoppedEtcd, NoSpace, Cut,
             Deaf, Mute, Flapping, FullDisk, FlippedBit, KilledCommand,
             StoppedCommand]
    if WrongClock.library:
        found.append(WrongClock)
    if OlderGridapi.build:
        found.append(OlderGridapi)
    if can_trace():
        found += [KilledAtCommit, HeldAtCommit]
    if can_shape():
        found += [Slow, Lossy]
    return found

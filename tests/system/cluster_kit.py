"""Three hosts as network namespaces, each with etcd, gridapi and nginx, and what
can go wrong with them. The caller is the fourth, in a namespace of its own
(cluster.sh), where the bridges are; what it starts and makes ends with it.

Each host has two networks, as a careful operator's would: 192.0.2.0/24 among the
hosts, and 198.51.100.0/24 for clients. The faults of a network are the first's.
"""

import glob
import http.client
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd_kit import Etcd  # noqa: E402
from grid import Grid  # noqa: E402
from stack import BUILD, children, wait_until  # noqa: E402

NODES = 3
TABLES = os.path.join(BUILD, "tests", "system", "tables")
NOWHERE = "02:00:00:00:00:ff"
DISK_MB = 400


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def host_name(i):
    return "grid%d" % i


def enter(i):
    return ["setsid", "nsenter", "--net=/run/netns/" + host_name(i)]


def inside(i, *words):
    return run("nsenter", "--net=/run/netns/" + host_name(i), *words)


def among(i):
    return "192.0.2.1%d" % i


def make_network():
    run("ip", "link", "set", "lo", "up")
    for bridge, address in (("among", "192.0.2.9"), ("front", "198.51.100.9")):
        run("ip", "link", "add", "name", bridge, "type", "bridge")
        run("ip", "addr", "add", address + "/24", "dev", bridge)
        run("ip", "link", "set", bridge, "up")
    for i in range(NODES):
        run("ip", "netns", "add", host_name(i))
        inside(i, "ip", "link", "set", "lo", "up")
        # A host's own device has the name of the bridge.
        for name, address in (("among", among(i)),
                              ("front", "198.51.100.1%d" % i)):
            run("ip", "link", "add", "name", name + str(i), "type", "veth",
                "peer", "name", name, "address", mac(name, i), "netns",
                host_name(i))
            run("ip", "link", "set", name + str(i), "master", name, "up")
            inside(i, "ip", "addr", "add", address + "/24", "dev", name)
            inside(i, "ip", "link", "set", name, "up")


def mac(name, i):
    return "02:00:00:00:0%d:0%d" % (name == "front", i + 1)


class Node(Grid):
    """A host's gridapi and nginx, on a disk of its own, which is memory: what is
    tried here is not how fast a disk is."""

    def __init__(self, i, first=None, **options):
        self.index, self.first = i, first
        options["settings"] = dict(options.pop("settings", {}), **{
            "pages.processes": 1, "pages.threads": 8})
        super().__init__(**options)

    def fill(self):
        self.address = "198.51.100.1%d" % self.index
        self.enter = enter(self.index)
        run("mount", "-t", "tmpfs", "-o", "size=%dm" % DISK_MB, "disk",
            self.disk())
        if self.first is None:
            super().fill()
            return
        backup = self.path("backup")
        self.first.ctl("backup", backup)
        self.ctl("restore", backup)
        shutil.rmtree(backup)
        self.key = self.first.key

    def disk(self):
        disk = self.path("disk")
        os.makedirs(disk, exist_ok=True)
        self.data = self.settings["data.dir"] = disk + "/data"
        return disk

    def kill(self, which):
        """`which` is "pool" or "nginx": all of its processes at once."""
        process = getattr(self, which)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def signal_pool(self, number):
        os.killpg(self.pool.pid, number)

    def tables(self):
        return run(TABLES, self.data)

    def page(self):
        """A page that it answers, or None."""
        try:
            answer = self.get("/api/v1/fournisseurs",
                              headers={"X-API-Key": self.key}, timeout=5)
        except (OSError, http.client.HTTPException):
            return None
        return answer if answer.status == 200 else None

    def is_current(self):
        """Whether it serves, and has what the others have written."""
        page = self.page()
        return page is not None and "X-Grid-Behind" not in page.headers

    def __exit__(self, *ended):
        disk = self.path("disk")
        try:
            super().__exit__(*ended)
        finally:
            subprocess.run(["umount", "-l", disk], check=False,
                           capture_output=True)
            shutil.rmtree(self.folder, ignore_errors=True)


class Cluster:
    """Nodes and etcd's members, one of each on a host."""

    def __init__(self, articles):
        make_network()
        self.etcd = Etcd(hosts=[(among(i), enter(i)) for i in range(NODES)])
        self.nodes = []
        self.articles = articles

    def __enter__(self):
        try:
            self.etcd.__enter__()
            for i in range(NODES):
                self.nodes.append(Node(
                    i, self.nodes[0] if self.nodes else None,
                    articles=self.articles))
            for node in self.nodes:
                self.etcd.write_conf(node.data)
                node.start()
            wait_until(lambda: all(node.is_current() for node in self.nodes),
                       "all nodes are current")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *ended):
        for node in self.nodes:
            node.__exit__(*ended)
        self.etcd.__exit__()

    def leader(self):
        """The member that leads, or any."""
        for i in range(NODES):
            try:
                status = self.etcd.ask(i, "/v3/maintenance/status", {})
                if status.get("leader") == status["header"]["member_id"]:
                    return i
            except OSError:
                pass
        return 0


# --- faults -------------------------------------------------------------------

class Fault:
    """begin() and end(); `answers` is whether the node's pages go on."""

    answers = True

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


class KilledGridapi(Fault):
    part, answers = "gridapi", False

    def begin(self):
        self.node.kill("pool")

    def end(self):
        self.node.start_pool()


class KilledWorker(Fault):
    """Which its supervisor replaces."""

    part, answers = "gridapi", False

    def begin(self):
        for pid in random.sample(children(self.node.pool.pid), 1):
            os.kill(pid, signal.SIGKILL)

    def end(self):
        wait_until(lambda: self.node.page() is not None, "it serves again")


class StoppedGridapi(Fault):
    part, answers = "gridapi", False

    def begin(self):
        self.node.signal_pool(signal.SIGSTOP)

    def end(self):
        self.node.signal_pool(signal.SIGCONT)


class LateClock(Fault):
    """An hour behind, as gridapi sees it."""

    part, answers = "gridapi", False
    library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")

    def begin(self):
        self.node.kill("pool")
        self.node.wrapper = ["env", "LD_PRELOAD=" + self.library[0],
                             "FAKETIME=-1h", "FAKETIME_DONT_FAKE_MONOTONIC=1",
                             "FAKETIME_DONT_RESET=1"]
        self.node.start_pool()

    def end(self):
        self.node.kill("pool")
        self.node.wrapper = []
        self.node.start_pool()


class KilledNginx(Fault):
    part, answers = "nginx", False

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


class StoppedEtcd(Fault):
    part = "etcd"

    def begin(self):
        self.cluster.etcd.pause(self.i)

    def end(self):
        self.cluster.etcd.resume(self.i)


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


FAULTS = [KilledGridapi, KilledWorker, StoppedGridapi, KilledNginx, KilledEtcd,
          StoppedEtcd, Cut, Deaf, Mute, Flapping, FullDisk]
if LateClock.library:
    FAULTS.append(LateClock)


def can_shape():
    """Whether the kernel has a queue that is slow."""
    done = subprocess.run(
        ["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "400kbit",
         "burst", "1600", "latency", "1ms"], capture_output=True, check=False)
    if done.returncode == 0:
        run("tc", "qdisc", "del", "dev", "lo", "root")
    return done.returncode == 0

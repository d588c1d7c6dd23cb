"""Three hosts as network namespaces, each with etcd, gridapi and nginx. The caller is
the fourth, in a namespace of its own (cluster.sh), where the bridges are; what it
starts and makes ends with it.

Each host has two networks, as a careful operator's would: 192.0.2.0/24 among the
hosts, and 198.51.100.0/24 for clients. The faults of a network are the first's
(cluster_faults.py).
"""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd_kit import Etcd  # noqa: E402
from grid import Grid, write  # noqa: E402
from stack import BUILD, wait_until  # noqa: E402

NODES = 3
COPIES = 2
TABLES = os.path.join(BUILD, "tests", "system", "tables")
SECRET = "0123456789abcdef0123456789abcdef"


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


def front(i):
    return "198.51.100.1%d" % i


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
        for name, address in (("among", among(i)), ("front", front(i))):
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
    tried here is not how fast a disk is. The first one has data, and begins the
    cluster; the others join it."""

    def __init__(self, i, engine, disk_mb, first=None, **options):
        self.index, self.engine, self.first = i, engine, first
        self.joined = 0  # how often, with nothing
        self.in_use = threading.Lock()  # by a command, or its disk is lost
        self.disk_mb = disk_mb
        options["settings"] = dict(options.pop("settings", {}), **{
            "pages.processes": 1, "pages.threads": 8})
        super().__init__(**options)

    def fill(self):
        self.address = front(self.index)
        self.enter = enter(self.index)
        self.directives = ["listen %s:%d;\n\tlisten %s:%d" % (
            front(self.index), self.port, among(self.index), self.port)]
        run("mount", "-t", "tmpfs", "-o", "size=%dm" % self.disk_mb, "disk",
            self.disk())
        if self.first is None:
            super().fill()
            self.configure()
            self.ctl("cluster", "init")
        else:
            self.key, self.read_key = self.first.key, self.first.read_key
            self.join()

    def disk(self):
        disk = self.path("disk")
        os.makedirs(disk, exist_ok=True)
        self.data = self.settings["data.dir"] = disk + "/data"
        return disk

    def configure(self):
        write(self.path("secret"), [SECRET])
        self.engine.write_conf(
            self.data, "address = http://%s:%d\nsecret_file = %s\n"
            "copies = %d\n" % (among(self.index), self.port,
                               self.path("secret"), COPIES),
            host_name(self.index))
        os.makedirs(self.path("nginx"), exist_ok=True)
        write(self.path("nginx/cluster.conf"), [self.ctl("cluster", "nginx")])

    def join(self, check=True):
        """With nothing but what the others have."""
        self.joined += 1
        shutil.rmtree(self.data, ignore_errors=True)
        os.makedirs(self.data)
        self.configure()
        done = self.ctl("cluster", "join", check=False)
        assert not check or done.returncode == 0, done
        self.ctl("cluster", "pull", check=False)
        return done

    def kill(self, which):
        """`which` is "pool" or "nginx": all of its processes at once."""
        process = getattr(self, which)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def signal_pool(self, number):
        os.killpg(self.pool.pid, number)

    def tables(self, *words):
        return run(TABLES, self.data, *words)

    def status(self):
        return json.loads(self.ctl("cluster", "status", "--json",
                                   check=False).stdout)

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

    def __init__(self, articles, disk_mb=400):
        make_network()
        self.etcd = Etcd(hosts=[(among(i), enter(i)) for i in range(NODES)])
        self.nodes = []
        self.articles, self.disk_mb = articles, disk_mb
        self.works = None  # cluster_works.py: imports and what follows them

    def __enter__(self):
        try:
            self.etcd.__enter__()
            for i in range(NODES):
                self.nodes.append(Node(
                    i, self.etcd, self.disk_mb, *self.nodes[:1],
                    articles=self.articles))
                self.nodes[i].start()
            self.are_current()
        except BaseException:
            self.__exit__()
            raise
        return self

    def are_current(self):
        wait_until(lambda: all(node.is_current() for node in self.nodes),
                   "all nodes are current")

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

"""etcd on loopback, one member or three, for tests of several nodes.

    with Etcd(members=3) as etcd:
        etcd.write_conf(data_dir)
        etcd.kill(etcd.leader())
"""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.request

from stack import free_port, skip, wait_until


def find_etcd():
    path = shutil.which("etcd")
    if not path:
        skip("etcd is not installed: tools/dev/install-packages.sh test")
    return path


class Engine:
    """What all engines have."""

    alone = False  # whether none goes on where one member is killed

    def __init__(self):
        self.nodes = []

    def write_conf(self, data, more="", node=None):
        """`node`: its name, which is another for each data directory."""
        with open(os.path.join(data, "cluster.conf"), "w") as file:
            file.write("[cluster]\n%s\nnode = %s\n%s" % (
                self.conf_line(), node or self.node_name(data), more))

    def node_name(self, data):
        if data not in self.nodes:
            self.nodes.append(data)
        return "node%d" % self.nodes.index(data)


class Etcd(Engine):
    """`hosts`: an address for each member, and the command that starts a
    program there."""

    def __init__(self, members=1, hosts=None):
        super().__init__()
        self.program = find_etcd()
        # In memory: what a slow disk does to etcd is not what is tried.
        self.folder = tempfile.mkdtemp(
            prefix="grid-etcd-",
            dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.hosts = hosts or [("127.0.0.1", [])] * members
        self.clients = [free_port() for _ in self.hosts]
        self.peers = [free_port() for _ in self.hosts]
        self.processes = [None] * len(self.hosts)

    def addresses(self, ports):
        return ["http://%s:%d" % (host[0], port)
                for host, port in zip(self.hosts, ports)]

    @property
    def urls(self):
        return self.addresses(self.clients)

    def start(self, i):
        name = "e%d" % i
        peers = self.addresses(self.peers)
        with open(os.path.join(self.folder, name + ".log"), "ab") as log:
            self.processes[i] = subprocess.Popen(
                self.hosts[i][1] +
                [self.program, "--name", name,
                 "--data-dir", os.path.join(self.folder, name),
                 "--listen-client-urls", self.urls[i],
                 "--advertise-client-urls", self.urls[i],
                 "--listen-peer-urls", peers[i],
                 "--initial-advertise-peer-urls", peers[i],
                 "--initial-cluster", ",".join(
                     "e%d=%s" % (n, url) for n, url in enumerate(peers)),
                 "--initial-cluster-state", "new", "--pre-vote=true",
                 "--log-outputs", "stderr"] + self.options(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def options(self):
        return []

    def kill(self, i):
        self.processes[i].kill()
        self.processes[i].wait()
        self.processes[i] = None

    def anew(self, change):
        """All members, once change() has altered the folder of each."""
        members = range(len(self.processes))
        for i in members:
            self.kill(i)
            change(os.path.join(self.folder, "e%d" % i))
        for i in members:
            self.start(i)
        wait_until(self.answers, "etcd answers")

    def lose(self):
        """All that the members have."""
        self.anew(shutil.rmtree)

    def save(self):
        """As a backup does; restore() brings it back."""
        self.anew(lambda data: shutil.copytree(data, data + ".copy"))

    def restore(self):
        def put_back(data):
            shutil.rmtree(data)
            shutil.move(data + ".copy", data)
        self.anew(put_back)

    def pause(self, i):
        self.processes[i].send_signal(signal.SIGSTOP)

    def resume(self, i):
        self.processes[i].send_signal(signal.SIGCONT)

    def ask(self, i, path, body):
        request = urllib.request.Request(
            self.urls[i] + path, json.dumps(body).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=2) as answer:
            return json.loads(answer.read())

    def run_of(self, node):
        """The run whose record the node's name has, or None."""
        key = base64.b64encode(b"product-grid/run/" + node.encode()).decode()
        found = self.ask(0, "/v3/kv/range", {"key": key}).get("kvs")
        return found and found[0]["value"]

    def put_note(self, name, text):
        """A text that nodes have by name, such as roster/node1."""
        def coded(words):
            return base64.b64encode(words.encode()).decode()
        self.ask(0, "/v3/kv/put", {"key": coded("product-grid/note/" + name),
                                   "value": coded(text)})

    def answers(self):
        """Whether each member that runs reads what a majority has."""
        try:
            for i, process in enumerate(self.processes):
                if process is not None:
                    self.ask(i, "/v3/kv/range", {"key": "YQ=="})
        except OSError:
            return False
        return True

    def leader(self):
        for i, process in enumerate(self.processes):
            if process is None:
                continue
            status = self.ask(i, "/v3/maintenance/status", {})
            if status.get("leader") == status["header"]["member_id"]:
                return i
        raise AssertionError("etcd has no leader")

    def conf_line(self):
        return "etcd = " + ", ".join(self.urls)

    def log(self, i):
        with open(os.path.join(self.folder, "e%d.log" % i)) as file:
            return file.read()

    def __enter__(self):
        for i in range(len(self.processes)):
            self.start(i)
        try:
            wait_until(self.answers, lambda: "etcd answers:\n" + self.log(0))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for i, process in enumerate(self.processes):
            if process is not None:
                self.kill(i)
        shutil.rmtree(self.folder, ignore_errors=True)

"""Nodes that begin a cluster, join it, fall behind its log, and begin again after
etcd's loss, with a real etcd, gridapi and nginx: nothing acknowledged is lost."""

import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import Grid  # noqa: E402
from stack import BUILD, run_tests, wait_until  # noqa: E402

TABLES = os.path.join(BUILD, "tests", "system", "tables")
SECRET = "0123456789abcdef0123456789abcdef"


class Node(Grid):
    """The first node has data; a later one joins the cluster."""

    def __init__(self, etcd, first=None, **options):
        self.etcd, self.first = etcd, first
        super().__init__(settings={"pages.processes": 1, "pages.threads": 4},
                         **options)

    def fill(self):
        if self.first is None:
            super().fill()
        else:
            os.makedirs(self.data)
            self.key = self.first.key
        with open(self.path("secret"), "w") as file:
            file.write(SECRET + "\n")
        self.write_conf()
        os.makedirs(self.path("nginx"), exist_ok=True)
        with open(self.path("nginx/cluster.conf"), "w") as file:
            file.write(self.ctl("cluster", "nginx"))
        if self.first is None:
            self.begun = self.ctl("cluster", "init")
        else:
            self.joined = self.ctl("cluster", "join")
            self.ctl("import", "--quiet", self.first.path("csv"))
            self.ctl("compute", "--quiet", "S1")

    def write_conf(self):
        self.etcd.write_conf(
            self.data, "address = http://%s:%d\nsecret_file = %s\n" % (
                self.address, self.port, self.path("secret")))

    def begin(self):
        self.start()
        wait_until(self.is_current, "it is current")
        return self

    def is_current(self):
        return self.get("/readyz").status == 200

    def tables(self):
        done = subprocess.run([TABLES, self.data], capture_output=True,
                              text=True, check=True)
        return done.stdout

    def number(self):
        return self.tables().split("\n")[0]

    def store(self, codein, gamme):
        wait_until(lambda: self.put(codein, gamme).status == 200,
                   "it is stored")


def same(*nodes):
    wait_until(lambda: len({node.tables() for node in nodes}) == 1,
               "all nodes have the same tables")


def files_are_for_who_has_the_secret():
    with Etcd() as etcd:
        with Node(etcd) as one:
            names = [name for name in os.listdir(one.data + "/files")
                     if len(name) == 64]
            assert names, one.begun
            path = "/cluster/files/" + names[0]
            right = {"Authorization": "Bearer " + SECRET}
            answer = one.get(path, headers=right)
            with open("%s/files/%s" % (one.data, names[0]), "rb") as file:
                whole = file.read()
            assert answer.status == 200 and answer.body == whole
            answer = one.get(path, headers=dict(right, Range="bytes=5-"))
            assert answer.status == 206 and answer.body == whole[5:]
            for headers in ({}, {"Authorization": "Bearer " + SECRET + "0"},
                            {"Authorization": SECRET}):
                answer = one.get(path, headers=headers)
                assert answer.status == 401, answer.status
                assert b'"code":"unauthorized"' in answer.body
                assert b"nodes of a cluster" in answer.body
            for other in ("/cluster/files/" + "0" * 64, "/cluster/files/",
                          "/cluster/files/../state.mdb", "/cluster/",
                          "/cluster/files/%2e%2e/state.mdb",
                          "/cluster/files/state.tmp"):
                answer = one.get(other, headers=right)
                assert answer.status in (400, 404), (other, answer.status)
            one.stop()
            assert SECRET not in one.text_of("log/access.log")
            assert SECRET not in one.nginx_log() + one.log()


def a_cluster_begins_and_grows_and_begins_again():
    with Etcd() as etcd, Node(etcd) as one:
        assert one.ctl("cluster", "init", check=False).returncode == 1
        wait_until(one.is_current, "it is current")
        codes = one.articles
        one.store(codes[0], "Y")
        one.ctl("cluster", "checkpoint")
        one.store(codes[1], "Z")

        # An empty node has the checkpoint, and what came after it.
        with Node(etcd, one) as two, Node(etcd, one) as three:
            assert "has joined" in two.joined, two.joined
            for node in (two, three):
                wait_until(node.is_current, "it is current")
            two.store(codes[2], "A")
            same(one, two, three)
            falls_behind(one, two, three, codes)
            loses_etcd(etcd, one, two, three, codes)


def falls_behind(one, two, three, codes):
    """A node that was away while the log was trimmed."""
    three.stop()
    before = three.tables()
    one.store(codes[3], "B")
    wait_until(lambda: three_is_forgotten(one, two),
               "its record has ended")
    one.ctl("cluster", "checkpoint", "--keep", "0")
    one.store(codes[4], "C")
    done = one.ctl("cluster", "checkpoint", "--keep", "0")
    assert "is trimmed up to" in done, done
    three.start()
    wait_until(lambda: "trimmed" in three.log(), "it tells of it")
    assert three.get("/readyz").status == 503
    page = three.ask("GET", "/api/v1/fournisseurs")
    assert page.status == 200 and page.headers["X-Grid-Behind"], page.text
    answer = three.put(codes[5], "Y")
    assert answer.status == 503, answer.text
    assert "Nothing was stored" in answer.text and "anew" in answer.text
    assert three.tables() == before
    done = three.ctl("cluster", "join", "--anew", check=False)
    assert done.returncode == 1 and "in use" in done.stderr, done.stderr
    three.stop()
    done = three.ctl("cluster", "join", check=False)
    assert done.returncode == 1 and "--anew" in done.stderr, done.stderr
    three.ctl("cluster", "join", "--anew")
    three.begin()
    same(one, two, three)
    assert three.ask("GET", "/api/v1/fournisseurs").status == 200


def three_is_forgotten(one, two):
    """Trimming waits for no node whose record has ended."""
    nodes = one.etcd.ask(0, "/v3/kv/range", {
        "key": base64("product-grid.1/node/"),
        "range_end": base64("product-grid.1/node0"), "keys_only": True})
    return int(nodes.get("count", 0)) == 2


def base64(text):
    import base64 as coding
    return coding.b64encode(text.encode()).decode()


def loses_etcd(etcd, one, two, three, codes):
    """All of it, while one node has an entry that another one has not."""
    three.stop()
    one.store(codes[6], "C")
    same(one, two)
    etcd.kill(0)
    shutil.rmtree(os.path.join(etcd.folder, "e0"))
    etcd.start(0)
    wait_until(etcd.answers, "etcd answers")
    wait_until(lambda: one.put(codes[7], "Z").status in (500, 503),
               "nothing is stored in an empty etcd")
    one.stop()
    number = one.number()
    done = one.ctl("cluster", "init", "--from", "1", check=False)
    assert done.returncode == 1 and number in done.stderr, done.stderr
    wanted = one.tables()
    one.ctl("cluster", "init", "--from", number)
    assert one.tables().split("\n")[2:] == wanted.split("\n")[2:]
    one.begin()
    # A node at the same entry goes on; one that is behind joins anew.
    two.stop()
    assert "goes on" in two.ctl("cluster", "join")
    two.begin()
    three.start()
    answer = three.put(codes[8], "Y")
    assert answer.status in (500, 503), answer.text
    three.stop()
    done = three.ctl("cluster", "join", check=False)
    assert done.returncode == 1 and "--anew" in done.stderr, done.stderr
    three.ctl("cluster", "join", "--anew")
    three.begin()
    two.store(codes[9], "A")
    same(one, two, three)
    shown = {code: one.row(code)[2] for code in codes[:10]}
    wanted = {0: "Y", 1: "Z", 2: "A", 3: "B", 4: "C", 6: "C", 9: "A"}
    for i, gamme in wanted.items():
        assert shown[codes[i]] == gamme, (i, shown)
    for i in (5, 7, 8):
        assert shown[codes[i]] is None, (i, shown)
    done = two.ctl("cluster", "init", "--from", two.number(), check=False)
    assert done.returncode == 1, done.stdout
    leaves(two)


def leaves(two):
    assert "in use" in two.ctl("cluster", "leave", check=False).stderr
    two.stop()
    two.ctl("cluster", "leave")
    assert not os.path.exists(two.data + "/cluster.conf")
    two.ctl("key", "create", "--name", "own", "--scope", "read")


if __name__ == "__main__":
    find_etcd()
    run_tests([files_are_for_who_has_the_secret,
               a_cluster_begins_and_grows_and_begins_again])

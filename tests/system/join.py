"""Nodes that begin a cluster, join it, fall behind its log, and begin again after
the log's loss, with a real etcd, gridapi and nginx: nothing acknowledged is lost.
postgres.py does the same with PostgreSQL."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import GRIDCTL, Grid, write  # noqa: E402
from stack import BUILD, flip_bits, run_tests, wait_until  # noqa: E402

TABLES = os.path.join(BUILD, "tests", "system", "tables")
LONG = os.environ.get("GRID_LONG", "") not in ("", "0")
SECRET = "0123456789abcdef0123456789abcdef"


class Node(Grid):
    """The first node has data; a later one joins the cluster."""

    begin_words = ("cluster", "init")

    def __init__(self, engine, first=None, **options):
        self.engine, self.first = engine, first
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
            self.begun = self.ctl(*self.begin_words)
        else:
            self.joined = self.ctl("cluster", "join")
            self.pulled = self.ctl("cluster", "pull")
            self.ctl("compute", "--quiet", "S1")

    def write_conf(self):
        self.engine.write_conf(
            self.data, "address = http://%s:%d\nsecret_file = %s\n" % (
                self.address, self.port, self.path("secret")))

    def begin(self):
        self.start()
        wait_until(self.is_current, "it is current")
        return self

    def is_current(self):
        return self.get("/readyz").status == 200

    def tables(self):
        return tables_of(self.data)

    def status(self):
        return json.loads(self.ctl("cluster", "status", "--json", check=False)
                          .stdout)

    def number(self):
        return self.tables().split("\n")[0]

    def store(self, codein, gamme):
        wait_until(lambda: self.put(codein, gamme).status == 200,
                   "it is stored")


class Unbegun(Node):
    """Of a log that has no epoch: its nodes began with equal states."""

    begin_words = ("key", "list")


class Spare:
    """A data directory of a node without gridapi."""

    def __init__(self, engine, one, name="product-grid"):
        self.folder = tempfile.mkdtemp(prefix="grid-spare-")
        self.data = os.path.join(self.folder, "data")
        self.engine, self.one, self.name = engine, one, name
        os.makedirs(self.data)

    def write_conf(self):
        self.engine.write_conf(
            self.data, "name = %s\nsecret_file = %s\n" % (
                self.name, self.one.path("secret")), "spare")

    def own_state(self):
        """With a key that the cluster has not."""
        conf = self.data + "/cluster.conf"
        if os.path.exists(conf):
            os.unlink(conf)
        self.must("init")
        self.must("key", "create", "--name", "own", "--scope", "read")
        self.write_conf()
        return self

    def begin(self, *words, **options):
        return subprocess.Popen(
            list(options.pop("under", [])) +
            [GRIDCTL, "--data", self.data] + list(words),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, ASAN_OPTIONS=os.environ.get(
                "ASAN_OPTIONS", "") + ":detect_leaks=0"), **options)

    def ctl(self, *words, **options):
        process = self.begin(*words, **options)
        out, err = process.communicate()
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def must(self, *words):
        done = self.ctl(*words)
        assert done.returncode == 0, done
        return done.stdout

    def keys(self):
        return sorted(line.split()[-1] for line in
                      self.must("key", "list").splitlines()[1:])

    def tables(self):
        self.keys()  # takes in what was written since: keys' uses, too
        return tables_of(self.data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


def tables_of(data, *words):
    return subprocess.run([TABLES, data] + list(words), capture_output=True,
                          text=True, check=True).stdout


def can_trace():
    done = shutil.which("strace") and subprocess.run(
        ["strace", "-qq", "-o", "/dev/null", "true"], check=False,
        capture_output=True)
    if not done or done.returncode != 0:
        print("strace cannot be used here: nothing is killed or held up")
    return done and done.returncode == 0


def under_strace(call, what, *words):
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call,
            "-e", "inject=%s:%s" % (call, what)] + list(words)


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


def a_cluster_begins_and_grows_and_begins_again(new_engine=Etcd):
    with new_engine() as engine, Node(engine) as one:
        assert one.ctl("cluster", "init", check=False).returncode == 1
        wait_until(one.is_current, "it is current")
        codes = one.articles
        one.store(codes[0], "Y")
        one.ctl("cluster", "checkpoint")
        one.store(codes[1], "Z")

        # An empty node has the checkpoint, and what came after it.
        with Node(engine, one) as two, Node(engine, one) as three:
            assert "has joined" in two.joined, two.joined
            for node in (two, three):
                wait_until(node.is_current, "it is current")
            two.store(codes[2], "A")
            same(one, two, three)
            falls_behind(one, two, three, codes)
            loses_the_log(engine, one, two, three, codes)


def a_log_that_has_ended_counts_no_entries():
    """A cluster.conf beside a state of its own, once the cluster has begun."""
    with Etcd() as etcd, Node(etcd) as one, Spare(etcd, one) as spare:
        status = one.status()
        assert status["state"] < 1000 and not status["ended"], status
        spare.own_state()
        done = spare.ctl("cluster", "status", "--json")
        status = json.loads(done.stdout)
        assert done.returncode == 1 and not status["well"], done
        assert status["state"] is None and status["ended"], status
        done = spare.ctl("cluster", "status")
        assert "log   has ended" in done.stdout, done
        assert "'gridctl cluster join --anew', start it" in done.stdout, done
        for words in (("cluster", "pull"), ("cluster", "checkpoint")):
            done = spare.ctl(*words)
            assert done.returncode == 1, done
            assert "'gridctl cluster join --anew'" in done.stderr, done


def a_log_is_not_trimmed_behind_a_node_that_joins():
    with Etcd() as etcd, Node(etcd) as one, Spare(etcd, one) as spare, \
            socket.create_server(("127.0.0.1", 0)) as holder:
        spare.write_conf()
        joining = spare.begin(
            "cluster", "join", "--from",
            "http://127.0.0.1:%d" % holder.getsockname()[1])
        # It has chosen a checkpoint, and waits for its file.
        connection, _ = holder.accept()
        for i in range(3):
            one.store(one.articles[i], "Y")
            one.ctl("cluster", "checkpoint", "--keep", "0")
        wait_until(lambda: [node["state"] > 2 for node in one.status()["nodes"]]
                   == [True], "its own record has them, and no other counts")
        done = one.ctl("cluster", "checkpoint", "--keep", "0")
        assert "is trimmed up to" not in done, done
        connection.close()
        holder.close()
        out, err = joining.communicate()
        assert joining.returncode == 0, err
        assert "has joined" in out, out
        same(one, spare)
        done = one.ctl("cluster", "checkpoint", "--keep", "0")
        assert "is trimmed up to" in done, done


def a_state_that_is_replaced_is_not_opened():
    """A program that begins just before waits, and has the new one."""
    if not can_trace():
        return
    with Etcd() as etcd, Node(etcd) as one, Spare(etcd, one) as spare:
        spare.own_state()
        mine, copy = spare.data + "/state.mdb", spare.data + "/state.mdb.join"
        joining = spare.begin(
            "cluster", "join", "--anew",
            under=under_strace("rename", "delay_enter=3000000", "-P", copy))
        wait_until(lambda: os.stat(mine).st_nlink == 2, "it is linked")
        assert os.path.exists(copy)
        assert spare.keys() == ["reader", "robot"]
        assert not os.path.exists(copy)
        _, err = joining.communicate()
        assert joining.returncode == 0, err
        same(one, spare)


def noise(path):
    """Over its head, so that nothing opens it."""
    with open(path, "r+b") as file:
        file.write(os.urandom(3 * 4096))


def a_node_whose_state_is_lost_joins_anew():
    """Damaged, away, and away when a program has begun an empty one since."""
    with Etcd() as etcd, Node(etcd) as one, Spare(etcd, one) as spare:
        spare.write_conf()
        spare.must("cluster", "join")
        mine = spare.data + "/state.mdb"
        for name, lose in (("a", noise), ("b", os.unlink),
                           ("c", lambda path: os.truncate(path, 0))):
            spare.must("key", "create", "--name", name, "--scope", "read")
            lose(mine)
            for words in (("cluster", "status"), ("doctor",), ("key", "list"),
                          ("cluster", "join")):
                done = spare.ctl(*words)
                said = done.stdout + done.stderr
                assert done.returncode == 1, (words, done)
                assert "the other nodes have all of it" in said, (words, said)
                assert "'gridctl cluster join --anew'" in said, (words, said)
                assert "backup: keys" not in said, (words, said)
            assert "has joined" in spare.must("cluster", "join", "--anew")
            assert name in spare.keys()
            same(one, spare)


def damage_on_a_node_is_mended_by_the_others():
    """As gridctl check, and all else that finds it, says to do."""
    with Etcd() as etcd, Node(etcd) as one, Node(etcd, one) as two:
        two.stop()
        for path, text, todo, words in (
                ("/state.mdb", b"robot", "'gridctl cluster join --anew'",
                 [("cluster", "join", "--anew")]),
                ("/live.mdb", None, "'gridctl cluster pull'", None),
                ("/catalog.mdb", None, "'gridctl cluster pull'", None)):
            if text:
                flip_bits(two.data + path, text, -1)
            else:
                noise(two.data + path)
            done = two.ctl("check", check=False)
            said = done.stdout + done.stderr
            assert done.returncode == 1 and todo in said, (path, done)
            assert "backup" not in said, (path, done)
            if not words:
                os.unlink(two.data + path)
                os.unlink(two.data + "/store")
                words = [("init",), ("cluster", "pull")]
            for command in words:
                two.ctl(*command)
            assert "all is whole" in two.ctl("check")
            same(one, two)
        two.begin()
        assert two.rows()["data"] == one.rows()["data"]


# A program that alters files or the log does it by these.
CALLS = ["mkdir", "openat", "pwrite64", "pwritev", "write", "fdatasync",
         "fsync", "msync", "ftruncate", "link", "unlink", "rename", "sendto"]


def moments(call):
    """By which a command is killed at its Nth call, until it ends before. The
    first calls of some open and write no file of ours."""
    nth = 1
    while True:
        yield under_strace(call, "signal=SIGKILL:when=%d" % nth)
        nth += 1 if LONG else max(1, nth)


def kill_at_each(make, words, check):
    """make() gives a Spare; check() looks at it after each kill. Returns how
    often it was killed."""
    kills = 0
    for call in CALLS:
        for under in moments(call):
            with make() as spare:
                done = spare.ctl(*words, under=under)
                if done.returncode == 0:
                    break
                assert done.returncode == -9, (under, done)
                kills += 1
                try:
                    check(spare)
                except AssertionError:
                    print("killed by", under)
                    raise
    return kills


def a_killed_join_or_beginning_is_done_again():
    if not can_trace():
        return
    with Etcd() as etcd, Node(etcd) as one:
        one.store(one.articles[0], "Y")
        wait_until(one.is_current, "it is current")
        names = iter(range(10 ** 6))

        def empty():
            spare = Spare(etcd, one)
            spare.write_conf()
            return spare

        def with_state():
            return Spare(etcd, one).own_state()

        def with_damage():
            spare = with_state()
            noise(spare.data + "/state.mdb")
            return spare

        def fresh():
            return Spare(etcd, one, "fresh-%d" % next(names)).own_state()

        def joins(spare):
            if os.path.exists(spare.data + "/store"):
                assert spare.keys() == ["reader", "robot"]
            spare.must("cluster", "join")
            same(one, spare)

        def joins_anew(spare):
            assert spare.keys() in (["own"], ["reader", "robot"])
            spare.must("cluster", "join", "--anew")
            same(one, spare)

        def mends(spare):
            listed = spare.ctl("key", "list")
            assert listed.returncode == 0 or \
                "'gridctl cluster join --anew'" in listed.stderr, listed
            spare.must("cluster", "join", "--anew")
            same(one, spare)

        def begins(spare):
            spare.must("cluster", "init")
            spare.must("key", "create", "--name", "b", "--scope", "read")
            assert spare.keys() == ["b", "own"]
            with Spare(etcd, one, spare.name) as second:
                second.write_conf()
                done = second.ctl("cluster", "join")
                assert "no other node is there to get" in done.stderr, done

        print("killed: join %d times, join --anew %d, with a damaged state "
              "%d, init %d" % (
            kill_at_each(empty, ("cluster", "join"), joins),
            kill_at_each(with_state, ("cluster", "join", "--anew"),
                         joins_anew),
            kill_at_each(with_damage, ("cluster", "join", "--anew"), mends),
            kill_at_each(fresh, ("cluster", "init"), begins)))


def falls_behind(one, two, three, codes):
    """A node that was away while the log was trimmed."""
    three.stop()
    before = three.tables()
    one.store(codes[3], "B")
    # Trimming waits for no node whose record has ended.
    wait_until(lambda: len(one.status()["nodes"]) == 2, "its record has ended")
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


def must_join(node, todo):
    """The next epoch has begun without it: what is asked says so at once."""
    for words in (("cluster", "status"), ("doctor",),
                  ("cluster", "checkpoint"), ("cluster", "pull")):
        done = node.ctl(*words, check=False)
        said = done.stdout + done.stderr
        assert done.returncode == 1, (words, done)
        assert "the log of epoch 1 has ended: the cluster goes on with " \
            "epoch 2" in said, (words, said)
        assert todo in said, (words, said)
        assert "goes on by itself" not in said, (words, said)
    assert node.status()["ended"], node.status()


def not_come_over(one, other):
    """The nodes of the new epoch miss one that runs in that before, which has old
    records alone."""
    name = one.engine.node_name(other.data)
    fault = "node %s runs, and has not come over to epoch 2" % name
    wait_until(lambda: fault in "".join(one.status()["faults"]),
               "it is missed")
    said = one.ctl("cluster", "status", check=False).stdout
    assert "'gridctl cluster join --anew' there" in said, said
    faults = other.status()["faults"]
    assert len(faults) == 1 and "has ended" in faults[0], faults


def loses_the_log(engine, one, two, three, codes):
    """All of it, while one node has an entry that another one has not."""
    three.stop()
    one.store(codes[6], "C")
    same(one, two)
    engine.lose()
    wait_until(lambda: one.put(codes[7], "Z").status in (500, 503),
               "nothing is stored in an empty log")
    number = one.number()
    for words in (("cluster", "status"), ("doctor",)):
        said = one.ctl(*words, check=False).stdout
        assert "has %s entries, and the log is empty" % number in said, said
        assert "'gridctl cluster init --from %s'" % number in said, said
        assert "older copy" not in said, said
    one.stop()
    done = one.ctl("cluster", "init", "--from", "1", check=False)
    # The refusal has the command, as hosts.sh gives it.
    assert done.returncode == 1 and \
        "'gridctl cluster init --from %s'" % number in done.stderr, done.stderr
    refused = three.ctl("cluster", "join", check=False).stderr
    assert "'gridctl cluster init --from'" in refused, refused
    wanted = one.tables()
    one.ctl("cluster", "init", "--from", number)
    assert one.tables().split("\n")[2:] == wanted.split("\n")[2:]
    one.begin()
    # A node at the same entry goes on; one that is behind joins anew.
    must_join(two, "'gridctl cluster join', start it")
    wait_until(lambda: b"'gridctl cluster join --anew'" in
               two.get("/readyz").body, "it says that it must join")
    not_come_over(one, two)
    two.stop()
    assert "goes on" in two.ctl("cluster", "join")
    two.begin()
    three.start()
    answer = three.put(codes[8], "Y")
    assert answer.status in (500, 503), answer.text
    not_come_over(one, three)
    must_join(three, "'gridctl cluster join --anew', start it")
    three.stop()
    done = three.ctl("cluster", "join", check=False)
    assert done.returncode == 1 and "--anew" in done.stderr, done.stderr
    three.ctl("cluster", "join", "--anew")
    three.begin()
    wait_until(lambda: one.status()["faults"] == [], "all have come over")
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
    status = two.ctl("cluster", "status", check=False)
    assert status.returncode == 1 and "join --anew" in status.stderr, status
    two.ctl("key", "create", "--name", "own", "--scope", "read")
    # Its cluster.conf laid beside what it has written since is no way back.
    os.rename(two.data + "/cluster.conf.left", two.data + "/cluster.conf")
    done = two.ctl("key", "create", "--name", "late", "--scope", "read",
                   check=False)
    assert done.returncode == 1 and "cluster join" in done.stderr, done
    status = two.ctl("cluster", "status", check=False)
    assert status.returncode == 1 and "has ended" in status.stdout, status
    done = two.ctl("cluster", "join", check=False)
    assert done.returncode == 1 and "--anew" in done.stderr, done
    assert "own" in two.ctl("key", "list")
    # To leave again is one.
    two.ctl("cluster", "leave")
    two.ctl("key", "create", "--name", "later", "--scope", "read")
    os.rename(two.data + "/cluster.conf.left", two.data + "/cluster.conf")
    two.ctl("cluster", "join", "--anew")
    two.begin()
    assert "own" not in two.ctl("key", "list")


def a_node_that_left_a_log_without_epoch_joins_anew():
    """Of a state at entry 0, as that of a new node, its log tells nothing."""
    with Etcd() as etcd, Unbegun(etcd) as one, Spare(etcd, one) as spare:
        conf = spare.data + "/cluster.conf"
        one.store(one.articles[0], "Y")
        one.ctl("cluster", "checkpoint")
        spare.write_conf()
        spare.must("cluster", "join")
        same(one, spare)
        assert "cluster checkpoint" in spare.must("cluster", "leave")
        spare.must("key", "create", "--name", "own", "--scope", "read")
        os.rename(conf + ".left", conf)
        for words in (("key", "create", "--name", "late", "--scope", "read"),
                      ("cluster", "checkpoint")):
            done = spare.ctl(*words)
            assert done.returncode == 1, done
            assert "cluster join" in done.stderr, done
        status = json.loads(spare.ctl("cluster", "status", "--json").stdout)
        assert status["ended"] and not status["well"], status
        assert "--anew" in spare.ctl("cluster", "join").stderr
        assert "has this cluster" in spare.ctl("cluster", "init").stderr
        assert spare.keys() == ["own", "reader", "robot"], spare.keys()
        spare.must("cluster", "join", "--anew")
        spare.must("key", "create", "--name", "late", "--scope", "read")
        assert spare.keys() == ["late", "reader", "robot"], spare.keys()
        same(one, spare)
        # It may begin another one.
        spare.must("cluster", "leave")
        spare.name = "another"
        spare.write_conf()
        spare.must("cluster", "init")
        spare.must("key", "create", "--name", "own", "--scope", "read")
        assert spare.keys() == ["late", "own", "reader", "robot"]


# Each with the words of a file that the first node has, where it takes one.
SHARED_WRITES = (("key", "create", "--name", "own", "--scope", "read"),
                 ("key", "revoke", "reader"), ("user", "remove", "marie"),
                 ("hook", "add", "own", "http://127.0.0.1:1/", "--events",
                  "saved"),
                 ("import", "csv"), ("gammes", "import", "csv/gammes.csv"),
                 ("network", "csv/network.csv"))
CLUSTER_WORDS = (("status",), ("checkpoint",), ("pull",), ("push",),
                 ("publish",), ("nginx",), ("init",), ("join", "--anew"),
                 ("leave", "--node", "other"))


def is_cut_off(node, one):
    """Without its cluster.conf: it says so, shows what it has, stores nothing."""
    missing = node.data + "/cluster.conf: is missing"
    before = node.tables(), tables_of(node.data, "live")
    code = one.articles[0]
    answer = node.put(code, "Z")
    assert answer.status == 503, answer.text
    assert "Nothing was stored" in answer.text, answer.text
    assert "cluster.conf" in answer.text, answer.text
    assert answer.headers["Retry-After"], answer.headers
    assert node.row(code), "it is read"
    answer = node.get("/readyz")
    assert answer.status == 503 and b"cluster.conf is missing" in answer.body
    assert node.log().count(missing) == 1, node.log()
    for words in SHARED_WRITES + tuple(
            ("cluster",) + words for words in CLUSTER_WORDS):
        done = node.ctl(*(one.path(word) if word.startswith("csv") else word
                          for word in words), check=False)
        assert done.returncode == 1, (words, done)
        for said in (missing, "so that nothing is stored",
                     "'gridctl cluster leave' makes"):
            assert said in done.stderr, (words, done)
    done = node.ctl("cluster", "leave", check=False)
    assert "in use" in done.stderr, done
    done = node.ctl("doctor", check=False)
    assert done.returncode == 1, done
    assert "cluster.conf is missing, and" in done.stdout, done
    assert "WRONG  cluster" in done.stdout, done
    assert "robot" in node.ctl("key", "list")
    assert before == (node.tables(), tables_of(node.data, "live"))


def sends_nothing(node, receiver):
    """Who sends is agreed on in the log."""
    with subprocess.Popen([GRIDCTL, "--data", node.data, "hook", "deliver"],
                          stderr=subprocess.PIPE, text=True) as sender:
        line = sender.stderr.readline()
        sender.terminate()
    assert "cluster.conf is missing" in line, line
    receiver.setblocking(False)
    try:
        raise AssertionError(receiver.accept())
    except BlockingIOError:
        pass


def a_node_without_its_conf_stores_nothing():
    """It is moved away, and back."""
    with Etcd() as etcd, Node(etcd) as one, Node(etcd, one) as two, \
            socket.create_server(("127.0.0.1", 0)) as receiver:
        write(one.path("csv/gammes.csv"), ["fournisseur,codein,gamme"])
        write(one.path("csv/network.csv"), [
            "codeCentrale,caReseau,qteReseau,nbMagasinsReseau,margePctReseau,"
            "fetchedAt"])
        one.ctl("hook", "add", "own", "http://127.0.0.1:%d/" %
                receiver.getsockname()[1], "--events", "proposed")
        one.store(one.articles[0], "Y")
        wait_until(lambda: two.row(one.articles[0])[2] == "Y", "it is there")
        conf, kept = two.data + "/cluster.conf", two.path("kept.conf")
        two.stop()
        os.rename(conf, kept)
        two.start()
        is_cut_off(two, one)
        sends_nothing(two, receiver)
        one.store(one.articles[1], "Y")
        two.stop()
        os.rename(kept, conf)
        two.begin()
        two.store(one.articles[2], "A")
        same(one, two)


def move(node, before):
    """A restored data directory into the old one's place, by operations.md."""
    node.stop()
    os.rename(node.data, before)
    os.rename(node.data + ".new", node.data)


def a_node_is_restored_with_its_conf():
    """Or is left without, and then stores nothing, until it leaves."""
    with Etcd() as etcd, Node(etcd) as one, Node(etcd, one) as two:
        wait_until(two.is_current, "it is current")
        backup, old = two.path("backup"), two.path("old")
        said = two.ctl("backup", backup)
        assert not os.path.exists(backup + "/cluster.conf"), said

        def restored(data):
            done = subprocess.run([GRIDCTL, "--data", data, "restore", backup],
                                  capture_output=True, text=True, check=True)
            for word in (data + "/cluster.conf", "before gridapi is started",
                         "'gridctl cluster leave'"):
                assert word in done.stdout, done
            done = subprocess.run([GRIDCTL, "--data", data, "check"],
                                  capture_output=True, text=True, check=True)
            assert done.stderr == "", done

        one.store(one.articles[0], "Y")
        restored(two.data + ".new")
        move(two, old)
        two.start()
        assert two.put(one.articles[1], "Z").status == 503
        two.stop()
        shutil.copy(old + "/cluster.conf", two.data)
        two.begin()
        same(one, two)

        one.store(one.articles[2], "Y")
        restored(two.data + ".new")
        shutil.copy(two.data + "/cluster.conf", two.data + ".new")
        move(two, two.path("older"))
        two.begin()
        two.store(one.articles[3], "A")
        same(one, two)

        # As a server of its own, elsewhere: the nodes are as they were.
        with Spare(etcd, one) as spare:
            os.rmdir(spare.data)
            restored(spare.data)
            words = ("key", "create", "--name", "own", "--scope", "read")
            assert "is missing" in spare.ctl(*words).stderr
            said = spare.must("cluster", "leave")
            assert "'gridctl cluster leave --node NAME'" in said, said
            spare.must(*words)
            assert "own" in spare.keys()
            assert "own" not in one.ctl("key", "list")
            assert len(one.status()["nodes"]) == 2
            # Its own writes are of no log.
            spare.write_conf()
            done = spare.ctl("key", "create", "--name", "late", "--scope",
                             "read")
            assert done.returncode == 1 and "cluster join" in done.stderr, done


if __name__ == "__main__":
    find_etcd()
    run_tests([files_are_for_who_has_the_secret,
               a_cluster_begins_and_grows_and_begins_again,
               a_log_that_has_ended_counts_no_entries,
               a_node_that_left_a_log_without_epoch_joins_anew,
               a_node_without_its_conf_stores_nothing,
               a_node_is_restored_with_its_conf,
               a_log_is_not_trimmed_behind_a_node_that_joins,
               a_state_that_is_replaced_is_not_opened,
               a_node_whose_state_is_lost_joins_anew,
               damage_on_a_node_is_mended_by_the_others,
               a_killed_join_or_beginning_is_done_again])

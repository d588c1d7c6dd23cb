"""Nodes that share their state by a real etcd: what was acknowledged is on all
of them, and an etcd that is away stops writes and nothing else."""

import datetime
import json
import os
import signal
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import Grid, GRIDCTL  # noqa: E402
from stack import children, run_tests, wait_until  # noqa: E402

import shutil  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402


class Nodes:
    """Data directories of several nodes, without gridapi."""

    def __init__(self, etcd, count):
        self.folder = tempfile.mkdtemp(prefix="grid-nodes-")
        self.dirs = [os.path.join(self.folder, "n%d" % i)
                     for i in range(count)]
        for path in self.dirs:
            assert self.ctl(path, "init").returncode == 0
            etcd.write_conf(path)

    @staticmethod
    def ctl(path, *words):
        return subprocess.run([GRIDCTL, "--data", path] + list(words),
                              capture_output=True, text=True, check=False)

    def must(self, which, *words):
        done = self.ctl(self.dirs[which], *words)
        assert done.returncode == 0, done

    def names(self, path):
        done = self.ctl(path, "key", "list")
        assert done.returncode == 0 and done.stderr == "", done.stderr
        return sorted(line.split()[-1] for line in
                      done.stdout.splitlines()[1:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


class Writer(threading.Thread):
    """Makes keys at a node until it is told to stop, each of another name, and
    notes what became of them."""

    def __init__(self, nodes, which):
        super().__init__(daemon=True)
        self.nodes, self.which = nodes, which
        self.done, self.refused, self.unknown, self.other = [], [], [], []
        self.stop = False

    def run(self):
        number = 0
        while not self.stop:
            name = "n%d-%d" % (self.which, number)
            number += 1
            done = self.nodes.ctl(self.nodes.dirs[self.which], "key",
                                  "create", "--name", name,
                                  "--scope", "read")
            if done.returncode == 0:
                self.done.append(name)
            elif "nothing was stored" in done.stderr:
                self.refused.append(name)
            elif "may have been stored" in done.stderr:
                self.unknown.append(name)
            else:
                self.other.append((name, done.stderr))


def what_is_acknowledged_survives_the_leaders_kill(engine=Etcd):
    """Two nodes write to three members, whose leader dies twice."""
    with engine(members=3) as etcd, Nodes(etcd, 2) as nodes:
        writers = [Writer(nodes, i) for i in range(2)]
        for writer in writers:
            writer.start()
        for _ in range(2):
            counts = [len(writer.done) for writer in writers]
            wait_until(lambda: all(
                len(writer.done) > count + 5
                for writer, count in zip(writers, counts)), "both write")
            killed = etcd.leader()
            etcd.kill(killed)
            if etcd.alone:
                time.sleep(0.2)
                etcd.start(killed)
            counts = [len(writer.done) for writer in writers]
            wait_until(lambda: all(
                len(writer.done) > count + 2
                for writer, count in zip(writers, counts)),
                "both write again")
            if not etcd.alone:
                etcd.start(killed)
            wait_until(etcd.answers, "etcd is whole")
        for writer in writers:
            writer.stop = True
        for writer in writers:
            writer.join()
        lists = [nodes.names(path) for path in nodes.dirs]
    assert lists[0] == lists[1]
    assert len(lists[0]) == len(set(lists[0]))
    there = set(lists[0])
    for writer in writers:
        assert writer.other == [], writer.other
        assert set(writer.done) <= there, set(writer.done) - there
        assert not there & set(writer.refused)
    known = set(sum((w.done + w.unknown for w in writers), []))
    assert there <= known, there - known
    print("acknowledged: %d, nothing stored: %d, unknown: %d" % tuple(
        sum(len(getattr(writer, name)) for writer in writers)
        for name in ("done", "refused", "unknown")))


class Other(Grid):
    """Another node of a grid: from a backup of its data."""

    def __init__(self, first, **options):
        self.first = first
        super().__init__(**options)

    def fill(self):
        backup = self.path("backup")
        self.first.ctl("backup", backup)
        self.ctl("restore", backup)
        self.key = self.first.key


def begin_sharing(etcd, *grids):
    for grid in grids:
        etcd.write_conf(grid.data)
        grid.stop()
        grid.start()


def what_one_node_stores_the_other_shows(engine=Etcd):
    """Without a write at the other: its follower takes it in."""
    with engine() as etcd, Grid() as one, Other(one) as two:
        begin_sharing(etcd, one, two)
        code = one.articles[5]
        took = []
        for turn, gamme in enumerate("ABCY" * 5):
            writer, reader = (one, two) if turn % 2 == 0 else (two, one)
            wait_until(lambda: writer.put(code, gamme).status == 200,
                       "it is stored")
            began = time.monotonic()
            wait_until(lambda: reader.row(code)[2] == gamme,
                       "the other node shows it")
            took.append((time.monotonic() - began) * 1000)
        print("seen on the other node after %.0f ms in the median, %.0f ms "
              "at most" % (sorted(took)[10], max(took)))
        # A key of one node is good at the other, and no longer once revoked.
        key = one.make_key("short", "read")
        wait_until(lambda: two.ask("GET", "/api/v1/fournisseurs",
                                   key=key).status == 200, "it is known")
        one.ctl("key", "revoke", key.split("_")[1])
        wait_until(lambda: two.ask("GET", "/api/v1/fournisseurs",
                                   key=key).status == 401, "it is revoked")
        session = one.login()
        wait_until(lambda: two.app(session, "GET", "/session").status == 200,
                   "the session is known")


def a_node_without_etcd_tells_how_far_it_is_behind(engine=Etcd):
    def behind(grid):
        answer = grid.ask("GET", "/api/v1/grid?fournisseur=S1&fields=codein")
        assert answer.status == 200, answer.text
        return int(answer.headers["X-Grid-Behind"] or 0)

    def metric(grid):
        text = grid.get("/metrics").body.decode()
        lines = [line for line in text.splitlines()
                 if line.startswith("gridapi_behind_milliseconds ")]
        return int(lines[0].split()[1]) if lines else None

    with engine() as etcd, Grid() as grid:
        assert metric(grid) is None
        begin_sharing(etcd, grid)
        wait_until(lambda: behind(grid) == 0, "it is current")
        wait_until(lambda: grid.get("/readyz").status == 200, "it is ready")
        etcd.kill(0)
        wait_until(lambda: behind(grid) >= 2, "it is behind")
        assert metric(grid) >= 2000
        assert grid.metric("gridapi_log_away") == 1
        assert grid.get("/readyz").status == 503
        assert grid.get("/healthz").status == 200
        done = grid.ctl("cluster", "pull", check=False)
        assert done.returncode == 1 and "out of reach" in done.stderr, done
        etcd.start(0)
        wait_until(lambda: behind(grid) == 0, "it is current again")
        wait_until(lambda: grid.metric("gridapi_log_away") == 0,
                   "the log is there again")
        wait_until(lambda: grid.get("/readyz").status == 200, "it is ready")


def two_nodes_of_one_name_are_told(engine=Etcd):
    """The second one is not ready, until it has another name; its writes are those
    of all."""
    with engine() as etcd, Grid() as one, Other(one) as two:
        begin_sharing(etcd, one)
        name = etcd.node_name(one.data)
        wait_until(lambda: etcd.run_of(name), "it has put its record")
        # Its own record of before is no other node's.
        first = etcd.run_of(name)
        one.stop()
        one.start()
        wait_until(lambda: etcd.run_of(name) not in (first, None),
                   "it has put its record anew")
        wait_until(lambda: one.get("/readyz").status == 200, "it is ready")
        address = "http://%s:%d" % (two.address, two.port)
        etcd.write_conf(two.data, "address = %s\n" % address, name)
        two.stop()
        two.start()
        wait_until(lambda: "another node has this one's name" in two.log(),
                   "it is told")
        wait_until(lambda: two.get("/readyz").status == 503,
                   "the second is not ready")
        assert one.get("/readyz").status == 200
        assert "another node has this one's name" not in one.log()
        # As the fault says.
        wait_until(lambda: one.put(one.articles[1], "Z").status == 200,
                   "it is stored")
        assert two.row(one.articles[1])[2] != "Z"
        wait_until(lambda: two.put(one.articles[2], "Z").status == 200,
                   "it is stored at the second")
        assert two.row(one.articles[1])[2] == "Z"
        wait_until(lambda: one.row(one.articles[2])[2] == "Z",
                   "the first one has it")
        told = "node %s is there twice: the second one, on host %s, %s, is " \
            "not ready; what is written there is stored, and it takes in " \
            "what others write only then" % (
                name, socket.gethostname(), address)
        for grid in (one, two):
            wait_until(lambda grid=grid: status(grid)[0] == 1 and
                       "fault " + told in status(grid)[1].splitlines(),
                       lambda grid=grid: status(grid)[1])
        doctor = json.loads(two.ctl("doctor", "--json", check=False).stdout)
        assert ("wrong", told) in [(line["level"], line["text"])
                                   for line in doctor], doctor
        nodes = json.loads(status(one, "--json")[1])["nodes"]
        assert [node["name"] for node in nodes] == [name], nodes
        begin_sharing(etcd, two)
        wait_until(lambda: two.get("/readyz").status == 200, "it is ready")
        wait_until(lambda: status(one, "--nodes", "2")[0] == 0,
                   lambda: status(one)[1])


def status(grid, *words):
    done = subprocess.run(
        [GRIDCTL, "--data", grid.data, "cluster", "status"] + list(words),
        capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def a_node_that_lacks_nothing_is_not_behind():
    """A record of another node is up to three seconds old: entries since then are
    none that it lacks."""
    with Etcd() as etcd, Grid() as one, Other(one) as two:
        begin_sharing(etcd, one, two)
        wait_until(lambda: status(one, "--nodes", "2")[0] == 0, "all is well")
        for turn in range(3):
            one.ctl("key", "create", "--name", "k%d" % turn, "--scope", "read")
            code, text = status(one, "--json", "--behind", "0")
            told = json.loads(text)
            assert [node["behind"] for node in told["nodes"]] == [0, 0], text
            assert code == 0 and told["nodes"][1]["state"] >= told["state"]


def a_clock_that_is_off_is_told():
    """By the time that a node notes each minute, as of its own clock."""
    with Etcd() as etcd, Grid() as one, Other(one) as two:
        begin_sharing(etcd, one, two)
        wait_until(lambda: status(one, "--nodes", "2")[0] == 0, "all is well")

        def told(seconds):
            etcd.put_note("roster/node1",
                          str(int((time.time() + seconds) * 1000)))
            code, text = status(one, "--json")
            return code, [fault for fault in json.loads(text)["faults"]
                          if "the clock of node node1 is" in fault]
        # The node may renew it meanwhile.
        for seconds, words in ((90000, "ahead of"), (-90000, "behind")):
            words += " that of this one"
            wait_until(lambda seconds=seconds, words=words: any(
                fault.endswith(words) for fault in told(seconds)[1]), words)
        wait_until(lambda: told(90000) and "look" in [
            line[0] for line in cluster_lines(one) if "the clock of" in line[1]
        ], "doctor says so")
        # As old as a note may be, and a clock that is a minute off.
        assert told(30) == (0, []) and told(-100) == (0, [])
        # Its own is no other's.
        assert "clock" not in status(two)[1]


def status_tells_what_is_not_well():
    with Etcd(members=3) as etcd, Grid() as one, Other(one) as two:
        begin_sharing(etcd, one, two)
        wait_until(lambda: status(one, "--nodes", "2")[0] == 0, "all is well")
        assert one.put(one.articles[5], "A").status == 200
        told = json.loads(status(one, "--json")[1])
        assert told["well"] and told["state"] >= 1, told
        assert [server["reachable"] for server in told["etcd"]] == [True] * 3
        assert sum(server["leads"] for server in told["etcd"]) == 1
        assert [node["name"] for node in told["nodes"]] == ["node0", "node1"]
        wait_until(lambda: all(
            (node["state"] or 0) >= told["state"] for node in
            json.loads(status(two, "--json")[1])["nodes"]), "both have all")
        # The use of the key may be noted meanwhile: an entry more.
        wait_until(lambda: status(two)[1].count(", 0 behind") == 2,
                   lambda: status(two)[1])
        code, text = status(two)
        assert code == 0 and "leads" in text, text
        # Builds of a clone are told apart.
        version = two.ctl("--version").split()[-1]
        assert text.count("version %s " % version) == 2, (version, text)
        code, text = status(one, "--nodes", "3")
        assert code == 1 and text.splitlines()[-2:] == [
            "fault nodes that are alive: 2 of 3",
            "   -> start gridapi on the others"], text
        etcd.kill(0)
        wait_until(lambda: "out of reach" in status(one)[1], "it is told")
        assert status(one)[0] == 1
        etcd.start(0)
        wait_until(lambda: status(one)[0] == 0, "all is well again")
        two.stop()
        wait_until(lambda: status(one, "--nodes", "2")[0] == 1, "one is gone")
        code, text = status(two, "--nodes", "2", "--json")
        assert (code, json.loads(text)["faults"]) == (1, [
            "node node1, of this directory, is not alive",
            "nodes that are alive: 1 of 2"]), text
        etcd.kill(0)
        etcd.kill(1)
        # One without a majority answers for itself.
        alone = "fault etcd %s answers, and has no leader" % etcd.urls[2]
        wait_until(lambda: alone in status(one)[1], lambda: status(one)[1])
        etcd.kill(2)
        code, text = status(one)
        assert code == 1 and "log   out of reach" in text, text


def an_etcd_that_is_away_stops_writes_alone(engine=Etcd):
    with engine() as etcd, Grid() as grid:
        begin_sharing(etcd, grid)
        code = grid.articles[5]
        wait_until(lambda: grid.put(code, "A").status == 200, "it is stored")
        etcd.kill(0)
        seen = set()

        def nothing_was_stored():
            answer = grid.put(code, "B")
            assert answer.status == 503, answer.text
            unknown = answer.details.get("outcome") == "unknown"
            text = answer.json["error"]["message"]
            assert ("Nothing was stored" in text) != unknown, text
            assert (answer.headers["Retry-After"] is None) == unknown
            seen.add(unknown)
            return not unknown

        wait_until(nothing_was_stored, "it is known to be away")
        # Whether it is so is known by the log alone.
        same = grid.put(code, "A")
        assert same.status == 503 and same.headers["Retry-After"], same.text
        assert grid.row(code) == (None, None, "A")
        assert grid.rows()["pagination"]["total"] == len(grid.articles)
        login = grid.ask("POST", "/app/session", {
            "user": "marie", "password": "correct horse battery"}, key="")
        assert login.status == 503, login.text
        etcd.start(0)
        wait_until(lambda: grid.put(code, "C").status == 200,
                   "it is there again")
        assert grid.row(code)[2] == "C"


def the_member_that_is_away_is_named():
    """Not the one that is asked next."""
    with Etcd() as etcd, Nodes(etcd, 1) as nodes, \
            socket.create_server(("127.0.0.1", 0)) as silent:
        address = "http://127.0.0.1:%d" % silent.getsockname()[1]
        conf = nodes.dirs[0] + "/cluster.conf"
        with open(conf) as file:
            text = file.read()
        with open(conf, "w") as file:
            file.write(text.replace("etcd = ", "etcd = %s, " % address))
        done = nodes.ctl(nodes.dirs[0], "key", "create", "--name", "n",
                         "--scope", "read")
        told = [line for line in done.stderr.splitlines()
                if "etcd is away" in line]
        # The other one may be too slow as well.
        assert told and all(
            line.split("member=")[1].startswith(address + " error=")
            for line in told), done.stderr


def a_file_that_is_not_right_is_told():
    with Etcd() as etcd, Nodes(etcd, 1) as nodes:
        for text, word in (("etcd = 127.0.0.1:2379", "no address"),
                           ("etcd = http://a:1\nname = A", "small letters"),
                           ("etcdd = http://a:1", "etcdd"),
                           ("etcd = http://a:1\nnode = a/b", "node is 1 to"),
                           ("etcd = http://a:1\naddress = a:1",
                            "no address"),
                           ("etcd = http://a:1\npassword_file = /none",
                            "cannot be read")):
            with open(nodes.dirs[0] + "/cluster.conf", "w") as file:
                file.write("[cluster]\n" + text + "\n")
            done = nodes.ctl(nodes.dirs[0], "key", "list")
            assert done.returncode == 1 and word in done.stderr, (
                text, done.stderr)


def an_election_is_no_fault_of_the_log():
    with Etcd(members=3) as etcd, Grid() as one, Other(one) as two:
        begin_sharing(etcd, one, two)
        wait_until(lambda: status(one, "--nodes", "2")[0] == 0, "all is well")
        leader = etcd.leader()
        etcd.kill(leader)
        told = json.loads(status(one, "--json")[1])
        away = "etcd %s is out of reach: " % etcd.urls[leader]
        assert len(told["faults"]) == 1 and \
            told["faults"][0].startswith(away), told
        etcd.kill((leader + 1) % 3)
        # It has an end where no majority is left.
        told = json.loads(status(one, "--json")[1])
        assert "the log is out of reach" in told["faults"], told


def cluster_lines(grid):
    lines = json.loads(grid.ctl("doctor", "--json", check=False).stdout)
    return [(line["level"], line["text"], line["todo"]) for line in lines
            if line["about"] == "cluster"]


def started_anew(one, two):
    """At once after a kill: no fault, though the record of the process before ends
    first."""
    before = two.pool.pid
    os.kill(before, signal.SIGSTOP)
    for pid in children(before) + [before]:
        os.kill(pid, signal.SIGKILL)
    two.pool.wait()
    two.start_pool()
    end = time.monotonic() + 12
    while time.monotonic() < end:
        told = status(one)[1]
        assert "not alive" not in told, told


def a_node_that_is_down_is_told(engine=Etcd):
    """On the others, since when, until it is back or taken out."""
    with engine() as etcd, Grid() as one, Other(one) as two:
        begin_sharing(etcd, one, two)
        first, name = etcd.node_name(one.data), etcd.node_name(two.data)
        wait_until(lambda: status(one, "--nodes", "2")[0] == 0, "all is well")
        done = one.ctl("cluster", "leave", "--node", name, check=False)
        assert done.returncode == 1 and "has node %s alive" % name in \
            done.stderr, done
        began = json.loads(status(one, "--json")[1])
        assert began["down"] == [] and began["well"], began
        two.stop()
        wait_until(lambda: status(one)[0] == 1, "it is told")
        told = json.loads(status(one, "--json")[1])
        down = told["down"]
        assert [node["name"] for node in down] == [name], told
        there = datetime.datetime.fromisoformat(
            down[0]["lastThere"].replace("Z", "+00:00"))
        now = datetime.datetime.now(datetime.timezone.utc)
        assert there < now < there + datetime.timedelta(minutes=10), down
        fault = "node %s is not alive: it was last there %s" % (
            name, down[0]["lastThere"])
        assert told["faults"] == [fault], told
        text = status(one)[1].splitlines()
        assert "fault " + fault in text, text
        todo = "gridctl cluster leave --node " + name
        assert todo in text[-1], text
        lines = cluster_lines(one)
        assert [line[:2] for line in lines] == [("look", fault)], lines
        assert todo in lines[0][2], lines
        two.start()
        wait_until(lambda: status(one)[0] == 0, lambda: status(one)[1])
        started_anew(one, two)
        two.stop()
        wait_until(lambda: status(one)[0] == 1, "it is told again")
        for other, why in ((first, "without --node"),
                           ("nobody", "has no node nobody")):
            done = one.ctl("cluster", "leave", "--node", other, check=False)
            assert done.returncode == 1 and why in done.stderr, done
        one.ctl("cluster", "leave", "--node", name)
        assert status(one)[0] == 0, status(one)
        # Where it comes back it has its place again.
        two.start()
        wait_until(lambda: status(one, "--nodes", "2")[0] == 0,
                   lambda: status(one)[1])
        two.stop()
        wait_until(lambda: status(one)[0] == 1, lambda: status(one)[1])
        two.ctl("cluster", "leave")
        assert status(one)[0] == 0, status(one)


def gridapis(grid):
    return [grid.pool.pid] + children(grid.pool.pid)


def a_gridapi_that_does_not_answer_is_named():
    """To start it, as was advised, would be a second one."""
    with Etcd() as etcd, Grid() as one:
        begin_sharing(etcd, one)
        wait_until(lambda: status(one)[0] == 0, "all is well")
        stopped = gridapis(one)

        def told(about):
            lines = json.loads(one.ctl(
                "doctor", "--json", "--url", "http://127.0.0.1:%d" % one.port,
                check=False).stdout)
            return [line["todo"] or "" for line in lines
                    if line["about"] == about]

        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            wait_until(lambda: "is not alive" in status(one)[1],
                       "its record has ended")
            for todo in told("cluster") + told("site"):
                assert "is stopped by a signal: 'kill -CONT" in todo, todo
                for pid in stopped:
                    assert " %d" % pid in todo, (pid, todo)
            assert "kill -CONT" in status(one)[1], status(one)
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
        wait_until(lambda: status(one)[0] == 0, lambda: status(one)[1])
        # It goes by the settings that it has begun with.
        etcd.write_conf(one.data, node="renamed")
        assert "gridapi runs as process %d:" % one.pool.pid in \
            told("cluster")[0], told("cluster")
        one.stop()
        assert "start gridapi" in told("cluster")[0], told("cluster")


def a_log_that_forgot_is_told_and_not_written_to(engine=Etcd):
    """Restored from an older copy, it is behind a node, then as long again with
    other entries."""
    with engine() as server, Nodes(server, 2) as nodes:
        one, two = nodes.dirs

        def key(path, name):
            return nodes.ctl(path, "key", "create", "--name", name, "--scope",
                             "read")

        assert key(one, "a").returncode == 0
        assert nodes.names(two) == ["a"]
        server.save()
        assert key(one, "forgotten").returncode == 0
        server.restore()
        # Shorter than what the node has.
        done = key(one, "b")
        assert done.returncode == 1, done
        assert "it has lost entries that this node has" in done.stderr, \
            done.stderr
        # As long, and of another node.
        assert key(two, "c").returncode == 0
        done = key(one, "b")
        assert done.returncode == 1, done
        assert "it has lost entries that this node has" in done.stderr, \
            done.stderr
        # Longer.
        assert key(two, "d").returncode == 0
        done = key(one, "b")
        assert done.returncode == 1, done
        assert "it has lost entries that this node has" in done.stderr, \
            done.stderr
        assert nodes.names(two) == ["a", "c", "d"]
        listed = nodes.ctl(one, "key", "list")
        assert "forgotten" in listed.stdout, listed
        # A new epoch would take what the other has acknowledged since.
        done = nodes.ctl(one, "cluster", "init", "--from", "2")
        assert done.returncode == 1 and "another name" in done.stderr, done
        # Where the node is right, a log of another name begins with it.
        with open(one + "/cluster.conf") as file:
            lines = [line for line in file if not line.startswith("name =")]
        with open(one + "/cluster.conf", "w") as file:
            file.write("".join(lines) + "name = right-%d\n" % os.getpid())
        done = nodes.ctl(one, "cluster", "init", "--from", "2")
        assert done.returncode == 0, done
        assert key(one, "b").returncode == 0
        assert nodes.names(one) == ["a", "b", "forgotten"]


if __name__ == "__main__":
    find_etcd()
    run_tests([a_file_that_is_not_right_is_told,
               what_is_acknowledged_survives_the_leaders_kill,
               what_one_node_stores_the_other_shows,
               a_node_without_etcd_tells_how_far_it_is_behind,
               two_nodes_of_one_name_are_told,
               a_node_that_is_down_is_told,
               a_node_that_lacks_nothing_is_not_behind,
               a_clock_that_is_off_is_told,
               status_tells_what_is_not_well,
               a_gridapi_that_does_not_answer_is_named,
               an_election_is_no_fault_of_the_log,
               the_member_that_is_away_is_named,
               an_etcd_that_is_away_stops_writes_alone,
               a_log_that_forgot_is_told_and_not_written_to])

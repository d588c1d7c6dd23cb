"""A node of a cluster whose disk is full: what it says, what the others answer for
it, and what it makes room by. Its disk is a small one in a mount namespace."""

import json
import os
import socket
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from computed import together  # noqa: E402
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import GRIDCTL, write  # noqa: E402
from shares import Sharer, settled  # noqa: E402
from stack import run_in_a_namespace, run_tests, wait_until  # noqa: E402

DISK = "/mnt"
DISK_MB = 160
PULLS = 'gridapi_files_fail{kind="pull"}'


def fill_up(leave=0):
    """All but so many bytes."""
    with open(DISK + "/filler", "wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass
        file.truncate(os.fstat(file.fileno()).st_size - leave)


def make_room():
    os.unlink(DISK + "/filler")


def compute(*nodes):
    together(*[lambda node=node: node.ctl("compute", "--quiet", "--all")
               for node in nodes])


def get(node, path, **headers):
    """By a connection of its own."""
    headers = {name.replace("_", "-"): value
               for name, value in headers.items()}
    headers["X-API-Key"] = node.key
    return node.get("/api/v1/" + path, headers=headers)


def lines_of(node, text):
    return node.log().count(text)


# --- what is told -------------------------------------------------------------

def it_is_told_on_any_node(*nodes):
    """The last one is full."""
    full = nodes[-1]
    fault = "node %s does not take in the log: the disk is full: make room" \
        % full.name
    answer = full.get("/readyz")
    assert answer.status == 503 and b"the disk is full" in answer.body, \
        answer.body
    for node in nodes:
        wait_until(lambda node=node: fault in node.status()["faults"],
                   lambda node=node: str(node.status()))
        doctor = json.loads(node.ctl("doctor", "--json", check=False).stdout)
        assert fault in [line["text"] for line in doctor], doctor


# --- writes -------------------------------------------------------------------

def propose(node, gamme="Y", **headers):
    """By nginx alone, as a script does."""
    headers = {name.replace("_", "-"): value
               for name, value in headers.items()}
    answer = node.get(
        "/api/v1/products/10003/gamme", "PUT",
        dict(headers, **{"X-API-Key": node.key,
                         "Content-Type": "application/json"}),
        json.dumps({"fournisseur": node.codes()[0], "gamme": gamme}))
    return answer, json.loads(answer.body)


def proposed(node):
    answer = get(node, "grid?fournisseur=%s&fields=gammeAValider" %
                 node.codes()[0])
    return [row["gammeAValider"] for row in json.loads(answer.body)["data"]
            if row["codein"] == "10003"][0]


class Trap:
    """In the place of a node's nginx: takes requests, and answers none."""

    def __init__(self, node):
        self.taken = []
        self.socket = socket.create_server((node.address, node.port))
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            with connection:
                self.taken.append(connection.recv(65536))

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def a_small_write_is_passed_on(one, two, full):
    """Once: where it may have been taken it is not sent again."""
    answer, body = propose(full)
    assert answer.status == 200 and \
        answer.headers["X-Grid-Node"] in (one.name, two.name), body
    answer, body = propose(full, X_Grid_Passed="x")
    assert answer.status == 421 and "Nothing was stored" in \
        body["error"]["message"], body
    for gone, there, gamme in (one, two, "Z"), (two, one, "Y"):
        gone.stop()
        answer, body = propose(full, gamme)
        assert answer.status == 200 and \
            answer.headers["X-Grid-Node"] == there.name, body
        wait_until(lambda: proposed(there) == gamme, "it is there")
        gone.begin()
    one.stop()
    two.stop()
    answer, body = propose(full, "Z")
    assert answer.status == 503 and answer.headers["Retry-After"] and \
        "disk of this node is full" in body["error"]["message"] and \
        "Nothing was stored" in body["error"]["message"], body
    traps = [Trap(one), Trap(two)]
    answer, body = propose(full, "Z")
    french = propose(full, "Z", Accept_Language="fr")[1]["error"]["message"]
    for trap in traps:
        trap.close()
    assert answer.status == 503 and \
        body["error"]["details"]["outcome"] == "unknown" and \
        not answer.headers["Retry-After"], (answer.status, body)
    taken = [request for trap in traps for request in trap.taken]
    assert french.startswith("Peut-être"), french
    assert len(taken) == 2 and all(request.startswith(
        b"PUT /api/v1/products/10003/gamme ") for request in taken), taken
    one.begin()
    two.begin()
    wait_until(lambda: proposed(one) == proposed(two) == "Y",
               "they show what was stored")


def a_large_write_is_stored_elsewhere(one, two, full):
    """Beyond the pages that its state.mdb has: the log has it."""
    code = full.codes()[0]
    changes = [(str(10000 + i), "YZ"[i % 2]) for i in range(full.articles)]
    wait_until(lambda: full.post(changes[:1], code).status == 200,
               "it is there")
    fill_up()
    answer = full.post(changes, code)
    assert answer.status == 503 and answer.details["outcome"] == "stored", \
        answer.text
    assert "disk of this node is full" in answer.text
    assert "the disk is full" in full.log()
    # The number that it names shows the write, wherever it is shown.
    row = json.loads(get(one, "grid?fournisseur=%s&fields=gammeAValider" % code,
                         X_Grid_Seen=answer.details["seen"]).body)["data"][1]
    assert row["gammeAValider"] == "Z", row
    a_small_write_is_passed_on(one, two, full)
    wait_until(lambda: get(full, "fournisseurs").headers["X-Grid-Behind"],
               "it says that it is behind")
    it_is_told_on_any_node(one, full)
    make_room()
    wait_until(lambda: full.post(changes[:1], code).status == 200,
               "it takes writes again")
    wait_until(lambda: not any("take in the log" in fault
                               for fault in one.status()["faults"]),
               "the fault is over")


# --- what comes from others ---------------------------------------------------

def searched(node, word):
    answer = get(node, "products/search?q=%s&limit=1" % word)
    assert answer.status == 200, answer.body
    return json.loads(answer.body)["pagination"]["total"]


def a_snapshot_that_finds_no_room(one, two, full):
    """Where nothing was replaced that could go."""
    code, maker = [(code, node) for node in (one, two)
                   for code in sorted(node.has() & full.has())][0]
    assert full.metric(PULLS) == 0
    fill_up()
    maker.ctl("compute", "--quiet", code)
    wait_until(lambda: full.metric(PULLS) == 1, "the snapshot finds no room")
    make_room()
    wait_until(lambda: maker.shown(code) == full.shown(code), "it comes")
    wait_until(lambda: full.metric(PULLS) == 0, "files come again")
    assert lines_of(full, "has computed does not come") == 1
    assert lines_of(full, "a file does not come") == 0
    assert lines_of(full, "computations of other nodes come again") == 1
    settled((one, two, full))


def an_import_that_waits_for_the_full_one(one, full):
    """All nodes are to have its files: it says which one does not, and why."""
    csv = one.delivery_of("waits", articles=full.articles)
    conf = open(one.data + "/cluster.conf", encoding="ascii").read()
    write(one.data + "/cluster.conf",
          [conf.replace("copies = 1", "copies = 3")])
    fill_up()
    with subprocess.Popen([GRIDCTL, "--data", one.data, "import", "--quiet",
                           csv], stderr=subprocess.PIPE, text=True) as process:
        waits, line = process.stderr.readline(), process.stderr.readline()
        process.kill()
    assert "waits for other nodes to get its files: have=2 copies=3" in waits
    assert "node %s does not get them: " % full.name in line and \
        "the disk is full" in line, line
    make_room()
    write(one.data + "/cluster.conf", [conf])
    wait_until(lambda: full.metric(PULLS) == 0, "files come again")


def an_import_that_finds_no_room(one, two, full):
    """Whoever is asked has the rows of all suppliers, and the new ones."""
    told = lines_of(full, "has imported does not come")
    fill_up()
    new = full.codes() + ["N1", "N2", "N3"]
    one.deliver("second", suppliers=new, articles=full.articles)
    wait_until(lambda: one.live() == two.live(), "two show the import")
    wait_until(lambda: full.metric(PULLS) == 1, "it fails to get the import")
    compute(one, two)
    wait_until(lambda: searched(one, "second") == len(new) * full.articles,
               "all is searched at one that has it")
    for node in (one, two, full):
        assert searched(node, "second") == len(new) * full.articles, node.name
        answer = get(node, "fournisseurs?limit=100")
        assert b'"N1"' in answer.body, (node.name, answer.body)
        answer = get(node, "products/10001")
        assert b'"second' in answer.body, (node.name, answer.body)
        # A proposal for an article that came with the import, too.
        answer = node.put("10001", "Y", fournisseur="N1")
        assert answer.status == 200, (node.name, answer.text)
        answer = node.put("10002", "Y", fournisseur=new[0])
        assert answer.status == 200, (node.name, answer.text)
        for code in new:
            answer = node.grid(code, "&limit=1")
            assert answer.status == 200 and b"second" in answer.body, (
                node.name, code, answer.status, answer.body[:300])
    answer = get(full, "products/search?q=second", X_Grid_Passed="x")
    assert answer.status == 421, answer.status
    assert lines_of(full, "has imported does not come") == told + 1
    assert lines_of(full, "a file does not come") == 0
    make_room()
    wait_until(lambda: one.live() == full.live(), "it shows the import")
    wait_until(lambda: full.metric(PULLS) == 0, "files come again")
    compute(one, two, full)
    settled((one, two, full))


def what_was_replaced_makes_room(one, two, full):
    """Snapshots of before, which nobody asks for any more."""
    one.deliver("third", articles=full.articles)
    wait_until(lambda: one.live() == two.live() == full.live(),
               "all show the import")
    compute(one, two)
    wait_until(lambda: full.status()["snapshotsHere"] ==
               full.status()["snapshotsKept"], "it has its snapshots")
    assert full.has_replaced(), os.listdir(full.data + "/snapshots")
    fill_up()
    one.deliver("fourth", articles=full.articles)
    wait_until(lambda: one.live() == two.live() == full.live(),
               "it shows the import by the room that it has made")
    assert "replaced files were removed" in full.log()
    make_room()
    compute(one, two, full)


class Full(Sharer):
    """Whose disk is the small one."""

    def has_replaced(self):
        folder = self.data + "/snapshots/"
        return any(sum(name.endswith(".mdb") for name in
                       os.listdir(folder + code)) > 1
                   for code in os.listdir(folder))


def in_a_disk_of_its_own():
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dm" % DISK_MB,
                    "tmpfs", DISK], check=True)
    with Etcd() as etcd, Sharer(etcd) as one, Sharer(etcd, one) as two, \
            Full(etcd, one, data=DISK + "/data") as full:
        for node in (one, two, full):
            node.suppliers, node.articles = 8, 3000
        one.deliver("first", articles=full.articles)
        wait_until(lambda: one.live() == two.live() == full.live(),
                   "all nodes show the import")
        compute(one, two, full)
        settled((one, two, full))
        a_large_write_is_stored_elsewhere(one, two, full)
        a_snapshot_that_finds_no_room(one, two, full)
        an_import_that_waits_for_the_full_one(one, full)
        an_import_that_finds_no_room(one, two, full)
        what_was_replaced_makes_room(one, two, full)
        for node in (one, two, full):
            node.ctl("check", "--quiet")


def a_node_whose_disk_is_full():
    run_in_a_namespace(__file__, "--inside")


if __name__ == "__main__":
    if sys.argv[1:] == ["--inside"]:
        in_a_disk_of_its_own()
        sys.exit(0)
    find_etcd()
    run_tests([a_node_whose_disk_is_full])

"""A node of a cluster whose disk is full: what it says, what the others answer for
it, and what it makes room by. Its disk is a small one in a mount namespace."""

import json
import os
import subprocess
import sys

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

def a_large_write_is_stored_elsewhere(one, full):
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
    answer = full.post(changes[:1], code)
    assert answer.status == 503 and answer.headers["Retry-After"] and \
        "disk of this node is full" in answer.text and \
        "Nothing was stored" in answer.text, answer.text
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
        line = process.stderr.readline()
        process.kill()
    assert "waits for other nodes to get its files: have=2 copies=3" in line \
        and "node %s does not get them: " % full.name in line and \
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
        a_large_write_is_stored_elsewhere(one, full)
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

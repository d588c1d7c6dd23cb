"""Nodes of two versions of the log in one cluster: gridapi as it is, and a program that
reads and writes the next version (newer.c), with a real etcd."""

import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from etcd_kit import Etcd, find_etcd  # noqa: E402
from join import Node, Spare  # noqa: E402
from stack import BUILD, run_tests, wait_until  # noqa: E402

NEWER = os.path.join(BUILD, "tests", "system", "newer")


def newer(node, what):
    done = subprocess.run([NEWER, node.data, what], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, (what, done)
    return done.stdout.split()


def the_version_that_all_nodes_read_is_written():
    with Etcd() as etcd, Node(etcd) as one, Spare(etcd, one) as two:
        wait_until(one.is_current, "it is current")
        two.write_conf()
        two.must("cluster", "join")
        # A newer node writes what the older one reads.
        newer(two, "write")
        version, number = newer(two, "version")
        assert version == "1"
        wait_until(lambda: int(one.number()) >= int(number),
                   "the older node has the entry")
        one.store("10000", "Y")
        newer(two, "write")
        # And goes on so for as long as the older one is there.
        newer(two, "raise")
        assert newer(two, "version")[0] == "1"
        one.stop()
        wait_until(lambda: not json.loads(two.ctl(
            "cluster", "status", "--json").stdout)["nodes"], "it has gone")
        newer(two, "raise")
        newer(two, "write")
        assert newer(two, "version")[0] == "2"
        # The older one comes back: it stops there, says so, and goes on reading.
        last = one.number()
        one.start()
        wait_until(lambda: "is of a later version" in one.log(),
                   "the log tells of it")
        row = one.row("10000")
        assert one.number() == last and "Y" in row, row
        assert one.get("/readyz").status == 503
        answer = one.put("10000", "Z")
        assert answer.status == 503 and "Nothing was stored" in answer.text \
            and "version" in answer.text, answer.text
        assert one.row("10000") == row
        # A program of before on a state that is newer: likewise.
        done = two.ctl("key", "create", "--name", "late", "--scope", "read")
        assert done.returncode == 1 and "version" in done.stderr, done
        newer(two, "write")


if __name__ == "__main__":
    find_etcd()
    run_tests([the_version_that_all_nodes_read_is_written])

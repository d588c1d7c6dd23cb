"""What a checkpoint, and a node that joins by it, take after many proposals, in
POSTs of 10,000 each, on this machine; etcd has one member, in memory.

    BENCH_QUICK=1          30,000 proposals instead of 100,000
"""

import os
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "system"))
from etcd_kit import Etcd, find_etcd  # noqa: E402
from join import Node  # noqa: E402
from stack import wait_until  # noqa: E402

QUICK = os.environ.get("BENCH_QUICK", "") not in ("", "0")
MANY = 10000
POSTS = 3 if QUICK else 10


class Timed(Node):
    """A node that notes how long its commands take."""

    def __init__(self, *words, **options):
        self.took = {}
        super().__init__(*words, **options)

    def ctl(self, *words, **options):
        began = time.perf_counter()
        done = super().ctl(*words, **options)
        self.took[" ".join(words[:2])] = time.perf_counter() - began
        return done


def propose(node):
    for turn in range(POSTS):
        answer = node.ask("POST", "/api/v1/gammes", {
            "fournisseur": "S1", "changes": [
                {"codein": code, "gamme": "ABCY"[turn % 4]}
                for code in node.articles]}, timeout=60)
        assert answer.status == 200, answer.text


def database(etcd):
    """Bytes that etcd's file has in use."""
    return int(etcd.ask(0, "/v3/maintenance/status", {})["dbSizeInUse"])


def row(name, text):
    print("| %s | %s |" % (name, text))


def main():
    find_etcd()
    with Etcd() as etcd, Timed(etcd, articles=MANY) as one:
        wait_until(one.is_current, "it is current")
        propose(one)
        row("proposals", "{:,}".format(POSTS * MANY))
        row("etcd's database, with all of it in the log",
            "%.1f MB" % (database(etcd) / 1e6))
        row("`state.mdb`", "%.1f MB" % (
            os.path.getsize(one.data + "/state.mdb") / 1e6))
        one.ctl("cluster", "checkpoint")
        row("`gridctl cluster checkpoint`",
            "%.1f s" % one.took["cluster checkpoint"])
        with Timed(etcd, one) as two:
            wait_until(two.is_current, "it is current")
            assert two.tables() == one.tables()
            row("`gridctl cluster join`, all of it from one node",
                "%.1f s" % two.took["cluster join"])
            print(two.joined.strip())


if __name__ == "__main__":
    main()

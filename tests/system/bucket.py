"""A bucket of an S3-compatible store as one more holder of the nodes' files: with a
real etcd, gridapi and nginx, and stores that check what is signed."""

import os
import subprocess
import sys
from datetime import datetime, timezone

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bucket_kit import Double, Emulator, Half, Refused  # noqa: E402
from editions import Shop, all_show, flip_bytes  # noqa: E402
from etcd_kit import Etcd, find_etcd  # noqa: E402
from grid import GRIDCTL  # noqa: E402
from join import LONG  # noqa: E402
from stack import run_tests, wait_until  # noqa: E402


REFUSALS = ((403, "SignatureDoesNotMatch", "bucket_secret_file"),
            (507, "Full", "make room"),
            (403, "AccessDenied", "must be allowed"),
            (404, "NoSuchBucket", "make the bucket"),
            (503, "SlowDown", "too busy"))


class Keeper(Shop):
    """A node with a bucket."""

    def __init__(self, etcd, store, first=None, **options):
        self.store_ = store
        super().__init__(etcd, first, **options)

    def write_conf(self):
        super().write_conf()
        with open(self.data + "/cluster.conf", "a") as file:
            file.write(self.store_.conf(self.path("bucket-secret")))

    def ctl_any(self, *words):
        return subprocess.run([GRIDCTL, "--data", self.data] + list(words),
                              capture_output=True, text=True, check=False)

    def bucket(self):
        return self.status()["bucket"]

    def is_pushed(self):
        status = self.status()
        bucket = status["bucket"]
        return bucket.get("import") == status["import"] and \
            bucket.get("snapshots") == status["snapshots"]


def named(node):
    """The files that the nodes name; all of them are of this node."""
    node.ctl("prune", "--grace", "0")
    return {entry.name for entry in os.scandir(node.data + "/files")
            if len(entry.name) == 64}


def a_node_that_is_alone_gives_its_files_to_the_bucket(store=None):
    """And one that comes when it has gone gets all from there."""
    with store or Double() as bucket, Etcd() as etcd, \
            Keeper(etcd, bucket, copies=2) as one:
        wait_until(one.is_current, "it is current")
        # Two have the files: this node, and the bucket.
        one.import_("alone", count=60)
        one.ctl("compute", "--quiet", "--all")
        wait_until(one.is_pushed, "the bucket has the import and what is computed")
        assert "the bucket has" in one.ctl("cluster", "push")
        one.store("10000", "Y")
        one.ctl("cluster", "checkpoint")
        pushed = one.ctl("cluster", "push")
        assert named(one) <= bucket.names(), pushed
        assert one.ctl("cluster", "push").startswith("0 files put")
        look = one.bucket()
        assert look["reachable"] and look["bytes"] > 0, look
        wanted, row = one.live(), one.row("10000")
        shown, computed = tag(one, "S2"), one.status()["computations"]
        one.stop()
        # Its nginx has gone, too: no node is there to ask.
        with Keeper(etcd, bucket, one, copies=2) as two:
            assert "2 snapshots came" in two.pulled, two.pulled
            wait_until(two.is_current, "it is current")
            assert two.live() == wanted
            assert two.row("10000") == row and "Y" in row, row
            assert tag(two, "S2") == shown
            # S1, by the test's kit.
            assert two.status()["computations"] == computed + 1


def tag(node, supplier):
    return node.ask("GET", "/api/v1/grid?limit=5&fournisseur=" + supplier)\
        .headers["ETag"]


def a_snapshot_that_its_node_has_not_put_comes_from_another():
    """And one that is replaced goes from the bucket, as files of imports do."""
    with Double() as bucket, Etcd() as etcd, Keeper(etcd, bucket) as one:
        wait_until(one.is_pushed, "the bucket has all")
        bucket.fault = refuse(503, "SlowDown", "PUT")
        one.ctl("compute", "--quiet", "S1")
        with Keeper(etcd, bucket, one) as two:
            wait_until(lambda: two.status()["snapshotsHere"] ==
                       two.status()["snapshots"], "it has all snapshots")
            one.stop()
            assert not two.is_pushed()
            bucket.fault = None
            two.ctl("cluster", "push")
            assert two.is_pushed()
            before = named(two)
            two.ctl("compute", "--quiet", "S1")
            wait_until(two.is_pushed, "the bucket has the newest")
            gone = before - named(two)
            assert len(gone) == 1 and gone <= bucket.names(), gone
            for key in bucket.objects:
                bucket.age(key, hours=25)
            two.ctl("cluster", "checkpoint")
            assert not gone & bucket.names()
            assert two.is_pushed()
            damaged_here_is_not_put(bucket, two)


def damaged_here_is_not_put(bucket, node):
    """And holds up no other."""
    path = os.path.join(node.data, "snapshots", "S1")
    (name,) = [name for name in os.listdir(path) if name.endswith(".mdb")]
    node.stop()
    flip_bytes(os.path.join(path, name))
    bucket.objects.clear()
    done = node.ctl_any("cluster", "push")
    assert done.returncode == 1 and "gridctl compute S1" in done.stderr, done
    assert bucket.names() and \
        node.bucket()["snapshots"] == node.status()["snapshots"] - 1


def what_nothing_needs_is_removed_from_the_bucket():
    with Double() as bucket, Etcd() as etcd, Keeper(etcd, bucket) as one:
        wait_until(one.is_current, "it is current")
        one.ctl("cluster", "push")
        before = bucket.names()
        one.import_("next", count=60)
        other = "product-grid/notes.txt"
        young = "product-grid/" + "0" * 64 + ".0"
        bucket.objects[other] = bucket.objects[young] = (b"x", datetime.now(timezone.utc))
        one.ctl("cluster", "push")
        for key in bucket.objects:
            bucket.age(key, hours=25)
        bucket.age(young, hours=23)
        said = one.ctl("cluster", "checkpoint")
        assert "removed from the bucket" in said, said
        assert other in bucket.objects and young in bucket.objects
        gone = before - bucket.names()
        assert gone and not gone & named(one), gone
        one.ctl("cluster", "push")
        assert named(one) <= bucket.names()
        # Of a bucket that refuses, the checkpoint is made all the same.
        bucket.fault = refuse(403, "AccessDenied", "DELETE")
        for key in bucket.objects:
            bucket.age(key, hours=25)
        assert "checkpoint of entry" in one.ctl("cluster", "checkpoint")


def refuse(status, code, *methods):
    def fault(method, *_):
        if method in methods:
            raise Refused(status, code)
    return fault


def nodes_go_on_without_the_bucket():
    with Double() as bucket, Etcd() as etcd, \
            Keeper(etcd, bucket, copies=2) as one, \
            Keeper(etcd, bucket, one, copies=2) as two:
        for node in (one, two):
            wait_until(node.is_current, "it is current")
        for status, code, advice in REFUSALS if LONG else REFUSALS[:2]:
            bucket.fault = refuse(status, code, "PUT")
            one.import_(code, count=60)
            all_show(one, two)
            done = one.ctl_any("cluster", "push")
            assert done.returncode == 1 and code in done.stderr and \
                advice in done.stderr, done
        wait_until(lambda: "files are not put into the bucket" in one.log(),
                   "the log tells of it")
        assert one.metric('gridapi_files_fail{kind="push"}') == 1
        assert one.metric('gridapi_files_fail{kind="pull"}') == 0
        for kind in ("shown", "last"):
            assert one.metric('gridapi_nodes_import{kind="%s"}' % kind) == \
                one.status()["import"]
        bucket.fault = None
        one.import_("again", count=60)
        wait_until(lambda: "the bucket takes files again" in one.log(),
                   "the log tells that it goes on")
        # Away: nobody listens there.
        bucket.server.shutdown()
        bucket.server.server_close()
        one.import_("away", count=60)
        all_show(one, two)
        look = one.bucket()
        assert not look["reachable"] and look["error"], look


def a_full_bucket_is_told_by_the_import_and_afterwards():
    """Of a node alone, whose refused import leaves nothing that is to be put."""
    with Double() as bucket, Etcd() as etcd, \
            Keeper(etcd, bucket, copies=3) as one:
        wait_until(one.is_pushed, "the bucket has all")
        fault = "node node0 does not get its files into the bucket: "

        def told():
            return [text for text in one.status()["faults"]
                    if text.startswith(fault)]

        def refusal():
            return one.ctl_any("import", "--quiet", one.delivery("full")).stderr

        assert told() == []
        bucket.fault = refuse(507, "Full", "PUT")

        # gridapi may be slower than an import that nobody else can have.
        wait_until(lambda: "the bucket does not get them: " in refusal(),
                   "the import has the reason")
        said = refusal()
        assert "nothing was changed" in said and "it answered 507 Full" in \
            said, said
        assert "0 files put" in one.ctl("cluster", "push")
        # Once more than that gridapi has looked, and found nothing to put.
        asked = len(bucket.asked)
        wait_until(lambda: len(bucket.asked) > asked, "gridapi looks again")
        assert len(told()) == 1 and "make room" in told()[0], one.status()
        assert fault in one.ctl_any("doctor").stdout
        bucket.fault = None
        one.ctl("compute", "--quiet", "--all")
        wait_until(lambda: told() == [], one.status)
        assert "the bucket takes files again" in one.log()


def wrong_bytes_are_not_shown():
    with Double() as bucket, Etcd() as etcd, \
            Keeper(etcd, bucket, copies=2) as one, \
            Keeper(etcd, bucket, one, copies=2) as two:
        wait_until(one.is_current, "it is current")
        two.stop()
        one.import_("wrong", count=2000)
        wait_until(one.is_pushed, "the bucket has the import")
        wanted = one.live()
        one.stop()
        met = []

        def lie(method, key, body):
            if method == "GET" and key and len(body) > 100:
                met.append(key)
                if len(met) % 2:
                    return bytes([body[0] ^ 1]) + body[1:]
                return Half(body)
            return None

        bucket.fault = lie
        two.start()
        wait_until(lambda: "holder=" + bucket.url in two.log(),
                   "the log tells of it")
        assert two.live() != wanted
        bucket.fault = None
        wait_until(lambda: two.live() == wanted, "it shows the import")


def the_emulator_takes_what_is_signed():
    if "GRID_MODULES" not in os.environ:
        print("skipped: npm could not install an S3-compatible store")
        return
    a_node_that_is_alone_gives_its_files_to_the_bucket(Emulator())


if __name__ == "__main__":
    find_etcd()
    run_tests([a_node_that_is_alone_gives_its_files_to_the_bucket,
               a_snapshot_that_its_node_has_not_put_comes_from_another,
               what_nothing_needs_is_removed_from_the_bucket,
               nodes_go_on_without_the_bucket,
               a_full_bucket_is_told_by_the_import_and_afterwards,
               wrong_bytes_are_not_shown,
               the_emulator_takes_what_is_signed])

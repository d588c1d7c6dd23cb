"""Times serving on loopback beside the floor, PostgreSQL and SQLite, all behind
one nginx, taking turns; prints one table.

    serve.py [--quick] [--write FILE] [--only NAME]...

BENCH_DATA names a folder in which the sets stay for the next run (10 GB for the
full form). A peer that is not installed is left out, by name. --only takes names
out of GROUPS below."""

import argparse
import contextlib
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serve_kept as kept  # noqa: E402
import serve_sums as sums  # noqa: E402
import serve_works as works  # noqa: E402
from serve_data import GROWTH, Set  # noqa: E402
from serve_kit import (TOP, Client, Front, InMemory, Pool,  # noqa: E402
                       Program, find_nginx)
from serve_peers import PEERS, Tables  # noqa: E402
from serve_table import Table  # noqa: E402


# nginx's own gzip at level 1, before workers that see no Accept-Encoding.
NGINX_GZIP = (
    ("\tgzip off;\n", "\tgzip on;\n\tgzip_types application/json;\n"),
    ("HTTP_ACCEPT_ENCODING $http_accept_encoding", 'HTTP_ACCEPT_ENCODING ""'))


class Bench:
    """What the works are given."""

    def __init__(self, quick, root, scratch):
        self.quick, self.root, self.scratch = quick, root, scratch
        self.turns, self.seconds = (3, 1) if quick else (7, 2)
        self.searches = 200 if quick else 1000
        self.table = Table()
        self.client = Client(scratch)
        self.client_shares = []
        self.files = os.path.join(scratch, "html")
        os.mkdir(self.files)
        self.peers = [peer for peer in PEERS if self.is_there(peer)]
        self.sites, self.peer_sites, self.growth_sites = {}, {}, {}

    def is_there(self, peer):
        missing = peer.missing()
        if missing:
            self.table.note("Left out: %s (%s)." % (peer.name, missing))
        return not missing

    @contextlib.contextmanager
    def stand(self, name, peers=True, by_supplier=True):
        """All contenders on one set, behind one nginx."""
        self.set = Set(self.root, name, self.quick)
        self.rows = self.set.options["articles"]
        folder = tempfile.mkdtemp(prefix=name + "-", dir=self.scratch)
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, folder, True)
            front = stack.enter_context(Front(folder + "/front", self.files))
            self.pool = stack.enter_context(
                Pool(self.set, folder + "/data"))
            floor = stack.enter_context(Program(folder, "floor", "floor",
                                                "2", "8"))
            keeping = stack.enter_context(
                Program(folder, "keeping", "floor", "2", "8", "keep"))
            self.sites = {
                "ours": front.site("ours", self.pool),
                "unkept": front.site("unkept", self.pool, kept=False),
                "floor": front.site("floor", floor, kept=False),
                "kept floor": front.site("kept floor", keeping),
                "gzip1": front.site("gzip1", self.pool, NGINX_GZIP)}
            self.peer_sites, self.packed_peer_sites = {}, {}
            self.databases = {}
            for peer in self.start_peers(stack, folder, peers, by_supplier):
                self.databases[peer.name] = peer
                program = stack.enter_context(peer.program())
                self.peer_sites[peer.name] = front.site(
                    peer.name, program, kept=False)
                self.packed_peer_sites[peer.name] = front.site(
                    peer.name, program, NGINX_GZIP, kept=False)
            front.serve()
            self.hold(stack, folder)
            yield

    def hold(self, stack, folder):
        """What is measured is serving from memory, for all of them."""
        held = stack.enter_context(InMemory(folder))
        if held.trouble:
            self.table.note("Files were not kept in memory: %s." %
                            held.trouble)

    def start_peers(self, stack, folder, peers, by_supplier):
        if not peers or not self.peers:
            return []
        print("loading %s with the set %s" % (
            " and ".join(peer.name for peer in self.peers), self.set.name),
            flush=True)
        tables = Tables(self.set, folder + "/tables", by_supplier)
        started = [stack.enter_context(peer(folder, tables))
                   for peer in self.peers]
        shutil.rmtree(tables.folder)
        return started

    @contextlib.contextmanager
    def stand_growth(self):
        """gridapi on one supplier of each size."""
        folder = tempfile.mkdtemp(prefix="growth-", dir=self.scratch)
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, folder, True)
            front = stack.enter_context(Front(folder + "/front", self.files))
            floor = stack.enter_context(Program(folder, "floor", "floor",
                                                "2", "8"))
            self.sites = {
                "floor": front.site("floor", floor, kept=False)}
            for number in GROWTH:
                a_set = Set(self.root, "grow-%d" % number, self.quick)
                pool = stack.enter_context(
                    Pool(a_set, "%s/data-%d" % (folder, number)))
                self.growth_sites[a_set.options["articles"]] = front.site(
                    "growth", pool)
            front.serve()
            self.hold(stack, folder)
            yield


# The works of a stand, in the order of the table.
GROUPS = {
    "pages": (works.check_answers, works.client_is_no_limit,
              works.page_of_ten, works.page_of_all, works.deep_page,
              works.filtered_page, works.search_within),
    "kept": (kept.kept_pages, kept.packed_pages, kept.kept_dumps,
             kept.packed_dumps),
    "sums": (sums.conditions, sums.sums),
    "across": (works.search_across,),
    "dumps": (works.dump_identity, works.dump_gzip, works.dump_five,
              works.network_sync),
    "cold": (works.cold_start,),
    "growth": (works.growth,),
}


def stand_of(bench, group):
    if group == "growth":
        return bench.stand_growth()
    if group in ("across", "cold"):
        return bench.stand("wide", group == "across", by_supplier=False)
    return bench.stand("std", group in ("pages", "kept", "sums"))


def version(*words):
    try:
        said = subprocess.run(words, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).stdout.decode()
        return said.strip().splitlines()[0]
    except OSError:
        return "%s is missing" % words[0]


def facts(quick):
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo")
           if line.startswith("model name")]
    commit = version("git", "-C", TOP, "describe", "--always", "--dirty")
    return [
        "%s, `make bench-serve%s`, commit %s. %s, %s processors, Linux %s." % (
            time.strftime("%Y-%m-%d", time.gmtime()),
            "-quick" if quick else "", commit,
            " ".join(cpu[0].split()) if cpu else "an unknown processor",
            os.cpu_count(), platform.release()),
        "%s; %s; SQLite %s; %s." % (
            version(find_nginx(), "-v").replace("nginx version: ", ""),
            version("/usr/lib/postgresql/15/bin/postgres", "--version"),
            version("sqlite3", "--version").split()[0],
            version("wrk", "-v").split(" Copyright")[0])]


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write")
    parser.add_argument("--only", action="append", choices=list(GROUPS))
    return parser.parse_args()


def run(bench, groups):
    for group in groups:
        with stand_of(bench, group):
            for work in GROUPS[group]:
                work(bench)


def main():
    given = arguments()
    if not shutil.which("wrk"):
        print("skipped: wrk is not installed "
              "(tools/dev/install-packages.sh bench)")
        sys.exit(77)
    # Whatever ends this ends all that it has started, and its files.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    kept = os.environ.get("BENCH_DATA")
    if kept:
        os.makedirs(kept, exist_ok=True)
    scratch = tempfile.mkdtemp(prefix="grid-bench-", dir=kept)
    os.chmod(scratch, 0o755)
    try:
        bench = Bench(given.quick, os.path.abspath(kept or scratch), scratch)
        run(bench, given.only or list(GROUPS))
        bench.table.print()
        for note in bench.table.notes:
            print(note)
        if given.write:
            bench.table.write(given.write, facts(given.quick))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


main()

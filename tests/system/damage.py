"""Damage of every kind to every file of a data directory, while it is served.

    damage.py [COUNT [SEED [KIND...]]]

Each round damages one file of a copy of a data directory, in half of them after
all of it was read; then asks. An answer is the one that an undamaged twin
gives, or says that it is none: a 500, one that breaks off, a supplier that is
to be computed first. Damaged facts and live data are also computed from, and the
rows are those of the twin, or gridctl says why there are none. The computation on demand fails here, so that a round is
short; what is damaged is put back behind each.

Counted by file: rounds in which all answers were right (what is damaged was not
needed, or another way led to the same), rounds that were told, those in which
the directory was refused when it was opened, and those in which the server died.
A wrong answer fails the test, and so does any death."""

import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "flow"))
from kit import (API, Cut, Data, Direct, GRIDCTL, ONCE,  # noqa: E402
                 scratch, unpacked_as)

SUPPLIER = "12345"
GRID = API + "/grid?fournisseur=" + SUPPLIER
FEED = API + "/propositions"
SUMS = API + "/grid/aggregates?fournisseur=" + SUPPLIER
FEW = "&fields=codein,libelle1,marque,gtin,code3,codeGamme,totalCa,caReseau"
ASKED = [
    (GRID, {}),
    (GRID, {"Accept-Encoding": "gzip"}),
    (GRID, {"Accept-Encoding": "zstd"}),
    (GRID + "&limit=100&page=2", {"Accept-Encoding": "gzip"}),
    (GRID + "&limit=100&page=2" + FEW, {"Accept-Encoding": "zstd"}),
    (GRID, {"Accept": "application/x-ndjson"}),
    (GRID, {"Accept": "application/x-ndjson", "Accept-Encoding": "gzip"}),
    (GRID, {"Accept": "text/csv"}),
    (GRID + "&enrich=0&limit=200", {}),
    (GRID + "&limit=100" + FEW, {}),
    (GRID + "&limit=100&page=3&sort=libelle1&order=desc" + FEW, {}),
    (GRID + "&limit=50&sort=totalCa&order=asc", {}),
    (GRID + "&limit=50&sort=marque&order=asc&page=2&fields=codein,network", {}),
    (GRID + "&gamme=A&limit=100", {}),
    (GRID + "&gammeAValider=not.is.null" + FEW, {}),
    (GRID + "&code1=30&sort=tauxMarge&order=desc&limit=100" + FEW, {}),
    (GRID + "&search=bio&limit=100" + FEW, {}),
    (GRID + "&search=a&limit=100&sort=stockActuel" + FEW, {}),
    (GRID + "&search=lait%20bio", {}),
    (GRID + "&code3=in.(101010,203010)&marque=not.is.null" + FEW, {}),
    (GRID + "&derniereVente=gte.2026-06-01&sort=codein&limit=50" + FEW, {}),
    (GRID + "&sales12m.202609=gte.10&sales12mByStore.101=gt.0" + FEW, {}),
    (GRID + "&libelle1=like.*bio*&fields=libelle1", {}),
    (GRID + "&trend=eq.up&classeAbc=eq.A" + FEW, {}),
    (API + "/products/search?q=a&totalCa=gte.100&limit=20" + FEW, {}),
    (API + "/products/search?q=bio&limit=100" + FEW, {}),
    (API + "/products/search?q=an&limit=30&sort=libelle1", {}),
    (API + "/products/search?q=bio&gamme=A&limit=20" + FEW, {}),
    (GRID + "&sort=codeGamme,-totalCa&limit=50" + FEW, {}),
    (SUMS + "&groups=code1&values=totalCa,stockActuel", {}),
    (SUMS + "&groups=marque,trend&values=tauxMarge&stockActuel=gt.0", {}),
    (SUMS + "&groups=mois&values=sales12m,stock12m,receptions12m", {}),
    (SUMS + "&groups=magasin,mois&values=sales12m&search=a", {}),
    (API + "/magasins", {}),
    (API + "/nomenclatures?fournisseur=" + SUPPLIER + "&niveau=1", {}),
    (API + "/nomenclatures?fournisseur=" + SUPPLIER + "&niveau=3", {}),
    (API + "/fournisseurs", {}),
    (API + "/fournisseurs?withData=1", {}),
    (FEED + "?order=asc&limit=100", {}),
    (FEED + "?limit=20", {"Accept-Encoding": "gzip"}),
    (FEED + "?fournisseur=" + SUPPLIER + "&etat=proposee", {}),
]


# Of these one is run, now and then, in a damaged directory.
COMMANDS = [("check", "--json"), ("stat",), ("suppliers", "--json"),
            ("compute", "--stale"), ("index",), ("gzip", "--all"),
            ("prune", "--grace", "0s"), ("gammes", "export"),
            ("proposals", "list"), ("proposals", "log", "--json"), ("key", "list"), ("user", "list"),
            ("dump", "--nomenclatures", "2", SUPPLIER)]


class Server(Direct):
    """One that computes nothing, and whose log nobody reads."""

    def __init__(self, data, environment=None):
        self.environment = environment or ENVIRONMENT
        super().__init__(data)

    def start(self):
        self.process = subprocess.Popen(
            [ONCE, self.data.folder, "/bin/false", "-"], env=self.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def read(self, count):
        got = self.process.stdout.read(count)
        if len(got) < count:
            self.process.wait(60)
        assert len(got) == count, "once ended"
        return got


# A sanitizer's finding must not look like a refusal, which is 1.
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="exitcode=86",
                   UBSAN_OPTIONS="exitcode=86")


def back(days):
    """An environment in which it is so many days ago; None where there is no
    compiler, or where sanitizers allow no other library."""
    library = os.path.join(scratch(), "back.so")
    source = os.path.join(HERE, "back.c")
    with open(GRIDCTL, "rb") as program:
        if b"__asan_init" in program.read() or shutil.which("cc") is None:
            return None
    if not os.path.exists(library):
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source],
                       check=True)
    return dict(ENVIRONMENT, LD_PRELOAD=library, DAYS_BACK=str(days))


def gridctl(data, *words):
    """(exit code, what it printed)."""
    done = subprocess.run([GRIDCTL, "--data", data.folder] + list(words),
                          env=ENVIRONMENT, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=300)
    return done.returncode, done.stdout


def answer(server, key, uri, headers):
    """(status, body); the status of one that broke off is 0."""
    try:
        reply = server.ask(uri, headers=dict(headers, **{"X-API-Key": key}))
    except Cut:
        return 0, b""
    coding = reply.headers.get("content-encoding")
    if coding is None:
        return reply.status, reply.body
    text = unpacked_as(coding, reply.body)
    return (0, b"") if text is None else (reply.status, text)


def says_so(uri, body, want):
    """A search, or the list of suppliers, that counts one more as without a
    snapshot. The list must show all others as they are. It may count one that
    was never computed, too: where its entry would stand, a damaged one may have
    been it."""
    if "/products/search" not in uri and "/fournisseurs" not in uri:
        return False
    try:
        body, want = json.loads(body.decode()), json.loads(want.decode())
        more = body["meta"]["sansSnapshot"] - want["meta"]["sansSnapshot"]
    except (ValueError, KeyError):
        return False
    if "/products/search" in uri:
        return more > 0
    shown = {one["code"]: one for one in body["data"]}
    lost = [one for one in want["data"] if shown.pop(one["code"], None) != one]
    return not shown and more >= len(lost) > 0 and all(
        not one["hasSnapshot"] for one in body["data"]
        if one not in want["data"])


class Twins:
    def __init__(self, chance):
        self.chance = chance
        csv = os.path.join(scratch(), "csv")
        self.whole = Data()
        self.whole.gridctl("demo", "--out", csv, "--articles", "1300",
                           "--suppliers", "70", "--stores", "2")
        self.whole.gridctl("init")
        self.whole.gridctl("import", "--shares", "3", csv)
        self.whole.gridctl("compute", "--all")
        self.whole.gridctl("index")
        for form in ("dumps", "pages", "zstd"):
            self.whole.gridctl("pack", "--for", form, SUPPLIER)
        self.key = self.first_key()
        self.months()
        server = Server(self.whole)
        self.articles(server)
        self.want = [answer(server, self.key, uri, headers)
                     for uri, headers in self.asked]
        server.stop()
        for (uri, _), (status, _) in zip(self.asked, self.want):
            assert status == 200, (status, uri)
        self.rows = gridctl(self.whole, "dump", SUPPLIER)
        assert self.rows[0] == 0 and len(self.rows[1]) > 1000, self.rows
        self.victim = self.whole.copy()
        self.files = self.list_files()
        self.copied = {}
        self.restore()

    def propose(self, server, codes, gamme):
        for code in codes:
            reply = server.ask("%s/products/%s/gamme" % (API, code), "PUT",
                               {"X-API-Key": self.key,
                                "Content-Type": "application/json"},
                               json.dumps({"fournisseur": SUPPLIER,
                                           "gamme": gamme}).encode())
            assert reply.status == 200, reply.body

    def rows_of(self, server, fields):
        body = json.loads(answer(
            server, self.key, GRID + "&fields=" + fields, {})[1])
        return body["data"]

    def first_key(self):
        """As old as the first month: entries are closed in their order."""
        before = dict(os.environ)
        os.environ.update(back(70) or {})
        key = self.whole.key("propose")
        os.environ.clear()
        os.environ.update(before)
        return key

    def months(self):
        """Two months of proposals, which are closed into files."""
        for days, gamme in ((70, "Y"), (35, "C"), (0, "Z")):
            environment = back(days)
            if environment is None:
                return
            server = Server(self.whole, environment)
            codes = [row["codein"] for row in self.rows_of(server, "codein")]
            self.propose(server, codes[:90], gamme)
            server.stop()
        self.whole.gridctl("prune")
        parts = os.listdir(os.path.join(self.whole.folder, "trail"))
        assert len(parts) == 2, parts

    def articles(self, server):
        """Some get a proposal, and some are asked for one by one."""
        rows = self.rows_of(server, "codein,codeCentrale")
        codes = [row["codein"] for row in rows]
        central = [row["codeCentrale"] for row in rows if row["codeCentrale"]]
        self.propose(server, codes[5:60:7], "B")
        self.asked = list(ASKED)
        for code in codes[:90:30]:
            self.asked.append((API + "/products/%s/gammes?fournisseur=%s" %
                               (code, SUPPLIER), {}))
        for code in codes[::300]:
            self.asked.append((API + "/products/" + code, {}))
        for code in central[::300]:
            self.asked.append((API + "/network/" + code, {}))

    def list_files(self):
        """By kind, what is there to be damaged."""
        found = collections.defaultdict(list)
        for folder, _, names in os.walk(self.whole.folder):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name),
                                       self.whole.folder)
                kind = os.path.basename(path)
                if name.endswith("-lock") or path.startswith("locks"):
                    continue
                if path.startswith("snapshots/"):
                    if not path.startswith("snapshots/" + SUPPLIER + "/"):
                        continue
                    kind = "snapshot" if name.endswith(".mdb") else "packed"
                elif path.startswith("facts/"):
                    kind = "facts"
                elif path.startswith("trail/"):
                    kind = "trail"
                found[kind].append(path)
        return found

    def restore(self):
        """Copies what is not as the last copy left it; removes the rest."""
        for folder, _, names in os.walk(self.victim.folder):
            for name in names:
                there = os.path.join(folder, name)
                path = os.path.relpath(there, self.victim.folder)
                if not os.path.exists(os.path.join(self.whole.folder, path)):
                    os.unlink(there)
        for folder, _, names in os.walk(self.whole.folder):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name),
                                       self.whole.folder)
                there = os.path.join(self.victim.folder, path)
                if self.times(there) != self.copied.get(path, 0):
                    shutil.copyfile(os.path.join(folder, name), there)
                    self.copied[path] = self.times(there)

    @staticmethod
    def times(path):
        try:
            at = os.stat(path)
        except FileNotFoundError:
            return None
        return at.st_mtime_ns, at.st_size


def spoil(chance, path):
    """Damages a file in place; says how."""
    size = os.path.getsize(path)
    way = chance.choice(("bit", "bit", "byte", "byte", "page", "zero", "cut",
                         "tail"))
    at = chance.randrange(size)
    with open(path, "r+b") as file:
        if way in ("bit", "byte"):
            file.seek(at)
            old = file.read(1)[0]
            new = old ^ 1 << chance.randrange(8) if way == "bit" else \
                (old + chance.randrange(1, 256)) % 256
            file.seek(at)
            file.write(bytes((new,)))
        elif way in ("page", "zero"):
            at -= at % 4096
            file.seek(at)
            file.write(chance.randbytes(4096) if way == "page"
                       else bytes(4096))
        elif way == "cut":
            file.truncate(at)
        else:
            file.seek(0, 2)
            file.write(chance.randbytes(chance.randrange(1, 9000)))
    return "%s at %d of %d" % (way, at, size)


class Round:
    """One damage, and what came of it."""

    def __init__(self, twins, kind):
        self.twins, self.chance, self.kind = twins, twins.chance, kind
        self.path = self.chance.choice(twins.files[kind])
        self.outcome, self.wrong, self.how = "right", [], ""

    def ask(self, server, count):
        order = self.chance.sample(range(len(self.twins.asked)), count)
        for i in order:
            uri, headers = self.twins.asked[i]
            status, body = answer(server, self.twins.key, uri, headers)
            if (status, body) == self.twins.want[i]:
                continue
            if status in (0, 202, 500) or says_so(
                    uri, body, self.twins.want[i][1]):
                self.outcome = "told"
            else:
                self.wrong.append("%s: %d for %s" % (self.how, status, uri))
                self.outcome = "wrong"
            return

    def run(self):
        path = os.path.join(self.twins.victim.folder, self.path)
        server = None
        count = len(self.twins.asked)
        try:
            if self.chance.random() < 0.5:
                server = Server(self.twins.victim)
                self.ask(server, count)
                assert self.outcome == "right", self.wrong
            self.how = spoil(self.chance, path)
            if server is not None:
                time.sleep(0.012)  # a file is looked at each 10 ms
            else:
                server = Server(self.twins.victim)
            self.ask(server, count)
        except (AssertionError, BrokenPipeError):
            if server is None:
                raise
            server.process.wait(60)
            # Without one that can be opened there is no server, and that is so.
            self.code = server.process.returncode
            self.outcome = "refused" if self.code == 1 else "died"
        if server is not None and server.process.poll() is None:
            server.process.stdin.close()
            server.process.wait(60)
        if server is not None:
            server.process.stdout.close()
        if self.outcome != "died" and self.chance.random() < 0.3:
            words = self.chance.choice(COMMANDS)
            self.must_live(gridctl(self.twins.victim, *words)[0], words)
        if self.kind in ("facts", "live.mdb") and self.outcome != "died":
            self.compute()
        return self

    def must_live(self, code, words):
        """0 or 1: done, or told why not."""
        if code not in (0, 1):
            self.outcome, self.code = "died", code
            self.how += ", with gridctl " + " ".join(words)

    def compute(self):
        """From what is damaged."""
        code, _ = gridctl(self.twins.victim, "compute", "--quiet", SUPPLIER)
        rows = (code, b"")
        if code == 0:
            rows = gridctl(self.twins.victim, "dump", SUPPLIER)
        self.must_live(rows[0], ["compute"])
        if rows[0] == 0 and rows != self.twins.rows:
            self.outcome = "wrong"
            self.wrong.append("%s: other rows are computed" % self.how)
        elif self.outcome == "right" and rows[0] != 0:
            self.outcome = "told"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    twins = Twins(random.Random(seed))
    shares = {"snapshot": 12, "packed": 2, "words.idx": 3, "facts": 2,
              "live.mdb": 2, "state.mdb": 2, "catalog.mdb": 2, "trail": 2}
    kinds = [kind for kind in sorted(twins.files)
             for _ in range(shares.get(kind, 1))
             if kind in (sys.argv[3:] or twins.files)]
    tally = collections.defaultdict(collections.Counter)
    wrong, stopped = [], []
    # A long run that is ended tells what it has found.
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    for number in range(count):
        if stopped:
            count = number
            break
        done = Round(twins, kinds[number % len(kinds)]).run()
        tally[done.kind][done.outcome] += 1
        wrong += ["%s: %s" % (done.path, one) for one in done.wrong]
        if done.outcome == "died":
            wrong.append("%s: died of %s (%d)" % (done.path, done.how,
                                                  done.code))
        twins.copied.pop(done.path, None)  # its times may be what they were
        twins.restore()
    for kind in sorted(tally):
        print("%-12s %s" % (kind, ", ".join(
            "%d %s" % (n, name) for name, n in sorted(tally[kind].items()))))
    for one in wrong[:40]:
        print("not ok: " + one)
    print("seed %d: %d passed, %d failed" % (seed, count - len(wrong),
                                             len(wrong)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

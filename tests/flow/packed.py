"""Whole dumps with Accept-Encoding: gzip, against the same without it.

    packed.py [ROUNDS [SEED]]

However the live values change, what is stitched of packed rows, or packed on
the way, must unpack to the very bytes of the plain answer: one gzip member,
nothing behind it. Packed
rows that are damaged may cut an answer, never alter one.
"""

import csv
import os
import random
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import (API, Cut, Data, Direct, GRIDCTL, Score,  # noqa: E402
                 unpacked, unpacked_as)

SUPPLIER = "12345"
ROWS = 1300
URI = API + "/grid?fournisseur=" + SUPPLIER


class Dumps:
    def __init__(self, chance):
        self.chance = chance
        self.data = Data()
        self.csv = self.data.demo(ROWS)
        self.headers = {"X-API-Key": self.data.key("propose")}
        with open(os.path.join(self.csv, "network.csv"), newline="") as file:
            self.network = list(csv.reader(file))
        with open(os.path.join(self.csv, "articles.csv"), newline="") as file:
            self.codes = [row["codein"] for row in csv.DictReader(file)
                          if row["fournisseur"] == SUPPLIER]
        self.server = Direct(self.data)

    def ask(self, coding, uri=URI, method="GET"):
        return self.server.ask(uri, method, dict(
            self.headers, **{"Accept-Encoding": coding} if coding else {}))

    def packed(self):
        """The files of packed rows, whole or in the making."""
        folder = os.path.join(self.data.folder, "snapshots", SUPPLIER)
        return sorted(os.path.join(folder, name)
                      for name in os.listdir(folder) if ".rows" in name)

    def compare(self, problems, uri=URI):
        plain, packed = self.ask(None, uri), self.ask("gzip", uri)
        if "content-encoding" in plain.headers:
            problems.append("compressed though nobody asked for it")
        if packed.headers.get("content-encoding") != "gzip":
            problems.append("not compressed: %r" % packed.headers)
        elif unpacked(packed.body) != plain.body:
            problems.append("unpacks to other bytes: " + uri)
        told = packed.headers.get("content-length")
        if told is not None and int(told) != len(packed.body):
            problems.append("Content-Length %s, %d bytes" % (
                told, len(packed.body)))
        return packed

    def wait_packed(self):
        end = time.time() + 60
        while time.time() < end:
            names = self.packed()
            if names and not names[-1].endswith(".tmp"):
                return True
            time.sleep(0.05)
        return False


def is_stitched(reply):
    """The first block of the stream holds its bytes as they are."""
    return reply.headers.get("content-encoding") == "gzip" and \
        reply.body[10] == 0


def first_dump(dumps):
    """The first one is packed on the way, and has the rows packed."""
    problems = []
    first, plain = dumps.ask("gzip"), dumps.ask(None)
    if is_stitched(first) or unpacked(first.body) != plain.body:
        problems.append("first answer: %r" % first.headers)
    if not dumps.wait_packed():
        problems.append("nothing was packed")
    packed = dumps.compare(problems)
    if "content-length" not in packed.headers:
        problems.append("no Content-Length though nothing has changed")
    if packed.headers.get("vary") != \
            "Accept, Accept-Language, Accept-Encoding" or not \
            packed.headers.get("etag", "").startswith("W/"):
        problems.append("Vary, ETag: %r" % packed.headers)
    if not is_stitched(packed):
        problems.append("not of packed rows")
    for got, times in (first, 3), (packed, 4):
        if len(got.body) * times > len(plain.body):
            problems.append("hardly smaller: %d of %d" % (
                len(got.body), len(plain.body)))
    return problems


def who_gets_it(dumps):
    """Accept-Encoding decides; only whole rows as JSON are stitched."""
    problems = []
    for coding, want in (
            ("gzip", True), ("GZIP", True), ("x-gzip", True), ("*", True),
            ("br, gzip;q=0.5", True), ("gzip, deflate, br, zstd", True),
            ("gzip;q=0.5, identity;q=0.1", True), ("", False), (None, False),
            ("gzip;q=0", False), ("identity", False), ("br", False),
            ("gzip;q=0, *", False), ("*;q=0", False), ("gzipp", False),
            ("gzip;q=0.5, identity;q=1", False), ("zstd", False)):
        got = dumps.ask(coding).headers.get("content-encoding") == "gzip"
        if got != want:
            problems.append("%r: %s" % (coding, got))
    plain, frame = dumps.ask(None), dumps.ask("zstd")
    if unpacked_as("zstd", frame.body) != plain.body or \
            frame.headers.get("content-encoding") != "zstd":
        problems.append("zstd: %r" % frame.headers)
    for query, want in (
            ("&limit=5000", True), ("&enrich=0", True),
            ("&fields=codein", False),
            # Of rows packed one by one, once these are there.
            ("&sort=codein", None), ("&limit=100", None), ("&gamme=A", None)):
        got = dumps.compare(problems, URI + query)
        if want is not None and is_stitched(got) != want:
            problems.append("%s: stitched: %s" % (query, not want))
    return problems


def head_and_tag(dumps, uri=URI):
    problems = []
    get, head = dumps.ask("gzip", uri), dumps.ask("gzip", uri, "HEAD")
    for name in ("content-length", "content-encoding", "vary", "etag"):
        if get.headers.get(name) != head.headers.get(name):
            problems.append("HEAD, %s: %r" % (name, head.headers.get(name)))
    if head.body:
        problems.append("HEAD with a body")
    again = dumps.server.ask(uri, "GET", dict(
        dumps.headers, **{"Accept-Encoding": "gzip",
                          "If-None-Match": get.headers["etag"]}))
    if again.status != 304 or again.body:
        problems.append("If-None-Match: %d" % again.status)
    return problems


def change_something(dumps, all_rows=False):
    """By chance; with all_rows it is a change of every row's range."""
    chance = dumps.chance
    what = 1 if all_rows else chance.randrange(4)
    path = os.path.join(dumps.csv, "changed.csv")
    few = ROWS if all_rows else chance.choice((1, 3, 40, ROWS))
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        if what == 0:
            out.writerow(dumps.network[0])
            rows = dumps.network[1:]
            for row in chance.sample(rows, min(few, len(rows))):
                out.writerow([row[0], "%d.5" % chance.randrange(10 ** 9),
                              chance.randrange(10 ** 6)] + row[3:])
        else:
            out.writerow(("fournisseur", "codein", "gamme"))
            for code in chance.sample(dumps.codes, few):
                out.writerow((SUPPLIER, code,
                              chance.choice(("A", "B", "C", "Z", ""))))
    if what == 0:
        dumps.data.gridctl("network", path)
    elif what == 1:
        dumps.data.gridctl("gammes", "import", path)
    else:
        # Few: a segment with a proposal is never read from the file.
        for code in chance.sample(dumps.codes[:6], 3):
            dumps.server.ask(
                "%s/products/%s/gamme" % (API, code), "PUT",
                dict(dumps.headers, **{"Content-Type": "application/json"}),
                '{"fournisseur":"%s","gamme":"%s"}' % (
                    SUPPLIER, chance.choice("ABC")))
    return "network gammes proposals proposals".split()[what]


def random_changes(dumps, rounds):
    problems = []
    for number in range(rounds):
        what = change_something(dumps)
        before = len(problems)
        dumps.compare(problems)
        dumps.compare(problems, URI + "&enrich=0")
        if len(problems) > before:
            problems.append("round %d, after %s" % (number, what))
        if number % 8 == 7:
            dumps.data.gridctl("compute", SUPPLIER)
            dumps.data.gridctl("pack", SUPPLIER)
    return problems


def goes_with_its_snapshot(dumps):
    problems = []
    dumps.data.gridctl("gzip", "--all")  # the name it had before
    old = dumps.packed()[-1]
    dumps.data.gridctl("compute", SUPPLIER)
    dumps.data.gridctl("prune", "--grace", "0")
    if os.path.exists(old) or dumps.packed():
        problems.append("left: %r" % dumps.packed())
    dumps.data.gridctl("pack", SUPPLIER, "--level", "1")
    size = os.path.getsize(dumps.packed()[0])
    dumps.data.gridctl("pack", SUPPLIER, "--level", "9")
    if os.path.getsize(dumps.packed()[0]) >= size:
        problems.append("level 9 is not smaller than level 1")
    dumps.compare(problems)
    return problems


def spoil(chance, path):
    """One of the ways in which a disk loses bytes; says which."""
    with open(path, "rb") as file:
        old = file.read()
    os.unlink(path)  # whoever has it open keeps what it has
    where = chance.choice((chance.randrange(200), chance.randrange(len(old))))
    new, what = old[:where], "cut at %d" % where
    if chance.randrange(4) > 0:
        new = old[:where] + bytes([old[where] ^ 1 << chance.randrange(8)]) + \
            old[where + 1:]
        what = "a bit at %d of %d" % (where, len(old))
    with open(path, "wb") as file:
        file.write(new)
    return what


def damage(dumps, rounds):
    """Right, cut or 500, and right again at the next demand."""
    problems, cuts = [], 0
    plain = dumps.ask(None).body
    while rounds > 0 or (cuts == 0 and rounds > -60):
        rounds -= 1
        dumps.data.gridctl("pack", SUPPLIER)
        what = spoil(dumps.chance, dumps.packed()[0])
        check = subprocess.run(
            [GRIDCTL, "--data", dumps.data.folder, "check", "--quiet"],
            stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        if check.returncode != 1 or b"packed rows" not in check.stderr:
            problems.append("check does not find it: " + what)
        dumps.server.restart()
        try:
            got = dumps.ask("gzip")
            if got.status == 500:
                cuts += 1
            elif (unpacked(got.body) if "content-encoding" in got.headers
                    else got.body) != plain:
                problems.append("a wrong answer: " + what)
        except Cut:
            cuts += 1
        try:
            if dumps.ask("gzip").status != 200:
                problems.append("refused again: " + what)
        except Cut:
            problems.append("cut again: " + what)
        if not dumps.wait_packed():
            problems.append("not packed again: " + what)
        dumps.compare(problems)
    if cuts == 0:
        problems.append("no damage in a segment was met")
    return problems


def packing(dumps):
    return [GRIDCTL, "--data", dumps.data.folder, "pack", "--quiet",
            "--level", "9", SUPPLIER]


def remove_packed(dumps):
    for path in dumps.packed():
        os.unlink(path)


def packing_time(dumps):
    remove_packed(dumps)
    start = time.monotonic()
    subprocess.run(packing(dumps), check=True)
    return time.monotonic() - start


def killed(dumps, rounds):
    """kill -9 of the packing leaves nothing, or the whole file.

    The delay before each kill is a share of what a whole packing takes on
    this machine; rounds are added until a kill came before the end.
    """
    problems, early, done = [], 0, 0
    whole_run = packing_time(dumps)
    while done < rounds or (early == 0 and done < 50 * rounds):
        done += 1
        remove_packed(dumps)
        process = subprocess.Popen(packing(dumps))
        time.sleep(dumps.chance.random() * whole_run)
        process.send_signal(signal.SIGKILL)
        process.wait()
        names = dumps.packed()
        whole = [name for name in names if not name.endswith(".tmp")]
        early += not whole
        check = subprocess.run(
            [GRIDCTL, "--data", dumps.data.folder, "check", "--quiet"],
            stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        if check.returncode != 0:
            problems.append("check: %r" % check.stderr)
        dumps.data.gridctl("prune", "--grace", "0")
        if dumps.packed() != whole:
            problems.append("prune leaves %r" % dumps.packed())
    if early == 0:
        problems.append("none of %d was killed before its end" % done)
    dumps.data.gridctl("pack", SUPPLIER)
    dumps.server.restart()
    dumps.compare(problems)
    return problems


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else \
        random.SystemRandom().randrange(10 ** 6)
    print("seed %d" % seed)
    dumps = Dumps(random.Random(seed))
    score = Score()
    score.note("the first dump has the rows packed", first_dump(dumps))
    score.note("who gets a compressed dump", who_gets_it(dumps))
    score.note("HEAD, and If-None-Match", head_and_tag(dumps))
    score.note("random live values", random_changes(dumps, rounds))
    score.note("packed rows go with their snapshot",
               goes_with_its_snapshot(dumps))
    score.note("damaged packed rows", damage(dumps, rounds))
    score.note("packing killed", killed(dumps, rounds // 2))
    dumps.server.stop()
    score.end()


if __name__ == "__main__":
    main()

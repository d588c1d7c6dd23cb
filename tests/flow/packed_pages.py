"""Pages of whole rows with Accept-Encoding: gzip, against the same without it.

    packed_pages.py [ROUNDS [SEED]]

Whatever order or filter a page has, and however the live values change, what is
put together of rows packed one by one must unpack to the very bytes of the plain
answer: one gzip member, nothing behind it. Packed rows that are damaged may cost
time, never an answer.
"""

import os
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import GRIDCTL, Score, unpacked, unpacked_as  # noqa: E402
from packed import (Dumps, ROWS, SUPPLIER, URI, change_something,  # noqa: E402
                    head_and_tag, is_stitched, spoil)

PAGE = URI + "&limit=100"


class Pages(Dumps):
    def packed(self):
        folder = os.path.join(self.data.folder, "snapshots", SUPPLIER)
        return sorted(os.path.join(folder, name)
                      for name in os.listdir(folder) if ".pages" in name)

    def pack(self, *words):
        self.data.gridctl("pack", "--for", "pages", SUPPLIER, *words)

    def any_page(self):
        chance = self.chance
        limit = chance.choice((1, 2, 7, 100, 500, 1300))
        query = "&limit=%d&page=%d" % (
            limit, chance.randrange(1, ROWS // limit + 2))
        sort = chance.choice(("", "codein", "libelle1", "caReseau", "totalCa",
                              "codeGamme"))
        if sort:
            query += "&sort=%s&order=%s" % (
                sort, chance.choice(("asc", "desc")))
        return URI + query + chance.choice(("", "", "&gamme=A", "&enrich=0"))


def first_page(pages):
    """The first one is packed on the way, and has the rows packed."""
    problems = []
    first, plain = pages.ask("gzip", PAGE), pages.ask(None, PAGE)
    if is_stitched(first) or unpacked(first.body) != plain.body:
        problems.append("first answer: %r" % first.headers)
    if not pages.wait_packed():
        problems.append("nothing was packed")
    packed = pages.compare(problems, PAGE)
    for name in "content-length", "vary", "etag", "link", "x-snapshot":
        if packed.headers.get(name) != first.headers.get(name) and \
                name != "content-length" or name not in packed.headers:
            problems.append("%s: %r" % (name, packed.headers.get(name)))
    if not is_stitched(packed):
        problems.append("not of packed rows")
    for got in first, packed:
        if len(got.body) * 2.5 > len(plain.body):
            problems.append("hardly smaller: %d of %d" % (
                len(got.body), len(plain.body)))
    return problems


def who_gets_it(pages):
    """Accept-Encoding decides; only whole rows as JSON are put together."""
    problems = []
    for coding, want in (
            ("gzip", True), ("x-gzip", True), ("*", True),
            ("gzip, deflate, br, zstd", True), ("gzip;q=0.5, zstd", False),
            ("gzip;q=0", False), ("identity", False), (None, False),
            ("gzip;q=0.5, identity;q=1", False), ("zstd", False)):
        if is_stitched(pages.ask(coding, PAGE)) != want:
            problems.append("%r: stitched: %s" % (coding, not want))
    plain, frame = pages.ask(None, PAGE), pages.ask("gzip;q=0.5, zstd", PAGE)
    if unpacked_as("zstd", frame.body) != plain.body:
        problems.append("zstd: %r" % frame.headers)
    for query, want in (
            ("&limit=1", True), ("&limit=1000&sort=codein", True),
            ("&limit=20&sort=libelle1&order=asc&page=60", True),
            ("&gamme=A&limit=9", True), ("&enrich=0&limit=100", True),
            ("&page=100&limit=100", False), ("&fields=codein", False),
            ("&fields=codein,network&limit=100", False)):
        got = pages.ask("gzip", URI + query) if "page=100" in query \
            else pages.compare(problems, URI + query)
        if is_stitched(got) != want:
            problems.append("%s: stitched: %s" % (query, not want))
    lines = pages.server.ask(PAGE, "GET", dict(pages.headers, **{
        "Accept-Encoding": "gzip", "Accept": "application/x-ndjson"}))
    if is_stitched(lines) or unpacked(lines.body).count(b"\n") != 100:
        problems.append("NDJSON: %r" % lines.headers)
    return problems


def random_changes(pages, rounds):
    problems, whole, anew = [], 0, 0
    for number in range(rounds):
        what = change_something(pages, all_rows=number == 1)
        before = len(problems)
        for _ in range(6):
            uri = pages.any_page()
            plain = pages.ask(None, uri)
            if len(plain.body) < 1024:
                continue
            if is_stitched(pages.compare(problems, uri)):
                anew += 1
            else:
                whole += 1
        if len(problems) > before:
            problems.append("round %d, after %s" % (number, what))
        if number % 4 == 3:
            pages.data.gridctl("compute", SUPPLIER)
            pages.pack()
    if anew == 0 or whole == 0:
        problems.append("%d put together, %d packed as a whole" % (anew, whole))
    return problems


def some_rows_changed(pages):
    """A few rows that have changed are packed anew between the others."""
    problems = []
    pages.data.gridctl("compute", SUPPLIER)
    pages.pack()
    for code in pages.codes[:3]:
        pages.server.ask(
            "/api/v1/products/%s/gamme" % code, "PUT",
            dict(pages.headers, **{"Content-Type": "application/json"}),
            '{"fournisseur":"%s","gamme":"Z"}' % SUPPLIER)
    uri = URI + "&limit=50&sort=gammeAValider&order=desc"
    got = pages.compare(problems, uri)
    if not is_stitched(got) or \
            unpacked(got.body).count(b'"gammeAValider":"Z"') != 3:
        problems.append("not put together: %r" % got.headers)
    return problems


def check_names(pages, what, problems):
    check = subprocess.run(
        [GRIDCTL, "--data", pages.data.folder, "check", "--quiet"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    if check.returncode != 1 or b"pack --for pages" not in check.stderr:
        problems.append("check does not find it: " + what)


def until_stitched(pages, uri):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if is_stitched(pages.ask("gzip", uri)):
            return True
        time.sleep(0.05)
    return False


def damage(pages, rounds):
    """Always right: damaged rows are made anew, and packed on the way."""
    problems, met = [], 0
    pages.data.gridctl("compute", SUPPLIER)
    pages.data.gridctl("prune", "--grace", "0")
    uri = URI + "&limit=1300&sort=codein"
    plain = pages.ask(None, uri).body
    for _ in range(rounds):
        pages.pack()
        what = spoil(pages.chance, pages.packed()[0])
        check_names(pages, what, problems)
        pages.server.restart()
        got = pages.ask("gzip", uri)
        if unpacked(got.body) != plain:
            problems.append("a wrong answer: " + what)
        met += not is_stitched(got)
        if not until_stitched(pages, uri):
            problems.append("not packed again: " + what)
        pages.compare(problems, uri)
    if met == 0:
        problems.append("no damage was met")
    return problems


def goes_with_its_snapshot(pages):
    pages.pack()
    old = pages.packed()[-1]
    pages.data.gridctl("compute", SUPPLIER)
    pages.data.gridctl("prune", "--grace", "0")
    return ["left: %r" % pages.packed()] \
        if os.path.exists(old) or pages.packed() else []


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else \
        random.SystemRandom().randrange(10 ** 6)
    print("seed %d" % seed)
    pages = Pages(random.Random(seed))
    score = Score()
    score.note("the first page has the rows packed", first_page(pages))
    score.note("who gets a page of packed rows", who_gets_it(pages))
    score.note("HEAD, and If-None-Match", head_and_tag(pages, PAGE))
    score.note("some rows have changed", some_rows_changed(pages))
    score.note("random pages and live values", random_changes(pages, rounds))
    score.note("damaged packed rows", damage(pages, rounds))
    score.note("packed rows go with their snapshot",
               goes_with_its_snapshot(pages))
    pages.server.stop()
    score.end()


if __name__ == "__main__":
    main()

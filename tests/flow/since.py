"""What changed since a generation: /grid?depuis=.

    since.py [ROUNDS [SEED]]

Each round imports and computes changed CSV files. The rows that differ and the
codes that are gone are worked out here from the whole answers of each kept
generation, and must be those of the server, in every form.
"""

import csv
import io
import json
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import API, Data, Direct, Score, unpacked  # noqa: E402

SUPPLIER = "12345"
ROWS = 300
GRID = API + "/grid?enrich=0&fournisseur=" + SUPPLIER


class World:
    def __init__(self, chance):
        self.chance = chance
        self.data = Data()
        self.csv = self.data.demo(ROWS)
        self.key = {"X-API-Key": self.data.key()}
        self.server = Direct(self.data)
        self.kept = {}  # by generation: the rows by codein, and their order

    def ask(self, more="", headers=None):
        return self.server.ask(GRID + more, "GET",
                               dict(self.key, **(headers or {})))

    def keep(self):
        reply = self.ask().json()
        self.now = reply["meta"]["snapshot"]
        self.kept[self.now] = {row["codein"]: row for row in reply["data"]}

    def change(self):
        """Other prices, labels and codes, some articles less and some new."""
        path = os.path.join(self.csv, "articles.csv")
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        names = list(rows[0])
        mine = [row for row in rows if row["fournisseur"] == SUPPLIER]
        others = [row for row in rows if row["fournisseur"] != SUPPLIER]
        for row in self.chance.sample(mine, self.chance.randrange(1, 20)):
            row["prixVente"] = "%d.5" % self.chance.randrange(1, 900)
        for row in self.chance.sample(mine, 3):
            row["libelle1"] = 'Étiquette "%d"' % self.chance.randrange(10 ** 6)
        gone = {row["codein"] for row in self.chance.sample(
            mine, self.chance.randrange(0, 4))}
        mine = [row for row in mine if row["codein"] not in gone]
        for _ in range(self.chance.randrange(0, 4)):
            mine.append(dict(mine[0], codein='n"%d\\é' %
                             self.chance.randrange(10 ** 9)))
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(others + mine)
        for name in ("sales", "stock", "receptions", "positions", "gammes"):
            self.drop(name, gone)
        self.data.gridctl("import", self.csv)
        self.data.gridctl("compute", SUPPLIER)

    def drop(self, name, gone):
        path = os.path.join(self.csv, name + ".csv")
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        at = rows[0].index("codein")
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(
                row for row in rows
                if row[0] != SUPPLIER or row[at] not in gone)

    # --- what must come ----------------------------------------------------

    def expected(self, then, fields=None):
        """Codes that differ, in the order of the rows; and those gone."""
        old, new = self.kept[then], self.kept[self.now]

        def shown(row):
            return row if fields is None else [row[name] for name in fields]
        return ([code for code in new if code not in old or
                 shown(old[code]) != shown(new[code])],
                sorted(set(old) - set(new)))


def codes_of(reply):
    return [row["codein"] for row in reply["data"]]


def compare(world, then):
    problems = []

    def same(what, got, want):
        if got != want:
            problems.append("%s: %r, not %r" % (what, got, want))
    more = "&depuis=" + then
    changed, gone = world.expected(then)
    reply = world.ask(more)
    same("status", reply.status, 200)
    whole = reply.json()
    same("rows", codes_of(whole), changed)
    same("their bytes", whole["data"],
         [world.kept[world.now][code] for code in changed])
    same("gone", sorted(whole["meta"]["disparus"]), gone)
    same("depuis", whole["meta"]["depuis"], then)
    same("total", whole["pagination"]["total"], len(changed))
    same("the header", reply.headers["x-snapshot"], world.now)
    packed = world.ask(more, {"Accept-Encoding": "gzip"})
    same("packed", unpacked(packed.body) if packed.headers.get(
        "content-encoding") == "gzip" else packed.body, reply.body)
    lines = world.ask(more + "&format=ndjson")
    same("lines", [json.loads(line) for line in lines.body.splitlines()],
         whole["data"])
    same("X-Disparus", lines.headers["x-disparus"], str(len(gone)))
    table = world.ask(more + "&format=csv&fields=codein,prixVente")
    changed_price, _ = world.expected(then, ["prixVente"])
    same("cells", [row["codein"] for row in csv.DictReader(
        io.StringIO(table.body.decode()))], changed_price)
    same("some columns", codes_of(world.ask(
        more + "&fields=libelle1,sales12m").json()), world.expected(
            then, ["libelle1", "sales12m"])[0])
    same("sorted", codes_of(world.ask(
        more + "&sort=codein&order=asc").json()),
        sorted(changed, key=lambda code: code.encode()))
    paged, page = [], 1
    while True:
        part = world.ask(more + "&limit=7&page=%d" % page).json()
        paged += codes_of(part)
        same("gone on page %d" % page, sorted(part["meta"]["disparus"]),
             gone if page == 1 else [])
        if not part["pagination"]["hasMore"]:
            break
        page += 1
    same("pages", paged, changed)
    return problems


def refusals(world):
    problems = []
    for filters in ("search=a", "gamme=A", "aValider=1", "code1=10",
                    "nomenclature=10", "stockActuel=gt.0"):
        reply = world.ask("&depuis=%s&%s" % (world.now, filters))
        if reply.status != 400 or b"without filters" not in reply.body:
            problems.append((filters, reply.status, reply.body[:200]))
    for depuis, status in (("0123456789abcdef", 404), ("x", 400), ("", 400),
                           ("0" * 16, 400), (world.now + "0", 400)):
        reply = world.ask("&depuis=" + depuis)
        if reply.status != status:
            problems.append((depuis, reply.status, reply.body[:200]))
        if status == 404 and b"fetch all" not in reply.body:
            problems.append(reply.body)
    reply = world.server.ask(API + "/grid?fournisseur=S%20x&depuis=" +
                             world.now, "GET", world.key)
    if reply.status != 404:
        problems.append(reply.status)
    return problems


def damage(world, then):
    """An older generation that is damaged is as good as gone."""
    path = os.path.join(world.data.folder, "snapshots", SUPPLIER,
                        then + ".mdb")
    world.server.stop()
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    world.server.start()
    reply = world.ask("&depuis=" + then)
    problems = []
    if reply.status not in (200, 404):
        problems.append(reply.body)
    if reply.status == 200 and codes_of(reply.json()) != \
            world.expected(then)[0]:
        problems.append("other rows")
    if world.ask().status != 200:
        problems.append("the current one is lost, too")
    return problems


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10 ** 6)
    print("seed %d" % seed)
    score = Score()
    world = World(random.Random(seed))
    world.keep()
    first = world.now
    score.note("nothing since now", compare(world, world.now))
    for turn in range(rounds):
        world.change()
        world.keep()
        for then in world.kept:
            score.note("round %d since %s" % (turn, then),
                       compare(world, then))
    score.note("what is refused", refusals(world))
    score.note("damage", damage(world, first))
    world.data.gridctl("prune", "--grace", "0")
    reply = world.ask("&depuis=" + list(world.kept)[1])
    score.note("pruned", [] if reply.status == 404 else [reply.status])
    world.server.stop()
    score.end()


if __name__ == "__main__":
    main()

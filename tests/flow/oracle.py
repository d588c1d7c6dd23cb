"""Random queries against a brute-force oracle.

    oracle.py [QUERIES [SEED]]

The oracle knows the rows from one full dump a supplier, and does with plain
lists what the document says: filters, search, order, pages. It shares no code
with the server; how texts fold is written down here once more. A second round
asks after ranges were proposed, saved and imported and the network's figures
have changed: what is shown then is what is sorted by.
"""

import json
import os
import random
import re
import sys
import unicodedata
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import API, Data, Description, Direct, Score, scratch  # noqa: E402

SEARCHED = ("codein", "libelle1", "gtin", "reference", "codeCentrale")
LETTERS = {"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d"}


def fold(text):
    text = unicodedata.normalize("NFKD", text).casefold()
    text = unicodedata.normalize("NFKD", text)
    text = "".join(LETTERS.get(c, c) for c in text
                   if unicodedata.category(c) not in ("Mn", "Me", "Mc", "Cf"))
    return re.sub(r"\s+", " ", text).strip()


class Grid:
    """The rows of one supplier, or of all."""

    def __init__(self, rows):
        self.rows = rows

    @staticmethod
    def matches(row, query):
        code3 = row["code3"] or ""
        for name in ("code1", "code2", "code3", "nomenclature"):
            if name in query and not code3.startswith(query[name]):
                return False
        if "gamme" in query and row["codeGamme"] != query["gamme"]:
            return False
        if "fournisseur" in query and \
                row["codeFournisseur"] != query["fournisseur"]:
            return False
        words = fold(query.get("search", query.get("q", ""))).split(" ")
        return all(any(word in text for text in row["-folded"])
                   for word in words)

    def ask(self, query):
        found = [row for row in self.rows if self.matches(row, query)]
        column = query.get("sort", "totalCa")
        # Each sort is stable: ties keep the order of the sort before it.
        found.sort(key=lambda row: row["codeFournisseur"].encode())
        found.sort(key=lambda row: row["codein"].encode())
        there = [row for row in found if row[column] is not None]
        there.sort(key=lambda row: self.key(row[column]),
                   reverse=query.get("order", "desc") == "desc")
        return there + [row for row in found if row[column] is None]

    @staticmethod
    def key(value):
        return fold(value).encode() if isinstance(value, str) else value


LIVE = ("codeGamme", "gammeAValider", "codeGammeServeur", "codeGammeInit",
        "caReseau", "qteReseau", "nbMagasinsReseau", "caParMagasinReseau",
        "margePctReseau", "presenceReseauPct", "ecartMargeReseau")


class Maker:
    """Random queries."""

    def __init__(self, chance, rows, description):
        self.chance, self.rows = chance, rows
        self.live = 0.1
        schemas = description.document["components"]["schemas"]
        self.sorts = schemas["SortKey"]["enum"]

    def word(self):
        chance, row = self.chance, self.chance.choice(self.rows)
        text = row[chance.choice(SEARCHED)] or row["codein"]
        if chance.random() < 0.5:
            text = chance.choice(text.split())
        length = chance.choice((1, 2, 3, 4, 6, 13, 40))
        start = chance.randrange(max(1, len(text) - length + 1))
        text = text[start:start + length]
        way = chance.randrange(5)
        if way == 0:
            text = text.upper()
        elif way == 1:
            text = unicodedata.normalize("NFD", text)
        elif way == 2:
            text = fold(text)
        return text

    def words(self):
        chance = self.chance
        if chance.random() < 0.05:
            return chance.choice(("zqx", "éé", "œ", "ŒUF", "ﬁ", "0", " e "))
        return " ".join(self.word()
                        for _ in range(chance.choice((1, 1, 1, 2, 2, 3))))

    def common(self, query):
        chance = self.chance
        if chance.random() < 0.7:
            query["sort"] = chance.choice(
                LIVE if chance.random() < self.live else self.sorts)
        if chance.random() < 0.6:
            query["order"] = chance.choice(("asc", "desc"))
        if chance.random() < 0.25:
            query["gamme"] = chance.choice("ABCYZ")
        if chance.random() < 0.2:
            query["enrich"] = chance.choice("01")
        return query

    def grid(self, supplier):
        chance, query = self.chance, {"fournisseur": supplier}
        code3 = chance.choice(self.rows)["code3"] or "101010"
        for name, length in (("code1", 2), ("code2", 4), ("code3", 6),
                             ("nomenclature", chance.choice((2, 4, 6)))):
            if chance.random() < 0.15:
                query[name] = code3[:length]
        if chance.random() < 0.5:
            query["search"] = self.words()
        return self.common(query)

    def search(self, suppliers):
        query = {"q": self.words()[:120]}
        if not fold(query["q"]):
            query["q"] = "a"
        if self.chance.random() < 0.2:
            query["fournisseur"] = self.chance.choice(suppliers)
        return self.common(query)


class Test:
    def __init__(self, queries, seed):
        self.chance = random.Random(seed)
        self.queries = queries
        folder = scratch()
        data = Data(os.path.join(folder, "data"))
        data.gridctl("demo", "--out", os.path.join(folder, "csv"),
                     "--articles", "1500", "--suppliers", "9", "--seed", "7")
        data.fill(os.path.join(folder, "csv"))
        self.data, self.folder = data, folder
        self.key, self.proposer = data.key(), data.key("propose")
        self.server = Direct(data)
        self.description = Description()
        self.score = Score()
        self.suppliers = [one["code"] for one in self.get(
            "/fournisseurs", {"withData": "1", "limit": "1000"}).json()["data"]]
        self.look()
        self.maker = Maker(self.chance, self.all["1"].rows, self.description)

    def look(self):
        """Takes the rows as they are now, for each `enrich`."""
        self.grids = {way: {code: Grid(self.dump(code, way))
                            for code in self.suppliers} for way in "01"}
        self.all = {way: Grid([row for grid in grids.values()
                               for row in grid.rows])
                    for way, grids in self.grids.items()}

    def get(self, path, query):
        uri = API + path + "?" + urllib.parse.urlencode(query)
        return self.server.ask(uri, headers={"X-API-Key": self.key})

    def dump(self, code, way):
        rows = self.get("/grid", {"fournisseur": code, "enrich": way}
                        ).json()["data"]
        for row in rows:
            row["-folded"] = [fold(row[name] or "") for name in SEARCHED]
        return rows

    def compare(self, path, query, wanted, reply, page, limit):
        """One page against the oracle's list."""
        if reply.status != 200:
            return ["status %d %r" % (reply.status, reply.body[:200])]
        got = reply.json()
        total = len(wanted)
        pages = -(-total // limit)
        expected = {"page": page, "limit": limit, "total": total,
                    "totalPages": pages, "hasMore": page < pages}
        problems = [] if got["pagination"] == expected else [
            "pagination %s, not %s" % (got["pagination"], expected)]
        cut = wanted[(page - 1) * limit:page * limit]
        names = [(row["codeFournisseur"], row["codein"]) for row in cut]
        shown = [(row["codeFournisseur"], row["codein"])
                 for row in got["data"]]
        if names != shown:
            problems.append("rows %s, not %s" % (shown[:8], names[:8]))
        column = query.get("sort", "totalCa")
        for row, one in zip(got["data"], cut):
            if row[column] != one[column]:
                problems.append("%s of %s" % (column, row["codein"]))
        return problems

    def one(self, path, grid, query):
        """One random page; of a small limit, all pages."""
        chance, wanted = self.chance, grid.ask(query)
        limit = chance.choice((1, 2, 7, 50, 100, 1000, 5000))
        pages = max(1, -(-len(wanted) // limit))
        fields = {"codeFournisseur", query.get("sort", "totalCa")}
        query = dict(query, limit=limit, fields=",".join(sorted(fields)))
        asked = [chance.randint(1, pages + 1)]
        if pages <= 12 and chance.random() < 0.2:
            asked = range(1, pages + 1)
        problems = []
        for page in asked:
            query["page"] = page
            reply = self.get(path, query)
            problems += self.compare(path, query, wanted, reply, page, limit)
            problems += self.description.check("GET", API + path, reply)
        return problems

    def nomenclatures(self, supplier, level, parent):
        """The inventory, and /grid's count for each of its entries."""
        query = {"fournisseur": supplier, "niveau": level, "limit": 1000000}
        if parent:
            query["parent"] = parent
        reply = self.get("/nomenclatures", query).json()
        wanted = {}
        for row in self.grids["1"][supplier].rows:
            code = (row["code3"] or "")[:2 * level]
            if code and code.startswith(parent):
                entry = wanted.setdefault(code, [0, 0, 0])
                entry[0] += 1
                entry[1] += row["totalCa"]
                entry[2] += row["totalQuantite"]
        got = {one["code"]: one for one in reply["data"]}
        problems = [] if sorted(wanted) == [
            one["code"] for one in reply["data"]] else ["codes or order"]
        for code, (count, turnover, quantity) in wanted.items():
            one = got.get(code, {})
            if one.get("nbArticles") != count or \
                    abs(one["totalCa"] - turnover) > 1e-6 * count or \
                    abs(one["totalQuantite"] - quantity) > 1e-6 * count:
                problems.append("%s: %s" % (code, one))
            for name in (reply["meta"]["filtreGrid"], "nomenclature"):
                grid = self.get("/grid", {
                    "fournisseur": supplier, name: code, "limit": 1,
                    "fields": "codein"}).json()
                if grid["pagination"]["total"] != count:
                    problems.append("/grid %s=%s: %s" % (
                        name, code, grid["pagination"]["total"]))
        return problems

    def write(self, name, head, rows):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in [head] + rows))
        return path

    def alter(self):
        """Proposals, some of them saved, ranges and figures imported."""
        chance = self.chance
        for code in self.suppliers[::2]:
            rows = self.grids["1"][code].rows
            picked = chance.sample(rows, min(40, len(rows)))
            reply = self.server.ask(
                API + "/gammes", "POST",
                {"X-API-Key": self.proposer,
                 "Content-Type": "application/json"},
                json.dumps({"fournisseur": code, "changes": [
                    {"codein": row["codein"], "gamme": chance.choice("ABCYZ")}
                    for row in picked]}).encode())
            assert reply.status == 200, reply.body
            pending = [one["codein"] for one in json.loads(self.data.gridctl(
                "proposals", "list", "--json", code))]
            self.data.gridctl("proposals", "save", code,
                              *pending[:len(pending) // 2])
        rows = chance.sample(self.all["1"].rows, 300)
        self.data.gridctl("gammes", "import", self.write(
            "ranges.csv", "fournisseur,codein,gamme",
            ["%s,%s,%s" % (row["codeFournisseur"], row["codein"],
                           chance.choice(["A", "B", "C", "Y", "Z", ""]))
             for row in rows]))
        codes = sorted({row["codeCentrale"] for row in rows
                        if row["codeCentrale"]})
        self.data.gridctl("network", self.write(
            "network.csv",
            "codeCentrale,caReseau,qteReseau,nbMagasinsReseau,margePctReseau,"
            "fetchedAt,2026-10", ["%s,%d,%d,%s,%s,," % (
                code, chance.randrange(5000), chance.randrange(50),
                chance.choice(["", 7, 70]),
                chance.choice(["", "0.25", "0.3"])) for code in codes]))
        self.data.gridctl("compute", self.suppliers[1])
        self.server.restart()

    def ask(self, queries):
        for number in range(queries):
            if number % 3 == 2:
                path, query = "/products/search", self.maker.search(
                    self.suppliers)
                grid = self.all[query.get("enrich", "1")]
            else:
                supplier = self.chance.choice(
                    self.suppliers + ["12345"] * len(self.suppliers))
                path, query = "/grid", self.maker.grid(supplier)
                grid = self.grids[query.get("enrich", "1")][supplier]
            self.score.note("%s %s" % (path, json.dumps(
                query, ensure_ascii=False)), self.one(path, grid, query))

    def run(self):
        self.ask(self.queries)
        self.alter()
        self.look()
        self.maker.live = 0.8
        self.ask(self.queries // 2)
        for supplier in self.suppliers:
            for level in (1, 2, 3):
                parent = self.chance.choice(self.all["1"].rows)["code3"] or "10"
                for prefix in ("", parent[:2]):
                    self.score.note(
                        "/nomenclatures %s %d %s" % (supplier, level, prefix),
                        self.nomenclatures(supplier, level, prefix))
        self.server.stop()
        self.score.end()


if __name__ == "__main__":
    Test(int(sys.argv[1]) if len(sys.argv) > 1 else 2100,
         int(sys.argv[2]) if len(sys.argv) > 2 else 1).run()

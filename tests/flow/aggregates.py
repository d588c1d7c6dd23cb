"""Random sums and groups against SQLite over the imported CSV.

    aggregates.py [QUERIES [SEED]]

The filters are those of conditions.py, and so is the table; months and stores
are summed from the CSV's own lines. Each number is compared exactly: sums as
whole millionths, means and shares rounded half away from zero. Half of the
queries take the slow pool's way, which keeps figures.
"""

import decimal
import json
import os
import random
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from conditions import MILLION, RANGES, TEXTS, WHOLE, Test as Conditions  # noqa: E402
from formats import FORMATS  # noqa: E402
from kit import API  # noqa: E402

KEYS = ("code1", "code2", "code3", "marque", "codeGamme", "trend")
NUMBERS = ("totalCa", "totalQuantite", "totalMarge", "tauxMarge", "rangCa",
           "nbMagasins", "moisVendus", "stockActuel", "stockValeur",
           "couvertureJours", "nbRuptures", "pcb", "prixAchat", "prixVente",
           "nbJoursDerniereVente", "caReseau", "nbMagasinsReseau",
           "ecartMargeReseau", "totalCaN1", "evolutionQteN1")
MAPS = {"sales12m": "sales", "stock12m": "stock",
        "receptions12m": "receptions", "sales12mN1": "before"}


def rounded(top, bottom):
    """top / bottom in millionths, half away from zero; None: by nothing."""
    if bottom == 0:
        return None
    sign = -1 if (top < 0) != (bottom < 0) else 1
    top, bottom = abs(top) * MILLION, abs(bottom)
    return sign * ((2 * top + bottom) // (2 * bottom))


class Test(Conditions):
    def cells(self, values, month, store):
        """The table of a map's cells, made once: f, c, mois, magasin, v."""
        name = "cells_%s_%d%d" % (values, month, store)
        if self.columns.base.execute(
                "SELECT 1 FROM sqlite_master WHERE name = ?",
                (name,)).fetchone():
            return name
        if values == "before":
            return self.before(name)
        value = {"sales": "quantite", "stock": "stock",
                 "receptions": "quantite"}[values]
        months = self.columns.months
        newest = " AND mois = '%s'" % months[-1] if values == "stock" and \
            not month else ""
        self.columns.base.execute(
            "CREATE TABLE %s AS SELECT fournisseur f, codein c, %s mois, "
            "%s magasin, sum(%s) v FROM %s WHERE mois BETWEEN '%s' AND '%s'%s "
            "GROUP BY fournisseur, codein%s%s" % (
                name, "mois" if month else "NULL",
                "magasin" if store else "NULL", value, values, months[0],
                months[-1], newest, ", mois" if month else "",
                ", magasin" if store else ""))
        self.columns.base.execute(
            "CREATE INDEX %s_i ON %s (f, c)" % (name, name))
        return name

    def before(self, name):
        """Sales of the year before, each at its month a year later."""
        self.columns.base.execute(
            "CREATE TABLE %s AS SELECT f, c, CAST(m + 100 AS TEXT) mois, "
            "NULL magasin, v FROM sales_b" % name)
        self.columns.base.execute(
            "CREATE INDEX %s_i ON %s (f, c)" % (name, name))
        return name

    def wanted_rows(self, keys, values, where, bound):
        """Each group's articles; each group's figures by value."""
        rows = [key for key in keys if key in KEYS]
        month, store = "mois" in keys, "magasin" in keys
        shown = ", ".join('g."%s"' % key for key in rows)
        comma = shown + ", " if shown else ""
        articles = dict((tuple(line[:-1]), line[-1])
                        for line in self.columns.base.execute(
                            "SELECT %scount(*) FROM g WHERE %s%s" % (
                                comma, where,
                                " GROUP BY " + shown if shown else ""), bound))
        found = {}
        for value in values:
            if value in MAPS:
                source = "g CROSS JOIN %s x ON x.f = g.codeFournisseur AND " \
                    "x.c = g.codein" % self.cells(MAPS[value], month, store)
                cell = ", ".join(name for name, there in (
                    ("x.mois", month), ("x.magasin", store)) if there)
                named, column = comma + cell + ", ", "x.v"
                group = comma + cell
            else:
                source, column = "g", 'g."%s"' % value
                named, group = comma, shown
            for line in self.columns.base.execute(
                    "SELECT %scount(%s), coalesce(sum(%s), 0), min(%s), "
                    "max(%s) FROM %s WHERE %s%s" % (
                        named, column, column, column, column, source, where,
                        " GROUP BY " + group if group else ""), bound):
                found.setdefault(tuple(line[:-4]), {})[value] = line[-4:]
        return articles, found

    @staticmethod
    def micro(value, name):
        if value is None:
            return None
        if name in WHOLE:
            return int(value)
        scaled = decimal.Decimal(value) * MILLION
        assert scaled == int(scaled), value
        return int(scaled)

    def figures(self, shown, name, total):
        """What an answer says of a value, and what is wrong with it."""
        count = shown["count"]
        sums = self.micro(shown["sum"], name)
        problems = []
        mean = None if count == 0 else rounded(
            sums, count * (1 if name in WHOLE else MILLION))
        if self.micro(shown["mean"], None) != mean:
            problems.append("mean %s, not %s" % (shown["mean"], mean))
        if total is not None:
            share = rounded(sums, self.micro(total["sum"], name))
            if self.micro(shown["share"], None) != share:
                problems.append("share %s, not %s" % (shown["share"], share))
        return (count, sums, self.micro(shown["min"], name),
                self.micro(shown["max"], name)), problems

    def compare(self, got, keys, values, articles, wanted):
        problems, seen, last = [], {}, None
        rows = [key for key in keys if key in KEYS]
        cells = [key for key in ("mois", "magasin") if key in keys]
        for line in got["data"]:
            name = tuple(line[key] for key in rows + cells)
            if name in seen:
                problems.append("twice: %s" % (name,))
            seen[name] = True
            if line["articles"] != articles.get(name[:len(rows)]):
                problems.append("articles of %s: %s, not %s" % (
                    name, line["articles"], articles.get(name[:len(rows)])))
            for value in values:
                figures, wrong = self.figures(
                    line["valeurs"][value], value, got["totaux"].get(value))
                problems += wrong
                should = wanted.get(name, {}).get(value, (0, 0, None, None))
                if figures != tuple(should):
                    problems.append("%s of %s: %s, not %s" % (
                        value, name, figures, should))
            first = line["valeurs"][values[0]]
            here = (first["count"] == 0, first["sum"])
            if last is not None and (here[0] < last[0] or (
                    here[0] == last[0] and
                    (here[1] - last[1]) * self.sign > 0)):
                problems.append("order: %s behind %s" % (here, last))
            last = here
        for name in wanted:
            if name not in seen and any(
                    one[0] > 0 for one in wanted[name].values()):
                problems.append("%s is missing" % (name,))
        return problems

    @staticmethod
    def read(form, body, keys, values):
        """An answer's groups. Cells have no totals, to share against."""
        def figure(cell):
            return None if cell == "" else decimal.Decimal(
                cell.replace(FORMATS[form].point, "."))
        if form not in FORMATS:
            got = json.loads(body.decode(), parse_float=decimal.Decimal)
            return {"data": got["data"], "totaux": got["meta"]["totaux"]}
        names, rows = FORMATS[form].read(body)
        lines = []
        for row in rows:
            cells = dict(zip(names, row))
            line = {key: cells[key] or None for key in keys}
            line["articles"] = int(cells["articles"])
            line["valeurs"] = {value: {
                part: figure(cells["%s.%s" % (value, part)]) for part in (
                    "count", "sum", "min", "max", "mean", "share")}
                for value in values}
            lines.append(line)
        return {"data": lines, "totaux": {}}

    def one(self, number):
        chance = self.chance
        form = self.formats.choice(["json"] * 3 + ["csv", "csv-fr", "tsv"])
        made = self.maker.conditions() if chance.random() < 0.7 else []
        supplier = chance.choice(self.suppliers + ["12345"] * 4)
        where = " AND ".join(["(%s)" % sql for _, sql, _ in made] +
                             ["codeFournisseur = ?"])
        bound = [value for _, _, listed in made for value in listed] + \
            [supplier]
        keys = chance.sample(KEYS, chance.choice((0, 1, 1, 1, 2, 3)))
        cells = chance.random() < 0.4
        if cells:
            keys = keys[:2] + ["mois", "magasin"][
                slice(*chance.choice(((0, 1), (1, 2), (0, 2))))]
            keys = keys[-3:]
            chance.shuffle(keys)
        maps = [name for name in MAPS
                if name != "sales12mN1" or "magasin" not in keys]
        values = chance.sample(maps if cells else NUMBERS,
                               chance.choice((1, 1, 2, 3)))
        order = chance.choice(("asc", "desc"))
        self.sign = 1 if order == "desc" else -1
        query = [pair for pair, _, _ in made] + [
            ("fournisseur", supplier), ("groups", ",".join(keys)),
            ("values", ",".join(values)), ("limit", 1000000),
            ("order", order), ("strict", 1), ("format", form)]
        uri = API + "/grid/aggregates?" + urllib.parse.urlencode(query)
        if len(uri) > 6000:
            return query, []
        # The slow pool keeps the figures by month and store that it has read.
        reply = self.server.ask(uri, headers={"X-API-Key": self.oracle.key},
                                slow=chance.random() < 0.5)
        if reply.status != 200:
            return query, ["status %d %r" % (reply.status, reply.body[:300])]
        got = self.read(form, reply.body, keys, values)
        articles, wanted = self.wanted_rows(keys, values, where, bound)
        problems = self.compare(got, keys, values, articles, wanted)
        if number % 20 == 0:
            problems += self.description.check("GET", uri, reply)
        return query, problems

    def ask(self, queries):
        for number in range(queries):
            query, problems = self.one(number)
            self.score.note("/grid/aggregates %s" % json.dumps(
                query, ensure_ascii=False), problems)


if __name__ == "__main__":
    assert not set(NUMBERS) & set(TEXTS + RANGES)
    Test(int(sys.argv[1]) if len(sys.argv) > 1 else 300,
         int(sys.argv[2]) if len(sys.argv) > 2 else 1).run()

"""Random conditions, sorts and pages against SQLite over the imported CSV.

    conditions.py [QUERIES [SEED]]

Each answer is in a format of its own, drawn with the query, and read by another
program. SQLite reads the CSV files themselves: texts, prices, sums by month and
by store, days, ranges. What is worked out of those (rates, ranks, the network's)
it takes from a dump, whose values tests/system/oracle.sh compares with SQL of
its own. Numbers are millionths, so that sums are exact. A condition is written
twice: as the parameter says it, and as SQL. A second round asks after ranges
were proposed, saved and imported and the network's figures have changed.
"""

import csv
import decimal
import json
import os
import random
import re
import sqlite3
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from formats import FORMATS, exact, find_workbooks  # noqa: E402
from kit import API, Data, Description, Direct, Score, scratch  # noqa: E402
from oracle import SEARCHED, Test as Oracle, fold  # noqa: E402

MILLION = 1000000
TEXTS = ("codein", "codeFournisseur", "nomFournisseur", "libelle1", "libelle2",
         "marque", "gtin", "reference", "codeCentrale", "code1", "code2",
         "code3", "libelleCode1", "libelleCode2", "libelleCode3", "classeAbc")
RANGES = ("codeGamme", "codeGammeServeur", "gammeAValider", "codeGammeInit")
WHOLE = ("rangCa", "nbMagasins", "moisVendus", "nbMagasinsStock", "nbRuptures",
         "nbJoursDerniereVente", "nbMagasinsReseau")
DAYS = ("derniereReception", "premiereVente", "derniereVente")
SHOWN = ("codein", "codeFournisseur", "libelle1", "code3", "totalCa",
         "derniereVente")  # in the order of a row
MEASURES = {"sales": "quantite", "stock": "stock", "receptions": "quantite"}


def micro(text):
    return None if text in ("", None) else int(
        decimal.Decimal(text) * MILLION)


def like(folded, pattern):
    """The pattern of a parameter, '*' for any text; both folded."""
    if folded is None:
        return None
    parts = [re.escape(part) for part in pattern.split("*")]
    return re.fullmatch(".*".join(parts), folded, re.S) is not None


class Columns:
    """The table `g` of SQLite, a row for each article at each supplier."""

    def __init__(self, folder, dumps):
        self.base = sqlite3.connect(":memory:")
        self.base.create_function("fold", 1, lambda text: None
                                  if text is None else fold(text),
                                  deterministic=True)
        self.base.create_function("matches", 2, like, deterministic=True)
        self.folder = folder
        for name in ("articles", "suppliers", "nomenclature", "gammes",
                     "positions", "sales", "stock", "receptions"):
            self.load(name)
        self.months, self.before = self.last_months(0), self.last_months(12)
        self.stores = [one for one, in self.base.execute(
            "SELECT DISTINCT magasin FROM positions ORDER BY 1")]
        self.sums()
        self.table(dumps)

    def load(self, name):
        path = os.path.join(self.folder, name + ".csv")
        with open(path, encoding="utf-8", newline="") as file:
            lines = csv.reader(file)
            head = next(lines)
            self.base.execute("CREATE TABLE %s (%s)" % (
                name, ", ".join(head)))
            number = [column in ("quantite", "ca", "marge", "stock", "pcb",
                                 "prixAchat", "prixVente", "tva")
                      for column in head]
            self.base.executemany(
                "INSERT INTO %s VALUES (%s)" % (
                    name, ", ".join("?" * len(head))),
                ([micro(value) if is_number else value or None
                  for value, is_number in zip(line, number)]
                 for line in lines if line))

    def last_months(self, back):
        """The twelve months that end so many months before the newest."""
        newest, = self.base.execute(
            "SELECT max(m) FROM (SELECT max(mois) m FROM sales UNION SELECT "
            "max(mois) FROM stock UNION SELECT max(mois) FROM receptions)"
        ).fetchone()
        last = int(newest[:4]) * 12 + int(newest[4:]) - 1
        return ["%04d%02d" % (month // 12, month % 12 + 1)
                for month in range(last - back - 11, last - back + 1)]

    def sums(self):
        span = "mois BETWEEN '%s' AND '%s'" % (self.months[0], self.months[-1])
        for name, value in MEASURES.items():
            self.base.execute(
                "CREATE TABLE %s_m AS SELECT fournisseur f, codein c, mois m, "
                "sum(%s) v FROM %s WHERE %s GROUP BY 1, 2, 3" % (
                    name, value, name, span))
            newest = " AND mois = '%s'" % self.months[-1]
            self.base.execute(
                "CREATE TABLE %s_s AS SELECT fournisseur f, codein c, "
                "magasin m, sum(%s) v FROM %s WHERE %s%s GROUP BY 1, 2, 3" % (
                    name, value, name, span,
                    newest if name == "stock" else ""))
        for name in MEASURES:
            for kind in "ms":
                self.base.execute("CREATE INDEX %s_%s_i ON %s_%s (f, c)" % (
                    name, kind, name, kind))
        self.base.execute(
            "CREATE TABLE total AS SELECT fournisseur f, codein c, "
            "sum(quantite) q, sum(ca) ca, sum(marge) marge FROM sales "
            "WHERE %s GROUP BY 1, 2" % span)
        self.base.execute("CREATE INDEX total_i ON total (f, c)")
        before = "mois BETWEEN '%s' AND '%s'" % (self.before[0],
                                                 self.before[-1])
        self.base.execute(
            "CREATE TABLE sales_b AS SELECT fournisseur f, codein c, mois m, "
            "sum(quantite) v FROM sales WHERE %s GROUP BY 1, 2, 3" % before)
        self.base.execute("CREATE INDEX sales_b_i ON sales_b (f, c)")
        self.base.execute(
            "CREATE TABLE ago AS SELECT fournisseur f, codein c, "
            "sum(quantite) q, sum(ca) ca FROM sales WHERE %s AND "
            "(SELECT min(mois) FROM sales) <= '%s' GROUP BY 1, 2" % (
                before, self.before[0]))
        self.base.execute("CREATE INDEX ago_i ON ago (f, c)")
        self.base.execute(
            "CREATE TABLE place AS SELECT fournisseur f, codein c, "
            "sum(stock) stock, min(premiereVente) p, max(derniereVente) d, "
            "max(derniereReception) r FROM positions GROUP BY 1, 2")
        self.base.execute("CREATE INDEX place_i ON place (f, c)")

    # What SQLite works out of the CSV; all other columns are a dump's.
    OWN = {
        "codein": "a.codein", "codeFournisseur": "a.fournisseur",
        "nomFournisseur": "supplier.nom", "libelle1": "a.libelle1",
        "libelle2": "a.libelle2", "marque": "a.marque", "gtin": "a.gtin",
        "reference": "a.reference", "codeCentrale": "a.codeCentrale",
        "code1": "substr(a.code3, 1, 2)", "code2": "substr(a.code3, 1, 4)",
        "code3": "a.code3", "pcb": "a.pcb", "prixAchat": "a.prixAchat",
        "prixVente": "a.prixVente", "tva": "a.tva",
        "totalCa": "coalesce(total.ca, 0)",
        "totalQuantite": "coalesce(total.q, 0)",
        "totalMarge": "coalesce(total.marge, 0)",
        "totalCaN1": "ago.ca", "totalQuantiteN1": "ago.q",
        "stockActuel": "place.stock", "premiereVente": "place.p",
        "derniereVente": "place.d", "derniereReception": "place.r",
        "totalReceptions": "coalesce((SELECT sum(v) FROM receptions_m r "
                           "WHERE r.f = a.fournisseur AND r.c = a.codein), 0)",
    }

    def table(self, dumps):
        names = ["%s AS \"%s\"" % (sql, name)
                 for name, sql in self.OWN.items()]
        for measure in MEASURES:
            for kind, keys, form in (("m", self.months, "%s12m.%s"),
                                     ("s", self.stores, "%s12mByStore.%s")):
                names += [
                    "(SELECT v FROM %s_%s x WHERE x.f = a.fournisseur AND "
                    "x.c = a.codein AND x.m = '%s') AS \"%s\"" % (
                        measure, kind, key, form % (measure, key))
                    for key in keys]
        names += ["(SELECT v FROM sales_b x WHERE x.f = a.fournisseur AND "
                  "x.c = a.codein AND x.m = '%s') AS \"sales12mN1.%s\"" % (
                      key, key) for key in self.before]
        self.base.execute(
            "CREATE TABLE own AS SELECT %s FROM articles a "
            "LEFT JOIN suppliers supplier ON supplier.code = a.fournisseur "
            "LEFT JOIN total ON total.f = a.fournisseur AND total.c = a.codein "
            "LEFT JOIN ago ON ago.f = a.fournisseur AND ago.c = a.codein "
            "LEFT JOIN place ON place.f = a.fournisseur AND place.c = a.codein"
            % ", ".join(names))
        self.base.execute("CREATE INDEX own_i ON own (codeFournisseur, codein)")
        self.take(dumps)

    def take(self, dumps):
        """Adds the columns of a dump, as rows are shown now."""
        rows = [row for dump in dumps for row in dump]
        more = [name for name, value in rows[0].items()
                if name not in self.OWN and not name.startswith("-") and
                name not in ("network", "qteReseauByMonth", "sales12m",
                             "stock12m", "receptions12m", "sales12mN1",
                             "sales12mByStore",
                             "stock12mByStore", "receptions12mByStore")]
        self.base.execute("DROP TABLE IF EXISTS shown")
        self.base.execute("CREATE TABLE shown (f, c, text, %s)" % ", ".join(
            '"%s"' % name for name in more))
        self.base.executemany(
            "INSERT INTO shown VALUES (%s)" % ", ".join("?" * (len(more) + 3)),
            ([row["codeFournisseur"], row["codein"],
              "\x1f".join(row["-folded"])] +
             [self.value(name, row[name]) for name in more] for row in rows))
        self.base.execute("DROP TABLE IF EXISTS g")
        self.base.execute(
            "CREATE TABLE g AS SELECT own.*, shown.* FROM shown JOIN own ON "
            "own.codeFournisseur = f AND own.codein = c")
        self.base.execute("CREATE INDEX g_i ON g (codeFournisseur)")
        count, = self.base.execute("SELECT count(*) FROM g").fetchone()
        assert count == len(rows), (count, len(rows))
        self.names = list(self.OWN) + more + [
            form % (measure, key) for measure in MEASURES
            for keys, form in ((self.months, "%s12m.%s"),
                               (self.stores, "%s12mByStore.%s"))
            for key in keys] + ["sales12mN1." + key for key in self.before]

    @staticmethod
    def value(name, value):
        if name == "trend":
            return value and value["direction"]
        if name in TEXTS or name in RANGES or name in DAYS or value is None:
            return value
        return value if name in WHOLE else int(
            decimal.Decimal(repr(value)) * MILLION)

    def some(self, name, chance):
        """A value of the column, or None."""
        values = self.base.execute(
            'SELECT "%s" FROM g WHERE rowid = ?' % name,
            (chance.randrange(1, self.count() + 1),)).fetchone()
        return values[0]

    def count(self):
        return self.base.execute("SELECT max(rowid) FROM g").fetchone()[0]


class Maker:
    """Random conditions: a parameter, and the SQL of it."""

    COMPARE = {"eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<",
               "lte": "<="}

    def __init__(self, chance, columns):
        self.chance, self.columns = chance, columns

    @staticmethod
    def number_text(name, value):
        if name in WHOLE:
            return str(value)
        text = format(decimal.Decimal(value) / MILLION, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text

    def value(self, name):
        """One to compare with: SQL's, and the parameter's text."""
        chance = self.chance
        value = self.columns.some(name, chance)
        if name in RANGES:
            value = value or chance.choice("ABCYZ")
            return value, value
        if name == "trend":
            value = value or chance.choice(("up", "down", "flat"))
            return value, value
        if name in TEXTS:
            value = value or chance.choice(("x", "Duvel", "é", "10"))
            # An address holds no control character.
            value = re.sub(r"[\x00-\x1f\x7f].*", "", value, flags=re.S) or "x"
            if chance.random() < 0.1:
                value = value[:chance.randrange(1, len(value) + 1)]
            return value, value
        if name in DAYS:
            value = value or "2026-01-31"
            return value, value
        if value is None:
            value = chance.choice((0, 1, 12))
            value *= 1 if name in WHOLE else MILLION
        if chance.random() < 0.3:
            step = 1 if name in WHOLE else chance.choice(
                (1, 10000, MILLION))
            value += chance.choice((-1, 1)) * step
        return value, self.number_text(name, value)

    def compare(self, name):
        op = self.chance.choice(list(self.COMPARE))
        value, text = self.value(name)
        left = '"%s"' % name
        if name in TEXTS and op not in ("eq", "neq"):
            left, value = "fold(%s)" % left, fold(value)
        return "%s.%s" % (op, text), "%s %s ?" % (
            left, self.COMPARE[op]), [value]

    @staticmethod
    def quoted(text):
        if re.search(r'[,"()\\]', text) or text == "":
            return '"%s"' % re.sub(r'([\\"])', r"\\\1", text)
        return text

    def listed(self, name):
        count = self.chance.choice((0, 1, 2, 3, 5, 20))
        values = [self.value(name) for _ in range(count)]
        return "in.(%s)" % ",".join(
            self.quoted(text) for _, text in values), \
            '"%s" IN (%s)' % (name, ",".join("?" * count)) if count \
            else '"%s" <> "%s"' % (name, name), [one for one, _ in values]

    def pattern(self, name):
        chance = self.chance
        text = self.value(name)[0]
        pieces = []
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            start = chance.randrange(len(text))
            pieces.append(text[start:start + chance.choice((1, 2, 3, 5, 30))])
        if chance.random() < 0.4:
            pieces[0] = text[:chance.choice((1, 2, 3, 6))]
        pattern = "*".join(pieces)
        pattern = chance.choice(("", "*")) + pattern + chance.choice(("", "*"))
        if chance.random() < 0.3:
            pattern = pattern.upper()
        return "%s.%s" % (chance.choice(("like", "ilike")), pattern), \
            'matches(fold("%s"), ?)' % name, [fold(pattern)]

    def empty(self, name):
        if self.chance.random() < 0.5:
            return "is.null", '"%s" IS NULL' % name, []
        return "is.not_null", '"%s" IS NOT NULL' % name, []

    def condition(self):
        name = self.chance.choice(self.columns.names)
        ways = [self.compare, self.compare, self.compare, self.listed,
                self.empty]
        if name in TEXTS:
            ways += [self.pattern, self.pattern]
        if name == "trend":
            ways = [self.listed, self.empty]
        text, sql, values = self.chance.choice(ways)(name)
        if self.chance.random() < 0.2:
            text, sql = "not." + text, "NOT (%s)" % sql
        return (name, text), sql, values

    def conditions(self):
        return [self.condition()
                for _ in range(self.chance.choice((1, 1, 1, 2, 2, 3, 5)))]


class Test:
    def __init__(self, queries, seed):
        self.queries, self.chance = queries, random.Random(seed)
        self.score = Score()
        # The rows, and how they are altered, are the other oracle's.
        self.oracle = Oracle(0, seed)
        self.oracle.score = self.score
        self.server = self.oracle.server
        self.description = self.oracle.description
        self.suppliers = self.oracle.suppliers
        self.columns = Columns(os.path.join(self.oracle.folder, "csv"),
                               self.dumps())
        self.maker = Maker(self.chance, self.columns)
        # A draw of its own: a seed's queries do not depend on what reads.
        self.formats = random.Random(seed + 1)
        find_workbooks()

    def dumps(self):
        return [grid.rows for grid in self.oracle.grids["1"].values()]

    COARSE = ("codeGamme", "marque", "tva", "classeAbc", "code1", "pcb",
              "moisVendus", "gammeAValider", "nbMagasinsReseau", "libelle2")

    def order(self, months):
        """Sort keys as the parameter has them, and as SQL; some by a month."""
        chance = self.chance
        names = [name for name in self.columns.names
                 if "." not in name and name != "trend"]
        if months and chance.random() < 0.3:
            names = [name for name in self.columns.names if "12m." in name or
                     "12mN1." in name]
        if chance.random() < 0.5:
            column, way = chance.choice(names), chance.choice(("asc", "desc"))
            return {"sort": column, "order": way}, [(column, way)]
        # The first keys leave something to decide.
        keys = [(chance.choice(self.COARSE), chance.choice(("asc", "desc")))
                for _ in range(chance.choice((1, 1, 2, 3)))]
        keys.append((chance.choice(names), chance.choice(("asc", "desc"))))
        return {"sort": ",".join(("-" if way == "desc" else "") + column
                                 for column, way in keys)}, keys

    @staticmethod
    def order_sql(keys):
        parts = []
        for column, way in keys:
            name = '"%s"' % column
            parts.append("%s IS NULL" % name)
            parts.append("%s %s" % (
                "fold(%s)" % name if column in TEXTS else name, way))
        return ", ".join(parts + ["codein", "codeFournisseur"])

    def wanted(self, where, values, keys):
        return self.columns.base.execute(
            "SELECT %s FROM g WHERE %s ORDER BY %s" % (
                ", ".join('"%s"' % name for name in SHOWN),
                " AND ".join("(%s)" % one for one in where),
                self.order_sql(keys)), values).fetchall()

    def one(self, number):
        chance = self.chance
        made = self.maker.conditions()
        pairs = [pair for pair, _, _ in made]
        where = [sql for _, sql, _ in made]
        values = [value for _, _, listed in made for value in listed]
        order, keys = self.order(number % 3 != 2)
        if number % 3 == 2:
            path = "/products/search"
            row = chance.choice(self.oracle.all["1"].rows)
            text = fold(row[chance.choice(SEARCHED)] or row["codein"])
            word = (text.split() or ["a"])[0][:chance.choice((1, 2, 3))]
            pairs.append(("q", word))
            where.append("instr(text, ?)")
            values.append(word)
        else:
            path = "/grid"
            supplier = chance.choice(self.suppliers + ["12345"] * 4)
            pairs.append(("fournisseur", supplier))
            where.append("codeFournisseur = ?")
            values.append(supplier)
        chance.shuffle(pairs)
        wanted = self.wanted(where, values, keys)
        limit = chance.choice((1, 7, 100, 2000))
        page = chance.randint(1, max(1, -(-len(wanted) // limit)))
        query = pairs + list(order.items()) + [
            ("limit", limit), ("page", page),
            ("fields", ",".join(SHOWN)), ("strict", 1)]
        return path, query, wanted[(page - 1) * limit:page * limit], \
            len(wanted)

    @staticmethod
    def rows_of(form, reply):
        """The answer's rows, as the values of SHOWN, and its exact total."""
        if form == "json":
            got = exact(reply.body.decode())
            return got["data"], got["pagination"]["total"]
        return [exact(line) for line in reply.body.decode().splitlines()], \
            int(reply.headers["x-total-count"])

    @staticmethod
    def is_row(row, wanted):
        return all(row[name] == value for name, value in zip(SHOWN, wanted))

    def compare_rows(self, form, reply, cut, total):
        cut = [[decimal.Decimal(value) / MILLION if name == "totalCa" else
                value for name, value in zip(SHOWN, row)] for row in cut]
        if form in FORMATS:
            reader = FORMATS[form]
            names, rows = reader.read(reply.body)
            if tuple(names) != SHOWN:
                return ["columns %s" % names]
            count = int(reply.headers["x-total-count"])
            fit = [all(map(reader.same, row, wanted))
                   for row, wanted in zip(rows, cut)]
        else:
            rows, count = self.rows_of(form, reply)
            fit = [self.is_row(row, wanted) for row, wanted in zip(rows, cut)]
        problems = [] if count == total else ["total %d, not %d" % (
            count, total)]
        if len(rows) != len(cut) or not all(fit):
            bad = fit.index(False) if False in fit else len(fit)
            problems.append("%d rows, not %d; the %dth: %s, not %s" % (
                len(rows), len(cut), bad, rows[bad:bad + 1],
                cut[bad:bad + 1]))
        return problems

    def form(self):
        """Half of the answers are JSON; a workbook takes long to read."""
        drawn = self.formats.choice(
            ["json"] * 9 + ["ndjson", "csv", "csv-fr", "tsv"] * 2 + ["xlsx"])
        return "csv" if drawn == "xlsx" and drawn not in FORMATS else drawn

    def check(self, path, query, cut, total):
        form = self.form()
        if form != "json":
            query.append(("format", form))
        uri = API + path + "?" + urllib.parse.urlencode(query)
        if len(uri) > 6000:
            return []
        reply = self.server.ask(uri, headers={"X-API-Key": self.oracle.key})
        if reply.status != 200:
            return ["status %d %r" % (reply.status, reply.body[:300])]
        return self.compare_rows(form, reply, cut, total)

    def ask(self, queries):
        for number in range(queries):
            path, query, cut, total = self.one(number)
            self.score.note("%s %s" % (path, json.dumps(
                query, ensure_ascii=False)),
                self.check(path, query, cut, total))

    def run(self):
        self.ask(self.queries)
        self.oracle.alter()
        self.oracle.look()
        self.columns.take(self.dumps())
        self.ask(self.queries // 2)
        self.server.stop()
        self.score.end()


if __name__ == "__main__":
    Test(int(sys.argv[1]) if len(sys.argv) > 1 else 2000,
         int(sys.argv[2]) if len(sys.argv) > 2 else 1).run()

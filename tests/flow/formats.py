"""Each format of rows, read back by a program that is not ours, is the JSON rows.

    formats.py

The data are tests/flow/data and a supplier whose texts hold all that a format
could take for its own. Python's csv reads the texts, openpyxl the workbooks,
DuckDB and hyparquet the Parquet files.
"""

import csv
import datetime
import io
import json
import os
import shutil
import subprocess
import sys
import urllib.parse
from decimal import Decimal

try:
    import openpyxl
except ImportError:
    openpyxl = None

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import API, Data, Description, Direct, TOP, scratch  # noqa: E402

HOSTILE = "0 a;b/c"  # a supplier's code
LABELS = ['=1+1', '"quoted" ""twice""', "tab\there", "line\nbreak", "a;b,c",
          "back\\slash \\n", "été œuf €", "-3", "01197915", "'", " blank ",
          "<b>&amp;</b>", "1e5", "\U0001f9c0"]
STORES = ["101", "0;1", 'q"2']
MONTHS = ["202402", "202412", "202501"]
TOTALS = ["sales12m", "stock12m", "receptions12m", "sales12mN1"]
BY_STORE = [name + "ByStore" for name in TOTALS[:3]]


def fill_hostile(folder):
    """Adds the supplier to the CSV files of the folder."""
    def add(name, rows):
        with open(os.path.join(folder, name + ".csv"), "a", newline="",
                  encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    codes = ["%08d" % (1197915 + i) for i in range(len(LABELS))]
    add("suppliers", [[HOSTILE, 'Le "Nord"; & co']])
    add("stores", [[store, store] for store in STORES[1:]])
    add("articles", [[HOSTILE, code, label, "", "007", "0012", label, "",
                      "101010", "6", "1.000001", "2.5", "5.5", "A"]
                     for code, label in zip(codes, LABELS)])
    sales, stock = [], []
    for i, code in enumerate(codes[1:]):
        for k, store in enumerate(STORES[:1 + i % 3]):
            sales += [[HOSTILE, code, store, month, i * k + n + 0.25,
                       i - 3, "0.000001"]
                      for n, month in enumerate(MONTHS[k:])]
            stock += [[HOSTILE, code, store, MONTHS[-1], k]]
    add("sales", sales)
    add("stock", stock)


def exact(text):
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


class Csv:
    """What Python's csv makes of an answer: its names, and rows of texts."""

    def __init__(self, delimiter, point=".", mark="", end="\n"):
        self.delimiter, self.point = delimiter, point
        self.mark, self.end = mark, end

    def read(self, body):
        text = body.decode("utf-8")
        assert text.startswith(self.mark), repr(text[:20])
        assert text.endswith(self.end)
        lines = list(csv.reader(
            io.StringIO(text[len(self.mark):], newline=""),
            delimiter=self.delimiter, strict=True))
        assert all(len(line) == len(lines[0]) for line in lines)
        return lines[0], lines[1:]

    def same(self, cell, value):
        if value is None:
            return cell == ""
        if isinstance(value, Decimal):
            assert self.point == "." or "." not in cell
            return Decimal(cell.replace(self.point, ".")) == value
        if isinstance(value, dict):
            return exact(cell) == value
        return cell == value


class Xlsx:
    """What openpyxl makes of a workbook."""

    def read(self, body):
        book = openpyxl.load_workbook(io.BytesIO(body))
        sheets = [list(sheet.iter_rows()) for sheet in book]
        for sheet in book:
            assert sheet.freeze_panes == "B2", sheet.freeze_panes
            assert all(cell.font.b for cell in next(sheet.iter_rows()))
            assert sheet.column_dimensions["A"].width >= 8
        heads = [[cell.value for cell in rows[0]] for rows in sheets]
        assert all(head == heads[0] for head in heads)
        return heads[0], [list(row) for rows in sheets for row in rows[1:]]

    def same(self, cell, value):
        if value is None:
            return cell.value is None
        if isinstance(value, Decimal):
            return cell.data_type == "n" and float(value) == cell.value and \
                cell.number_format in ("#,##0", "#,##0.00####")
        if isinstance(cell.value, datetime.datetime):
            return cell.number_format == "yyyy\\-mm\\-dd" and \
                cell.value.date().isoformat() == value
        assert cell.data_type == "s" and cell.number_format == "@"
        if isinstance(value, dict):
            return exact(cell.value) == value
        return cell.value == value


class Parquet:
    """What DuckDB makes of a Parquet file, as texts, and hyparquet too."""

    TYPES = {"VARCHAR", "DECIMAL(38,6)", "BIGINT", "DATE"}

    def __init__(self, modules):
        self.path = os.path.join(scratch(), "rows.parquet")
        self.reader = subprocess.Popen(
            ["node", os.path.join(TOP, "tests", "flow", "npm", "read.mjs"),
             os.path.abspath(modules)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)

    def read(self, body):
        with open(self.path, "wb") as file:
            file.write(body)
        self.reader.stdin.write(self.path.encode() + b"\n")
        self.reader.stdin.flush()
        found = json.loads(self.reader.stdout.readline())
        duck, other = found["duck"], found["hyparquet"]
        assert set(duck["types"]) <= self.TYPES, duck["types"]
        assert other["count"] == sum(other["groups"]) == len(duck["rows"])
        assert all(count <= 50000 for count in other["groups"])
        if duck["rows"]:
            assert other["names"] == duck["names"]
        rows = [list(zip(one, two, duck["types"]))
                for one, two in zip(duck["rows"], other["rows"])]
        return duck["names"], rows

    def same(self, cell, value):
        cell, other, kind = cell
        if value is None:
            return cell is None and other is None
        if isinstance(value, Decimal):
            return kind[:3] in ("DEC", "BIG") and Decimal(cell) == value and \
                abs(Decimal(repr(other)) - value) <= abs(value) / 10 ** 12
        if isinstance(value, dict):
            return exact(cell) == value and exact(other) == value
        if kind == "DATE":
            return cell == value and other[:10] == value
        return kind == "VARCHAR" and cell == value and other == value


FORMATS = {
    "csv": Csv(","),
    "csv-fr": Csv(";", ",", "\ufeff", "\r\n"),
    "tsv": Csv("\t"),
}


def find_workbooks():
    if openpyxl is not None:
        FORMATS["xlsx"] = Xlsx()
    else:
        print("not read, without python3-openpyxl: workbooks")


def find_readers():
    """Those of the formats that Python alone does not read."""
    find_workbooks()
    if os.environ.get("GRID_MODULES"):
        FORMATS["parquet"] = Parquet(os.environ["GRID_MODULES"])
    else:
        print("not read, without node and npm: Parquet")


def as_cells(rows, names):
    """A row's values in the columns' order; a map is one cell."""
    return [[row[name] for name in names] for row in rows]


def months_of(rows, name):
    found = set()
    for row in rows:
        for store in row[name].values() if name in BY_STORE else [row[name]]:
            found |= set(store)
    return found


def wide(row, name):
    """A cell by the name of a column of mois=colonnes."""
    if name in row:
        return row[name]
    column, *rest = name.split(".", 1)
    place = rest[0]
    if column in TOTALS:
        return row[column].get(place)
    store, month = place.rsplit(".", 1)
    return row[column].get(store, {}).get(month)


def long_lines(row, names):
    """The lines of mois=lignes of one row."""
    maps = [n for n in names if n in TOTALS + BY_STORE + ["qteReseauByMonth"]]
    lines = {}
    for name in maps:
        by_store = row[name] if name in BY_STORE else {"": row[name]}
        for store, months in by_store.items():
            for month, value in (months or {}).items():
                lines.setdefault((store, month.replace("-", "")),
                                 {})[name] = value
    for (store, month), values in sorted(lines.items(), key=lambda item: (
            item[0][0].encode(), item[0][1])) or [(("", None), {})]:
        yield [store or None if n == "magasin" else month if n == "mois" else
               values.get(n) if n in maps else row[n] for n in names]


class Test:
    def __init__(self):
        folder = os.path.join(scratch(), "csv")
        shutil.copytree(os.path.join(TOP, "tests", "flow", "data"), folder)
        fill_hostile(folder)
        self.data = Data().fill(folder)
        self.key = self.data.key()
        self.server = Direct(self.data)
        self.description = Description()
        self.passed = self.failed = 0

    def ask(self, path, **query):
        uri = API + path + "?" + urllib.parse.urlencode(query)
        reply = self.server.ask(uri, headers={"X-API-Key": self.key})
        issues = self.description.check("GET", uri, reply)
        assert reply.status == 200 and not issues, (
            uri, reply.status, reply.body[:300], issues)
        return reply

    def rows(self, path, **query):
        return exact(self.ask(path, **query).body.decode())["data"]

    def check(self, name, fine, told=""):
        self.passed += bool(fine)
        self.failed += not fine
        if not fine:
            print("not ok: %s: %s" % (name, told))

    def compare(self, name, reader, body, names, wanted):
        got_names, got = reader.read(body)
        self.check(name + ": the columns", got_names == names,
                   (got_names, names))
        bad = [] if len(got) == len(wanted) else [(len(got), len(wanted))]
        for line, values in zip(got, wanted):
            bad += [(line, column, cell, value) for column, cell, value in
                    zip(names, line, values) if not reader.same(cell, value)]
        self.check(name + ": the cells", not bad, bad[:3])

    def formats(self, path, query):
        rows = self.rows(path, **query)
        names = list(rows[0])
        for name, reader in FORMATS.items():
            told = "%s %s as %s" % (path, query, name)
            reply = self.ask(path, format=name, **query)
            self.compare(told, reader, reply.body, names,
                         as_cells(rows, names))
            self.check(told + ": counted",
                       reply.headers["x-total-count"] == str(len(rows)))
            reply = self.ask(path, format=name, mois="lignes", **query)
            maps = [n for n in names if n in TOTALS + BY_STORE +
                    ["qteReseauByMonth"]]
            columns = [n for n in names if n not in maps] + [
                "magasin", "mois"] + maps
            self.compare(told + ", lignes", reader, reply.body, columns,
                         [line for row in rows
                          for line in long_lines(row, columns)])
            if path == "/grid":
                self.wide(told, reader, rows, names, path, name, query)

    def wide(self, told, reader, rows, names, path, name, query):
        body = self.ask(path, format=name, mois="colonnes", **query).body
        columns, _ = reader.read(body)
        there = set(columns)
        for column in names:
            if column not in TOTALS + BY_STORE:
                self.check(told + ": " + column, column in there)
                continue
            mine = [c for c in columns if c.startswith(column + ".")]
            months = {c.rsplit(".", 1)[1] for c in mine}
            self.check(told + ": twelve months", not mine or len(months) == 12)
            self.check(told + ": no month is lost",
                       months_of(rows, column) <= months)
        self.compare(told + ", colonnes", reader, body, columns,
                     [[wide(row, c) for c in columns] for row in rows])

    def lines(self):
        """NDJSON is the JSON rows, a line each."""
        for path, query in (("/grid", {"fournisseur": HOSTILE}),
                            ("/products/search", {"q": "a", "limit": "9"}),
                            ("/grid/aggregates",
                             {"fournisseur": "S1", "groups": "code3,marque"})):
            body = self.ask(path, format="ndjson", **query).body
            self.check(path + " as lines", [
                exact(line) for line in body.decode().splitlines()] ==
                self.rows(path, **query))

    def aggregates(self):
        for groups, values in (("code2,codeGamme", "totalCa,rangCa"),
                               ("mois,magasin", "sales12m"), ("", "")):
            query = {"fournisseur": HOSTILE, "groups": groups,
                     "values": values}
            rows = self.rows("/grid/aggregates", **query)
            flat = []
            for row in rows:
                cells = {n: v for n, v in row.items() if n != "valeurs"}
                for column, parts in row["valeurs"].items():
                    cells.update((column + "." + part, value)
                                 for part, value in parts.items())
                flat.append(cells)
            names = list(flat[0])
            for name, reader in FORMATS.items():
                body = self.ask("/grid/aggregates", format=name, **query).body
                self.compare("sums by %r as %s" % (groups, name), reader, body,
                             names, as_cells(flat, names))

    def feed(self):
        """Proposals as lines; the cursor stands in a header."""
        one_line = [label for label in LABELS if label.isprintable()]
        changes = [{"codein": "%08d" % (1197915 + i), "gamme": gamme,
                    "motif": label} for i, (label, gamme) in
                   enumerate(zip(one_line, "BBCCYYZZ"))]
        for wanted in (changes, changes[:3]):
            reply = self.server.ask(
                API + "/gammes", "POST", {
                    "X-API-Key": self.data.key("propose"),
                    "Content-Type": "application/json"}, json.dumps({
                        "fournisseur": HOSTILE,
                        "changes": wanted}).encode())
            assert reply.status == 200, reply.body
        whole = json.loads(self.ask("/propositions", order="asc",
                                    limit="7").body)
        rows = self.rows("/propositions", order="asc", limit="7")
        for name, reader in FORMATS.items():
            reply = self.ask("/propositions", order="asc", limit="7",
                             format=name)
            self.compare("proposals as " + name, reader, reply.body,
                         list(rows[0]), as_cells(rows, list(rows[0])))
            self.check("the cursor of " + name, reply.headers["x-suivant"] ==
                       whole["meta"]["suivant"] and
                       reply.headers["x-has-more"] == "true")
        body = self.ask("/propositions", format="ndjson").body.decode()
        self.check("proposals as lines", [exact(line) for line in
                                          body.splitlines()] ==
                   self.rows("/propositions"))

    def names(self):
        """A name to save an answer under, whatever the supplier is called."""
        told = self.ask("/grid", fournisseur=HOSTILE, format="csv").headers
        self.check("a file name", told["content-disposition"] ==
                   "attachment; filename=\"grid-0_a_b_c.csv\"; "
                   "filename*=UTF-8''grid-0%20a%3Bb%2Fc.csv",
                   told["content-disposition"])
        told = self.ask("/grid", **{"fournisseur": "S1", "format": "tsv",
                                    "utm, x": "1", "été": ""}).headers
        self.check("ignored names", told.get("x-ignores") ==
                   "utm%2C%20x, %C3%A9t%C3%A9", told.get("x-ignores"))

    def run(self):
        self.formats("/grid", {"fournisseur": HOSTILE})
        self.formats("/grid", {"fournisseur": "S1", "sort": "totalCa"})
        self.formats("/grid", {"fournisseur": "S1", "page": "1",
                               "fields": "sales12m,libelle1,derniereVente"})
        self.formats("/grid", {"fournisseur": HOSTILE, "enrich": "0",
                               "fields": "stock12mByStore,gtin"})
        self.formats("/products/search", {"q": "e", "limit": "1000"})
        self.lines()
        self.aggregates()
        self.feed()
        self.names()
        self.server.stop()
        print("%d passed, %d failed" % (self.passed, self.failed))
        return self.failed != 0


if __name__ == "__main__":
    find_readers()
    sys.exit(Test().run())

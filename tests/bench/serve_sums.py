"""Conditions on any column, and sums by groups, beside the same questions in
the peers' own SQL. The peers are timed without a web server: PostgreSQL by
psql's \\timing of prepared statements over its socket, SQLite within this
process; gridapi's times are of its whole request (Server-Timing). That is to
the peers' advantage, and so is an index on the columns of each condition."""

import csv
import json
import os
import re
import statistics
import subprocess
import time
import urllib.parse
from decimal import Decimal

from serve_data import LARGEST
from serve_works import FIELDS, floor_path, grid, take_turns

# Parameters of /grid; the same as SQL over the table "rows". %d is another
# number each time, since gridapi keeps the rows that a filter has found.
CONDITIONS = (
    ({"stockActuel": "gt.%d", "nbJoursDerniereVente": "gt.20"},
     '"stockActuel" > %d AND "nbJoursDerniereVente" > 20'),
    ({"tauxMarge": "lt.0.2", "totalCa": "gte.%d"},
     '"tauxMarge" < 0.2 AND "totalCa" >= %d'),
    ({"prixVente": "gte.%d", "moisVendus": "in.(1,2,3)"},
     '"prixVente" >= %d AND "moisVendus" IN (1, 2, 3)'),
)
INDEXES = (("stockActuel", "nbJoursDerniereVente"),
           ("tauxMarge", "totalCa"), ("moisVendus", "prixVente"))

# groups and value of /grid/aggregates; the same as SQL; goal in ms
ROW_SUM = 'SELECT "%s", sum("totalCa") FROM rows WHERE "codeFournisseur" = ' \
    "'" + LARGEST + "' GROUP BY 1"
SUMS = (
    ("code1", "totalCa", ROW_SUM % "code1", 5),
    ("marque", "totalCa", ROW_SUM % "marque", 5),
    ("mois", "sales12m", "SELECT mois, sum(quantite) FROM cells GROUP BY 1",
     5),
    ("mois,magasin", "sales12m",
     "SELECT mois, magasin, sum(quantite) FROM cells GROUP BY 1, 2", 30),
)
TIMES = 7


class SqlPostgres:
    def __init__(self, peer):
        self.peer = peer
        for first, second in INDEXES:
            peer.sql('CREATE INDEX ON rows ("codeFournisseur", "%s", "%s") '
                     'INCLUDE (id)' % (first, second))

    def load_cells(self, path):
        self.peer.sql("CREATE TABLE cells (mois text, magasin text, "
                      "quantite numeric)")
        self.peer.sql("COPY cells FROM STDIN (FORMAT csv)", path)
        self.peer.sql("VACUUM (ANALYZE, FREEZE)")

    def psql(self, script):
        return subprocess.run(
            self.peer.as_user + ["psql", "-qXAt", "-v", "ON_ERROR_STOP=1",
                                 "-h", self.peer.run, "-U", "postgres"],
            input=script.encode(), check=True, cwd=self.peer.run,
            stdout=subprocess.PIPE).stdout.decode()

    def rows(self, text):
        return [line.split("|") for line in self.psql(text + ";").splitlines()]

    def times(self, runs):
        """ms of all the statements of a run together; the first is not
        counted."""
        texts = [text for run in runs for text in run]
        script = ["PREPARE q%d AS %s;" % pair for pair in enumerate(texts)]
        script += ["\\o /dev/null", "\\timing on"]
        script += ["EXECUTE q%d;" % i for i in range(len(texts))]
        told = [float(one) for one in re.findall(
            r"Time: ([\d.]+) ms", self.psql("\n".join(script)))]
        assert len(told) == len(texts), told
        each = len(runs[0])
        return [sum(told[i:i + each]) for i in range(each, len(told), each)]


class SqlSqlite:
    def __init__(self, peer):
        import sqlite3
        self.db = sqlite3.connect(peer.file, isolation_level=None)
        self.db.execute("PRAGMA cache_size = -1000000")
        for number, pair in enumerate(INDEXES):
            self.db.execute('CREATE INDEX asked%d ON rows("codeFournisseur", '
                            '"%s", "%s")' % ((number,) + pair))

    def load_cells(self, path):
        self.db.execute("CREATE TABLE cells (mois TEXT, magasin TEXT, "
                        "quantite NUMERIC)")
        self.db.execute("BEGIN")
        with open(path) as file:
            self.db.executemany("INSERT INTO cells VALUES (?, ?, ?)",
                                csv.reader(file))
        self.db.execute("COMMIT")
        self.db.execute("ANALYZE")

    def rows(self, text):
        return self.db.execute(text).fetchall()

    def times(self, runs):
        seen = []
        for run in runs:
            began = time.monotonic()
            for text in run:
                self.rows(text)
            seen.append((time.monotonic() - began) * 1e3)
        return seen[1:]


DOORS = {"PostgreSQL": SqlPostgres, "SQLite": SqlSqlite}


def doors(bench):
    """The peers' databases, each opened once for a stand."""
    if not hasattr(bench, "sql_doors"):
        bench.sql_doors = {name: DOORS[name](peer)
                           for name, peer in bench.databases.items()}
    return bench.sql_doors


def asked_times(bench, paths):
    """ms, as gridapi tells them."""
    told = [float(bench.client.ask(bench.sites["ours"], path)[0]
                  ["Server-Timing"].split("=")[1]) for path in paths]
    return told[1:]


def report(bench, title, paths, runs, limit_ms):
    """Each path once, and the statements of each run; the first of both is
    not counted."""
    seen = {"ours": asked_times(bench, paths)}
    seen.update((name, door.times(runs))
                for name, door in doors(bench).items())
    ours = statistics.median(seen["ours"])
    bench.table.add(title, "ms", seen, "%g ms" % limit_ms, ours <= limit_ms,
                    less=True)


def condition_texts(where):
    """A page's total, and its rows."""
    where = "WHERE \"codeFournisseur\" = '%s' AND %s" % (LARGEST, where)
    columns = ", ".join('"%s"' % name for name in FIELDS.split(","))
    return ["SELECT count(*) FROM rows " + where,
            "SELECT %s FROM rows %s ORDER BY id LIMIT 100" % (columns, where)]


def conditions(bench):
    """Filter, sort, exact total: at least 0.6 of the kept floor, and ten
    times as fast as PostgreSQL."""
    paths = []
    for parameters, where in CONDITIONS:
        asked = [grid(fields=FIELDS, **{
            name: value % i if "%d" in value else value
            for name, value in parameters.items()}) for i in range(TIMES + 1)]
        runs = [condition_texts(where % i) for i in range(TIMES + 1)]
        report(bench, "page by " + " and ".join(parameters), asked, runs, 1)
        totals = [json.loads(bench.client.ask(bench.sites["ours"], path)[1])
                  ["pagination"]["total"] for path in asked]
        for name, door in doors(bench).items():
            found = [int(door.rows(run[0])[0][0]) for run in runs]
            assert found == totals, (name, asked, found, totals)
        bench.table.note("Found by %s: %s to %s rows." % (
            " and ".join(parameters), "{:,}".format(min(totals)),
            "{:,}".format(max(totals))))
        paths += asked
    sizes = [len(bench.client.ask(bench.sites["ours"], path)[1])
             for path in paths]
    seen = take_turns(bench, {
        "ours": (bench.sites["ours"], paths),
        "floor": (bench.sites["kept floor"],
                  [floor_path(*pair[::-1]) for pair in enumerate(sizes)])})
    share = statistics.median(seen["ours"]) / statistics.median(seen["floor"])
    bench.table.add("the same pages, beside the floor that keeps connections",
                    "answers/s", seen, "60 % of that floor", share >= 0.6)


def write_cells(bench, path):
    """The largest supplier's sales, of the months that are shown."""
    months = {line["mois"] for line in ask_sums(bench, "mois", "sales12m")}
    with open(os.path.join(bench.set.csv, "sales.csv")) as source, \
            open(path, "w") as target:
        write = csv.writer(target, lineterminator="\n")
        for row in csv.DictReader(source):
            if row["fournisseur"] == LARGEST and row["mois"] in months:
                write.writerow((row["mois"], row["magasin"], row["quantite"]))


def sums_path(groups, value):
    return "/api/v1/grid/aggregates?" + urllib.parse.urlencode(
        {"fournisseur": LARGEST, "groups": groups, "values": value,
         "limit": 10000}, safe=",")


def ask_sums(bench, groups, value):
    body = bench.client.ask(bench.sites["ours"], sums_path(groups, value))[1]
    return json.loads(body, parse_float=Decimal)["data"]


def same_sums(bench, groups, value, text):
    """As many groups, and sums; SQLite's are floating-point numbers."""
    ours = {tuple(line[key] or "" for key in groups.split(",")):
            line["valeurs"][value]["sum"]
            for line in ask_sums(bench, groups, value)}
    for name, door in doors(bench).items():
        found = {tuple(key or "" for key in row[:-1]): Decimal(str(row[-1]))
                 for row in door.rows(text)}
        assert set(found) == set(ours), (name, groups)
        for key, wanted in found.items():
            assert abs(ours[key] - wanted) < Decimal("0.01"), (name, key)


def sums(bench):
    path = os.path.join(bench.scratch, "cells.csv")
    write_cells(bench, path)
    for door in doors(bench).values():
        door.load_cells(path)
    os.unlink(path)
    for groups, value, text, limit_ms in SUMS:
        same_sums(bench, groups, value, text)
        report(bench, "sums of %s by %s" % (value, groups),
               [sums_path(groups, value)] * (TIMES + 1),
               [[text]] * (TIMES + 1), limit_ms)

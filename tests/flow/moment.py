"""What follows from the network's metrics, before and after they change.

    moment.py [SEED]

With enrich=1 the metrics, their flat copies, the curve, the trend, the share
of stores and the margin gap of each row are those of today's network.csv, in
every form and at every endpoint; with enrich=0 all are those of the
computation. Both are recomputed here from the CSV files, with fractions.
That a compressed dump has the bytes of a plain one is packed.py's matter.
"""

import csv
import io
import json
import os
import random
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import API, Data, Direct, Score  # noqa: E402

SUPPLIER = "12345"
ROWS = 150
STORES = 270
METRICS = ("caReseau", "qteReseau", "nbMagasinsReseau", "caParMagasinReseau",
           "margePctReseau")
LIVE = METRICS + ("presenceReseauPct", "ecartMargeReseau", "network", "trend",
                  "qteReseauByMonth")


def rounded(value):
    """To millionths, half away from zero."""
    if value is None:
        return None
    micro = abs(value) * 10 ** 6
    whole = int(micro + Fraction(1, 2))
    return Fraction(-whole if value < 0 else whole, 10 ** 6)


def number(text):
    return Fraction(text) if text != "" else None


def ordinal(month):
    return int(month[:4]) * 12 + int(month[5:])


def year_of(series):
    """The twelve calendar months that end with the newest one."""
    if not series:
        return None
    last = ordinal(max(series))
    return {month: value for month, value in series.items()
            if ordinal(month) > last - 12}


def trend_of(series):
    if series is None:
        return None
    y = [series[month] for month in sorted(series)]
    n = len(y)
    pct, direction = None, "flat"
    if n >= 2:
        middle, mean = Fraction(n - 1, 2), sum(y) / n
        slope = sum((x - middle) * (v - mean) for x, v in enumerate(y)) / \
            sum((x - middle) ** 2 for x in range(n))
        start, change = mean - slope * middle, slope * (n - 1)
        by = start if start > 0 else sum(map(abs, y)) / n
        if start > 0:
            pct = rounded(change / start)
        if by != 0 and abs(change) / by > Fraction(8, 100):
            direction = "up" if change > 0 else "down"
    label = {"flat": "stable", "up": "en hausse",
             "down": "en baisse"}[direction]
    if direction != "flat" and pct is not None:
        percent = int(abs(pct) * 100 + Fraction(1, 2))
        label = "%s%d %%" % ("\u2212" if pct < 0 and percent else "+", percent)
    return {"direction": direction, "pct": pct, "label": label,
            "monthsUsed": n}


KNOWN = {}  # what has been recomputed once


def expected(record, margin):
    """The live columns of a row whose own margin rate is `margin`."""
    if record is None:
        return dict.fromkeys(LIVE)
    key = id(record), margin
    if key not in KNOWN:
        KNOWN[key] = recomputed(record, margin)
    return KNOWN[key]


def recomputed(record, margin):
    values = {name: number(record[name]) for name in METRICS
              if name != "caParMagasinReseau"}
    stores, rate = values["nbMagasinsReseau"], values["margePctReseau"]
    values["caParMagasinReseau"] = None if not stores or \
        values["caReseau"] is None else rounded(values["caReseau"] / stores)
    months = year_of({name: number(text) for name, text in record.items()
                      if name[0] == "2" and text != ""})
    fetched = record["fetchedAt"].replace("Z", ".000Z") or None
    network = dict(values, qteByMonth=months, fetchedAt=fetched)
    return dict(
        values, network=network, trend=trend_of(months),
        qteReseauByMonth=months,
        presenceReseauPct=None if stores is None
        else rounded(stores / STORES),
        ecartMargeReseau=None if margin is None or rate is None
        else margin - rate)


def exact(text):
    return json.loads(text, parse_float=Fraction, parse_int=Fraction)


def wrong(row, record):
    want = expected(record, row["tauxMarge"])
    return ["%s %s: %r is not %r" % (row["codein"], name, row[name],
                                     want[name])
            for name in LIVE if row[name] != want[name]]


class World:
    def __init__(self, chance):
        self.chance = chance
        self.data = Data()
        self.csv = self.data.demo(ROWS)
        self.headers = {"X-API-Key": self.data.key()}
        self.then = self.read("network.csv")
        self.now = self.then
        self.server = Direct(self.data)

    def read(self, name):
        with open(os.path.join(self.csv, name), newline="",
                  encoding="utf-8") as file:
            return {record["codeCentrale"]: record
                    for record in csv.DictReader(file)}

    def ask(self, uri, **headers):
        return self.server.ask(API + uri, "GET", dict(self.headers, **{
            name.replace("_", "-"): text for name, text in headers.items()}))

    def grid(self, **headers):
        return self.ask("/grid?fournisseur=" + SUPPLIER, **headers)

    def network_of(self, row, when):
        return when.get(row["codeCentrale"])

    def next_network(self):
        """Another file: 24 months, gaps, fewer articles, odd figures."""
        chance = self.chance
        months = ["%d-%02d" % (2025 + m // 12, m % 12 + 1) for m in range(24)]
        path = os.path.join(self.csv, "next.csv")
        codes = sorted(self.then)
        with open(path, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["codeCentrale", "caReseau", "qteReseau",
                          "nbMagasinsReseau", "margePctReseau", "fetchedAt"] +
                         months)
            for code in codes:
                kind = chance.randrange(8)
                if kind == 0:
                    continue
                first = chance.choice((0, 0, 6, 11, 12, 23))
                low, high = ((0, 900), (-50, 50), (-900, -1))[
                    chance.choice((0, 0, 0, 1, 2))]
                series = [str(chance.randint(low, high)) if m >= first and
                          chance.randrange(10) > 0 else "" for m in range(24)]
                if kind == 1:
                    series = [""] * 18 + [str(2 ** m) for m in range(6)]
                if kind == 2:
                    series = [""] * 12 + ["0"] * 6 + \
                        [str(10 * m) for m in range(1, 7)]
                if kind == 3:
                    series = [""] * 24
                out.writerow([
                    code, chance.choice(("", "%d.25" % chance.randrange(9999))),
                    chance.randrange(999), chance.choice(("", "0", "135")),
                    chance.choice(("", "-0.125", "0.3333")),
                    chance.choice(("", "2026-11-01T04:30:00Z"))] + series)
        self.data.gridctl("network", "--replace", path)
        self.now = self.read("next.csv")


def rows_of(body):
    return exact(body.decode("utf-8"))["data"]


def csv_rows(body):
    """The CSV form as rows: texts are quoted, so no text can be a number."""
    rows = []
    for record in csv.DictReader(io.StringIO(body.decode("utf-8"))):
        row = {name: None if text == "" else exact(text)
               if text[0] in "-0123456789{" and name in LIVE + ("tauxMarge",)
               else text for name, text in record.items()}
        rows.append(row)
    return rows


def every_form_says(world, when, enrich):
    """Every endpoint that shows the columns, against the file `when`."""
    problems = []
    query = "/grid?fournisseur=%s&enrich=%d" % (SUPPLIER, enrich)
    rows = rows_of(world.ask(query).body)
    few = "&fields=codeCentrale,tauxMarge," + ",".join(LIVE)
    forms = {
        "whole rows": rows,
        "fields": rows_of(world.ask(query + few).body),
        "a page": rows_of(world.ask(query + "&page=2&limit=70").body),
        "lines": [exact(line) for line in world.ask(
            query, Accept="application/x-ndjson").body.decode().splitlines()],
        "CSV": csv_rows(world.ask(query, Accept="text/csv").body),
        "search": rows_of(world.ask(
            "/products/search?q=e&limit=10000&fournisseur=%s&enrich=%d" % (
                SUPPLIER, enrich)).body),
        "products": [exact(world.ask("/products/%s?fournisseur=%s&enrich=%d" % (
            row["codein"], SUPPLIER, enrich)).body.decode())["data"]
            for row in rows[::20]]}
    for name in LIVE:
        forms["only " + name] = rows_of(world.ask(
            query + "&fields=codeCentrale,tauxMarge," + name).body)
        for row in forms["only " + name]:
            for other in set(LIVE) - {name}:
                row[other] = expected(
                    world.network_of(row, when), row["tauxMarge"])[other]
    for form, found in forms.items():
        if not found:
            problems.append("%s: no row" % form)
        bad = [text for row in found
               for text in wrong(row, world.network_of(row, when))]
        problems += ["%s, enrich=%d: %s" % (form, enrich, text)
                     for text in bad[:2]]
    return problems


def network_says(world):
    problems = []
    for code in sorted(world.then)[::3]:
        reply = world.ask("/network/" + code)
        want = expected(world.now.get(code), None)["network"]
        got = exact(reply.body.decode())["data"] if reply.status == 200 \
            else None
        if got != want or (want is None and reply.status != 404):
            problems.append("%s: %d %r, not %r" % (
                code, reply.status, got, want))
    return problems


def tags(world, before):
    """The old tag is good no more, the new one is, with and without rows."""
    problems = []
    for uri, old in before.items():
        again = world.ask(uri, If_None_Match=old)
        if again.status != 200 or again.headers["etag"] == old:
            problems.append("%s: an old tag gives %d" % (uri, again.status))
        same = world.ask(uri, If_None_Match=again.headers["etag"])
        if same.status != 304:
            problems.append("%s: the new tag gives %d" % (uri, same.status))
    return problems


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else \
        random.SystemRandom().randrange(10 ** 6)
    print("seed %d" % seed)
    world = World(random.Random(seed))
    score = Score()
    row = rows_of(world.grid().body)[0]
    before = {uri: world.ask(uri).headers["etag"] for uri in (
        "/grid?fournisseur=" + SUPPLIER,
        "/grid?fournisseur=%s&fields=trend&limit=10" % SUPPLIER,
        "/products/search?q=e", "/products/" + row["codein"],
        "/network/" + sorted(world.then)[0])}
    raw = world.ask("/grid?enrich=0&fournisseur=" + SUPPLIER).body
    score.note("computed: enrich=1", every_form_says(world, world.then, 1))
    score.note("computed: enrich=0", every_form_says(world, world.then, 0))
    world.next_network()
    score.note("changed: enrich=1", every_form_says(world, world.now, 1))
    score.note("changed: enrich=0", every_form_says(world, world.then, 0))
    score.note("changed: enrich=0 gives the same bytes", [] if world.ask(
        "/grid?enrich=0&fournisseur=" + SUPPLIER).body == raw else ["others"])
    score.note("changed: /network", network_says(world))
    world.now.setdefault(sorted(world.then)[0], None)
    if world.now[sorted(world.then)[0]] is None:
        del before["/network/" + sorted(world.then)[0]]
    score.note("changed: tags", tags(world, before))
    live = rows_of(world.grid().body)
    world.data.gridctl("compute", SUPPLIER)
    score.note("computed again: enrich=1", every_form_says(
        world, world.now, 1))
    score.note("computed again: enrich=0", every_form_says(
        world, world.now, 0))
    score.note("computed again: the rows are those served before", []
               if rows_of(world.grid().body) == live else ["others"])
    world.server.stop()
    score.end()


if __name__ == "__main__":
    main()

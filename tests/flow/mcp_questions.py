"""Twenty questions of a buyer, asked through the tools of /mcp and answered as
SQL over the imported CSV files answers them.

    mcp_questions.py [--sdk NODE NODE_MODULES]

Without --sdk the questions are asked of serve() in one process; with it by the
official SDK clients, of both generations, through nginx. A question is a list
of calls: an argument "{1:groups[0].code2}" is what the first call has answered.
"""

import csv
import json
import os
import re
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "system"))
from kit import GRIDCTL, TOP, Data, Direct, Score, scratch  # noqa: E402

SUPPLIER = {"supplier": "12345"}

# The words, the calls, what of the last answer is the answer, the SQL. `mine`
# is the supplier's articles with the sums of the twelve months, `period` these
# months, `last` the last day of them.
QUESTIONS = [
    ("Which suppliers are there, and how many articles has each?",
     [("list_suppliers", {})], ["suppliers[].code", "suppliers[].rowCount"],
     "SELECT code, (SELECT count(*) FROM articles WHERE fournisseur = code)"
     " FROM suppliers ORDER BY 1"),
    ("What is the code of the supplier whose name has Moulins?",
     [("list_suppliers", {"search": "moulins"})], ["suppliers[].code"],
     "SELECT code FROM suppliers WHERE nom LIKE '%moulins%'"),
    ("What did this supplier turn over, sell and earn in the period?",
     [("aggregate", dict(SUPPLIER))],
     ["totals.totalCa.sum", "totals.totalQuantite.sum",
      "totals.totalMarge.sum"],
     "SELECT sum(ca), sum(quantite), sum(marge) FROM mine"),
    ("Which ten articles turn over most?",
     [("query_rows", dict(SUPPLIER, sort=["-totalCa", "codein"], limit=10,
                          fields=["codein", "totalCa"]))],
     ["rows[].codein", "rows[].totalCa"],
     "SELECT codein, ca FROM mine ORDER BY ca DESC, codein LIMIT 10"),
    ("How many articles sold nothing in the period?",
     [("query_rows", dict(SUPPLIER, filters=["totalQuantite=eq.0"],
                          limit=1))],
     ["total"], "SELECT count(*) FROM mine WHERE quantite = 0"),
    ("Which articles have stock and no sale for 30 days, largest stock first?",
     [("query_rows", dict(SUPPLIER, limit=100, sort=["-stockActuel", "codein"],
                          filters=["stockActuel=gt.0",
                                   "nbJoursDerniereVente=gt.30"],
                          fields=["codein", "stockActuel"]))],
     ["rows[].codein", "rows[].stockActuel"],
     "SELECT codein, stock FROM mine, last WHERE stock > 0 AND"
     " julianday(day) - julianday(vente) > 30 ORDER BY stock DESC, codein"
     " LIMIT 100"),
    ("What are the five brands with the largest turnover?",
     [("aggregate", dict(SUPPLIER, groups=["marque"], values=["totalCa"],
                         filters=["marque=is.not_null"], limit=5))],
     ["groups[].marque", "groups[].valeurs.totalCa.sum"],
     "SELECT marque, sum(ca) FROM mine WHERE marque IS NOT NULL GROUP BY 1"
     " ORDER BY 2 DESC LIMIT 5"),
    ("How many articles has each range, and what do they turn over?",
     [("aggregate", dict(SUPPLIER, groups=["codeGamme"],
                         values=["totalCa"]))],
     ["groups[].codeGamme", "groups[].articles",
      "groups[].valeurs.totalCa.sum"],
     "SELECT gamme, count(*), sum(ca) FROM mine GROUP BY 1 ORDER BY 3 DESC"),
    ("Which universes has this supplier, with how many articles?",
     [("classification", dict(SUPPLIER, level=1, limit=100))],
     ["classes[].code", "classes[].nbArticles"],
     "SELECT substr(code3, 1, 2), count(*) FROM mine WHERE code3 IS NOT NULL"
     " GROUP BY 1 ORDER BY 1"),
    ("In the universe that sells most, which family sells most?",
     [("aggregate", dict(SUPPLIER, groups=["code1"], values=["totalCa"],
                         filters=["code1=is.not_null"], limit=1)),
      ("aggregate", dict(SUPPLIER, groups=["code2"], values=["totalCa"],
                         filters=["code1=eq.{1:groups[0].code1}"], limit=1))],
     ["groups[].code2", "groups[].valeurs.totalCa.sum"],
     "SELECT substr(code3, 1, 4), sum(ca) FROM mine WHERE substr(code3, 1, 2)"
     " = (SELECT substr(code3, 1, 2) FROM mine WHERE code3 IS NOT NULL"
     " GROUP BY 1 ORDER BY sum(ca) DESC LIMIT 1)"
     " GROUP BY 1 ORDER BY 2 DESC LIMIT 1"),
    ("How many articles have no bar code?",
     [("query_rows", dict(SUPPLIER, filters=["gtin=is.null"], limit=1))],
     ["total"], "SELECT count(*) FROM mine WHERE gtin IS NULL"),
    ("How much was sold in each month of the period?",
     [("aggregate", dict(SUPPLIER, groups=["mois"], values=["sales12m"]))],
     ["groups[].mois", "groups[].valeurs.sales12m.sum"],
     "SELECT mois, sum(quantite) FROM sales WHERE fournisseur = '12345' AND"
     " mois IN (SELECT mois FROM period) GROUP BY 1 ORDER BY 2 DESC"),
    ("How does that compare with the year before?",
     [("aggregate", dict(SUPPLIER, groups=["mois"],
                         values=["sales12m", "sales12mN1"]))],
     ["groups[].mois", "groups[].valeurs.sales12m.sum",
      "groups[].valeurs.sales12mN1.sum"],
     "SELECT later.mois, later.q, before.q FROM (SELECT mois, sum(quantite) q"
     " FROM sales WHERE fournisseur = '12345' GROUP BY 1) later JOIN (SELECT"
     " mois, sum(quantite) q FROM sales WHERE fournisseur = '12345'"
     " GROUP BY 1) before ON before.mois = CAST(later.mois - 100 AS TEXT)"
     " WHERE later.mois IN (SELECT mois FROM period) ORDER BY 2 DESC"),
    ("How did turnover change on the year before, by range?",
     [("aggregate", dict(SUPPLIER, groups=["codeGamme"],
                         values=["totalCa", "totalCaN1"]))],
     ["groups[].codeGamme", "groups[].valeurs.totalCa.sum",
      "groups[].valeurs.totalCaN1.sum"],
     "SELECT gamme, round(sum(ca), 2), round(sum(coalesce(ago, 0)), 2)"
     " FROM mine GROUP BY 1 ORDER BY 2 DESC"),
    ("Which articles lost most turnover, in percent?",
     [("query_rows", dict(SUPPLIER, limit=10, sort=["evolutionCaN1", "codein"],
                          fields=["totalCa", "totalCaN1", "evolutionCaN1"],
                          filters=["totalCaN1=gte.100"]))],
     ["rows[].codein", "rows[].evolutionCaN1"],
     "SELECT codein, round((ca - ago) / ago, 6) FROM mine WHERE ago >= 100"
     " ORDER BY 2, 1 LIMIT 10"),
    ("Which store sells most of it?",
     [("aggregate", dict(SUPPLIER, groups=["magasin"], values=["sales12m"],
                         limit=1))],
     ["groups[].magasin", "groups[].valeurs.sales12m.sum"],
     "SELECT magasin, sum(quantite) FROM sales WHERE fournisseur = '12345' AND"
     " mois IN (SELECT mois FROM period) GROUP BY 1 ORDER BY 2 DESC LIMIT 1"),
    ("How many articles cost more than 10 to buy and leave less than 20 %?",
     [("query_rows", dict(SUPPLIER, limit=1, filters=[
         "prixAchat=gt.10", "tauxMarge=lt.0.2"]))],
     ["total"],
     "SELECT count(*) FROM mine WHERE achat > 10 AND ca <> 0 AND"
     " round(marge / ca, 6) < 0.2"),
    ("What is the highest selling price?",
     [("describe_columns", dict(SUPPLIER, columns=["prixVente"]))],
     ["columns[].greatest"], "SELECT max(vente_prix) FROM mine"),
    ("Which articles are sold in every store?",
     [("query_rows", dict(SUPPLIER, limit=100, sort=["codein"],
                          filters=["nbMagasins=gte.4"], fields=["codein"]))],
     ["total", "rows[].codein"],
     "SELECT count(*) OVER (), codein FROM mine WHERE magasins >= 4"
     " ORDER BY codein LIMIT 100"),
    ("What does the best article of range A cost, and which brand is it?",
     [("query_rows", dict(SUPPLIER, limit=1, filters=["codeGamme=eq.A"],
                          sort=["-totalCa", "codein"], fields=["codein"])),
      ("get_product", {"codein": "{1:rows[0].codein}", "supplier": "12345"})],
     ["product.codein", "product.prixVente", "product.marque"],
     "SELECT codein, vente_prix, marque FROM mine WHERE gamme = 'A'"
     " ORDER BY ca DESC, codein LIMIT 1"),
    ("Which articles does the network sell and we do not?",
     [("query_rows", dict(SUPPLIER, limit=100, sort=["codein"], filters=[
         "caReseau=gt.0", "totalCa=eq.0"], fields=["codein"]))],
     ["rows[].codein"],
     "SELECT codein FROM mine JOIN network USING (codeCentrale) WHERE"
     " CAST(caReseau AS REAL) > 0 AND ca = 0 ORDER BY codein LIMIT 100"),
    ("How many articles of the two best brands are out of stock?",
     [("aggregate", dict(SUPPLIER, groups=["marque"], values=["totalCa"],
                         filters=["marque=is.not_null"], limit=2)),
      ("query_rows", dict(SUPPLIER, limit=1, filters=[
          "marque=in.(\"{1:groups[0].marque}\",\"{1:groups[1].marque}\")",
          "stockActuel=eq.0"]))],
     ["total"],
     "SELECT count(*) FROM mine WHERE stock = 0 AND marque IN (SELECT marque"
     " FROM mine WHERE marque IS NOT NULL GROUP BY 1 ORDER BY sum(ca) DESC"
     " LIMIT 2)"),
    ("What share of the turnover do the articles without range make?",
     [("aggregate", dict(SUPPLIER, groups=["codeGamme"],
                         values=["totalCa"]))],
     ["groups[codeGamme=null].valeurs.totalCa.share"],
     "SELECT round(sum(iif(gamme IS NULL, ca, 0)) / sum(ca), 6) FROM mine"),
]

VIEWS = """
CREATE TABLE period AS SELECT DISTINCT mois FROM sales WHERE mois IN
  (SELECT mois FROM sales UNION SELECT mois FROM stock
   UNION SELECT mois FROM receptions ORDER BY 1 DESC LIMIT 12);
CREATE TABLE last AS SELECT date(substr(max(mois), 1, 4) || '-' ||
  substr(max(mois), 5) || '-01', '+1 month', '-1 day') AS day FROM period;
CREATE INDEX by_sale ON sales(fournisseur, codein);
CREATE INDEX by_place ON positions(fournisseur, codein);
CREATE TABLE sold AS SELECT codein, sum(quantite) AS quantite, sum(ca) AS ca,
  sum(marge) AS marge, count(DISTINCT iif(quantite > 0, magasin, NULL))
  AS magasins FROM sales WHERE fournisseur = '12345'
  AND mois IN (SELECT mois FROM period) GROUP BY 1;
CREATE TABLE sold_before AS SELECT codein, round(sum(ca), 2) AS ago FROM sales
  WHERE fournisseur = '12345'
  AND CAST(mois + 100 AS TEXT) IN (SELECT mois FROM period) GROUP BY 1;
CREATE TABLE placed AS SELECT codein, sum(stock) AS stock,
  max(derniereVente) AS vente FROM positions WHERE fournisseur = '12345'
  GROUP BY 1;
CREATE TABLE mine AS SELECT a.codein, marque, gtin, codeCentrale, code3,
  CAST(prixAchat AS REAL) AS achat, CAST(prixVente AS REAL) AS vente_prix,
  gamme, coalesce(quantite, 0) AS quantite, coalesce(ca, 0) AS ca,
  coalesce(marge, 0) AS marge, coalesce(magasins, 0) AS magasins, stock, vente,
  ago FROM articles a LEFT JOIN sold USING (codein)
  LEFT JOIN sold_before USING (codein) LEFT JOIN placed USING (codein)
  WHERE a.fournisseur = '12345';
"""
NUMBERS = {"quantite", "ca", "marge", "stock"}


def database(folder):
    """The CSV files as tables: an empty cell is NULL."""
    base = sqlite3.connect(":memory:")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8",
                  newline="") as file:
            rows = csv.reader(file)
            head = next(rows)
            columns = ", ".join('"%s" %s' % (one, "REAL" if one in NUMBERS
                                             else "TEXT") for one in head)
            table = name.split(".")[0]
            base.execute("CREATE TABLE %s (%s)" % (table, columns))
            base.executemany(
                "INSERT INTO %s VALUES (%s)" % (table, ",".join("?" * len(
                    head))), ([cell or None for cell in row] for row in rows))
    base.executescript(VIEWS)
    return base


# --- what of an answer is the answer ------------------------------------------

def found_at(value, path):
    """A path: names, [] for all, [0] for one, [a=null] for the one of that."""
    for step in re.findall(r"[^.\[\]]+|\[[^\]]*\]", path):
        if step == "[]":
            rest = path.split("[]", 1)[1].lstrip(".")
            return [found_at(one, rest) for one in value]
        if step.startswith("[") and "=" in step:
            name, want = step[1:-1].split("=")
            value, = [one for one in value
                      if one[name] == json.loads(want)]
        elif step.startswith("["):
            value = value[int(step[1:-1])]
        else:
            value = value[step]
    return value


def as_rows(result, paths):
    columns = [found_at(result, path) for path in paths]
    count = max([len(one) for one in columns if isinstance(one, list)] or [1])
    return [[one[i] if isinstance(one, list) else one for one in columns]
            for i in range(count)]


def filled_in(value, answers):
    if isinstance(value, str):
        return re.sub(r"\{(\d+):([^}]*)\}", lambda m: str(found_at(
            answers[int(m.group(1)) - 1], m.group(2))), value)
    if isinstance(value, list):
        return [filled_in(one, answers) for one in value]
    return value


def same(one, other):
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= 2e-6 + 1e-9 * abs(other)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


# --- callers --------------------------------------------------------------------

class InProcess:
    def __init__(self, server, key):
        self.server, self.key = server, key

    def call(self, tool, args):
        reply = self.server.ask(
            "/mcp", "POST", {"Authorization": "Bearer " + self.key,
                             "Content-Type": "application/json"},
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                        "params": {"name": tool, "arguments": args}}).encode())
        return reply.json()["result"]


class Sdk:
    """A client of the official SDK, which takes a call a line."""

    def __init__(self, node, modules, url, key, client):
        self.process = subprocess.Popen(
            [node, os.path.join(TOP, "tests", "flow", "mcp_caller.mjs"),
             modules, url, key, client], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)

    def call(self, tool, args):
        line = json.dumps({"name": tool, "arguments": args}) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def ask_all(score, base, caller, who):
    for words, calls, paths, sql in QUESTIONS:
        problems, answers = [], []
        try:
            for tool, args in calls:
                result = caller.call(tool, {
                    name: filled_in(value, answers)
                    for name, value in args.items()})
                assert not result.get("isError"), result["content"]
                answers.append(result["structuredContent"])
            got = as_rows(answers[-1], paths)
            want = [list(row) for row in base.execute(sql)]
            if not want:
                problems.append("SQL has no answer: nothing is shown")
            if not same(got, want):
                problems.append("%s, SQL says %s" % (
                    json.dumps(got)[:700], json.dumps(want)[:700]))
        except (AssertionError, KeyError, IndexError, TypeError,
                ValueError) as wrong:
            problems.append(repr(wrong)[:900])
        score.note("%s (%s)" % (words, who), problems)


def check_guide(score):
    """docs/api.md lists the questions."""
    with open(os.path.join(TOP, "docs", "api.md"), encoding="utf-8") as file:
        text = file.read()
    score.note("docs/api.md has the questions",
               [words for words, *_ in QUESTIONS if words not in text])


def main():
    folder = os.path.join(scratch(), "csv")
    subprocess.run([GRIDCTL, "demo", "--out", folder, "--articles", "600",
                    "--suppliers", "6", "--total", "1500", "--stores", "4"],
                   check=True, stdout=subprocess.DEVNULL)
    base = database(folder)
    data = Data().fill(folder)
    score, key = Score(), data.key()
    if "--sdk" not in sys.argv[1:]:
        server = Direct(data)
        ask_all(score, base, InProcess(server, key), "in process")
        server.stop()
        check_guide(score)
        score.end()
    from stack import Stack
    node, modules = sys.argv[2:4]
    with Stack(data=data.folder) as stack:
        for client in ("v1", "legacy", "auto", "2026-07-28"):
            caller = Sdk(node, modules,
                         "http://127.0.0.1:%d/mcp" % stack.port, key, client)
            ask_all(score, base, caller, "SDK " + client)
            caller.end()
    score.end()


main()

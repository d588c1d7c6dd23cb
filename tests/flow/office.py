"""LibreOffice opens what gridapi calls a workbook and csv-fr, and shows the JSON
rows: codes with their zeros, numbers as numbers, days as days.

LibreOffice writes what it has read as a text with tabs. Of csv-fr it is told,
as a person tells it, which columns are texts, and that the language is French.
"""

import csv
import os
import subprocess
import sys
from decimal import Decimal

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from formats import HOSTILE, Test as Formats  # noqa: E402
from kit import scratch  # noqa: E402

FIELDS = ("codein", "nomFournisseur", "libelle1", "gtin", "reference",
          "codeCentrale", "code3", "totalCa", "totalMarge", "stockActuel",
          "prixVente", "derniereVente")
TEXTS = FIELDS[:7]
# Tabs, quotes round texts, UTF-8, from line 1, English, as stored.
OUT = "csv:Text - txt - csv (StarCalc):9,34,76,1,,1033,true,false"
# Semicolons, quotes, UTF-8, from line 1; texts, then what French makes of it.
IN = "Text - txt - csv (StarCalc):59,34,76,1,%s,1036,false,true"


class Office:
    def __init__(self):
        self.folder = scratch()
        self.count = 0

    def opened(self, name, body, *more):
        """The cells of the file, as LibreOffice has read them."""
        self.count += 1
        folder = os.path.join(self.folder, str(self.count))
        os.mkdir(folder)
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(body)
        made = os.path.join(folder, "out", name.rsplit(".", 1)[0] + ".csv")
        for _ in range(2):  # its first start makes a profile, and may end
            done = self.convert(folder, path, more)
            if os.path.exists(made):
                break
        assert os.path.exists(made), (done.stdout, done.stderr)
        with open(made, encoding="utf-8", newline="") as file:
            return list(csv.reader(file, delimiter="\t", strict=True))

    def convert(self, folder, path, more):
        return subprocess.run(
            ["soffice", "-env:UserInstallation=file://" + self.folder +
             "/profile", "--headless", "--norestore", *more, "--convert-to",
             OUT, "--outdir", os.path.join(folder, "out"), path],
            capture_output=True, text=True, check=False, timeout=300)


def same(name, cell, value):
    if value is None:
        return cell == ""
    if name in TEXTS or name == "derniereVente":
        return cell == value
    return Decimal(cell) == value


def main():
    test, office = Formats(), Office()
    for supplier in (HOSTILE, "S1"):
        query = {"fournisseur": supplier, "fields": ",".join(FIELDS)}
        rows = test.rows("/grid", **query)
        names = list(rows[0])
        assert len(names) == len(FIELDS)
        places = "/".join("%d/2" % (names.index(name) + 1) for name in TEXTS)
        for form, name, more in (
                ("xlsx", "grid.xlsx", []),
                ("csv-fr", "grid.csv", ["--infilter=" + IN % places])):
            body = test.ask("/grid", format=form, **query).body
            lines = office.opened(name, body, *more)
            told = "%s of %s in LibreOffice" % (form, supplier)
            test.check(told + ": the columns", lines[0] == names, lines[0])
            test.check(told + ": the rows", len(lines) == len(rows) + 1,
                       len(lines))
            bad = [(column, cell, row[column])
                   for line, row in zip(lines[1:], rows)
                   for column, cell in zip(names, line)
                   if not same(column, cell, row[column])]
            test.check(told + ": the cells", not bad, bad[:5])
    test.server.stop()
    print("%d passed, %d failed" % (test.passed, test.failed))
    return test.failed != 0


if __name__ == "__main__":
    sys.exit(main())

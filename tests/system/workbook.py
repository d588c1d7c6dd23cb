"""A workbook's cells as JSON: workbook.py FILE, by openpyxl; with --office, as
LibreOffice reads them, which writes what it shows as a text with tabs.

Of openpyxl a list of lines of [value, format], a day as text; of LibreOffice a
list of lines of texts; null where the program is not there.
"""

import csv
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile

# Tabs, quotes round texts, UTF-8, from line 1, English, as shown.
OUT = "csv:Text - txt - csv (StarCalc):9,34,76,1,,1033,true,false"


def told(cell):
    value = cell.value
    if isinstance(value, (datetime.datetime, datetime.date)):
        value = {"day": value.isoformat()[:10]}
    return [value, cell.number_format]


def by_openpyxl(path):
    try:
        import openpyxl
    except ImportError:
        return None
    with open(path, "rb") as file:  # it may have any name
        sheet = openpyxl.load_workbook(file).worksheets[0]
    return {"title": sheet.title, "frozen": sheet.freeze_panes,
            "lines": [[told(cell) for cell in row] for row in sheet.rows]}


def by_office(path):
    if shutil.which("soffice") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given = os.path.join(folder, "grid.xlsx")
        made = os.path.join(folder, "out", "grid.csv")
        shutil.copyfile(path, given)
        for _ in range(2):  # its first start makes a profile, and may end
            subprocess.run(
                ["soffice", "-env:UserInstallation=file://" + folder +
                 "/profile", "--headless", "--norestore", "--convert-to", OUT,
                 "--outdir", os.path.join(folder, "out"), given],
                capture_output=True, check=False, timeout=300)
            if os.path.exists(made):
                break
        with open(made, encoding="utf-8", newline="") as file:
            return list(csv.reader(file, delimiter="\t", strict=True))


if __name__ == "__main__":
    if sys.argv[1] == "--office":
        print(json.dumps(by_office(sys.argv[2])))
    else:
        print(json.dumps(by_openpyxl(sys.argv[1])))

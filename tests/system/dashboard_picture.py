"""Draws the dashboard as a real Prometheus answers its questions, while a grid of
demo data works: panels where the dashboard has them, each with its unit, its
legend and its series. Debian has no Grafana; this shows what an operator will
look at, and that each panel tells something.

    dashboard_picture.py FILE.png [SECONDS]
"""

import html
import os
import re
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dashboard import Watched, dashboard, question_of  # noqa: E402
from grid import Grid, GRIDCTL  # noqa: E402
from stack import wait_until  # noqa: E402

CELL_W, CELL_H, GAP = 60, 34, 8
COLOURS = ["#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#b877d9",
           "#37872d", "#fade2a", "#5794f2", "#ca95e5"]
SUPPLIER = "12345"
ARTICLES = "20000"


class Demo(Grid):
    """`gridctl demo`, in place of a few rows."""

    def fill(self):
        csv = self.path("csv")
        subprocess.run([GRIDCTL, "demo", "--out", csv, "--articles", ARTICLES,
                        "--suppliers", "24", "--stores", "3"], check=True,
                       capture_output=True)
        self.ctl("init")
        self.ctl("import", "--quiet", csv)
        self.key = self.make_key("robot", "propose")

    def put(self, codein, gamme, key=None, headers=None, **more):
        return self.post([(code, gamme) for code in self.codes(40)])

    def post(self, changes, supplier=SUPPLIER, **more):
        return super().post(changes, supplier, **more)

    def codes(self, count, page=1):
        rows = self.ask("GET", "/api/v1/grid?fournisseur=%s&fields=codein&"
                        "limit=%d&page=%d" % (SUPPLIER, count, page)).json
        return [row["codein"] for row in rows["data"]]


# --- work --------------------------------------------------------------------


def work(grid, end):
    """Pages, searches, questions that are refused, proposals, an import."""
    turn = 0
    while time.monotonic() < end:
        turn += 1
        wave = 1 + (turn // 60) % 4
        for page in range(1, 8 * wave):
            grid.ask("GET", "/api/v1/grid?fournisseur=%s&limit=200&page=%d" %
                     (SUPPLIER, page))
        grid.ask("GET", "/api/v1/products/search?q=lait&limit=20")
        if turn % 5 == 0:
            grid.ask("GET", "/api/v1/products/none?fournisseur=" + SUPPLIER)
        if turn % 40 == 0:
            grid.post([(code, "ABC"[turn // 40 % 3])
                       for code in grid.codes(30, 2 + turn // 40)])
        if turn % 150 == 0:
            grid.ctl("compute", "--quiet", SUPPLIER)
        time.sleep(0.1)


# --- drawing -----------------------------------------------------------------


def worded(value, unit):
    """As Grafana words a number of that unit."""
    if unit == "bytes":
        for name in ("B", "KiB", "MiB", "GiB"):
            if abs(value) < 1024 or name == "GiB":
                return "%.3g %s" % (value, name)
            value /= 1024
    if unit == "s":
        for most, by, name in ((1e-3, 1e6, "µs"), (1, 1e3, "ms"),
                               (60, 1, "s"), (3600, 1 / 60, "min"),
                               (86400, 1 / 3600, "hours")):
            if abs(value) < most:
                return "%.3g %s" % (value * by, name)
        return "%.3g days" % (value / 86400)
    if value >= 1000:
        words = "%.3g K" % (value / 1000)
    else:
        words = "%d" % value if value == int(value) else "%.3g" % value
    return words + (" req/s" if unit == "reqps" else "")


def text(x, y, words, size=12, colour="#ccccdc", anchor="start"):
    return '<text x="%.1f" y="%.1f" font-size="%d" fill="%s" ' \
        'text-anchor="%s">%s</text>' % (x, y, size, colour, anchor,
                                        html.escape(words))


def named(target, series):
    """The legend's words, with the labels of the series."""
    labels = series["metric"]
    return re.sub(r"{{ *(\w+) *}}", lambda found: labels.get(found[1], ""),
                  target.get("legendFormat") or "")


def draw_stat(panel, w, h, watched):
    defaults = panel["fieldConfig"]["defaults"]
    found = watched.values(question_of(panel["targets"][0]))
    if not found:
        return text(w / 2, h / 2 + 20, "No data", 20, anchor="middle")
    value = float(found[0]["value"][1])
    colour = "#ccccdc"
    for step in defaults.get("thresholds", {}).get("steps", []):
        if step["value"] is None or value >= step["value"]:
            colour = {"green": "#73bf69"}.get(step["color"], "#ff9830")
    return text(w / 2, h / 2 + 22, worded(value, defaults["unit"]), 30, colour,
                "middle")


def axis_of(panel, name):
    """Whether it is the right one, and its unit."""
    right, unit = False, panel["fieldConfig"]["defaults"]["unit"]
    for rule in panel["fieldConfig"]["overrides"]:
        for one in rule["properties"]:
            if rule["matcher"]["options"] == name:
                right = right or one["id"] == "custom.axisPlacement"
                unit = one["value"] if one["id"] == "unit" else unit
    return right, unit


def draw_lines(lines, unit, box, begin, end, right, first):
    """Of one axis: its figures, and a line a series."""
    left, top, wide, high = box
    most = max([value for _, points in lines for _, value in points] + [0])
    most = most * 1.1 or 1
    parts = []
    for i in range(5):
        y = top + high * (1 - i / 4)
        parts.append('<path d="M%g %gh%g" stroke="#2c3235"/>' % (left, y, wide))
        parts.append(text(left + wide + 4 if right else left - 4, y + 4,
                          worded(most * i / 4, unit), 10, "#9fa7b3",
                          "start" if right else "end"))
    for i, (_, points) in enumerate(lines):
        parts.append('<path fill="none" stroke="%s" stroke-width="1.3" '
                     'd="%s"/>' % (COLOURS[(first + i) % len(COLOURS)],
                                   "".join("%s%.1f %.1f" % (
            "L" if k else "M", left + wide * (at - begin) / (end - begin),
            top + high * (1 - value / most))
            for k, (at, value) in enumerate(points))))
    return parts


def draw_series(panel, w, h, watched, begin, end):
    axes = {}
    for target in panel["targets"]:
        for series in watched.ask("query_range", query=question_of(target),
                                  start=begin, end=end, step=1)["result"]:
            name = named(target, series)
            points = [(at, float(value)) for at, value in series["values"]
                      if value != "NaN"]
            axes.setdefault(axis_of(panel, name), []).append((name, points))
    parts, names = [], []
    box = (62, 34, w - 62 - (60 if len(axes) > 1 else 14), h - 84)
    for (right, unit), lines in sorted(axes.items()):
        parts += draw_lines(lines, unit, box, begin, end, right, len(names))
        names += [name for name, _ in lines]
    for i in range(4):
        at = begin + (end - begin) * i / 3
        parts.append(text(box[0] + box[2] * i / 3, h - 36,
                          time.strftime("%H:%M:%S", time.localtime(at)), 10,
                          "#9fa7b3", "end" if i == 3 else "middle"))
    x, y = 14, h - 20
    for i, name in enumerate(names):
        if x + 7 * len(name) > w - 20:
            x, y = 14, y + 13
        parts.append('<path d="M%g %gh10" stroke="%s" stroke-width="3"/>' % (
            x, y - 3, COLOURS[i % len(COLOURS)]))
        parts.append(text(x + 14, y, name, 10))
        x += 28 + 5.6 * len(name)
    return "".join(parts)


def draw(watched, begin, end):
    board = dashboard()
    parts, bottom = [], 0
    for panel in board["panels"]:
        place = panel["gridPos"]
        w, h = place["w"] * CELL_W - GAP, place["h"] * CELL_H - GAP
        bottom = max(bottom, (place["y"] + place["h"]) * CELL_H)
        inside = draw_stat(panel, w, h, watched) if panel["type"] == "stat" \
            else draw_series(panel, w, h, watched, begin, end)
        parts.append('<g transform="translate(%d %d)"><rect width="%d" '
                     'height="%d" rx="3" fill="#181b1f" stroke="#25282d"/>%s%s'
                     '</g>' % (place["x"] * CELL_W + GAP,
                               place["y"] * CELL_H + GAP, w, h,
                               text(10, 20, panel["title"], 13), inside))
    return 24 * CELL_W + GAP, bottom + GAP, "".join(parts)


def main():
    out = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 180
    try:
        Watched.begin(Demo)
        watched = Watched.prometheus
        wait_until(lambda: watched.has("gridapi_imported_timestamp_seconds"),
                   "Prometheus reads")
        begin = time.time()
        worker = threading.Thread(
            target=work, args=(Watched.grid, time.monotonic() + seconds))
        worker.start()
        worker.join()
        w, h, picture = draw(watched, begin, time.time())
    finally:
        Watched.end()
    page = out + ".html"
    with open(page, "w") as file:
        file.write('<meta charset="utf-8"><body style="margin:0;background:'
                   '#111217"><svg width="%d" height="%d" font-family="Inter, '
                   'DejaVu Sans, sans-serif">%s</svg>' % (w, h, picture))
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                    "--hide-scrollbars", "--screenshot=" + out,
                    "--window-size=%d,%d" % (w, h), "file://" + page],
                   check=True, capture_output=True, timeout=120)
    os.unlink(page)


if __name__ == "__main__":
    main()

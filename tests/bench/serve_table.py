"""The table of the benchmark of serving: printed, and written into
docs/benchmarks.md between two marks. What stands around them is prose."""

import statistics

BEGIN = "<!-- what follows is written by `make bench-serve` -->"
END = "<!-- end of what `make bench-serve` writes -->"
HEADINGS = ("work", "unit", "gridapi", "floor", "of the floor", "PostgreSQL",
            "gridapi is", "SQLite", "gridapi is", "goal", "reached")


def short(value):
    if value is None:
        return "-"
    if value >= 100:
        return "{:,.0f}".format(value)
    return "%.3g" % value


class Table:
    def __init__(self):
        self.rows, self.notes = [], []

    def add(self, work, unit, seen, goal="", reached=None, less=False):
        """`seen` has the measures of each turn: ours, floor, PostgreSQL,
        SQLite; a name is missing when there is none. With `less`, less is
        better: times."""
        medians = {name: statistics.median(values)
                   for name, values in seen.items() if values}
        ours = medians["ours"]
        row = [work, unit, short(ours), short(medians.get("floor"))]
        row.append("%.0f %%" % (100 * ours / medians["floor"])
                   if "floor" in medians else "-")
        for peer in ("PostgreSQL", "SQLite"):
            value = medians.get(peer)
            row.append(short(value))
            if value is None:
                row.append("-")
            else:
                times = value / ours if less else ours / value
                row.append("%s times as fast" % short(times))
        row += [goal, {None: "", True: "yes", False: "**no**"}[reached]]
        self.rows.append(row)
        print("  ".join("%s=%s" % pair for pair in zip(HEADINGS, row)
                        if pair[1] not in ("", "-")), flush=True)
        return medians

    def note(self, text):
        self.notes.append(text)
        print(text, flush=True)

    def print(self):
        sizes = [max(len(row[i]) for row in [HEADINGS] + self.rows)
                 for i in range(len(HEADINGS))]
        print()
        for row in [HEADINGS] + self.rows:
            print("  ".join(cell.ljust(size)
                            for cell, size in zip(row, sizes)).rstrip())

    def markdown(self, facts):
        lines = [BEGIN, ""] + facts + [""]
        lines.append("| " + " | ".join(HEADINGS) + " |")
        lines.append("|---" * len(HEADINGS) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        lines += [""] + ["- " + note for note in self.notes] + ["", END]
        return "\n".join(lines)

    def write(self, path, facts):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        before, _, rest = text.partition(BEGIN)
        _, found, after = rest.partition(END)
        assert found, "%s has no place for the table" % path
        with open(path, "w", encoding="utf-8") as file:
            file.write(before + self.markdown(facts) + after)

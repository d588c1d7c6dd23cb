#!/usr/bin/env python3
"""Units of growth: bytes an article by part, seconds and memory of each step.

Makes up a store, measures it, and prints two tables in Markdown: the units, and
what they come to for larger stores. docs/operations.md has a run of it.
BENCH_ARTICLES, BENCH_SUPPLIERS and BENCH_STORES say how large a store.
"""
import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path

BUILD = Path(os.environ.get("abs_top_builddir", "build"))
GRIDCTL = os.environ.get("GRIDCTL", str(BUILD / "tools/gridctl/gridctl"))
DEPOSIT = os.environ.get("DEPOSIT", str(BUILD / "tests/bench/deposit"))
QUICK = bool(os.environ.get("BENCH_QUICK"))
ARTICLES = int(os.environ.get("BENCH_ARTICLES", 10000 if QUICK else 200000))
SUPPLIERS = int(os.environ.get("BENCH_SUPPLIERS", 20 if QUICK else 200))
STORES = int(os.environ.get("BENCH_STORES", 6))
DEPOSITS = 5 if QUICK else 20  # of 10,000 proposals each

# The head of a snapshot, as snapfile.h has it, and where its sections begin.
HEAD = struct.Struct("<8s6I4Qq2iI64sIiI")
SECTION = struct.Struct("<QII")
PARTS = [
    ("rows, scalars", lambda n: n >= 512 and n % 2 == 0),
    ("rows, maps", lambda n: n >= 512 and n % 2 == 1),
    ("rows, where they stand", lambda n: n in (4, 5)),
    ("numbers", lambda n: 16 <= n < 96),
    ("orders of sorts, both ways", lambda n: 96 <= n < 256),
    ("texts of columns", lambda n: 256 <= n < 416),
    ("sums by month and store", lambda n: 416 <= n < 426),
    ("search", lambda n: n in (6, 7, 9, 10)),
    ("all else", lambda n: True),
]


def part_of(number):
    return next(name for name, has in PARTS if has(number))


def add_sections(sums, path):
    """Adds up a snapshot's sections by what they hold."""
    with open(path, "rb") as file, \
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        at = data.rfind(b"GRIDSNAP")
        head = HEAD.unpack_from(data, at)
        sections, name_len = head[5], head[6]
        at += HEAD.size + name_len
        for number in range(sections):
            size = SECTION.unpack_from(data, at + number * SECTION.size)[0]
            sums[part_of(number)] = sums.get(part_of(number), 0) + size


class Store:
    def __init__(self, folder):
        self.folder = folder
        self.data = folder / "data"
        self.csv = folder / "csv"
        self.steps = []
        self.merged = 0  # bytes that the merge wrote
        self.closed = 0, 0, 0  # entries of the trail, seconds, of a processor

    def grid(self, *args, out=subprocess.DEVNULL):
        command = [GRIDCTL, "--data", str(self.data), *map(str, args)]
        return subprocess.run(command, stdout=out, check=True)

    def timed(self, name, *args):
        """Runs gridctl; notes its wall time and its largest memory."""
        command = [GRIDCTL, "--data", str(self.data), *map(str, args)]
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        busy = usage.ru_utime + usage.ru_stime
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"failed: {' '.join(command)}")
        self.steps.append(
            (name, time.monotonic() - start, busy, usage.ru_maxrss * 1024))

    def stat(self):
        run = self.grid("stat", "--json", out=subprocess.PIPE)
        return json.loads(run.stdout)


def size_of(path):
    """Bytes on the disk of a file, or of all files of a folder."""
    files = [path] if path.is_file() else path.rglob("*")
    return sum(f.stat().st_blocks * 512 for f in files if f.is_file())


def one_supplier(store):
    """A folder with the sales of one supplier of middling size, changed."""
    run = store.grid("suppliers", "--json", out=subprocess.PIPE)
    known = sorted(json.loads(run.stdout), key=lambda s: s["articles"])
    known = [s for s in known if s["articles"] > 0]
    code = known[len(known) // 2]["code"]
    folder = store.folder / "one"
    folder.mkdir()
    with open(store.csv / "sales.csv", encoding="utf-8") as lines, \
            open(folder / "sales.csv", "w", encoding="utf-8") as out:
        out.write(next(lines))
        for line in lines:
            fields = line.split(",")
            if fields[0] == code:
                fields[4] = str(Decimal(fields[4]) + 1)
                out.write(",".join(fields))
    return folder


def do(store, commands):
    run = subprocess.run([DEPOSIT, str(store.data)], input=commands, text=True,
                         stdout=subprocess.PIPE, check=True)
    return run.stdout


def deposit(store):
    do(store, "".join(f"propose S1 {'AB'[i % 2]} 10000\n"
                      for i in range(DEPOSITS)))
    return store.stat()["stateBytes"]


def proposals(store):
    """Bytes that each proposal over one before leaves: the trail has both.

    First in state.mdb, which has the month that runs, then in the files of the
    months before.
    """
    before = deposit(store)
    running = (deposit(store) - before) / (DEPOSITS * 10000)
    # Parts of so many entries, as if their months were over.
    seconds, busy, entries = map(float, do(store, "close 20000\n").split()[:3])
    store.closed = int(entries), seconds / 1000, busy / 1000
    return running, 2 * store.stat()["trailBytes"] / entries


def measure(folder):
    store = Store(folder)
    store.grid("demo", "--out", store.csv, "--articles", ARTICLES,
               "--suppliers", SUPPLIERS, "--stores", STORES, "--seed", 7)
    store.grid("init")
    store.timed("import", "import", "-q", store.csv)
    store.timed("compute --all", "compute", "-q", "--all")
    store.timed("index", "index", "-q")
    store.timed("check", "check", "-q")
    articles = store.stat()["articles"]
    units = {
        "CSV": size_of(store.csv),
        "facts": size_of(store.data / "facts"),
        "live.mdb": size_of(store.data / "live.mdb"),
        "words.idx": size_of(store.data / "words.idx"),
        "snapshots": size_of(store.data / "snapshots"),
    }
    sections = {}
    for path in (store.data / "snapshots").rglob("*.mdb"):
        add_sections(sections, path)
    one = one_supplier(store)
    before = set((store.data / "facts").iterdir())
    store.timed("import --merge of one supplier", "import", "-q", "--merge",
                one)
    store.merged = sum(map(size_of, set((store.data / "facts").iterdir())
                           - before))
    store.timed("then compute --stale", "compute", "-q", "--stale")
    store.timed("import of everything unchanged", "import", "-q", store.csv)
    return store, articles, units, sections, proposals(store)


def print_units(store, articles, units, sections, running, closed):
    print(f"{articles:,} articles of {SUPPLIERS} suppliers, {STORES} stores.\n")
    print("| part | bytes an article |\n|---|---|")
    for name, size in units.items():
        print(f"| {name} | {size / articles:,.0f} |")
    for name, _ in PARTS:
        size = sections.get(name, 0) / articles
        print(f"| … of snapshots: {name} | {size:,.0f} |")
    print(f"| state.mdb, a proposal and its end | {running:,.0f} |")
    print(f"| trail, the same once the month is over | {closed:,.0f} |\n")
    print("| step | seconds | of a processor | memory at most |")
    print("|---|---|---|---|")
    for name, seconds, busy, memory in store.steps:
        print(f"| {name} | {seconds:,.2f} | {busy:,.2f} "
              f"| {memory / 1e6:,.0f} MB |")
    print(f"\nThe merge wrote {human(store.merged)} of the "
          f"{human(units['facts'])} of facts.")
    entries, seconds, busy = store.closed
    print(f"Closing {entries:,} entries of the trail took {seconds:.2f} s, "
          f"{busy:.2f} s of a processor.\n")


def human(size):
    for unit in ("B", "KB", "MB", "GB"):
        if size < 999.5:
            return f"{size:,.0f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


# Days that state.mdb holds at most: a month, and one to move it into files.
MONTH = 32

# What 'gridctl import' takes at most without --memory.
IMPORT_MEMORY = 1 << 30

# Articles, and proposals a day, each saved, cancelled or replaced.
SIZES = [(130_000, 1_000), (1_000_000, 10_000), (5_000_000, 50_000),
         (20_000_000, 100_000), (100_000_000, 270_000)]


def print_growth(store, articles, units, running, closed):
    steps = {name: (busy, memory) for name, _, busy, memory in store.steps}
    night = sum(steps[s][0] for s in ("import", "compute --all", "index"))
    # A computation's memory follows the largest supplier, not their number; an
    # import has a ceiling, and 'gridctl index' makes parts of 256 MB.
    memory = steps["import"][1]
    once = units["facts"] + units["snapshots"] + units["words.idx"]
    print("| articles | proposals a day | disk | state.mdb at most "
          "| trail, each year | memory | a night that changes all, of a processor |\n|---|---|---|---|---|---|---|")
    for count, daily in SIZES:
        factor = count / articles
        # What is replaced lies beside what replaces it.
        disk = (2 * once + units["live.mdb"]) * factor
        minutes = night * factor / 60
        print(f"| {count:,} | {daily:,} | {human(disk)} "
              f"| {human(running * daily * MONTH)} "
              f"| {human(closed * daily * 365)} "
              f"| {human(min(memory * factor, IMPORT_MEMORY))} | {minutes:,.1f} min |")


def main():
    folder = Path(tempfile.mkdtemp(prefix="grid-growth-",
                                   dir=os.environ.get("TMPDIR", "/tmp")))
    try:
        store, articles, units, sections, trail = measure(folder)
        print_units(store, articles, units, sections, *trail)
        print_growth(store, articles, units, *trail)
    finally:
        shutil.rmtree(folder)


main()

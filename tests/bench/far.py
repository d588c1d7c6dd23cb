#!/usr/bin/env python3
"""Far sizes: years of proposals, millions of articles.

    far.py proposals   30 million proposals through deposit, save and arrival
                       over twelve made-up months, in the store and nothing
                       around it (tests/bench/deposit): what the next deposit
                       and the history of an article cost as they grow
    far.py articles    5 million articles of 500 suppliers, in a memory
                       cgroup of 4 GB: time, memory and disk of each step, the
                       first pages and searches, cold and warm, and what the
                       cold ones read (pages_in.py)

Prints tables in Markdown as it goes. docs/benchmarks.md has runs of it.

    BENCH_PROPOSALS   how many proposals (30,000,000)
    BENCH_MONTHS      over how many months (12)
    BENCH_AT_ONCE     how many of them at a time, each of another article
                      (10,000); parts of the trail are smaller with it
    BENCH_ARTICLES    how many articles (5,000,000)
    BENCH_SUPPLIERS   at how many suppliers (500)
    BENCH_MEMORY      megabytes of the cgroup (4096)
    BENCH_DIR         the folder for the data: a disk, not a tmpfs
    BENCH_QUICK       100,000 proposals a month; 20,000 articles
    BENCH_KEEP        leaves the data there
"""
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pages_in import Cold

BUILD = Path(os.environ.get("abs_top_builddir", "build"))
GRIDCTL = os.environ.get("GRIDCTL", str(BUILD / "tools/gridctl/gridctl"))
DEPOSIT = os.environ.get("DEPOSIT", str(BUILD / "tests/bench/deposit"))
ONCE = os.environ.get("ONCE", str(BUILD / "tests/fcgi/once"))
QUICK = bool(os.environ.get("BENCH_QUICK"))



def number(name, otherwise):
    return int(os.environ.get(name, otherwise))


AT_ONCE = number("BENCH_AT_ONCE", 10000)  # and articles of a supplier
TENDER = 10      # suppliers whose proposals are saved and arrive together
SHARING = 100    # suppliers that list the same codes
PARTS = (1 << 21) * AT_ONCE // 10000  # entries of a part of the trail


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def size_of(path):
    """Bytes on the disk of a file, or of all files of a folder."""
    files = [path] if path.is_file() else path.rglob("*")
    return sum(f.stat().st_blocks * 512 for f in files if f.is_file())


def human(size):
    return f"{size / 1e6:,.0f} MB" if size < 1e10 else f"{size / 1e9:,.1f} GB"


class Used:
    """What a command took."""

    def __init__(self, command, **how):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **how)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"failed: {' '.join(map(str, command))}")
        self.wall = time.monotonic() - start
        self.busy = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024


# --- proposals ----------------------------------------------------------------


class Deposits:
    """tests/bench/deposit, which takes a command a line."""

    def __init__(self, data):
        self.process = subprocess.Popen(
            [DEPOSIT, str(data)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def do(self, *command):
        """Milliseconds of the wall's clock and of the processor; a count; bytes
        written."""
        self.process.stdin.write(" ".join(map(str, command)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            sys.exit(f"failed: {command}")
        return (float(answer[0]), float(answer[1]), int(answer[2]),
                int(answer[3]))

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit("failed: deposit")


def instructions(command, said="", *only):
    """What a command takes, or only the functions named so; None without
    valgrind."""
    if shutil.which("valgrind") is None:
        return None
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         *(f"--toggle-collect={name}" for name in only),
         *map(str, command)], input=said, text=True, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(re.search(r"Collected : (\d+)", run.stderr)[1])


def millions(count):
    return "-" if count is None else f"{count / 1e6:,.2f}"


class Year:
    """Months of proposals: each supplier's articles in turn, range by range."""

    def __init__(self, data, months):
        self.data = data
        self.deposits = Deposits(data)
        now = datetime.datetime.now(datetime.timezone.utc)
        self.month = now.year * 12 + now.month - 1 - months
        self.tender = 0

    def set_clock(self, day, minute=0):
        when = datetime.datetime(self.month // 12, self.month % 12 + 1, day,
                                 8 + minute // 60, minute % 60,
                                 tzinfo=datetime.timezone.utc)
        self.now = int(when.timestamp() * 1000)
        self.deposits.do("now", self.now)

    def pass_tender(self):
        """Proposals of ten suppliers come, are saved, exported, and arrive."""
        first = self.tender * TENDER % SHARING
        letter = "ABCY"[self.tender * TENDER // SHARING % 4]
        names = [f"F{first + i:02}" for i in range(TENDER)]
        for name in names:
            self.deposits.do("propose", name, letter, AT_ONCE)
        for name in names:
            saved = self.deposits.do("save", name)[2]
            if saved != AT_ONCE:
                sys.exit(f"failed: {saved} proposals of {name} saved")
        for name in names:
            self.deposits.do("import", name, letter, AT_ONCE)
        arrived = self.deposits.do("settle")[2]
        if arrived != TENDER * AT_ONCE:
            sys.exit(f"failed: {arrived} changes arrived")
        self.tender += 1

    def pass_month(self, tenders):
        for i in range(tenders):
            self.set_clock(1 + 27 * i // tenders, i)
            self.pass_tender()
        self.month += 1
        self.set_clock(1)

    def probe(self):
        """The next deposit of 10,000, at suppliers that have had none in this
        month, and of one: millions of instructions of the deposit, KB written,
        ms of the processor at best."""
        letter = "AB"[self.month % 2]
        cells = []
        for name, count, times in (("P", AT_ONCE, 15), ("Q", 1, 99)):
            took = [self.deposits.do("propose", f"{name}{i:02}", letter, count)
                    for i in range(times)]
            cells += [millions(self.count(f"{name}C", letter, count)),
                      f"{statistics.median(t[3] for t in took) / 1e3:,.0f}",
                      f"{min(t[1] for t in took):.2f}"]
        return cells

    def count(self, name, letter, count):
        """Instructions of a deposit: of three in a process less those of one,
        which is the first to look at the store."""
        def run(which):
            said = [f"now {self.now}"] + [
                f"propose {name}{i} {letter} {count}" for i in which]
            return instructions([DEPOSIT, self.data], "\n".join(said) + "\n",
                                "proposal_deposit")
        few = run([0])
        return None if few is None else (run([1, 2, 3]) - few) / 2

    def close(self):
        return self.deposits.do("close", PARTS)


def cost(*commands):
    """Millions of instructions, ms of the processor with a process's start."""
    took = [Used(command) for command in commands]
    return [millions(instructions(commands[0])),
            f"{1000 * statistics.median(t.busy for t in took):.1f}"]


def history(data, *named):
    """What an article's history costs."""
    return cost(*([GRIDCTL, "--data", str(data), "proposals", "log",
                   "--codein", str(10000 + AT_ONCE * i // 11), *named]
                  for i in range(11)))


def pages_of(data):
    """Free pages of state.mdb and all of them; None without mdb_stat."""
    if shutil.which("mdb_stat") is None:
        return None
    said = subprocess.run(["mdb_stat", "-n", "-ef", str(data / "state.mdb")],
                          stdout=subprocess.PIPE, text=True, check=False)
    used = re.search(r"Number of pages used: (\d+)", said.stdout)
    free = re.search(r"Free pages: (\d+)", said.stdout)
    return (int(free[1]), int(used[1])) if used and free else None


def measure_month(year, proposals):
    full = size_of(year.data / "state.mdb")
    # The first entry of a month: that before is over.
    year.deposits.do("propose", f"N{year.month}", "Z", 1)
    _, busy, entries, _ = year.close()
    pages = pages_of(year.data)
    free = f"{pages[0]:,} of {pages[1]:,}" if pages else "-"
    row(f"{proposals:,}", *year.probe(), *history(year.data, "F37"),
        *history(year.data), human(full), free,
        human(size_of(year.data / "trail")), f"{entries:,}",
        f"{busy / 1000:.1f}")


def proposals(folder):
    months = number("BENCH_MONTHS", 12)
    total = number("BENCH_PROPOSALS", 100_000 * months if QUICK
                   else 30_000_000)
    data = folder / "data"
    grid = [GRIDCTL, "--data", str(data)]
    subprocess.run([*grid, "init"], check=True, stdout=subprocess.DEVNULL)
    each = max(1, total // months // (TENDER * AT_ONCE))
    year = Year(data, months)
    start = cost(*[[GRIDCTL, "--version"]] * 11)
    print(f"'gridctl --version': {start[0]} million instructions, {start[1]} "
          "ms.\n")
    row("proposals so far", "next deposit of 10,000: million instructions",
        "KB written", "ms of a processor at best",
        "of 1: million instructions", "KB written", "ms at best",
        "log of an article at a supplier: million instructions", "ms",
        "at all: million instructions", "ms",
        "state.mdb before the month is closed", "free pages", "trail",
        "entries closed", "in s of a processor")
    row(*["---"] * 16)
    year.set_clock(1)
    for i in range(SHARING):
        year.deposits.do("propose", f"F{i:02}", "A", 1)
    year.month -= 1
    year.probe()  # those to come replace a proposal, as later
    year.month += 1
    measure_month(year, 0)
    for month in range(1, months + 1):
        year.pass_month(each)
        measure_month(year, month * each * TENDER * AT_ONCE)
    after(folder, year, grid)


def after(folder, year, grid):
    """What an operator does with such a store."""
    print()
    row("step", "s", "of a processor", "memory at most")
    row(*["---"] * 4)
    archive, backup, again = (folder / n for n in ("archive", "backup", "new"))
    data = year.data
    archive.mkdir()

    def step(name, *command):
        used = Used([*map(str, command)])
        row(name, f"{used.wall:.1f}", f"{used.busy:.1f}", human(used.memory))

    step("check", *grid, "check", "-q")
    step("backup", *grid, "backup", backup)
    wall, busy, moved, _ = year.deposits.do("archive", archive, 3)
    row(f"{moved} parts, all before the last three months, into an archive",
        f"{wall / 1000:.1f}", f"{busy / 1000:.1f}", "-")
    step("check", *grid, "check", "-q")
    for file in archive.iterdir():
        shutil.copy(file, data / "trail")
    year.deposits.end()
    step("check, the archive put back", *grid, "check", "-q")
    step("restore of the backup", GRIDCTL, "--data", again, "restore", backup)
    step("check of what was restored", GRIDCTL, "--data", again, "check", "-q")
    print(f"\ndisk: state.mdb {human(size_of(data / 'state.mdb'))}, trail "
          f"{human(size_of(data / 'trail'))}")


# --- articles -----------------------------------------------------------------


class Limit:
    """A memory cgroup, of either version; None of it where it cannot be made."""

    def __init__(self, megabytes):
        root = Path("/sys/fs/cgroup")
        two = (root / "cgroup.controllers").exists()
        self.path = (root if two else root / "memory") / f"far-{os.getpid()}"
        name = "memory.max" if two else "memory.limit_in_bytes"
        try:
            self.path.mkdir()
            (self.path / name).write_text(str(megabytes << 20))
        except OSError as error:
            print(f"no memory limit: {error}", file=sys.stderr)
            self.path = None

    def enter(self):
        if self.path is not None:
            (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def end(self):
        if self.path is not None:
            self.path.rmdir()


def ask(data, limit, key, name, uri):
    """A request in a process of its own, cold and then warm; what it read."""
    command = [ONCE, str(data), GRIDCTL, uri, "REQUEST_METHOD=GET",
               f"HTTP_X_API_KEY={key}"]
    cold = Cold(data, command, preexec_fn=limit.enter)
    warm = Used(command, preexec_fn=limit.enter)
    head = subprocess.run(command, stdout=subprocess.PIPE,
                          check=True).stdout[:200]
    if b"Status: " in head and b"Status: 200" not in head:
        sys.exit(f"failed: {uri}: {head}")
    row(name, f"{cold.wall:.2f}", f"{warm.wall:.2f}", f"{cold.busy:.2f}",
        f"{warm.busy:.2f}", human(cold.memory))
    return name, cold


def articles(folder):
    total = number("BENCH_ARTICLES", 20_000 if QUICK else 5_000_000)
    suppliers = number("BENCH_SUPPLIERS", 20 if QUICK else 500)
    csv, data = folder / "csv", folder / "data"
    grid = [GRIDCTL, "--data", str(data)]
    limit = Limit(number("BENCH_MEMORY", 4096))
    Used([GRIDCTL, "demo", "--out", str(csv), "--articles",
          str(min(100_000, total // 10)), "--total", str(total),
          "--suppliers", str(suppliers), "--stores", "2", "--seed", "7"])
    Used([*grid, "init"])
    print(f"{total:,} articles, {suppliers} suppliers, {human(size_of(csv))} "
          f"of CSV.\n")
    row("step", "wall, s", "of a processor, s", "largest RSS, maps included",
        "data afterwards")
    row(*["---"] * 5)
    for name, *command in [
            ("import", "import", "-q", csv), ("compute --all", "compute", "-q",
                                              "--all"),
            ("index", "index", "-q"), ("check", "check", "-q")]:
        used = Used([*grid, *map(str, command)], preexec_fn=limit.enter)
        row(name, f"{used.wall:.1f}", f"{used.busy:.1f}", human(used.memory),
            human(size_of(data)))
    known = json.loads(subprocess.run(
        [*grid, "suppliers", "--json"], stdout=subprocess.PIPE,
        check=True).stdout)
    key = subprocess.run(
        [*grid, "key", "create", "--name", "far", "--scope", "read"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=True).stdout.strip()
    first = max(known, key=lambda s: s["articles"])["code"]
    print()
    row("a process of its own", "cold, s", "warm, s", "of a processor, cold",
        "warm", "largest RSS")
    row(*["---"] * 6)
    asked = [
        ask(data, limit, key, "list of suppliers", "/api/v1/fournisseurs"),
        ask(data, limit, key, "a page of the largest",
            f"/api/v1/grid?fournisseur={first}&limit=50&page=2"),
        ask(data, limit, key, "search across all",
            "/api/v1/products/search?q=cafe&limit=100")]
    for name, cold in asked:
        cold.tell(f"{name}, cold")
    limit.end()


def main():
    parts = {"proposals": proposals, "articles": articles}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"one of: {' '.join(parts)}")
    place = os.environ.get("BENCH_DIR") or os.environ.get("TMPDIR", "/tmp")
    folder = Path(tempfile.mkdtemp(prefix="grid-far-", dir=place))
    try:
        parts[sys.argv[1]](folder)
    finally:
        if not os.environ.get("BENCH_KEEP"):
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()

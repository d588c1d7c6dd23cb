"""What a warm page costs, counted, against the table of budgets.txt.

    budgets.py [--measure]

Nothing here is timed, so a busy machine alters no figure. For each page:

allocations   that serve() and the libraries under it make: valgrind's DHAT
calls         to the system, by a worker that answers nginx on a kept
              connection: strace, from the wait that finds the request to the
              last call before the next wait
copied        bytes that serve() copies with memcpy and its like, those not
              counted that it hands to the sink: DHAT as well
instructions  of serve(): callgrind

serve() runs in tests/fcgi/once: a run that repeats the request less one that
repeats it seldom is what a warm request costs. --measure prints the table with
what was found, and judges nothing."""

import collections
import os
import re
import shutil
import statistics
import subprocess
import sys
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
for other in ("flow", "system"):
    sys.path.insert(0, os.path.join(HERE, "..", other))
from kit import BUILD, GRIDCTL, ONCE, Data, scratch, skip  # noqa: E402
from stack import Stack, wait_until  # noqa: E402

GRID = "/api/v1/grid?fournisseur=12345&enrich=1&limit=100"
FIELDS = ("&fields=codein,libelle1,marque,gtin,code3,codeGamme,totalCa,"
          "tauxMarge,stockActuel,caReseau")
PAGES = {
    "ten-fields": GRID + FIELDS,
    "full-rows": GRID,
    "sorted-deep": GRID + FIELDS + "&sort=libelle1&order=desc&page=40",
    "filtered": GRID + FIELDS + "&code1=30&gamme=A&sort=totalCa&order=desc",
    "search": "/api/v1/products/search?q=bio&limit=100" + FIELDS,
    "search-within": GRID + FIELDS + "&search=lait",
    "one-article": "/api/v1/products/%s",
}
PACKED = {"full-rows-gzip"}  # of rows packed one by one
PAGES.update((name, GRID) for name in PACKED)
ROWS = collections.defaultdict(lambda: 100, {"one-article": 1})  # on each
FEW, MANY = 5, 55  # times that once answers
WARM, COUNTED = 4, 9  # requests of a worker
# Whether files were touched is looked at after a time, 1 or 10 ms: how often a
# request does depends on how busy the machine is.
LOOKS = ("fstat", "newfstatat", "statx")
SLACK = {"allocations": 1, "calls": 1, "copied": 1.1, "instructions": 1.1}


class Skipped(Exception):
    """Why a part cannot be counted here."""


# --- the build ----------------------------------------------------------------


def make_variable(name):
    with open(os.path.join(BUILD, "Makefile")) as file:
        found = re.search(r"(?m)^%s = ?(.*)$" % name, file.read())
    return found.group(1).split() if found else []


def has_sanitizers():
    return any(word.startswith("-fsanitize") for name in
               ("CFLAGS", "GRID_CFLAGS") for word in make_variable(name))


def need_usual_code():
    """Another compiler makes other instructions, and copies otherwise."""
    macros = subprocess.run(
        make_variable("CC") + ["-E", "-dM", "-x", "c", os.devnull],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    defined = dict(line.split(" ", 2)[1:] for line in
                   macros.splitlines() if line.count(" ") > 1)
    flags = [word for word in make_variable("CFLAGS") +
             make_variable("CPPFLAGS") if not word.startswith("-g")]
    if "__clang__" in defined or defined.get("__GNUC__") != "12" or \
            "__x86_64__" not in defined or flags != ["-O2"]:
        raise Skipped("the budget is for gcc 12 -O2 on x86-64, this build is "
                      "of " + " ".join(make_variable("CC") + flags))


# --- in one process -----------------------------------------------------------


class Tool:
    """A tool of valgrind's, and what of its summary is the count."""

    def __init__(self, words, count):
        self.words = ["valgrind"] + words
        self.count = re.compile(count)
        if shutil.which("valgrind") is None:
            raise Skipped("valgrind is not installed")
        if self.run(["true"]).returncode != 0:
            raise Skipped("%s does not run here" % " ".join(self.words))

    def run(self, command):
        return subprocess.run(self.words + command, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)

    def runs(self, page, times):
        """The count, and the answer."""
        done = self.run([ONCE, page.data.folder, GRIDCTL, page.uri,
                         "REQUEST_METHOD=GET", "HTTP_X_API_KEY=" + page.key,
                         "HTTP_ACCEPT_ENCODING=" + page.coding,
                         "TIMES=%d" % times])
        said = done.stderr.decode(errors="replace")
        found = self.count.search(said)
        assert done.returncode == 0 and found, said
        page.check(done.stdout)
        return int(found.group(1).replace(",", "")), done.stdout

    def each(self, page):
        """What a warm request costs, and the answer."""
        few, _ = self.runs(page, FEW)
        many, answer = self.runs(page, MANY)
        return round((many - few) / (MANY - FEW)), answer


class Page:
    def __init__(self, data, key, name, codein):
        self.data, self.key, self.rows = data, key, ROWS[name]
        self.uri = PAGES[name].replace("%s", codein)
        self.coding = "gzip" if name in PACKED else ""

    def check(self, answer):
        """That it is the page which is meant to be counted."""
        assert answer.startswith(b"Status: 200 OK\r\n"), answer[:500]
        if self.coding:
            body = answer.split(b"\r\n\r\n", 1)[1]
            assert body[10] == 0, "the page was packed on the way"
            answer = zlib.decompress(body, 31)
        assert answer.count(b'{"codein":') == self.rows, answer[:2000]


def first_article(data, key):
    done = subprocess.run(
        [ONCE, data.folder, GRIDCTL, GRID, "REQUEST_METHOD=GET",
         "HTTP_X_API_KEY=" + key], stdout=subprocess.PIPE, check=True)
    return re.search(rb'{"codein":"(\w+)"', done.stdout).group(1).decode()


def allocations(pages):
    tool = Tool(["--tool=dhat", "--dhat-out-file=/dev/null"],
                r"Total: .* in ([\d,]+) blocks")
    return {name: tool.each(page)[0] for name, page in pages.items()}


def copied(pages):
    need_usual_code()
    tool = Tool(["--tool=dhat", "--mode=copy", "--dhat-out-file=/dev/null"],
                r"Total: +([\d,]+) bytes")
    found = {}
    for name, page in pages.items():
        count, answer = tool.each(page)
        found[name] = count - len(answer)  # once keeps it
    return found


def instructions(pages):
    need_usual_code()
    tool = Tool(["--tool=callgrind", "--callgrind-out-file=/dev/null"],
                r"Collected *: *(\d+)")
    return {name: tool.each(page)[0] for name, page in pages.items()}


# --- a worker behind nginx ----------------------------------------------------


def calls_of_requests(lines):
    """{thread: calls of each request that it answered}, of strace's lines."""
    seen = collections.defaultdict(list)
    for line in lines:
        found = re.match(r"(\d+) +(<\.\.\. )?(\w+)(?: resumed>|\()", line)
        if not found:
            continue  # a signal, or an end
        thread, resumed, name = found.groups()
        if name == "epoll_wait":
            if re.search(r"\) += 1$", line):
                seen[thread].append({"calls": 1, "sent": False})
        elif not resumed and seen[thread] and name not in LOOKS:
            seen[thread][-1]["calls"] += 1
            seen[thread][-1]["sent"] |= name == "sendmsg"
    return {thread: [turn["calls"] for turn in turns if turn["sent"]]
            for thread, turns in seen.items()}


def need_tracing():
    if shutil.which("strace") is None:
        raise Skipped("strace is not installed")
    if subprocess.run(["strace", "-f", "-o", os.devnull, "true"],
                      stderr=subprocess.DEVNULL).returncode != 0:
        raise Skipped("strace may trace nothing here")
    if os.environ.get("NGINX") in (None, "", "no") and \
            shutil.which("nginx", path="/usr/sbin:/sbin:" +
                         os.environ.get("PATH", "")) is None:
        raise Skipped("nginx is not installed")


def ask_all(stack, pages):
    """Asks for each page in its turn, and for the last once more: with that
    goes what the thread does when it ends."""
    turns = [page for page in pages.values() for _ in range(WARM + COUNTED)]
    for page in turns + turns[-1:]:
        headers = {"X-API-Key": page.key}
        if page.coding:
            headers["Accept-Encoding"] = page.coding
        reply = stack.get(page.uri, headers=headers)
        assert reply.status == 200, reply.body


def calls(pages):
    need_tracing()
    log = os.path.join(scratch(), "strace")
    data = next(iter(pages.values())).data
    stack = Stack(data=data.folder, settings={
        "pages.processes": 1, "pages.threads": 1,
        "slow.processes": 1, "slow.threads": 1})
    stack.wrapper = ["strace", "-D", "-f", "-q", "-s", "0", "-o", log]
    with stack:
        ask_all(stack, pages)
        pool = stack.pool.pid
    ended = re.compile(r"(?m)^%d +\+\+\+ (exited|killed)" % pool)

    def lines():
        with open(log, errors="replace") as file:
            return file.read()
    wait_until(lambda: ended.search(lines()), "strace has written all")
    counts = max(calls_of_requests(lines().splitlines()).values(), key=len)
    each = WARM + COUNTED
    assert len(counts) == each * len(pages) + 1, counts
    return {name: int(statistics.median(counts[i * each + WARM:
                                               (i + 1) * each]))
            for i, name in enumerate(pages)}


# --- the table ----------------------------------------------------------------

PARTS = {"allocations": allocations, "calls": calls, "copied": copied,
         "instructions": instructions}


def budgets():
    """{page: {part: at most}}"""
    table = {}
    with open(os.path.join(HERE, "budgets.txt")) as file:
        for line in file:
            if not line.startswith("#"):
                name, *figures = line.split()
                table[name] = dict(zip(PARTS, map(int, figures), strict=True))
    assert list(table) == list(PAGES), "other pages are in budgets.txt"
    return table


def print_table(found):
    print("# page         allocations   calls  copied  instructions")
    for name in PAGES:
        print("%-14s %11s %7s %7s %13s" % ((name,) + tuple(
            found.get(part, {}).get(name, "-") for part in PARTS)))


def judge(found):
    """How many kept their budget, and how many did not."""
    table = budgets()
    failed = 0
    for part, figures in found.items():
        for name, figure in figures.items():
            most = table[name][part] * SLACK[part]
            if figure > most:
                failed += 1
                print("not ok: %s: %d %s, the budget is %d%s" % (
                    name, figure, part, table[name][part],
                    " and a tenth" if SLACK[part] > 1 else ""))
    return sum(map(len, found.values())) - failed, failed


def make_pages(names):
    """The data, and {name: Page} on it."""
    data = Data()
    csv = os.path.join(scratch(), "csv")
    data.gridctl("demo", "--out", csv, "--articles", "5000",
                 "--suppliers", "5", "--stores", "2")
    data.fill(csv)
    key = data.key()
    data.gridctl("pack", "--for", "pages", "12345")
    codein = first_article(data, key)
    return data, {name: Page(data, key, name, codein) for name in names}


def main():
    if has_sanitizers():
        skip("sanitizers allocate, copy and call the system themselves")
    _, pages = make_pages(PAGES)
    found, skipped = {}, 0
    for part, count in PARTS.items():
        try:
            found[part] = count(pages)
        except Skipped as why:
            skipped += len(pages)
            print("skipped: %s: %s" % (part, why))
    print_table(found)
    if not found:
        sys.exit(77)
    if sys.argv[1:] == ["--measure"]:
        return
    passed, failed = judge(found)
    print("%d passed, %d failed%s" % (
        passed, failed, ", %d skipped" % skipped if skipped else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

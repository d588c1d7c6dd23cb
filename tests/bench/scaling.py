"""What an answer costs at 1, 4 and 16 threads, counted: whether threads wait
for one another, and what they write that others read.

    scaling.py

One process of so many threads answers 16 connections through nginx:

instructions  of the worker, an answer: callgrind
locked        the same, of instructions with a lock prefix, or xchg with memory:
              each writes a cache line that other processors may have
futex         calls of the worker, an answer, that wait for a lock or wake who
              waits: strace, under wrk
calls         all calls of the worker, an answer: the same

Below stands where the locked instructions are. Nothing is timed, so a busy
machine changes only how often locks are met: futex calls."""

import collections
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
for other in ("flow", "system"):
    sys.path.insert(0, os.path.join(HERE, "..", other))
import budgets  # noqa: E402
from kit import scratch, skip  # noqa: E402
from stack import Stack  # noqa: E402

THREADS = (1, 4, 16)
NAMES = ("ten-fields", "search-within", "one-article", "full-rows-gzip")
CONNECTIONS = 16
ANSWERS = 25  # of each connection
SECONDS = 2


def stack_of(data, threads):
    return Stack(data=data.folder, settings={
        "pages.processes": 1, "pages.threads": threads,
        "slow.processes": 1, "slow.threads": 1})


def headers_of(page):
    return dict({"X-API-Key": page.key}, **(
        {"Accept-Encoding": page.coding} if page.coding else {}))


# --- instructions -------------------------------------------------------------


def ask_often(stack, page):
    """Each connection is kept, and asks for the page again and again."""
    def ask(_):
        connection = stack.connect(120)
        for _ in range(ANSWERS):
            connection.request("GET", page.uri, headers=headers_of(page))
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()
        connection.close()
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as clients:
        list(clients.map(ask, range(CONNECTIONS)))


def locked_places(library):
    """The addresses of an object's locked instructions."""
    lines = subprocess.run(["objdump", "-d", "--no-show-raw-insn", library],
                           stdout=subprocess.PIPE, check=True).stdout.decode(
                               errors="replace").splitlines()
    found = (re.match(r" *([0-9a-f]+):\s+(lock |xchg .*\()", line)
             for line in lines)
    return {int(match.group(1), 16) for match in found if match}


class Counts:
    """Instructions by place, of a file that callgrind has written."""

    NAME = re.compile(r"(ob|fn)=\((\d+)\)(?: (.*))?$")
    locked_of = {}

    def __init__(self, path):
        self.total, self.locked = 0, collections.Counter()
        names, now = {}, {"ob": "", "fn": ""}
        at, inclusive = 0, False
        with open(path, errors="replace") as file:
            for line in file:
                name = self.NAME.match(line)
                if name:
                    kind, number, text = name.groups()
                    names.setdefault((kind, number), text)
                    now[kind] = names[kind, number]
                elif line.startswith(("c", "j")):
                    self.learn(names, line)
                    inclusive = inclusive or line.startswith("calls=")
                elif line[0] in "0+-*" and len(line.split()) >= 3:
                    place, _, cost = line.split()[:3]
                    at = self.place(at, place)
                    if not inclusive:
                        self.add(now, at, int(cost))
                    inclusive = False

    @staticmethod
    def learn(names, line):
        """A name stands where it comes first, be it the callee's."""
        name = re.match(r"c(ob|fn)=\((\d+)\) (.*)$", line)
        if name:
            names.setdefault((name.group(1), name.group(2)), name.group(3))

    @staticmethod
    def place(at, text):
        if text == "*":
            return at
        return at + int(text) if text[0] in "+-" else int(text, 16)

    def add(self, now, at, cost):
        self.total += cost
        library = now["ob"]
        if library not in self.locked_of:
            self.locked_of[library] = locked_places(library) \
                if library and os.path.exists(library) else set()
        if at in self.locked_of[library]:
            self.locked[now["fn"]] += cost


def counts_of(data, asked, threads):
    """Of a worker that has answered for each of these pages, and ended."""
    folder = os.path.join(scratch(), "counts")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    stack = stack_of(data, threads)
    stack.wrapper = ["valgrind", "-q", "--tool=callgrind", "--dump-instr=yes",
                     "--callgrind-out-file=" + folder + "/%p"]
    with stack:
        worker = stack.workers_of("pages")[0]
        for page in asked:
            ask_often(stack, page)
    return Counts("%s/%d" % (folder, worker))


def count_instructions(data, pages, threads):
    """{name: (instructions, {function: locked})} of an answer: what asking once
    more for a page adds to asking for all of them."""
    warm, answers = list(pages.values()), CONNECTIONS * ANSWERS
    before, found = counts_of(data, warm, threads), {}
    for name, page in pages.items():
        after = counts_of(data, warm + [page], threads)
        locked = {function: (count - before.locked[function]) / answers
                  for function, count in after.locked.items()}
        found[name] = (after.total - before.total) / answers, locked
    return found


# --- calls --------------------------------------------------------------------


def load(stack, page):
    """How many answers wrk got."""
    words = ["wrk", "-t1", "-c%d" % CONNECTIONS, "-d%ds" % SECONDS]
    for header in headers_of(page).items():
        words += ["-H", "%s: %s" % header]
    said = subprocess.run(
        words + ["http://127.0.0.1:%d%s" % (stack.port, page.uri)],
        check=True, stdout=subprocess.PIPE).stdout.decode()
    assert "Non-2xx" not in said, said
    return int(re.search(r"(\d+) requests in", said).group(1))


def count_calls(data, pages, threads):
    """{name: (futex calls, all calls)} of an answer."""
    log, found = os.path.join(scratch(), "calls"), {}
    with stack_of(data, threads) as stack:
        worker = stack.workers_of("pages")[0]
        for name, page in pages.items():
            load(stack, page)
            tracer = subprocess.Popen(
                ["strace", "-q", "-f", "-c", "-o", log, "-p", str(worker)],
                stderr=subprocess.DEVNULL)
            time.sleep(0.5)  # strace takes hold; other calls are few
            answers = load(stack, page)
            tracer.send_signal(signal.SIGINT)
            tracer.wait()
            calls = collections.Counter()
            with open(log) as file:
                for line in file:
                    words = line.split()
                    if len(words) >= 5 and words[3].isdigit():
                        calls[words[-1]] += int(words[3])
            calls.pop("total", None)
            found[name] = (calls["futex"] / answers,
                           sum(calls.values()) / answers)
    return found


# --- the sheet ----------------------------------------------------------------


def print_sheet(sheet):
    print("| page | threads | instructions | locked | futex | calls |")
    print("|---|---|---|---|---|---|")
    for name in NAMES:
        for threads in THREADS:
            (total, locked), (futex, calls) = (
                part[name] for part in sheet[threads])
            print("| %s | %d | %s | %.1f | %.2f | %.2f |" % (
                name, threads, "{:,.0f}".format(total),
                sum(locked.values()), futex, calls))
    print("\nLocked instructions an answer, at %d threads:" % THREADS[-1])
    for name in NAMES:
        _, locked = sheet[THREADS[-1]][0][name]
        print("%s: %s" % (name, ", ".join(
            "%s %.1f" % one for one in collections.Counter(
                locked).most_common(12) if one[1] >= 0.05)))


def main():
    for program in ("valgrind", "objdump", "strace", "wrk"):
        if shutil.which(program) is None:
            skip(program + " is not installed "
                 "(tools/dev/install-packages.sh build test bench)")
    data, pages = budgets.make_pages(NAMES)
    print_sheet({threads: (count_instructions(data, pages, threads),
                           count_calls(data, pages, threads))
                 for threads in THREADS})


main()

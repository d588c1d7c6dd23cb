#!/usr/bin/env python3
"""Prints docs/senders.md: what gridhook makes of each sample.
usage: tests/tools/gridhook/senders.py BUILD >docs/senders.md"""
import glob
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


def explain(program, options, push):
    done = subprocess.run([program, "explain"] + options + ["-"], input=push.encode(), stdout=subprocess.PIPE,
                          env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]}, check=True)
    out = done.stdout.decode()
    first = out.split("\nevent 1 of")[1].split("\ndropped")[0].split("\nevent ")[0]
    return re.search(r"family (\S+)", out).group(1), dict(re.findall(r"^  (\S+) +(.*)$", first, re.M))


def cell(value):
    if value == "null":
        return ""
    return value.strip('"').replace("\\n", " / ").replace('\\"', '"').replace("|", "\\|").strip()


def main():
    program = os.path.join(sys.argv[1], "tools", "gridhook", "gridhook")
    print("# What becomes of senders' pushes\n")
    print("The samples of `tests/tools/gridhook/events/samples`, whose files name their\n"
          "sources, as `gridhook explain` shows them; `tests/tools/gridhook/senders.py BUILD`\n"
          "prints this page. A long text is cut here. \"always\": read aloud in quiet hours,\n"
          "too, as a job that failed.\n")
    print("| family | event | title | text | priority | status | link | read aloud | sample of |\n"
          "|---|---|---|---|---|---|---|---|---|")
    for path in sorted(glob.glob(os.path.join(TOP, "tests/tools/gridhook/events/samples/*.sample"))):
        options, push, kind, origin, last = [], "", "", "", ""
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines():
                if line.startswith("#"):
                    origin = (origin + " " if last.startswith("#") else "") + line[1:].strip()
                last = line
                if line.startswith("header "):
                    options += ["--header", line[7:]]
                    if re.match(r"header X-\S*-?Event(-Key)?: ", line):
                        kind = line.split(": ", 1)[1]
                elif line.startswith("rest "):
                    options += ["--rest", line[5:]]
                elif line.startswith("push "):
                    push = line[5:]
                elif line.startswith("want "):
                    family, event = explain(program, options, push)
                    options = []
                    print("| %s | %s | %s | %s | %s | %s | %s | %s | %s |" % (
                        family, kind, cell(event["title"]), cell(event["text"]), cell(event["priority"]),
                        cell(event["status"]), "" if event["link"] == "null" else "yes",
                        "always" if event["speak"] == "true" else "", origin.rstrip(".")))
                    kind = ""


main()

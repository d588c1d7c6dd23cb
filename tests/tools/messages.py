#!/usr/bin/env python3
"""Whether the texts of the programs are whole: no two blanks between words, no blank
missing where two lines of a text meet, no full stop, word or sentence twice.

    tests/tools/messages.py FOLDER...

Names each text of a *.c or *.h file there that is not. First it tries itself with a
text of each kind. Closes with "N passed, N failed".
"""

import os
import re
import sys

TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\\n])*\'|"((?:\\.|[^"\\\n])*)"|\s+|'
    r'[^"\'\s/]+|/', re.S)

# A cell of a table is as wide as its column; a line of a list begins with its name.
COLUMNS = re.compile(r'%-?\d+|%-\*|^(log|last|have) {2}|\\n {2}')

FAULTS = (
    ("two blanks", re.compile(r"[\w.,:;!?)'\"] {2,}[\w'\"(%]")),
    ("two full stops", re.compile(r'(?<![./])\.\.(?![./])(?=.)')),
    ("a word twice", re.compile(r'(?<![\w=-])([A-Za-z]{2,}) \1(?![\w-])')),
)


def texts(source):
    """The line of each text, and the literals that it is made of."""
    parts, line, first = [], 1, 1
    for token in TOKEN.finditer(source):
        word = token.group()
        if word.startswith('"'):
            first = first if parts else line
            parts.append(token.group(1))
        elif not (word.isspace() or word.startswith(("/*", "//"))):
            if parts:
                yield first, parts
            parts = []
        line += word.count("\n")
    if parts:
        yield first, parts


def faults(parts):
    text = "".join(parts)
    if " " not in text.strip():
        return
    for name, pattern in FAULTS:
        if name == "two blanks" and COLUMNS.search(text):
            continue
        if pattern.search(text):
            yield name
    for one, two in zip(parts, parts[1:]):
        if " " in one and " " in two and \
                re.search(r'(?<!\\)[a-z,;:.]$', one) and \
                re.match(r"[A-Za-z']", two):
            yield "no blank between two lines"
    said = [part for part in re.split(r'[.;:] ', text) if len(part) > 12]
    if len(said) != len(set(said)):
        yield "a sentence twice"


PLANTED = (
    ('"it  is full"', "two blanks"),
    ('"it is full" /* and */ "and that is so"', "no blank between two lines"),
    ('"it is full.. Make room"', "two full stops"),
    ('"it is is full"', "a word twice"),
    ('"the disk is full; make room; the disk is full; go on"',
     "a sentence twice"),
    ('"%-8s  %s is"', None),
    ('"it is full ..." "/../x y"', None),
    ('"GROUP=CODE CODE for some"', None),
)


def tries_itself():
    """Each planted text has its fault, and no other."""
    failed = 0
    for source, wanted in PLANTED:
        found = [name for _, parts in texts(source) for name in faults(parts)]
        if found != ([wanted] if wanted else []):
            print("not ok: of %s it says %s" % (source, found))
            failed += 1
    return failed


def main():
    passed, failed = len(PLANTED), tries_itself()
    passed -= failed
    paths = sorted(os.path.join(folder, name) for top in sys.argv[1:]
                   for folder, _, names in os.walk(top) for name in names
                   if name.endswith((".c", ".h")))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            found = [(line, name) for line, parts in texts(file.read())
                     for name in faults(parts)]
        for line, name in found:
            print("not ok: %s:%d: %s" % (path, line, name))
        failed += bool(found)
        passed += not found
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not paths else 0)


if __name__ == "__main__":
    main()

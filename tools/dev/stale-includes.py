#!/usr/bin/env python3
"""Names includes of our own headers that their file has no use for.

    tools/dev/stale-includes.py [FILE...]

An include is used when its file has a word that the header declares: a
function, macro, constant, variable, a struct with its members, or the tag of a
struct that the header's own .c file defines. What a .c file gets through another
header does not count as a use of that header. A header's include also counts as
used when a file that includes the header relies on it. The first include of
NAME.c or NAME_part.c may be its own header without a use.

Prints a line for each include that is stale; exits with 1 when there is one.
"""
import os
import re
import sys

FOLDERS = ("common", "lmdb-schema", "fcgi", "tools", "tests")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
WORD = re.compile(r"[A-Za-z_]\w*")
NOISE = re.compile(
    r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
KEYWORDS = frozenset(
    "if for while switch return sizeof defined do else int char void "
    "__attribute__ _Alignas _Static_assert".split())


def sources():
    for folder in FOLDERS:
        for place, folders, files in os.walk(folder):
            folders.sort()
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    yield os.path.join(place, name)


class File:
    def __init__(self, path):
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        self.path = path
        self.includes = INCLUDE.findall(text)
        # What stands in a string or a comment is no use; includes are none.
        self.code = NOISE.sub(" ", re.sub(r"^#include.*$", "", text, flags=re.M))
        self.words = set(WORD.findall(self.code))
        self.members_used = set(re.findall(r"(?:->|\.)\s*(\w+)", self.code))
        self.defined = set(re.findall(
            r"\b(?:struct|union|enum)\s+(\w+)\s*\{", self.code))
        self.names = set()
        self.members = set()
        self.prefixes = set()
        if path.endswith(".h"):
            self.declare()

    def declare(self):
        self.names |= set(re.findall(r"^#\s*define\s+(\w+)", self.code, re.M))
        code = re.sub(r"^#(?:\\\n|.)*$", "", self.code, flags=re.M)
        code = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", code, flags=re.S)
        self.names |= self.defined
        # Bodies: constants of enums, members of structs and unions.
        while True:
            body = re.search(
                r"\b(enum|struct|union)\b(?:\s+\w+)?\s*\{([^{}]*)\}", code)
            if body is None:
                break
            kind, inner = body.groups()
            if kind == "enum":
                self.names |= set(
                    re.findall(r"(?:^|,)\s*(\w+)", inner))
            else:
                self.members |= set(
                    re.findall(r"(\w+)\s*(?:\[[^\]]*\]|:\s*\w+|\)\s*\([^;]*\))?"
                               r"\s*(?=[;,])", inner))
            code = code[:body.start()] + " T " + code[body.end():]
        # Bodies of inline functions.
        while re.search(r"\{[^{}]*\}", code):
            code = re.sub(r"\{[^{}]*\}", ";", code)
        self.forward = set(re.findall(r"\bstruct\s+(\w+)\s*;", code))
        # COL_##name makes words that begin so.
        self.prefixes |= set(re.findall(r"(\w+)##", self.code))
        self.names |= set(re.findall(r"\b(\w+)\s*\((?!\*)", code)) - KEYWORDS
        for kind in re.findall(r"\bextern\b([^;]*);", code):
            variable = re.search(r"(\w+)\s*(?:\[.*)?$", kind.strip(), re.S)
            if variable:
                self.names.add(variable.group(1))
        for kind in re.findall(r"\btypedef\b([^;]*);", code):
            self.names |= set(WORD.findall(kind))


def stem(path):
    return os.path.splitext(path)[0]


def own_header(file, include):
    """access.c or access_part.c and access.h."""
    return include.endswith(".h") and (
        stem(file) == stem(include)
        or stem(file).startswith(stem(include) + "_"))


def passed_on(files, path, header):
    """Whether a file that includes path, but not header, has a use for it."""
    return any(path in file.includes and header.path not in file.includes
               and header.names & file.words for file in files.values())


def main():
    files = {path: File(path) for path in sources()}
    # A struct that is only named in a header is its own when the files behind
    # the header define it, or nobody does.
    defined = set().union(*(file.defined for file in files.values()))
    for path, file in files.items():
        if not path.endswith(".h"):
            continue
        file.names |= file.forward - defined
        for other in files.values():
            if other.path != path and own_header(other.path, path):
                file.names |= file.forward & other.defined
    stale = 0
    for path in sys.argv[1:] or files:
        file = files[path]
        for place, include in enumerate(file.includes):
            header = files.get(include)
            if header is None or not include.endswith(".h"):
                continue
            if place == 0 and own_header(path, include):
                continue
            if header.names & file.words:
                continue
            if any(word.startswith(prefix) for prefix in header.prefixes
                   for word in file.words):
                continue
            # A member that another header of the file has, too, tells nothing.
            others = set().union(file.defined, *(
                files[name].members for name in file.includes
                if name != include and name in files))
            if (header.members & file.members_used) - others:
                continue
            if path.endswith(".h") and passed_on(files, path, header):
                continue
            print(f'{path}: #include "{include}" is stale')
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

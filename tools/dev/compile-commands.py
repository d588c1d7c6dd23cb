#!/usr/bin/env python3
"""Turns what `make -Bn V=1` would run into compile_commands.json.

    make -C BUILD -Bn V=1 all | tools/dev/compile-commands.py BUILD SOURCE

The file names in it are absolute, whether make names them by the source tree
or leaves that to the shell.
"""
import json
import os
import shlex
import sys

build, source = sys.argv[1:3]
commands = []
for line in sys.stdin.read().replace("\\\n", " ").splitlines():
    if " -c " not in line or ".c" not in line:
        continue
    # depcomp's own words stand before the compiler and behind the object.
    start = line.find("gcc ")
    if start < 0:
        continue
    try:
        words = shlex.split(line[start:].split("&&")[0].split(";")[0])
    except ValueError:
        continue
    files = [w for w in words if w.endswith(".c")]
    if len(files) != 1:
        # automake writes `test -f 'x.c' || echo '/top/'`x.c
        file = line.rsplit("`", 1)[-1].strip().split()[0] if "`" in line else None
        if file is None or not file.endswith(".c"):
            continue
    else:
        file = files[0]
    if not os.path.isabs(file):
        file = os.path.join(source, file)
    keep = []
    for word in words[1:]:
        if word.startswith(("-D", "-I", "-std")):
            keep.append(word)
    commands.append({"directory": build, "file": file,
                     "arguments": ["clang"] + keep + ["-std=gnu11", "-c", file]})
json.dump(commands, sys.stdout, indent=1)

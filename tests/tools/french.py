"""Each sentence of an error has its French: what the sources pass to the
functions that make errors stands in fcgi/http/french.c.

Looked for are literals, and both of a choice; of formats made elsewhere only
"%s" and pieces of one word are passed over.
"""

import glob
import os
import re
import sys

TOP = os.environ.get("abs_top_srcdir", ".")
MAKERS = ("reply_fail", "reply_words", "params_wrong", "condition_refuse",
          "jsonr_issue", "refuse", "fail_end", "name_fault")
# Read by operators and by programs alone.
LEFT_OUT = ("process", "mcp", "settings.c", "server.c", "metrics_text.c")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def call_at(text, start):
    """What stands between the brackets of a call."""
    depth, at = 1, start
    while depth:
        if text[at] == '"':
            at += LITERAL.match(text, at).end() - at
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start:at - 1]


def literals(text):
    """Adjacent literals are one."""
    joined = re.sub(r'%"\s*PRI[diu]64(\s*")?', lambda found: "%ld" if
                    found.group(1) else '%ld"', text)
    joined = re.sub(r'"\s*"', "", joined)
    return [one for one in LITERAL.findall(joined)
            if re.search("[a-z] ", re.sub("%[a-z.*]+", "", one))]


def sentences(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for found in re.finditer(r"\b(%s)\(" % "|".join(MAKERS), text):
        for one in literals(call_at(text, found.end())):
            yield one


def main():
    with open(os.path.join(TOP, "fcgi/http/french.c"),
              encoding="utf-8") as file:
        body = file.read()
    rows = re.findall(r'\{\s*"((?:[^"\\]|\\.)*)",', re.sub(
        r'"\s*\n\s*"', "", body))
    known, failed, passed, used = set(rows), 0, 0, set()
    for path in sorted(glob.glob(os.path.join(TOP, "fcgi", "**", "*.c"),
                                 recursive=True) +
                       glob.glob(os.path.join(TOP, "common", "jsonr_*.c"))):
        name = os.path.relpath(path, TOP)
        if any(part in LEFT_OUT for part in name.split("/")):
            continue
        for one in sentences(path):
            used.add(one)
            if one in known:
                passed += 1
            else:
                failed += 1
                print("not ok: %s: without French: %s" % (name, one))
    if not rows:
        failed += 1
        print("not ok: fcgi/http/french.c has no rows")
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


sys.exit(main())

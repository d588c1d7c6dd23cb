"""The site that tools/dev/docs-html.py makes: each page of docs/ is in it once, with
its reader; every link, anchor and picture leads to something; nothing is asked of
another host; the search finds.
"""

import glob
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(sys.argv[1])
SITE = tempfile.mkdtemp(prefix="grid-site-")
EMPTY = {"meta", "link", "img", "br", "hr", "input", "col"}
passed, failed = 0, 0


def check(name, bad):
    """`bad` is empty where all is well."""
    global passed, failed
    if bad:
        failed += 1
        print("not ok: %s: %s" % (name, bad if isinstance(bad, str)
                                  else ", ".join(map(str, bad))[:2000]))
    else:
        passed += 1


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.anchors, self.open, self.faults = [], set(), [], []
        self.twice, self.text = set(), []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        for name in ("href", "src"):
            if name in given:
                self.links.append((tag, given[name]))
        if "id" in given:
            if given["id"] in self.anchors:
                self.twice.add(given["id"])
            self.anchors.add(given["id"])
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in EMPTY:
            return
        # An end of these may be left out, as mandoc does.
        while self.open and self.open[-1] != tag and \
                self.open[-1] in ("p", "li", "dd", "dt", "td", "th", "tr"):
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def pages():
    read = {}
    for path in sorted(glob.glob(os.path.join(SITE, "*.html"))):
        with open(path, encoding="utf-8") as file:
            reader = Reader()
            reader.feed(file.read())
            reader.close()
        read[os.path.basename(path)] = reader
    return read


def where_links_lead(read):
    dead, foreign = [], []
    for name, page in read.items():
        for tag, link in page.links:
            if re.match(r"[a-z]+:", link):
                if tag != "a":
                    foreign.append("%s: %s" % (name, link))
                continue
            path, _, anchor = link.partition("#")
            target = path or name
            if target in read:
                if anchor and anchor not in read[target].anchors:
                    dead.append("%s: %s" % (name, link))
            elif not os.path.isfile(os.path.join(SITE, target)):
                dead.append("%s: %s" % (name, link))
    check("no link is dead", dead)
    check("nothing is loaded from elsewhere", foreign)


def what_is_listed():
    with open(os.path.join(TOP, "docs/index.md"), encoding="utf-8") as file:
        index = file.read()
    for path in sorted(glob.glob(os.path.join(TOP, "docs/*.md"))):
        name = os.path.basename(path)
        if name != "index.md":
            count = index.count("](%s)" % name)
            check("%s has one reader" % name,
                  [] if count == 1 else "it is listed %d times" % count)
    for path in sorted(glob.glob(os.path.join(TOP, "docs/man/*.[1-8]"))):
        page, section = os.path.basename(path).rsplit(".", 1)
        count = len(re.findall(r"(?m)^- %s\(%s\)$" % (re.escape(page), section),
                               index))
        check("%s(%s) has one reader" % (page, section),
              [] if count == 1 else "it is listed %d times" % count)


def what_the_search_finds():
    node = shutil.which("node")
    if node is None:
        print("   the search was not run: there is no node")
        return
    script = """
const fs = require("fs");
eval(fs.readFileSync("index.js", "utf8").replace("const ", "var "));
const { search } = require("./search.js");
const ask = (question) => search(SECTIONS, question).map((one) => one.address);
console.log(JSON.stringify(process.argv.slice(1).map(ask)));
"""
    questions = ["restore test", "GridBackupOld", "ECHEANCE zebra", "  ",
                 "\u00c9cartee", "gridctl night run"]
    done = subprocess.run([node, "-e", script] + questions, cwd=SITE,
                          stdout=subprocess.PIPE, encoding="utf-8")
    found = json.loads(done.stdout or "[]")
    check("the search runs", [] if done.returncode == 0 else "node failed")
    if done.returncode != 0:
        return
    check("it finds sections", [] if any(
        one.startswith("operations.html#") for one in found[0]) else found[0])
    check("and single words", [] if any(
        one.startswith("operations.html") for one in found[1]) else found[1])
    check("only those with all words", found[2])
    check("nothing for nothing", found[3])
    check("and pages of the manual", [] if any(
        one.startswith("gridctl.1.html") for one in found[5]) else found[5])


def main():
    made = subprocess.run([os.path.join(TOP, "tools/dev/docs-html.py"), TOP,
                           SITE], stderr=subprocess.PIPE, encoding="utf-8")
    check("the site is made", made.stderr if made.returncode else "")
    read = pages()
    check("it has all pages", [] if len(read) > 20 else sorted(read))
    for name, page in read.items():
        check("%s is well formed" % name, page.faults + page.open)
        check("%s has text" % name,
              [] if len("".join(page.text)) > 500 else "it has none")
        if not re.search(r"\.\d\.html$", name):
            check("%s has no anchor twice" % name, sorted(page.twice))
    for name, anchor in (("api.html", "#pages"),
                         ("gridctl.1.html", "#DESCRIPTION")):
        check("%s lists its sections" % name, [] if ("a", anchor) in
              read[name].links else "it does not")
    where_links_lead(read)
    what_is_listed()
    what_the_search_finds()
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


try:
    status = main()
finally:
    shutil.rmtree(SITE, ignore_errors=True)
sys.exit(status)

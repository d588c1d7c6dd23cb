#!/usr/bin/python3
"""Makes a site of the pages that docs/index.md lists: plain HTML, a page for a
page, with a search that needs no server. usage: docs-html.py SOURCE OUT

Needs Debian's python3-markdown and mandoc.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys

try:
    import markdown
except ImportError:
    sys.exit("docs-html.py: python3-markdown is missing: "
             "apt install python3-markdown mandoc")

EXTENSIONS = ["tables", "fenced_code", "toc", "def_list", "sane_lists"]
MANUAL = re.compile(r"\b(grid[a-z.-]*|product-grid-csv)\((\d)\)")


def slug(text, _=None):
    """The anchor of a heading, as on code hosts."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


class Page:
    def __init__(self, reader, title, source, out):
        self.reader, self.title = reader, title
        self.source, self.out = source, out
        self.body = ""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pages_of(top):
    """From docs/index.md: a heading a reader, an item a page."""
    pages, reader = [], None
    for line in read(os.path.join(top, "docs/index.md")).split("\n"):
        link = re.match(r"- \[(.*)\]\((.*)\)$", line)
        manual = MANUAL.match(line[2:]) if line.startswith("- ") else None
        if line.startswith("## "):
            reader = line[3:]
        elif link:
            source = os.path.normpath("docs/" + link[2])
            name = os.path.basename(source)
            out = "start.html" if source == "README.md" else \
                re.sub(r"\.md$", ".html", name)
            pages.append(Page(reader, link[1], source, out))
        elif manual:
            name = "%s.%s" % manual.groups()
            pages.append(Page(reader, manual[0], "docs/man/" + name,
                              name + ".html"))
    return pages


class Site:
    def __init__(self, top, out):
        self.top, self.out = top, out
        self.pages = pages_of(top)
        index = Page("Newcomer", "Documentation", "docs/index.md", "index.html")
        self.pages.insert(0, index)
        self.by_source = {page.source: page for page in self.pages}
        self.copied = {page.source for page in self.pages
                       if page.source.endswith(".json")}

    def address(self, page, target):
        """Where a link of a page leads in the site."""
        if re.match(r"[a-z]+:|#", target):
            return target
        path, _, anchor = target.partition("#")
        source = os.path.normpath(
            os.path.join(os.path.dirname(page.source), path))
        if source in self.by_source:
            path = self.by_source[source].out
        else:
            self.copied.add(source)
            path = os.path.relpath(source, "docs")
        return path + ("#" + anchor if anchor else "")

    def named(self, page, match):
        """A page that is named as code is a link, too."""
        other = self.by_source.get(match[1])
        if other is None or other is page:
            return match[0]
        return '<a href="%s">%s</a>' % (other.out, match[0])

    def manual(self, page, match):
        other = self.by_source.get("docs/man/%s.%s" % match.groups())
        if other is None or other is page:
            return match[0]
        return '<a href="%s">%s</a>' % (other.out, match[0])

    def with_links(self, page, body):
        body = re.sub(r'(href|src)="([^"]*)"', lambda m: '%s="%s"' % (
            m[1], html.escape(self.address(page, html.unescape(m[2])))), body)
        body = re.sub(r"<code>((?:docs/[\w.-]+|README)\.md)</code>",
                      lambda m: self.named(page, m), body)
        # Not within a link, a heading, or an example.
        parts = re.split(r"(<a .*?</a>|<pre.*?</pre>|<h\d.*?</h\d>|<[^>]*>)",
                         body, flags=re.S)
        parts[::2] = [MANUAL.sub(lambda m: self.manual(page, m), part)
                      for part in parts[::2]]
        return "".join(parts)

    def render(self, page):
        path = os.path.join(self.top, page.source)
        if page.source.startswith("docs/man/"):
            body = subprocess.run(
                ["mandoc", "-Thtml", "-Ofragment", path], check=True,
                stdout=subprocess.PIPE, encoding="utf-8").stdout
            return self.with_links(page, re.sub(
                r'<a class="permalink" href="[^"]*">(.*?)</a>', r"\1", body,
                flags=re.S))
        text = read(path)
        if page.source == "docs/index.md":  # there, no link is needed
            text = re.sub(r"(?m)^- (%s)$" % MANUAL.pattern, r"- \1", text)
        made = markdown.Markdown(extensions=EXTENSIONS, output_format="html",
                                 extension_configs={"toc": {"slugify": slug}})
        made.preprocessors.deregister("html_block")  # "<" is a "<"
        made.inlinePatterns.deregister("html")
        return self.with_links(page, made.convert(text))

    def navigation(self, current):
        said, parts = None, []
        for page in self.pages[1:]:
            if page.reader != said:
                parts.append("%s<h2>%s</h2>\n<ul>" % (
                    "</ul>\n" if said else "", html.escape(page.reader)))
                said = page.reader
            parts.append('<li><a href="%s"%s>%s</a>%s</li>' % (
                page.out, ' aria-current="page"' if page is current else "",
                html.escape(page.title),
                self.contents(page) if page is current else ""))
        return "\n".join(parts) + "</ul>"

    def contents(self, page):
        """The sections of a page; mandoc's have headings of the first rank."""
        rank = 1 if page.source.startswith("docs/man/") else 2
        items = ['<li><a href="#%s">%s</a></li>' % (
            anchor, html.escape(words(title)))
            for anchor, title in re.findall(
                r'<h%d[^>]* id="([^"]*)"[^>]*>(.*?)</h' % rank, page.body,
                re.S)]
        return "\n<ul>\n%s</ul>" % "\n".join(items) if items else ""

    def write(self, page):
        with open(os.path.join(self.out, page.out), "w",
                  encoding="utf-8") as file:
            file.write(TEMPLATE % {
                "title": html.escape(page.title),
                "navigation": self.navigation(page),
                "reader": html.escape(page.reader), "body": page.body})

    def sections(self):
        """What the search knows: each heading with the text behind it."""
        for page in self.pages:
            title, anchor = page.title, ""
            for part in re.split(r"(?=<h[1-4][ >])", page.body):
                head = re.match(r"<h[1-4]([^>]*)>(.*?)</h", part, re.S)
                if head:
                    given = re.search(r'id="([^"]*)"', head[1])
                    title = words(head[2])
                    anchor = given[1] if given else ""
                text = words(part)
                if text:
                    yield {"page": page.title, "reader": page.reader,
                           "title": title, "text": text,
                           "address": page.out + ("#" + anchor if anchor else "")}

    def make(self):
        os.makedirs(self.out, exist_ok=True)
        for page in self.pages:
            if page.source not in self.copied:
                page.body = self.render(page)
        for page in self.pages:
            if page.source not in self.copied:
                self.write(page)
        for source in self.copied:
            target = os.path.join(self.out, os.path.relpath(source, "docs"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(os.path.join(self.top, source), target)
        here = os.path.join(self.top, "tools/dev/docs-html")
        for name in ("style.css", "search.js"):
            shutil.copyfile(os.path.join(here, name),
                            os.path.join(self.out, name))
        with open(os.path.join(self.out, "index.js"), "w",
                  encoding="utf-8") as file:
            file.write("const SECTIONS = %s;\n" % json.dumps(
                list(self.sections()), ensure_ascii=False, indent=0))


def words(markup):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>%(title)s - Product Grid</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<nav>
<p><a href="index.html">Product Grid</a></p>
<input type="search" placeholder="Search ( / )" aria-label="Search" hidden>
<details open>
<summary>Pages</summary>
%(navigation)s
</details>
</nav>
<main>
<p class="reader">%(reader)s</p>
%(body)s
</main>
<script src="index.js"></script>
<script src="search.js"></script>
</body>
</html>
"""


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: docs-html.py SOURCE OUT")
    Site(sys.argv[1], sys.argv[2]).make()


if __name__ == "__main__":
    main()

"""Compressed dumps through nginx, read to their end by those who will: curl,
wget, Python's urllib, requests and httpx, Node's fetch and Chromium. Those that
are not installed are skipped by name.
"""

import glob
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stack import BUILD, Stack, wait_until  # noqa: E402

GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
SUPPLIER = "12345"
ROWS = 6000  # beyond what the pool for pages answers itself
PATH = "/api/v1/grid?fournisseur=" + SUPPLIER

NODE = """
const [url, key] = process.argv.slice(-2);
const answer = await fetch(url, {headers: {"X-API-Key": key}});
const bytes = Buffer.from(await answer.arrayBuffer());
const {createHash} = await import("node:crypto");
console.log(answer.headers.get("content-encoding"),
    createHash("sha256").update(bytes).digest("hex"));
"""

# requests and httpx are asked alike.
PYTHON = """
import hashlib, sys
import %s as client
answer = client.get(sys.argv[1], headers={"X-API-Key": sys.argv[2]}, timeout=60)
answer.raise_for_status()
print(answer.headers["Content-Encoding"],
      hashlib.sha256(answer.content).hexdigest())
"""

PAGE = """<!doctype html><title>waiting</title><body>
<script src="dump.js"></script>"""
SCRIPT = """
const asked = new URLSearchParams(location.hash.slice(1));
fetch(asked.get("path"), {headers: {"X-API-Key": asked.get("key")}})
    .then(async (answer) => {
	const sum = await crypto.subtle.digest("SHA-256",
	    await answer.arrayBuffer());
	const hex = [...new Uint8Array(sum)].map(
	    (byte) => byte.toString(16).padStart(2, "0")).join("");
	document.body.append(answer.headers.get("content-encoding") +
	    " " + hex);
    }).catch((error) => document.body.append("failed: " + error));
"""


def html_folder(stack):
    folder = stack.path("html")
    os.makedirs(folder)
    for name, text in (("dump.html", PAGE), ("dump.js", SCRIPT)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    return folder


class Dumps(Stack):
    def __init__(self):
        super().__init__(settings={"pages.processes": 1})
        self.html = html_folder(self)
        csv = self.path("csv")
        self.ctl("demo", "--out", csv, "--articles", str(ROWS),
                 "--suppliers", "2", "--stores", "2")
        self.ctl("init")
        self.ctl("import", "--quiet", csv)
        self.ctl("compute", "--quiet", SUPPLIER)
        self.key = self.ctl("key", "create", "--name", "t", "--scope",
                            "propose").strip()
        with open(os.path.join(csv, "articles.csv")) as file:
            self.codes = [line.split(",")[1] for line in file
                          if line.startswith(SUPPLIER)]

    def ctl(self, *words):
        return subprocess.run([GRIDCTL, "--data", self.data] + list(words),
                              check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.decode()

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.port

    def ask(self, coding=None):
        headers = {"X-API-Key": self.key}
        if coding:
            headers["Accept-Encoding"] = coding
        return self.get(PATH, headers=headers)

    def packed(self):
        return glob.glob(os.path.join(self.data, "snapshots", SUPPLIER,
                                      "*.rows"))

    def propose(self, code):
        reply = self.get("/api/v1/products/%s/gamme" % code, "PUT",
                         {"X-API-Key": self.key,
                          "Content-Type": "application/json"},
                         '{"fournisseur":"%s","gamme":"Z"}' % SUPPLIER)
        assert reply.status == 200, reply.body


# --- the clients: each gives the coding it saw and the sum of what it read ----


def ask_curl(dumps, program):
    head = dumps.path("head")
    got = subprocess.run(
        [program, "-sS", "--compressed", "-D", head, "-H",
         "X-API-Key: " + dumps.key, dumps.url + PATH],
        check=True, stdout=subprocess.PIPE, timeout=60).stdout
    with open(head) as file:
        head = file.read().lower()
    coded = re.search("content-encoding: ([a-z]+)", head)
    return coded[1] if coded else "none", hashlib.sha256(got).hexdigest()


def ask_urllib(dumps, _):
    asked = urllib.request.Request(dumps.url + PATH, headers={
        "X-API-Key": dumps.key, "Accept-Encoding": "gzip"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        text = gzip.decompress(answer.read())
        return (answer.headers["Content-Encoding"],
                hashlib.sha256(text).hexdigest())


def ask_wget(dumps, program):
    done = subprocess.run(
        [program, "-nv", "-S", "-O", "-", "--compression=auto",
         "--header=X-API-Key: " + dumps.key, dumps.url + PATH],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=60)
    coded = re.search(b"content-encoding: ([a-z]+)", done.stderr.lower())
    return (coded[1].decode() if coded else "none",
            hashlib.sha256(done.stdout).hexdigest())


def python_client(name):
    """The function that asks by this module of Python's."""
    return lambda dumps, program: subprocess.run(
        [program, "-c", PYTHON % name, dumps.url + PATH, dumps.key],
        check=True, stdout=subprocess.PIPE, timeout=60).stdout.decode().split()


def ask_node(dumps, program):
    return subprocess.run(
        [program, "--input-type=module", "-e", NODE, "--", dumps.url + PATH,
         dumps.key], check=True, stdout=subprocess.PIPE,
        timeout=60).stdout.decode().split()


def ask_chromium(dumps, program):
    page = "%s/dump.html#key=%s&path=%s" % (
        dumps.url, dumps.key, PATH.replace("?", "%3F").replace("=", "%3D"))
    text = subprocess.run(
        [program, "--headless", "--no-sandbox", "--disable-gpu",
         "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync",
         "--user-data-dir=" + dumps.path("chromium"),
         "--virtual-time-budget=60000", "--dump-dom", page],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        timeout=120).stdout.decode()
    return text.split("</script>")[1].split("</body>")[0].split()


CLIENTS = (("curl --compressed", "curl", ask_curl),
           ("wget --compression=auto", "wget", ask_wget),
           ("Python's urllib", "python3", ask_urllib),
           ("requests", "python3-requests", python_client("requests")),
           ("httpx", "python3-httpx", python_client("httpx")),
           ("Node's fetch", "node", ask_node),
           ("Chromium's fetch", "chromium", ask_chromium))


def find_client(program):
    """A program by its name; "python3-NAME" is a Python that has this module."""
    _, _, module = program.partition("python3-")
    if not module:
        return shutil.which(program)
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import " + module],
                stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


# --- what is tried --------------------------------------------------------------


def clients_read_it_to_its_end(dumps, ask, program):
    for changed in (False, True):
        if changed:
            dumps.propose(dumps.codes[0])
            dumps.propose(dumps.codes[-1])
        plain = dumps.ask().body
        coding, found = ask(dumps, program)
        assert coding == "gzip", coding
        assert found == hashlib.sha256(plain).hexdigest(), "other bytes"


def clients_read_a_frame_to_its_end(dumps, ask, program):
    """Those that name zstd get it, once an operator has packed the rows so."""
    plain = dumps.ask().body
    frame = dumps.ask("zstd")
    assert frame.headers.get_all("Content-Encoding") == ["zstd"]
    assert frame.headers["Content-Length"] in (None, str(len(frame.body)))
    assert len(frame.body) * 4 < len(plain)
    coding, found = ask(dumps, program)
    print("    reads " + coding)
    assert found == hashlib.sha256(plain).hexdigest(), "other bytes"


def nginx_packs_it_no_second_time(dumps):
    plain, packed = dumps.ask(), dumps.ask("gzip, deflate, br")
    assert packed.headers.get_all("Content-Encoding") == ["gzip"]
    assert gzip.decompress(packed.body) == plain.body
    assert plain.headers["Content-Encoding"] is None
    for reply in plain, packed:
        assert reply.headers.get_all("Vary") == [
            "Accept, Accept-Language, Accept-Encoding"]


def worker_packs_whatever_is_long(dumps):
    """Pages and streams, in each form: one coding, one Vary, the same bytes,
    and the length where it is known."""
    for query, accept, length in (
            ("&limit=100", "application/json", True),
            ("&limit=100&fields=codein,libelle1", "application/json", True),
            # With a length once the rows for pages are packed.
            ("&limit=2000", "application/json", None),
            ("&fields=codein,libelle1,totalCa", "application/json", False),
            ("", "application/x-ndjson", False), ("", "text/csv", False),
            ("&sort=codein", "application/json", False)):
        asked = {"X-API-Key": dumps.key, "Accept": accept}
        plain = dumps.get(PATH + query, headers=asked)
        coded = dict(asked, **{"Accept-Encoding": "gzip, deflate, br"})
        packed = dumps.get(PATH + query, headers=coded)
        head = dumps.get(PATH + query, "HEAD", coded)
        for reply in packed, head:
            assert reply.headers.get_all("Content-Encoding") == ["gzip"], query
            assert reply.headers.get_all("Vary") == [
                "Accept, Accept-Language, Accept-Encoding"], query
            assert reply.headers["ETag"] == plain.headers["ETag"], query
            assert length in (
                None, reply.headers["Content-Length"] is not None), \
                query + ": " + str(reply.headers)
        assert plain.headers["Content-Encoding"] is None, query
        assert gzip.decompress(packed.body) == plain.body, query
        assert len(packed.body) * 2 < len(plain.body), query
        assert not head.body, query
        got = subprocess.run(
            ["curl", "-sS", "--compressed", "-H", "X-API-Key: " + dumps.key,
             "-H", "Accept: " + accept, dumps.url + PATH + query],
            check=True, stdout=subprocess.PIPE, timeout=60).stdout
        assert got == plain.body, query
        for asking in coded, asked:
            again = dumps.get(PATH + query, headers=dict(
                asking, **{"If-None-Match": packed.headers["ETag"]}))
            assert again.status == 304 and not again.body, query
            assert again.headers["Content-Encoding"] is None, query
    none = dumps.get("/api/v1/none", headers=coded)
    assert none.status == 404 and not none.headers["Content-Encoding"]


def damage_cuts_the_transfer(dumps):
    """curl tells it, and the next one is whole again."""
    path = dumps.packed()[0]
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        old = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([old[0] ^ 1]))
    got = subprocess.run(
        ["curl", "-s", "--compressed", "-H", "X-API-Key: " + dumps.key,
         dumps.url + PATH], stdout=subprocess.PIPE, timeout=60)
    assert got.returncode != 0, "curl took a damaged dump for whole"
    assert "damage: the file is not as it was written" in dumps.log()
    plain, again = dumps.ask().body, dumps.ask("gzip")
    body = again.body
    if again.headers["Content-Encoding"] == "gzip":
        body = gzip.decompress(body)
    assert body == plain
    wait_until(dumps.packed, "packed anew")
    assert gzip.decompress(dumps.ask("gzip").body) == plain


def main():
    wanted = [("nginx packs it no second time", None,
               lambda dumps, _: nginx_packs_it_no_second_time(dumps)),
              ("the worker packs whatever is long", None,
               lambda dumps, _: worker_packs_whatever_is_long(dumps))]
    skipped = []
    for name, program, ask in CLIENTS:
        found = find_client(program)
        if not found:
            print("skipped: %s: %s is not installed" % (name, program))
            skipped.append(name)
            continue
        wanted.append((name, found, lambda dumps, program, ask=ask:
                       clients_read_it_to_its_end(dumps, ask, program)))
    if "curl --compressed" not in skipped:
        wanted.append(("damage cuts the transfer", None,
                       lambda dumps, _: damage_cuts_the_transfer(dumps)))
    frames = []
    for name, program, ask in CLIENTS:
        if name not in skipped:
            frames.append("a zstd frame by " + name)
            wanted.append((frames[-1], find_client(program),
                           lambda dumps, program, ask=ask:
                           clients_read_a_frame_to_its_end(
                               dumps, ask, program)))
    failed = 0
    with Dumps() as dumps:
        dumps.ask("gzip")
        wait_until(dumps.packed, "the first dump has the rows packed")
        for name, program, test in wanted:
            if name == frames[0]:
                dumps.ctl("compute", "--quiet", SUPPLIER)
                dumps.ctl("pack", "--for", "zstd", "--level", "3", SUPPLIER)
            try:
                test(dumps, program)
                print("ok: " + name, flush=True)
            except Exception as error:
                failed += 1
                print("not ok: %s: %r" % (name, error), flush=True)
    print("%d passed, %d failed, %d skipped" % (
        len(wanted) - failed, failed, len(skipped)))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

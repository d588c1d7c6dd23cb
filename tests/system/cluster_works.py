"""What goes on in a cluster beside its clients: imports, computations and removals of
old files on any node, pages that compute; keys and sessions that begin and end. And
what they were told, for the checks of history.py.

An import brings articles of S4, whose label is the import's number.
"""

import contextlib
import http.client
import os
import random
import re
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster_load import Asker  # noqa: E402
from grid import GRIDCTL, PASSWORD, write  # noqa: E402
from stack import PATIENCE, wait_until  # noqa: E402

HEAD = ("fournisseur,codein,libelle1,libelle2,marque,gtin,reference,"
        "codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme")
PAGE = "/api/v1/grid?fournisseur=S4&fields=libelle1&limit=10000"


class Thread(threading.Thread):
    """Turns until the load ends; a defect of the test itself ends the test."""

    def __init__(self, load):
        super().__init__(daemon=True)
        self.load, self.nodes = load, load.nodes
        self.rng = random.Random("%d %s" % (load.seed, type(self).__name__))
        self.asker = Asker(load)

    def run(self):
        try:
            while not self.load.stop.wait(0.05):
                self.turn()
        except BaseException as error:
            self.load.broken.append(repr(error))
            raise


    @contextlib.contextmanager
    def some_node(self):
        """With a disk, which no fault takes away meanwhile."""
        node = next(node for node in self.rng.sample(self.nodes, len(self.nodes))
                    if node.in_use.acquire(blocking=False))
        try:
            yield node
        finally:
            node.in_use.release()


class Works(Thread):
    """One command after the other, each at any of the nodes."""

    def __init__(self, load, articles):
        super().__init__(load)
        self.articles = articles
        self.process = None  # of the command that runs, if one does
        self.node = None  # and where
        self.number = 0
        self.imports = []  # number, outcome
        self.words = ""  # of the last command that failed

    def kill_at(self, node):
        process = self.process
        if process and self.node is node:
            process.kill()

    def command(self, node, *words):
        """As `gridctl` by an operator, who may kill it."""
        self.node = node
        with open(node.path("command"), "w+") as file:
            process = subprocess.Popen(
                node.enter + [GRIDCTL, "--data", node.data, *words],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=file, text=True)
            self.process = process
            process.wait()
            self.process = None
            file.seek(0)
            errors = file.read()
        if process.returncode != 0:
            self.words = "%s at node %d: %s" % (words, node.index, errors)
        return process.returncode, errors

    def turn(self):
        with self.some_node() as node:
            self.import_(node)
        with self.some_node() as node:
            self.command(node, "compute", "--quiet", "--stale")
        with self.some_node() as node:
            self.command(node, "prune", "--grace", "1")

    def import_(self, node):
        self.number += 1
        csv = node.path("csv-%d" % self.number)
        os.makedirs(csv)
        write(csv + "/suppliers.csv", ["code,nom", "S4,Quatre"])
        write(csv + "/articles.csv", [HEAD] + [
            "S4,%05d,%d,%s,,,,,101010,1,1,2,20,A" % (
                40000 + i, self.number, self.rng.getrandbits(200))
            for i in range(self.articles)])
        code, errors = self.command(node, "import", "--quiet", "--merge", csv)
        outcome = "unknown"
        if code == 0:
            outcome = "published"
        elif "nothing was changed" in errors:
            outcome = "refused"
        self.imports.append((self.number, outcome))

    def of(self, outcome):
        return [number for number, what in self.imports if what == outcome]

    def summary(self):
        return "%d imports published, %d refused, %d unknown" % tuple(
            len(self.of(outcome)) for outcome in
            ("published", "refused", "unknown"))


def numbers_of(answer):
    """The imports that a page of S4 shows."""
    return {int(row["libelle1"]) for row in answer["data"]}


class Looker(Thread):
    """Pages of S4, which are computed where an import has made them stale."""

    def __init__(self, load):
        super().__init__(load)
        self.seen = []  # node, numbers of imports, in the order of the answers
        self.pages = []  # when it was asked for, milliseconds, status, node

    def turn(self):
        node = self.rng.choice(self.nodes)
        begin = time.monotonic()
        answer = self.asker.ask(node, "GET", PAGE)
        self.pages.append((begin, (time.monotonic() - begin) * 1000,
                           answer[0] if answer else 0, node))
        if answer and answer[0] == 200:
            self.seen.append(((node.index, node.joined),
                              numbers_of(answer[1])))


class Keys(Thread):
    """A key or a session begins at a node, is good at another, ends at a third;
    then no node takes it any more."""

    def __init__(self, load):
        super().__init__(load)
        self.ended = []  # headers of what has ended
        self.delays = []  # ms from its end until another node refused it
        self.count = 0

    def turn(self):
        made = self.session() if self.rng.random() < 0.2 else self.key()
        if made is None:
            return
        path, headers, finish = made
        other = self.rng.choice(self.nodes)
        if not self.until(lambda: self.status(other, path, headers) == 200) or \
                not self.until(finish):
            return
        self.ended.append((path, headers))
        began = time.monotonic()
        for node in self.nodes:
            if self.until(lambda: self.status(node, path, headers) == 401) \
                    and self.load.is_quiet(began):
                self.delays.append((time.monotonic() - began) * 1000)
        self.load.stop.wait(0.5)

    def until(self, is_so):
        end = time.monotonic() + PATIENCE
        while not self.load.stop.is_set() and time.monotonic() < end:
            if is_so():
                return True
            time.sleep(0.01)
        return False

    @staticmethod
    def status(node, path, headers):
        try:
            return node.get(path, headers=headers, timeout=5).status
        except (OSError, http.client.HTTPException):
            return None

    def key(self):
        self.count += 1
        with self.some_node() as node:
            done = node.ctl("key", "create", "--name", "k%d" % self.count,
                            "--scope", "read", check=False)
        if done.returncode != 0:
            return None
        found = re.search(r"\bid (\w+),", done.stderr)
        assert found, done
        id_ = found.group(1)

        def finish():
            with self.some_node() as node:
                done = node.ctl("key", "revoke", id_, check=False)
            return done.returncode == 0 or "revoked" in done.stderr

        return ("/api/v1/fournisseurs", {"X-API-Key": done.stdout.strip()},
                finish)

    def session(self):
        begin, end = self.rng.choices(self.nodes, k=2)
        answer = self.asker.ask(begin, "POST", "/app/session", {
            "user": "marie", "password": PASSWORD}, session=None)
        if answer is None or answer[0] != 200:
            return None
        headers = {"Cookie": answer[2]["Set-Cookie"].split(";")[0]}

        def finish():
            try:
                answer = end.get("/app/session", "DELETE", headers, timeout=8)
            except (OSError, http.client.HTTPException):
                return False
            return answer.status in (204, 401)

        return "/app/session", headers, finish

    def still_taken(self):
        """What has ended, and a node takes."""
        return [(node.index, path) for path, headers in self.ended
                for node in self.nodes
                if self.status(node, path, headers) != 401]

    def p99(self):
        return sorted(self.delays)[len(self.delays) * 99 // 100]

    def summary(self):
        if not self.delays:
            return "%d keys and sessions ended" % len(self.ended)
        return "%d keys and sessions ended; refused after %.0f ms in the " \
            "median, %.0f ms at the 99th percentile of %d" % (
                len(self.ended), sorted(self.delays)[len(self.delays) // 2],
                self.p99(), len(self.delays))


def are_shown(cluster, works):
    """Waits until all nodes show the last import."""
    wait_until(lambda: len({node.tables("live") for node in cluster.nodes}) == 1,
               lambda: "all nodes show the last import\n" + works.words)


def settle(cluster, works, computations):
    """Checks all that the nodes have, and returns what they show of S4."""
    nodes = cluster.nodes
    are_shown(cluster, works)
    nodes[0].ctl("compute", "--quiet", "--stale")
    pages = []

    def are_equal():
        pages[:] = [node.ask("GET", PAGE + "&compute=0") for node in nodes]
        return all(page.status == 200 for page in pages) and \
            len({page.text for page in pages}) == 1

    wait_until(are_equal, lambda: "all show the same: %s" % [
        (page.status, page.text[:200]) for page in pages])
    for node in nodes:
        node.ctl("cluster", "pull", "--verify")
        node.ctl("check")
    made = len(works.of("published")) + len(works.of("unknown"))
    # Where its maker is down, and the log with the others' addresses away.
    anew = sum(node.log().count("computed anew, as no node gives it")
               for node in nodes)
    told = computed(nodes[0]) - computations
    assert told <= made + anew, "%d computations of %d imports, %d of them " \
        "anew" % (told, made, anew)
    return numbers_of(pages[0].json)


def computed(node):
    """How many computations all nodes have published."""
    return node.status()["computations"]

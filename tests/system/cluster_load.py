"""Clients of a cluster: what they ask for, and a history of what they were told.

Writers propose ranges, each with a reason of its own, by which it is found in the
feed; change ranges that they saw, as a Save does; and replace kept texts of a
version that they saw. Readers ask each node for pages all the time.
"""

import http.client
import json
import os
import random
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import RANGES  # noqa: E402
from stack import wait_until  # noqa: E402

WRITERS = 6
TIMEOUT = 8
KEPT = 20
SAVED = 20  # of the articles, the first ones: they are saved, not proposed


class Asker:
    """A connection to each node; an answer, or None where none came. `session`:
    True for the load's, False for its key, None for neither."""

    def __init__(self, load):
        self.load = load
        self.connections = {}

    def ask(self, node, method, path, body=None, session=False, seen=None):
        connection = self.connections.pop(node, None)
        headers = {} if session is None else {"X-API-Key": node.key}
        if session:
            headers = dict(self.load.session)
        if seen is not None:
            headers["X-Grid-Seen"] = "state:%d" % seen
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        try:
            if connection is None:
                connection = node.connect(TIMEOUT)
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            return None
        self.connections[node] = connection
        try:
            return response.status, json.loads(text), response.headers
        except ValueError:
            return response.status, {}, response.headers


def seen_by(answer):
    """The number of the log that an answer names, or None."""
    name, _, number = (answer[2]["X-Grid-Seen"] or "").partition(":")
    return int(number) if name == "state" else None


def outcome(answer):
    """Of a write: "acknowledged", "refused" (nothing was stored), or "unknown":
    no answer, nginx's own, and what says that it is not known. A change whose
    sight was outdated is a "conflict"."""
    if answer is None:
        return "unknown"
    status, body, _ = answer
    if status == 200:
        return "acknowledged"
    error = body.get("error", {})
    if "Nothing was stored" in error.get("message", ""):
        return "refused"
    return "unknown"


def is_stored(answer):
    """By a node whose disk is full: it cannot show what has become of a change."""
    return answer is not None and answer[1].get("error", {}).get(
        "details", {}).get("outcome") == "stored"


class Writer(threading.Thread):
    def __init__(self, load, number):
        super().__init__(daemon=True)
        self.load, self.number = load, number
        self.rng = random.Random("%d %d" % (load.seed, number))
        self.asker = Asker(load)
        self.count = 0
        self.versions = {}  # of what is kept, that this client saw of a node

    def run(self):
        try:
            while not self.load.stop.is_set():
                node = self.rng.choice(self.load.nodes)
                self.rng.choices(
                    [self.propose, self.save, self.keep, self.deposit,
                     self.deposit_all], [800, 100, 100, 10, 0.3])[0](node)
        except BaseException as error:
            self.load.broken.append(repr(error))
            raise

    def note(self, what, begin, answer, **more):
        end = time.monotonic()
        stored = what == "propose" and is_stored(answer)
        what = dict(more, what=what, begin=begin, end=end,
                    outcome="acknowledged" if stored else outcome(answer))
        if what["outcome"] == "unknown":
            what["end"] = None
        if answer is not None and what["outcome"] != "acknowledged":
            self.load.words = str(answer[:2])
        self.load.history.append(what)
        if what["outcome"] == "refused":
            time.sleep(0.05)  # as a client heeds Retry-After, in short
        return what

    def propose(self, node):
        self.count += 1
        name = "%d-%d" % (self.number, self.count)
        code = self.rng.choice(self.load.proposed)
        gamme = self.rng.choice([letter for letter in RANGES
                                 if letter != self.load.server[code]])
        begin = time.monotonic()
        answer = self.asker.ask(
            node, "PUT", "/api/v1/products/%s/gamme" % code,
            {"gamme": gamme, "fournisseur": "S1", "motif": name})
        self.note("propose", begin, answer, names=[name])

    def deposit(self, node, count=100):
        """Many at once, all of them or none."""
        self.count += 1
        codes = self.load.proposed
        codes = self.rng.sample(codes, min(count, len(codes)))
        names = ["%d-%d/%d" % (self.number, self.count, i)
                 for i in range(len(codes))]
        changes = [{"codein": code, "motif": name, "gamme": next(
            letter for letter in RANGES if letter != self.load.server[code])}
            for code, name in zip(codes, names)]
        begin = time.monotonic()
        answer = self.asker.ask(node, "POST", "/api/v1/gammes", {
            "fournisseur": "S1", "changes": changes})
        self.note("propose", begin, answer, names=names)

    def deposit_all(self, node):
        self.deposit(node, 10000)

    def save(self, node):
        """From another range to one, as if it had been seen."""
        code = self.rng.choice(self.load.saved)
        seen, gamme = self.rng.sample(RANGES, 2)
        begin = time.monotonic()
        answer = self.asker.ask(node, "POST", "/app/save", {
            "fournisseur": "S1", "edits": [
                {"codein": code, "gamme": gamme, "codeGamme": seen,
                 "gammeAValider": None}]}, session=True)
        op = self.note("save", begin, answer, key=code, kind="change",
                       seen=seen, value=gamme)
        if op["outcome"] == "acknowledged":
            told = answer[1]["data"][0]
            op["done"] = told["result"] == "applied"
            op["found"] = told["codeGamme"]
            op["outcome"] = "acknowledged" if op["done"] else "conflict"

    def keep(self, node):
        name = "view.%d" % self.rng.randrange(KEPT)
        seen = self.look(node, name)
        if seen is None:
            return
        self.count += 1
        value = "%d-%d" % (self.number, self.count)
        begin = time.monotonic()
        answer = self.asker.ask(
            node, "PUT", "/app/kept/shared/" + name,
            {"value": value, "version": seen[0]}, session=True)
        op = {"key": name, "kind": "change", "seen": seen[1], "value": value,
              "done": True}
        if answer is not None and answer[0] == 409:
            self.load.history.append(dict(
                op, what="keep", begin=begin, end=time.monotonic(),
                outcome="conflict", done=False, found=None))
            return
        op = self.note("keep", begin, answer, **op)
        if op["outcome"] == "acknowledged":
            version = answer[1]["data"]["version"]
            assert version > seen[0], (version, seen)
            self.versions[node, name] = version
            number = seen_by(answer)
            self.load.shown.append({
                "key": name, "sent": None, "seen": number, "node": node.index,
                "version": version, "begin": begin, "end": op["end"]})
            self.look(self.rng.choice([other for other in self.load.nodes
                                       if other is not node]), name, number)

    def look(self, node, name, seen=None):
        """The version, which never falls, seen at one node, and the value. With
        `seen`, what was stored up to there is in it."""
        begin = time.monotonic()
        answer = self.asker.ask(node, "GET", "/app/kept/shared/" + name,
                                session=True, seen=seen)
        if answer is not None and seen is not None:
            self.load.fresh[answer[0] in (200, 404)] += 1
        if answer is None or answer[0] not in (200, 404):
            return None
        kept = {"version": 0, "value": ""}
        if answer[0] == 200:
            kept = answer[1]["data"]
        self.load.shown.append({
            "key": name, "sent": seen, "seen": seen_by(answer),
            "node": node.index, "version": kept["version"], "begin": begin,
            "end": time.monotonic(), "headers": dict(answer[2])})
        last = self.versions.get((node, name), 0)
        if kept["version"] < last:
            self.load.fallen.append((node.index, name, last, kept))
        self.versions[node, name] = kept["version"]
        return kept["version"], kept["value"]


class Reader(threading.Thread):
    """Pages of one node."""

    def __init__(self, load, node):
        super().__init__(daemon=True)
        self.load, self.node = load, node
        self.asker = Asker(load)
        self.pages = []  # when it was asked for, milliseconds, status, node

    def run(self):
        while not self.load.stop.wait(0.03):
            begin = time.monotonic()
            answer = self.asker.ask(
                self.node, "GET", "/api/v1/grid?fournisseur=S1&limit=50"
                "&fields=libelle1,codeGamme,gammeAValider")
            end = time.monotonic()
            self.pages.append((begin, (end - begin) * 1000,
                               answer[0] if answer else 0, self.node))


class Load:
    def __init__(self, cluster, seed):
        self.nodes, self.seed = cluster.nodes, seed
        first = self.nodes[0]
        self.server = first.server
        self.saved, self.proposed = (first.articles[:SAVED],
                                     first.articles[SAVED:])
        self.history, self.faults, self.fallen = [], [], []
        self.broken, self.stale, self.words = [], [], ""
        self.shown = []  # what answers about a kept text showed: history.py
        self.fresh = {True: 0, False: 0}  # whether a node had what was sent
        self.stop = threading.Event()
        self.session = first.login()
        wait_until(lambda: all(
            node.app(self.session, "GET", "/session").status == 200
            for node in self.nodes), lambda: "all know the session: " +
            str([node.log()[-2000:] for node in self.nodes]))
        self.writers = [Writer(self, i) for i in range(WRITERS)]
        self.readers = [Reader(self, node) for node in self.nodes]
        self.others = []  # threads that begin and end with these

    def threads(self):
        return self.writers + self.readers + self.others

    def __enter__(self):
        for thread in self.threads():
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads():
            thread.join()
        assert self.broken == [], self.broken

    # --- what has happened --------------------------------------------------

    def of(self, outcome_):
        return [op for op in list(self.history) if op["outcome"] == outcome_]

    def acknowledged(self):
        assert self.broken == [], self.broken
        return sum(op["outcome"] == "acknowledged" for op in
                   list(self.history))

    def last_words(self):
        return self.words

    def names(self, outcome_):
        return [name for op in self.of(outcome_)
                for name in op.get("names", [])]

    def times(self):
        return [(name, op["begin"], op["end"])
                for op in self.of("acknowledged")
                for name in op.get("names", [])]

    def register_history(self):
        """Of the keys that are changed as they were seen."""
        return [op for op in self.history
                if op.get("kind") == "change" and op["outcome"] != "refused"]

    def first_state(self, key):
        return "" if key.startswith("view.") else self.server[key]

    def pages_that_failed(self):
        """But for those of a host whose own gridapi or nginx was not there."""
        return [(node.index, round(ms), status, self.faults_at(at, ms))
                for at, ms, status, node in self.pages()
                if status != 200 and not self.may_fail(node, at, ms)]

    def pages(self):
        return [page for thread in self.readers + self.others
                for page in getattr(thread, "pages", [])]

    def faults_at(self, at, ms):
        return [str(fault) for fault in self.faults
                if fault.began <= at + ms / 1000 and at <= fault.ended]

    def is_quiet(self, since):
        """Whether no fault was at work since then."""
        return all(fault.ended is not None and fault.ended < since
                   for fault in self.faults)

    def may_fail(self, node, at, ms):
        return any(fault.node is node and not fault.answers and
                   fault.began <= at + ms / 1000 and at <= fault.ended
                   for fault in self.faults)

    # --- figures --------------------------------------------------------------

    def summary(self):
        counts = {name: len(self.of(name)) for name in
                  ("acknowledged", "conflict", "refused", "unknown")}
        took = self.history[-1]["begin"] - self.history[0]["begin"]
        return "%d writes acknowledged, %d conflicts, %d refused, %d unknown " \
            "in %d s" % (counts["acknowledged"], counts["conflict"],
                         counts["refused"], counts["unknown"], took)

    def pages_summary(self):
        took = sorted(ms for reader in self.readers
                      for _, ms, status, _ in reader.pages if status == 200)
        missing = sum(status != 200 for _, _, status, _ in self.pages())
        return "%d answered, median %.1f ms, p99 %.1f ms; %d not, of a " \
            "gridapi or nginx that was killed or stopped" % (
                len(took), took[len(took) // 2], took[len(took) * 99 // 100],
                missing)

    def measure_staleness(self, count):
        """How long after its 200 another node shows a write."""
        asker = Asker(self)
        for turn in range(count):
            writer = self.nodes[turn % len(self.nodes)]
            reader = self.nodes[(turn + 1) % len(self.nodes)]
            wait_until(lambda: self.mark(asker, writer, turn), "it is stored")
            began = time.monotonic()
            wait_until(lambda: self.sees(asker, reader, turn), "it is seen")
            self.stale.append((time.monotonic() - began) * 1000)

    def mark(self, asker, node, turn):
        answer = asker.ask(node, "PUT", "/app/kept/shared/mark",
                           {"value": str(turn)}, session=True)
        return answer is not None and answer[0] == 200

    def sees(self, asker, node, turn):
        answer = asker.ask(node, "GET", "/app/kept/shared/mark", session=True)
        return answer is not None and answer[0] == 200 and \
            answer[1]["data"]["value"] == str(turn)

    def staleness(self):
        took = sorted(self.stale)
        return "median %.0f ms, p99 %.0f ms of %d" % (
            took[len(took) // 2], took[len(took) * 99 // 100], len(took))

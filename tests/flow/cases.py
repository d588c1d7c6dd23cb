"""The table of cases: a folder each in cases/, see there.

    cases.py [--http] [--record FILE] [NAME...]

--http asks nginx and gridapi instead of serve() in a process; --record writes
each request and answer as a JSON line, for other validators.

Each GET and HEAD is asked a second time with Accept-Encoding: gzip, and must
say the same: see packed_too().
"""

import json
import os
import re
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "system"))
from kit import (API, Data, Description, Direct, Http, Reply, Score,  # noqa: E402
                 unpacked_as)

CASES = os.path.join(HERE, "cases")


class Step:
    """One request file and its reply file."""

    def __init__(self, folder, suffix):
        self.folder = folder
        self.commands, self.settings, self.headers = [], [], {}
        self.keyless = False
        self.in_process = False  # behind nginx it goes otherwise
        self.sent = None
        with open(os.path.join(folder, "request" + suffix),
                  encoding="utf-8") as file:
            for line in file.read().splitlines():
                self.take(line)
        with open(os.path.join(folder, "reply" + suffix),
                  encoding="utf-8") as file:
            head, self.has_body, self.body = file.read().partition("\n\n")
        lines = head.splitlines()
        self.status = int(lines[0])
        self.expected = [line.split(": ", 1) for line in lines[1:]]

    def take(self, line):
        if line.startswith("#") or not line:
            return
        if line.startswith("$ "):
            self.commands.append(line[2:].split())
        elif line.startswith("% "):
            self.settings.append(line[2:])
        elif line == "no key":
            self.keyless = True
        elif line == "in process":
            self.in_process = True
        elif line.startswith("> "):
            self.sent = (self.sent or "") + line[2:] + "\n"
        elif ": " in line and not line.split(" ")[0].isupper():
            name, value = line.split(": ", 1)
            self.headers[name] = value.strip()
        else:
            self.method, self.uri = line.split(" ", 1)


def spoil(path):
    """Breaks where the columns of a snapshot's first row begin: it opens, and
    the damage is met when that row is read."""
    with open(path, "r+b") as file:
        text = file.read()
        row = text.index(b'{"codein":"')
        places = [text.index(b'"%s":' % name, row) - row for name in (
            b"codein", b"codeFournisseur", b"nomFournisseur", b"libelle1")]
        packed = struct.pack("<4H", *places)
        assert text.count(packed) >= 1, "no table of columns in " + path
        while packed in text:
            place = text.index(packed)
            text = text[:place] + b"\xff" * 8 + text[place + 8:]
            file.seek(place)
            file.write(b"\xff" * 8)


def same(one, other):
    """But for what tells of the moment, or of the coding."""
    def told(reply):
        return {name: value for name, value in reply.headers.items()
                if name not in ("content-length", "content-encoding", "date",
                                "server-timing", "x-request-id", "etag",
                                "transfer-encoding", "connection")}
    return one.status == other.status and one.body == other.body and \
        told(one) == told(other)


class Run:
    """One case: its own data directory when it alters anything."""

    def __init__(self, shared, description, record):
        self.shared, self.description = shared, description
        self.screen = shared["screen"]
        self.record = record
        self.words = dict(shared["words"])
        self.data, self.server = shared["data"], shared["server"]
        self.own = False

    def fill(self, text):
        return re.sub(r"\{(\w+)\}",
                      lambda m: self.words.get(m.group(1), m.group(0)), text)

    def separate(self, settings):
        if not self.own:
            self.data = self.shared["data"].copy()
            self.own = True
            self.server = self.shared["start"](self.data, settings)

    def command(self, words, folder):
        words = [self.fill(word) for word in words]
        if words[0] == "gridctl":
            typed = ""
            if "<" in words:  # all after it is a line of its input
                place = words.index("<")
                words, typed = words[:place], " ".join(words[place + 1:])
            self.data.gridctl(*words[1:], cwd=folder, typed=typed + "\n")
        elif words[0] == "cut":  # half of the newest snapshot is lost
            path = self.data.snapshots(words[1])[-1]
            os.truncate(path, os.path.getsize(path) // 2)
        elif words[0] == "spoil":
            spoil(self.data.snapshots(words[1])[-1])
        elif words[0] == "lose":
            os.unlink(self.data.snapshots(words[1])[-1])
        else:
            raise AssertionError("no such command: " + words[0])
        self.server.restart()

    def step(self, step):
        if step.commands or step.settings or step.sent is not None:
            self.separate(step.settings)
        for words in step.commands:
            self.command(words, step.folder)
        headers = {name: self.fill(value)
                   for name, value in step.headers.items()}
        asks = {name.lower() for name in headers}
        if not step.keyless and not asks & {"x-api-key", "authorization"}:
            headers["X-API-Key"] = self.words["read"]
        if step.sent is not None and "content-type" not in asks:
            headers["Content-Type"] = "application/json"
        headers = {name: value for name, value in headers.items() if value}
        uri = self.fill(step.uri)
        reply = self.server.ask(uri, step.method, headers,
                                self.fill(step.sent or "").encode())
        if self.record:
            self.write(step.method, uri, reply)
        description = self.screen if uri.startswith("/app") else \
            self.description
        problems = description.check(step.method, uri, reply)
        # Not what asking alters: damage heals, a computation is begun.
        if step.method in ("GET", "HEAD") and reply.status != 202 and \
                reply.status < 500 and "accept-encoding" not in asks:
            for coding in "gzip", "zstd":
                problems += self.packed_too(coding, step.method, uri, headers,
                                            reply)
        if reply.status == 200:
            self.shared["met"].add(description.operation(step.method, uri)[1])
        if reply.status != step.status:
            problems.append("status %d, not %d: %r" % (
                reply.status, step.status, reply.body[:300]))
            return problems
        return problems + self.headers(step, reply) + self.body(step, reply)

    def packed_too(self, asked, method, uri, headers, plain):
        """The same asked with a coding. A plain answer that is not the same twice
        (the time stands in it, or asking has changed something) is compared
        with the next one."""
        problems = []
        packed = self.server.ask(uri, method, dict(
            headers, **{"Accept-Encoding": asked}))
        coding = packed.headers.get("content-encoding")
        if coding is not None:
            text = unpacked_as(coding, packed.body) if method == "GET" \
                else b""
            if coding != asked or text is None or packed.status != 200:
                return ["packed: %d, %s" % (packed.status, coding)]
            self.shared["packed"] += 1
            packed = Reply(200, packed.headers, text)
        elif method == "GET" and packed.status == 200 and \
                len(packed.body) >= 1024:
            problems.append("%d bytes are not packed" % len(packed.body))
        if packed.status in (200, 304) and "Accept-Encoding" not in \
                packed.headers.get("vary", "").split(", "):
            problems.append("Vary: %r" % packed.headers.get("vary"))
        if not same(packed, plain) and not same(
                packed, self.server.ask(uri, method, headers)):
            problems.append("packed: %d %r %r" % (
                packed.status, packed.headers, packed.body[:200]))
        if plain.status == 304 or "if-none-match" in map(str.lower, headers):
            return problems
        # A tag that came with either coding is known with both.
        tag = packed.headers.get("etag")
        for more in ({"Accept-Encoding": asked}, {}) if tag else ():
            again = self.server.ask(uri, method, dict(
                headers, **{"If-None-Match": tag}, **more))
            if again.status != 304 or again.body or \
                    "content-encoding" in again.headers:
                problems.append("If-None-Match: %d %r" % (
                    again.status, again.headers))
        return problems

    def write(self, method, uri, reply):
        kind = reply.headers.get("content-type", "")
        operation, template = self.description.operation(method, uri)
        if operation is not None and reply.body and \
                kind == "application/json" and reply.status != 405:
            self.record.write(json.dumps(
                {"uri": uri, "path": template, "method": method.lower(),
                 "status": reply.status, "body": reply.json()}) + "\n")

    def headers(self, step, reply):
        problems = []
        for name, pattern in step.expected:
            got = reply.headers.get(name.lower())
            if pattern == "-":
                if got is not None:
                    problems.append("%s is there: %s" % (name, got))
            elif got is None:
                problems.append("%s is missing" % name)
            else:
                problems += self.compare(pattern, got, name)
        return problems

    def body(self, step, reply):
        text = step.body.strip("\n")
        if not step.has_body:
            return []
        if text == "(empty)":
            return ["a body: %r" % reply.body[:80]] if reply.body else []
        if text.startswith("|"):
            wanted = "".join(line[1:] + "\n" for line in text.splitlines())
            got = reply.body.decode("utf-8")
            return [] if got == wanted else [
                "the body is %r, not %r" % (got, wanted)]
        return self.compare(json.loads(text), reply.json(), "body")

    def compare(self, wanted, got, path):
        """Texts: "*" is anything but null, "{set x}" keeps it, "~…" is a
        regular expression whose named groups are kept too. Objects may have more members, unless "=" lists
        them all in order; "-" is a member that must be absent."""
        if isinstance(wanted, str):
            keep = re.fullmatch(r"\{set (\w+)\}", wanted)
            if keep and got is not None:
                self.words[keep.group(1)] = str(got)
                return []
            if wanted == "*" and got is not None:
                return []
            if wanted.startswith("~") and isinstance(got, str):
                found = re.search(self.fill(wanted[1:]), got)
                self.words.update(found.groupdict() if found else {})
                return [] if found else [
                    "%s: %r is not like %r" % (path, got, wanted)]
            wanted = self.fill(wanted)
        if isinstance(wanted, dict) and isinstance(got, dict):
            return self.compare_objects(wanted, got, path)
        if isinstance(wanted, list) and isinstance(got, list) and \
                len(wanted) == len(got):
            return [problem for i, one in enumerate(wanted) for problem in
                    self.compare(one, got[i], "%s[%d]" % (path, i))]
        if wanted == got and isinstance(wanted, bool) == isinstance(got, bool):
            return []
        return ["%s: %s, not %s" % (path, json.dumps(got, ensure_ascii=False),
                                    json.dumps(wanted, ensure_ascii=False))]

    def compare_objects(self, wanted, got, path):
        problems = []
        for name, one in wanted.items():
            if name == "=":
                if list(got) != one:
                    problems.append("%s: members %s" % (path, list(got)))
            elif one == "-":
                if name in got:
                    problems.append("%s.%s is there" % (path, name))
            elif name not in got:
                problems.append("%s.%s is missing" % (path, name))
            else:
                problems += self.compare(one, got[name], path + "." + name)
        return problems

    def case(self, folder):
        problems = []
        number = 1
        try:
            while True:
                suffix = "" if number == 1 else ".%d" % number
                if not os.path.exists(
                        os.path.join(folder, "request" + suffix)):
                    break
                problems += ["step %d: %s" % (number, problem) for problem in
                             self.step(Step(folder, suffix))]
                number += 1
            assert number > 1, "no request in " + folder
        finally:
            if self.own:
                self.server.stop()
        return problems


class ManagedHttp(Http):
    """A stack that a case may stop and start again."""

    def __init__(self, data, settings):
        from stack import Stack
        super().__init__(Stack(data=data.folder, settings=dict(
            line.split("=", 1) for line in settings)))
        self.stack.__enter__()

    def restart(self):
        pass  # workers see what changes without one

    def stop(self):
        self.stack.__exit__()


def main():
    words = sys.argv[1:]
    http = "--http" in words
    record = None
    if "--record" in words:
        place = words.index("--record")
        record = open(words[place + 1], "w", encoding="utf-8")
        del words[place:place + 2]
    wanted = [word for word in words if word != "--http"]
    data = Data().fill(os.path.join(HERE, "data"), "S1", "S2", "S5")
    keys = {"read": data.key(), "propose": data.key("propose"),
            "revoked": data.key()}
    data.gridctl("key", "revoke", keys["revoked"].split("_")[1])

    def start(data, settings=()):
        return ManagedHttp(data, settings) if http else \
            Direct(data, *settings)

    screen = Description(name="app-openapi.json", base="/app")
    shared = {"data": data, "screen": screen, "met": set(), "packed": 0, "words": keys, "start": start,
              "server": start(data)}
    description = Description()
    score = Score()
    names = [name for name in sorted(os.listdir(CASES))
             if not wanted or name in wanted]
    if http:
        names = [name for name in names if not Step(
            os.path.join(CASES, name), "").in_process]

    def run(name):
        folder = os.path.join(CASES, name)
        return Run(shared, description, record).case(folder)

    try:
        # A stack of its own is mostly waited for; a process answers in turn.
        with ThreadPoolExecutor(8 if http else 1) as pool:
            for name, problems in zip(names, pool.map(run, names)):
                score.note(name, problems)
        if not wanted:
            paths = {**description.document["paths"],
                     **screen.document["paths"]}
            score.note("many answers were packed", [] if
                       shared["packed"] > 10 else [str(shared["packed"])])
            score.note("every path that is described answers 200", sorted(
                set(paths) - shared["met"] -
                # nginx alone tells who comes: tests/system/outside.py
                ({"/outside/session"} if http else set())))
    finally:
        shared["server"].stop()
    score.end()


if __name__ == "__main__":
    assert API
    main()

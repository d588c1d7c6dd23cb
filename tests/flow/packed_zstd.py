"""Whole dumps with Accept-Encoding: zstd, of rows packed so, against plain ones.

    packed_zstd.py [ROUNDS [SEED]]

However the live values change, the answer is one zstd frame, read with the window
that browsers have, and unpacks to the very bytes of the plain answer. Packed rows
that are damaged may cut an answer, never alter one.
"""

import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kit import Cut, Score, unpacked_as  # noqa: E402
from packed import (Dumps, SUPPLIER, URI, change_something, spoil)  # noqa: E402


class Frames(Dumps):
    def packed(self):
        folder = os.path.join(self.data.folder, "snapshots", SUPPLIER)
        return sorted(os.path.join(folder, name)
                      for name in os.listdir(folder) if ".zstd" in name)

    def pack(self, level=3):
        self.data.gridctl("pack", "--for", "zstd", "--level", str(level),
                          SUPPLIER)

    def pack_anew(self):
        self.data.gridctl("compute", SUPPLIER)
        self.data.gridctl("prune", "--grace", "0")
        self.pack()

    def compare(self, problems, uri=URI):
        plain, packed = self.ask(None, uri), self.ask("zstd", uri)
        if unpacked_as("zstd", packed.body) != plain.body or \
                packed.headers.get("content-encoding") != "zstd":
            problems.append("%s: other bytes: %r" % (uri, packed.headers))
        told = packed.headers.get("content-length")
        if told is not None and int(told) != len(packed.body):
            problems.append("Content-Length %s, %d bytes" % (
                told, len(packed.body)))
        return packed


def is_stitched(reply):
    """The first block holds its bytes as they are; one packed on the way has a
    checksum, which the head tells."""
    return reply.headers.get("content-encoding") == "zstd" and \
        reply.body[4:6] == b"\0\x68" and reply.body[6] & 7 == 0


def an_operator_has_it_made(frames):
    problems = []
    if is_stitched(frames.compare(problems)) or frames.packed():
        problems.append("there before anybody has packed")
    frames.pack()
    got = frames.compare(problems)
    if not is_stitched(got) or "content-length" not in got.headers:
        problems.append("not of packed rows: %r" % got.headers)
    sizes = []
    for level in 3, 9, 19:
        frames.pack(level)
        frames.server.restart()
        sizes.append(len(frames.compare(problems).body))
    if sizes != sorted(sizes, reverse=True) or sizes[0] == sizes[2]:
        problems.append("levels 3, 9, 19: %r" % sizes)
    if sizes[2] * 6 > len(frames.ask(None).body):
        problems.append("hardly smaller: %r" % sizes)
    return problems


def who_gets_it(frames):
    problems = []
    for coding, want in (
            ("zstd", "zstd"), ("gzip, deflate, br, zstd", "zstd"),
            ("gzip;q=0.5, zstd", "zstd"), ("gzip, zstd;q=0.5", "gzip"),
            ("zstd;q=0, gzip", "gzip"), ("*", "gzip"), ("gzip", "gzip"),
            ("zstd;q=0.5, identity", None), (None, None)):
        got = frames.ask(coding).headers.get("content-encoding")
        if got != want:
            problems.append("%r: %r" % (coding, got))
    for query, want in (("&limit=5000", True), ("&enrich=0", True),
                        ("&limit=100", False), ("&fields=codein", False)):
        if is_stitched(frames.compare(problems, URI + query)) != want:
            problems.append("%s: stitched: %s" % (query, not want))
    get, head = frames.ask("zstd"), frames.ask("zstd", method="HEAD")
    for name in ("content-length", "content-encoding", "vary", "etag"):
        if get.headers.get(name) != head.headers.get(name) or head.body:
            problems.append("HEAD, %s: %r" % (name, head.headers.get(name)))
    return problems


def random_changes(frames, rounds):
    problems = []
    for number in range(rounds):
        what = change_something(frames)
        before = len(problems)
        if not is_stitched(frames.compare(problems)):
            problems.append("not of packed rows")
        frames.compare(problems, URI + "&enrich=0")
        if len(problems) > before:
            problems.append("round %d, after %s" % (number, what))
        if number % 6 == 5:
            frames.pack_anew()
    return problems


def damage(frames, rounds):
    """Right, cut or 500; then packed on the way, until it is made again."""
    problems, cuts = [], 0
    frames.pack_anew()
    plain = frames.ask(None).body
    while rounds > 0 or (cuts == 0 and rounds > -60):
        rounds -= 1
        frames.pack()
        what = spoil(frames.chance, frames.packed()[0])
        frames.server.restart()
        try:
            got = frames.ask("zstd")
            if got.status == 500:
                cuts += 1
            elif unpacked_as("zstd", got.body) != plain:
                problems.append("a wrong answer: " + what)
            if is_stitched(got):  # in rows that are packed anew
                os.unlink(frames.packed()[0])
                continue
        except Cut:
            cuts += 1
        got = frames.ask("zstd")
        if is_stitched(got) or unpacked_as("zstd", got.body) != plain:
            problems.append("used again: " + what)
        if frames.packed():
            problems.append("left: " + what)
    if cuts == 0:
        problems.append("no damage in a segment was met")
    return problems


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else \
        random.SystemRandom().randrange(10 ** 6)
    print("seed %d" % seed)
    frames = Frames(random.Random(seed))
    score = Score()
    score.note("an operator has it made", an_operator_has_it_made(frames))
    score.note("who gets a zstd dump", who_gets_it(frames))
    score.note("random live values", random_changes(frames, rounds))
    score.note("damaged packed rows", damage(frames, rounds))
    frames.server.stop()
    score.end()


if __name__ == "__main__":
    main()

"""A disk as a cut of the power leaves it, and what of the grid is then there.

    powercut.py BEFORE WRITES FOLDER

BEFORE is the disk before all writes, WRITES qemu's log of them (blklogwrites:
https://qemu.readthedocs.io, and the kernel's dm-log-writes, whose format it is):
a sector that says how it is, then for each write a sector with its place and
length, followed by its bytes; a flush is an entry without any.

A cut stands behind some entry. What came before the last flush is on the disk.
Of what came after it, any part may be: each write, or piece of 4096 or of 512
bytes of one, is there or not, as a random number has it. What the marks before
the cut say was acknowledged must be there after e2fsck, and gridctl check clean.

The log has writes in the order in which the guest asked for them; one that was
under way while a flush was asked for counts as covered by it. ext4 waits for what
it flushes, so that makes nothing safe that was not.
"""

import json
import os
import random
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = os.environ.get("abs_top_srcdir") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tests", "tools", "gridhook"))
from gridhook_kit import Hook, Window  # noqa: E402

BUILD = os.environ.get("abs_top_builddir") or TOP
GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
MAGIC = 0x6A736677736872
SECTOR = 512
MARKS = 400 << 20  # bytes; the file system ends before
FLUSH, DISCARD = 1, 4
CUTS = int(os.environ.get("GRID_CUTS", "100"))
SEED = int(os.environ.get("GRID_SEED", "1"))


class Entry:
    """A write: its place on the disk and in the log, or a flush, or a mark."""

    def __init__(self, flags, start, length, at):
        self.flush = bool(flags & FLUSH)
        self.start, self.length, self.at = start, length, at
        self.mark = None


def read_log(path):
    entries = []
    with open(path, "rb") as file:
        size = os.path.getsize(path)
        magic, version, _, sector = struct.unpack("<QQQI", file.read(28))
        assert (magic, version, sector) == (MAGIC, 1, SECTOR), "not such a log"
        at = SECTOR
        while at + SECTOR <= size:
            file.seek(at)
            start, count, flags, _ = struct.unpack("<QQQQ", file.read(32))
            entry = Entry(flags, start * SECTOR, count * SECTOR, at + SECTOR)
            at += SECTOR
            if not flags & DISCARD:
                at += entry.length
            else:
                entry.length = 0
            if entry.length and entry.start >= MARKS:
                file.seek(entry.at)
                entry.mark = file.read(entry.length).split(b"\n")[0].decode()
            entries.append(entry)
    return entries


class Known:
    """What the marks so far say; and what the disks had besides."""

    def __init__(self):
        self.puts = {}  # codein: the ranges that it may have
        self.push = self.proposals = self.shares = self.months = 0
        self.reached = {"import": 0, "compute": 0}
        self.keys = set()

    def take(self, mark):
        words = mark.split()
        if words[:2] == ["try", "put"]:
            self.puts.setdefault(words[2], [None]).append(words[3])
        elif words[0] == "put":
            self.puts[words[1]] = [words[2]]
            self.proposals += 1
        elif words[0] == "push":
            self.push = int(words[1])
        elif words[0] in self.reached:
            self.reached[words[0]] = int(words[1])
        elif words[0] == "key":
            self.keys.add("k-" + words[1])


# --- the disk ----------------------------------------------------------------------


def apply(disk, log, entry, offset=0, length=None):
    length = entry.length if length is None else length
    log.seek(entry.at + offset)
    disk.seek(entry.start + offset)
    disk.write(log.read(length))


def apply_some(disk, log, entry, chance, unit, dice):
    unit = unit or entry.length
    for offset in range(0, entry.length, unit):
        if dice.random() < chance:
            apply(disk, log, entry, offset, min(unit, entry.length - offset))


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def take_out(disk, folder):
    """The files of the disk, without mounting it."""
    code, said = run("e2fsck", "-fy", disk)
    assert code in (0, 1), "e2fsck: " + said
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for part in ("grid", "hook"):
        code, said = run("debugfs", "-R", "rdump /%s %s" % (part, folder), disk)
        assert os.path.isdir(os.path.join(folder, part)), said
    own(folder)


def own(folder):
    """The users of the machine are others here; gridctl would become them."""
    for path, _, names in os.walk(folder):
        for name in ["."] + names:
            os.chown(os.path.join(path, name), os.getuid(), os.getgid(),
                     follow_symlinks=False)


# --- what must be there ------------------------------------------------------------


def ctl(folder, *words):
    done = subprocess.run([GRIDCTL, "--data", folder + "/grid"] + list(words),
                          capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def label(folder):
    """The import that the snapshot shows, the same in each row of it."""
    rows = [json.loads(line) for line in ctl(folder, "dump", "S1").splitlines()]
    assert len(rows) == 400, len(rows)
    labels = {row["libelle1"] for row in rows}
    assert len(labels) == 1, labels
    return int(labels.pop().split("-")[1])


def files_of(folder, part, end):
    path = os.path.join(folder, part)
    names = os.listdir(path) if os.path.isdir(path) else []
    return [name for name in names if name.endswith(end)]


def look_at_grid(folder, known):
    ctl(folder, "check")
    pending = {row["codein"]: row["gamme"] for row in
               json.loads(ctl(folder, "proposals", "list", "--json", "S1"))}
    for codein, may in known.puts.items():
        assert pending.get(codein) in may, (codein, pending.get(codein), may)
    # The trail has all of them, in files of months that are over as well.
    trail = [entry for entry in json.loads(
        ctl(folder, "proposals", "log", "--json", "S1"))
             if entry["event"] in ("proposed", "replaced")]
    assert len(trail) >= known.proposals, (len(trail), known.proposals)
    known.months = len(files_of(folder, "grid/trail", ".part"))
    known.shares = max(known.shares, len(files_of(folder, "grid/facts", ".mdb")))
    names = {key["name"] for key in json.loads(ctl(folder, "key", "list",
                                                   "--json"))}
    assert known.keys <= names, known.keys - names
    shown = label(folder)
    assert shown >= known.reached["compute"], (shown, known.reached)
    # And it goes on.
    ctl(folder, "compute", "--quiet", "S1")
    assert label(folder) >= known.reached["import"], known.reached
    ctl(folder, "prune", "--grace", "0s")
    ctl(folder, "check")


def look_at_hook(folder, known):
    with Hook(settings={"store": {"data": folder + "/hook"}}) as hook:
        window = Window(os.path.join(hook.folder, "run", "interface.sock"))
        for number in range(1, known.push + 1):
            event = window.event()
            text = json.dumps(event)
            assert "push-%d." % number in text, (number, text)
            # Without it, 64 come.
            window.ack(event["seq"])
        window.close()


# --- cuts ---------------------------------------------------------------------------


class Disk:
    """The disk up to some entry of the log: what is synced, and what is not."""

    def __init__(self, before, writes, entries, heeds_flushes=True):
        self.path, self.entries, self.heeds = before, entries, heeds_flushes
        self.disk, self.log = open(before, "r+b"), open(writes, "rb")
        self.known, self.done, self.flushes, self.pending = Known(), 0, 0, []

    def go_on_to(self, cut):
        for entry in self.entries[self.done:cut + 1]:
            if entry.mark:
                self.known.take(entry.mark)
            elif entry.length:
                self.pending.append(entry)
            if entry.flush and self.heeds:
                self.flushes += 1
                for old in self.pending:
                    apply(self.disk, self.log, old)
                self.pending = []
        self.done = cut + 1
        self.disk.flush()

    def cut(self, path, dice):
        subprocess.run(["cp", "--sparse=always", self.path, path], check=True)
        chance = dice.choice((0, 0.2, 0.5, 0.8))
        unit = dice.choice((None, 4096, SECTOR))
        with open(path, "r+b") as copy:
            for entry in self.pending:
                apply_some(copy, self.log, entry, chance, unit, dice)


def look(disk, folder, dice):
    disk.cut(folder + "/cut", dice)
    take_out(folder + "/cut", folder + "/files")
    look_at_grid(folder + "/files", disk.known)
    look_at_hook(folder + "/files", disk.known)


def choose(entries, first, last, dice):
    """Half of them anywhere; half just before a flush, where most is open."""
    full = [i for i in range(first + 1, last) if entries[i + 1].flush]
    return sorted(dice.choice(full) if i % 2 else dice.randrange(first + 1, last)
                  for i in range(CUTS))


def loses_without_flushes(before, writes, entries, last, folder):
    """A disk that heeds no flush must be found out, or nothing is shown."""
    disk = Disk(before, writes, entries, heeds_flushes=False)
    disk.go_on_to(last)
    try:
        look(disk, folder, random.Random(SEED))
    except AssertionError:
        return True
    return False


def main(before, writes, folder):
    entries = read_log(writes)
    places = {entry.mark: i for i, entry in enumerate(entries) if entry.mark}
    first, last = places["begin"], places["end"]
    dice = random.Random(SEED)
    passed = failed = dropped = 0
    if loses_without_flushes(before, writes, entries, last, folder):
        passed += 1
    else:
        failed += 1
        print("not ok: a disk that heeds no flush lost nothing")
    disk = Disk(before, writes, entries)
    for cut in choose(entries, first, last, dice):
        disk.go_on_to(cut)
        dropped += len(disk.pending)
        try:
            look(disk, folder, dice)
            passed += 1
        except AssertionError as error:
            failed += 1
            print("not ok: cut behind entry %d, %d writes unsynced, seed %d: %s"
                  % (cut, len(disk.pending), SEED, error))
    known = disk.known
    print("%d entries, %d flushes until the last of %d cuts, %d writes unsynced "
          "at them; acknowledged: %d pushes, %d proposals, %d imports, %d "
          "computations, %d keys; %d files of facts, %d of the trail's months" %
          (len(entries), disk.flushes, CUTS, dropped, known.push, known.proposals,
           known.reached["import"], known.reached["compute"], len(known.keys),
           known.shares, known.months))
    if known.shares < 2 or known.months < 1:
        failed += 1
        print("not ok: the facts are in shares, and a month was closed")
    print("%d passed, %d failed" % (passed, failed))
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:4]) else 0)

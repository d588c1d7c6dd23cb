#!/usr/bin/env python3
"""What a request reads of a store that no cache holds.

    pages_in.py DATA COMMAND...   takes the store DATA out of the kernel's
                                  cache, runs the command, and prints what
                                  came in, by kind of file and section

Counts the pages that the kernel holds afterwards (mincore), which include
those that it read ahead; the bytes that the process caused to be read; and the
requests that the disk got in that time, of all programs.
"""
import ctypes
import mmap
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

PAGE = mmap.PAGESIZE
BRANCH, LEAF, LARGE, META = 1, 2, 4, 8  # of LMDB: kvpages_priv.h
WORD_SECTIONS = ["suppliers", "rows", "text", "text_at", "lists", "list_at",
                 "grams", "gram_at", "turnovers", "codes", "code_at", "sums"]
SNAP_SECTIONS = [(0, "head"), (1, "codein"), (2, "gamme"), (3, "code3"),
                 (4, "flats"), (5, "maps"), (6, "text"), (7, "text_at"),
                 (8, "tree"), (9, "grams"), (11, "sums"), (16, "numbers"),
                 (96, "orders"), (256, "terms"), (416, "months, stores"),
                 (425, "trend")]
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]


def files_of(data):
    return [path for path in sorted(Path(data).rglob("*")) if path.is_file()]


def forget(data):
    """Takes a store out of the kernel's cache: what is read next is cold."""
    for path in files_of(data):
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)  # what is not written yet would stay
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def resident(path):
    """Numbers of the file's pages that the kernel's cache holds."""
    size = path.stat().st_size
    if size == 0:
        return []
    fd = os.open(path, os.O_RDONLY)
    at = LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    os.close(fd)
    if at == ctypes.c_void_p(-1).value:
        sys.exit(f"failed: mmap of {path}")
    pages = (size + PAGE - 1) // PAGE
    seen = ctypes.create_string_buffer(pages)
    if LIBC.mincore(at, size, seen) != 0:
        sys.exit(f"failed: mincore of {path}")
    LIBC.munmap(at, size)
    return [i for i, byte in enumerate(seen.raw[:pages]) if byte & 1]


# --- sections -----------------------------------------------------------------


def snap_section(number):
    if number >= 512:
        return "rows, maps" if number % 2 else "rows, scalars"
    return [name for first, name in SNAP_SECTIONS if first <= number][-1]


def leaf_values(page):
    """The keys of a leaf whose values are on pages of their own, and which."""
    lower = struct.unpack_from("<H", page, 12)[0]
    for at in range(16, min(lower, PAGE), 2):
        if at + 2 > PAGE or (at - 16) % 2:
            continue
        node = struct.unpack_from("<H", page, at)[0]
        if node + 8 > PAGE:
            continue
        _, flags, length = struct.unpack_from("<IHH", page, node)
        if flags & 1 and node + 16 + length <= PAGE:
            yield (page[node + 8:node + 8 + length],
                   struct.unpack_from("<Q", page, node + 8 + length)[0])


def lmdb_places(file, size):
    """Where the file's parts begin, by page, with a key for each large value:
    read from the heads of its pages, one behind the other."""
    keys, larges, at = {}, [], 0
    while at * PAGE < size:
        file.seek(at * PAGE)
        head = file.read(PAGE)
        flags = struct.unpack_from("<H", head, 10)[0] if len(head) > 16 else 0
        count = 1
        if flags & LARGE and not flags & (LEAF | BRANCH):
            count = max(1, struct.unpack_from("<I", head, 12)[0])
            larges.append((at, count))
        elif flags & LEAF:
            keys.update((page, key) for key, page in leaf_values(head))
        at += count
    return keys, larges


def section_pages(path, inside):
    """Of the pages in the cache, how many are of which section."""
    sums = {}

    def add(name):
        sums[name] = sums.get(name, 0) + 1

    with open(path, "rb") as file:
        if path.name == "words.idx":
            head = file.read(56 + 16 * len(WORD_SECTIONS))
            places = [(*struct.unpack_from("<QQ", head, 56 + 16 * i), name)
                      for i, name in enumerate(WORD_SECTIONS)
                      if 56 + 16 * i + 16 <= len(head)]
            for page in inside:
                add(next((name for at, size, name in places
                          if at < (page + 1) * PAGE and
                          at + size > page * PAGE), "head"))
            return sums
        keys, larges = lmdb_places(file, path.stat().st_size)
    part = {}
    for at, count in larges:
        key = keys.get(at, b"")
        name = "values"
        if path.parent.parent.name == "snapshots":
            name = snap_section(int.from_bytes(key, "big")) if len(key) == 2 \
                else "else"
        part.update((at + i, name) for i in range(count))
    for page in inside:
        add(part.get(page, "index"))
    return sums


def kind_of(path):
    if path.parent.name == "facts":
        return "facts"
    if path.parent.parent.name == "snapshots":
        return f"snapshots, {path.suffix}"
    return path.name


def came_in(data):
    """Pages by kind of file and section; of each, in how many files."""
    sums = {}
    for path in files_of(data):
        inside = resident(path)
        if not inside:
            continue
        sections = {"": len(inside)}
        if path.suffix in (".mdb", ".idx"):
            sections = section_pages(path, inside)
        for name, pages in sections.items():
            seen = sums.setdefault((kind_of(path), name), [0, 0])
            seen[0] += pages
            seen[1] += 1
    return sums


# --- a run --------------------------------------------------------------------


def disk_reads(data):
    """Requests to read that the disk has had; None where it does not tell."""
    device = os.stat(data).st_dev
    try:
        text = Path(f"/sys/dev/block/{os.major(device)}:"
                    f"{os.minor(device)}/stat").read_text("ascii")
    except OSError:
        return None
    return int(text.split()[0])


class Cold:
    """A command with none of the store in the cache."""

    def __init__(self, data, command, **how):
        forget(data)
        reads = disk_reads(data)
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **how)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.wall = time.monotonic() - start
        after = disk_reads(data)
        if process.returncode != 0:
            sys.exit(f"failed: {' '.join(map(str, command))}")
        self.requests = None if reads is None else after - reads
        self.bytes = usage.ru_inblock * 512
        self.faults = usage.ru_majflt
        self.busy = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024
        self.came_in = came_in(data)

    def tell(self, name):
        """A line in Markdown for the whole, and one for each section."""
        requests = "-" if self.requests is None else f"{self.requests:,}"
        print(f"\n{name}: {self.bytes / 1e6:,.1f} MB read, {requests} requests "
              f"of the disk, {self.faults} major faults, {self.wall:.2f} s, "
              f"{self.busy:.2f} s of a processor\n")
        print("| file | section | files | MB in the cache |")
        print("|---|---|---|---|")
        for (kind, section), (pages, files) in sorted(
                self.came_in.items(), key=lambda item: -item[1][0]):
            print(f"| {kind} | {section} | {files} | "
                  f"{pages * PAGE / 1e6:,.2f} |")
        sys.stdout.flush()


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: pages_in.py DATA COMMAND...")
    Cold(sys.argv[1], sys.argv[2:]).tell("the command")


if __name__ == "__main__":
    main()

"""Each command of README.md, in its order, as somebody pastes it into a fresh
shell after tools/quickstart, and a fact of what it does.

README=FILE takes another file. The build that is being tested stands in for
quickstart's.
"""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import quickstart  # noqa: E402
from stack import BUILD, PATIENCE, TOP, needs_build_folder, run_tests  # noqa: E402

README = os.environ.get("README") or os.path.join(TOP, "README.md")
ARTICLES = quickstart.ARTICLES

# What is not run here, by how it begins, and where it is.
ELSEWHERE = {
    "tools/quickstart": "it has run before",
    "tools/check": "it runs this",
    "tools/dev/install-packages.sh": "tools/check",
    "tools/dev/deb.sh": "tests/system/systemd.sh",
    "./autogen.sh": "tests/system/install.sh and fresh.sh",
    "sudo apt install": "tests/system/systemd.sh",
    "sudo systemctl enable": "tests/system/systemd.sh",
}


def rows(text):
    return json.loads(text)["data"]


# What a command does: it is known by the pattern on the left, the first that
# fits. It ends with 0, and what it prints fits a pattern or a function.
FACTS = [
    (r"gridhud$", None),
    (r"^\. \S+/activate$", r"^$"),
    (r"/fournisseurs\?withData=1",
     lambda text: all(row["hasSnapshot"] for row in rows(text)) and rows(text)),
    (r"/nomenclatures\?",
     lambda text: ARTICLES / 2 < sum(row["nbArticles"] for row in rows(text))
     <= ARTICLES),
    (r"x-ndjson.*/grid\?", r"^%d$" % ARTICLES),
    (r"/grid\?.*limit=100&fields=libelle1,totalCa",
     lambda text: [len(row) for row in rows(text)] == [3] * 100),
    (r"/grid\?fournisseur=12345&limit=3&",
     lambda text: [len(row) for row in rows(text)] == [3] * 3),
    (r"/products/search\?", lambda text: rows(text)),
    (r"^\w+=\$\(mktemp -d\)$", r"^$"),
    (r"gridctl demo --out", r"(?m)^largest supplier: 12345$"),
    (r"gridctl .*init$", r" is ready: "),
    (r"gridctl .*import ", r"(?m)^imported [\d,]+ articles of 20 suppliers"),
    (r"gridctl .*compute --all", r"(?m)^(\d+) of \1 suppliers computed"),
    (r"gridctl .*key create", r"(?m)^grid_\w{50,}$"),
    (r"gridctl .*check\b", r"(?m)^all is whole$"),
    (r"^curl .*2\.4\.1 is out", r'^\{"ok":true,"events":1\}$'),
    (r"gridhook send", r"^$"),
    (r"gridhook tools --format",
     lambda text: [one["type"] for one in json.loads(text)] ==
     ["function"] * 14),
    (r"gridhook tools\b", lambda text: len(json.loads(text)) == 14),
    (r"gridhook call find_files",
     lambda text: "/paper.pdf" in str(
         json.loads(text)["structuredContent"]["files"])),
]


def commands():
    """What stands in by four blanks, outside of fences, without comments."""
    found, fenced, before = [], False, ""
    with open(README, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            fenced ^= line.startswith("```")
            if not fenced and line.startswith("    "):
                if before.endswith("\\"):
                    found[-1] += "\n" + line
                elif not line.strip().startswith("#"):
                    found.append(re.sub(r"\s+# .*", "", line).strip())
            before = line
    return found


def fact_of(command):
    for pattern, fact in FACTS:
        if re.search(pattern, command):
            return pattern, fact
    return None, None


class Reader:
    """Somebody with a clone, in which quickstart runs, and a new terminal."""

    only = None

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="grid-readme-")
        quickstart.atexit.register(shutil.rmtree, self.folder, True)
        os.environ["HOME"] = self.path("home")  # gridhook looks for files there
        quick = quickstart.quick()
        for name in ("docs", "tools"):
            os.symlink(os.path.join(TOP, name), self.path(name))
        os.symlink(quick.folder, self.path("quickstart-data"))
        os.mkdir(self.path("home"))
        os.mkdir(self.path("tmp"))
        open(self.path("home/paper.pdf"), "w").close()
        self.env = {"HOME": self.path("home"), "TMPDIR": self.path("tmp"),
                    "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm",
                    "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1"}

    def path(self, name):
        return os.path.join(self.folder, name)


def reader():
    if Reader.only is None:
        Reader.only = Reader()
    return Reader.only


def is_elsewhere(command):
    return any(command.startswith(begin) for begin in ELSEWHERE)


def what_is_wrong(command, printed, status):
    _, fact = fact_of(command)
    if status != 0:
        return "ended with %d" % status
    try:
        fits = re.search(fact, printed) if isinstance(fact, str) else \
            fact(printed)
    except (ValueError, KeyError, TypeError) as error:
        return repr(error)
    return None if fits else "prints something else"


def every_command_does_what_is_said():
    here = [one for one in commands() if not is_elsewhere(one)]
    todo = [one for one in here if fact_of(one)[1] is not None]
    bad = ["no fact is known of this command: " + one for one in here
           if fact_of(one)[0] is None]
    script = reader().path("pasted.sh")
    with open(script, "w", encoding="utf-8") as file:
        for number, command in enumerate(todo):
            out = reader().path("tmp/%d" % number)
            # In this shell, so that what it sets is there for the next one.
            file.write("{ %s\n} >%s.out 2>%s.err </dev/null\necho $? >%s.end\n"
                       % (command, out, out, out))
    subprocess.run(["sh", script], cwd=reader().folder, env=reader().env,
                   timeout=300)
    for number, command in enumerate(todo):
        told = {}
        for end in ("out", "err", "end"):
            try:
                with open(reader().path("tmp/%d.%s" % (number, end)),
                          encoding="utf-8") as file:
                    told[end] = file.read().rstrip("\n")
            except OSError:
                told[end] = ""
        wrong = what_is_wrong(command, told["out"], int(told["end"] or "127"))
        if wrong:
            bad.append("%s\n    %s: %s %s" % (command, wrong, told["out"][:300],
                                            told["err"][-300:]))
    assert not bad, "\n" + "\n".join(bad)


def nothing_is_left_out():
    """Each fact belongs to a command, and what is not run is there."""
    used = {fact_of(one)[0] for one in commands() if not is_elsewhere(one)}
    assert used == {pattern for pattern, _ in FACTS}, \
        "README.md has nothing like: %s" % ", ".join(
            pattern for pattern, _ in FACTS if pattern not in used)
    for begin in ELSEWHERE:
        assert any(one.startswith(begin) for one in commands()), begin


def has_window():
    with open(os.path.join(BUILD, "config.log"), encoding="utf-8",
              errors="replace") as file:
        return "HAVE_NCURSES_TRUE=''" in file.read()


def the_window_shows_what_was_pushed():
    """In a terminal, by a shell of its own, until q."""
    if not has_window():
        print("   not run: this build has no ncurses")
        return
    command = [one for one in commands() if one.endswith("gridhud")]
    assert len(command) == 1, command
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(reader().folder)
        os.execve("/bin/sh", ["sh", "-c", command[0]], reader().env)
    screen, left = b"", time.monotonic() + PATIENCE
    while not (b"2.4.1 is out" in screen and b"disk" in screen):
        ready, _, _ = select.select([terminal], [], [], 1)
        try:
            screen += os.read(terminal, 65536) if ready else b""
        except OSError:  # it has ended
            left = 0
        if time.monotonic() > left:
            os.kill(pid, signal.SIGKILL)
            raise AssertionError("the window shows: %r" % screen[-3000:])
    os.write(terminal, b"q")
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass
    assert os.waitpid(pid, 0)[1] == 0


def what_it_names_is_there():
    with open(README, encoding="utf-8") as file:
        text = file.read()
    named = set(re.findall(r"`((?:docs|tools|tests)/[^` ]+)`", text))
    named |= set(re.findall(r"\]\(([^)]+)\)", text))
    named |= {one.split()[0] for one in commands() if one.startswith("tools/")}
    assert len(named) > 12, named
    for name in named:
        assert os.path.exists(os.path.join(TOP, name)), name
    for page, section in re.findall(r"([a-z-]+)\((\d)\)", text):
        assert os.path.exists(os.path.join(
            TOP, "docs", "man", page + "." + section)), page


def its_manual_pages_are_found():
    """By man, which looks beside the folders of PATH."""
    with open(README, encoding="utf-8") as file:
        pages = set(re.findall(r"([a-z-]+)\((\d)\)", file.read()))
    assert pages
    command = ". quickstart-data/activate; man -w %s %s"
    if not shutil.which("man"):
        command = ". quickstart-data/activate; ls ${PATH%%%%/bin:*}/share/man/man%s/%s.*"
    for page, section in pages:
        found = subprocess.run(
            ["sh", "-c", command % (section, page)], cwd=reader().folder,
            env=reader().env, stdout=subprocess.PIPE, text=True, timeout=60)
        assert os.path.realpath(found.stdout.strip()) == os.path.realpath(
            os.path.join(TOP, "docs", "man", page + "." + section)), found


def main():
    needs_build_folder()
    run_tests([what_it_names_is_there, nothing_is_left_out,
               its_manual_pages_are_found, every_command_does_what_is_said,
               the_window_shows_what_was_pushed])


if __name__ == "__main__":
    main()

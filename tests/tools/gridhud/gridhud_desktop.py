"""A desktop for a test: a bus and a screen of its own, and what the test wants on them."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from gridhud_kit import PATIENCE

FAILED = {"job": "backup", "status": "error", "error": "no <space> left & more.", "source": "cron"}
TOP = os.environ.get("abs_top_srcdir", ".")


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            print("skipped: %s is not installed" % program)
            sys.exit(77)


class Session:
    """A bus of its own."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="grid-desk-")
        self.processes = []
        self.env = {"HOME": self.folder}
        with open(os.path.join(TOP, "tests/tools/gridhook/tool/desktop/bus.conf"), encoding="utf-8") as file:
            text = file.read().replace("@WORK@", self.folder)
        conf = os.path.join(self.folder, "bus.conf")
        with open(conf, "w", encoding="utf-8") as file:
            file.write(text)
        self.env["DBUS_SESSION_BUS_ADDRESS"] = self.first_line(
            ["dbus-daemon", "--nofork", "--config-file", conf, "--print-address=1"])

    def start(self, command, env=None, **more):
        process = subprocess.Popen(command, env=dict(os.environ, **(env or self.env)), stdin=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, **more)
        self.processes.append(process)
        return process

    def first_line(self, command):
        return self.start(command, stdout=subprocess.PIPE).stdout.readline().decode().strip()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


class Desktop(Session):
    """A screen beside the bus, and dunst on both."""

    def __init__(self, service=True, size="800x600"):
        super().__init__()
        self.env["DISPLAY"] = ":" + self.first_line(
            ["Xvfb", "-displayfd", "1", "-screen", "0", size + "x24", "-nolisten", "tcp", "-noreset"])
        if service:
            rules = os.path.join(self.folder, "dunstrc")
            with open(rules, "w", encoding="utf-8") as file:
                file.write("[global]\nmarkup = full\nidle_threshold = 0\n[urgency_critical]\ntimeout = 0\n"
                           "[urgency_normal]\ntimeout = 0\n")
            self.start(["dunst", "-conf", rules])
            end = time.monotonic() + PATIENCE
            while self.dunst("count") == "" and time.monotonic() < end:
                time.sleep(0.05)

    def dunst(self, *args):
        done = subprocess.run(["dunstctl"] + list(args), env=dict(os.environ, **self.env), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=PATIENCE)
        return done.stdout.decode().strip()

    def shown(self):
        return int(self.dunst("count", "displayed") or -1)

    def past(self):
        """(summary, body) of what is shown no longer, newest first."""
        rows = json.loads(self.dunst("history"))["data"][0]
        return [(row["summary"]["data"], row["body"]["data"]) for row in rows]

    def wait_shown(self, hud, count):
        hud.until(lambda: self.shown() == count, lambda: "%d are shown, not %d" % (self.shown(), count))

"""Exactly once: gridhook and the window are killed with SIGKILL at random while
pushes come in; every push that got its 200 must reach the window once, in order.

The window is a small one of this test's own, and then gridhud itself, in plain
mode, whose history is the record of what reached it.

GRIDHOOK_ONCE_PUSHES sets how many for each (default 1200; the long form is
10000), and GRIDHOOK_ONCE_SEED the random seed.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ.get("abs_top_srcdir", "."), "tests", "tools", "gridhud"))
from gridhud_kit import Hook, Hud, equal, run  # noqa: E402
from gridhook_kit import Window, read_answer  # noqa: E402

PUSHES = int(os.environ.get("GRIDHOOK_ONCE_PUSHES", "1200"))
SEED = int(os.environ.get("GRIDHOOK_ONCE_SEED", "1"))
SENDERS = 4
PAUSE = 0.01  # so that the kills fall among the pushes


def lines_of(path):
    """The whole lines of a file of JSON; none when it is not there."""
    try:
        with open(path, "rb") as file:
            return [json.loads(line) for line in file.read().split(b"\n")[:-1]]
    except FileNotFoundError:
        return []


def window_process(socket_path, history):
    """A window that keeps its last seq and what it shows in one line."""
    while True:
        lines = lines_of(history)
        epoch, last = (lines[-1][0], lines[-1][1]) if lines else (None, 0)
        try:
            window = Window(socket_path, client="w", epoch=epoch, ack=last)
            if window.welcome["epoch"] != epoch:
                epoch, last = window.welcome["epoch"], 0
            out = os.open(history, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            while True:
                line = window.wait("event")
                if line["seq"] > last:
                    last = line["seq"]
                    os.write(out, json.dumps([epoch, last, line["event"]["text"]]).encode() + b"\n")
                window.ack(last)
        except (OSError, AssertionError):
            time.sleep(0.02)


class OwnWindow:
    """The window above, in a process of its own."""

    name = "a window of the test's own"

    def __init__(self, hook):
        self.history = os.path.join(hook.folder, "history")
        self.socket = os.path.join(hook.folder, "run", "interface.sock")

    def start(self):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--window", self.socket,
                                         self.history])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def shown(self):
        return lines_of(self.history)

    def end(self):
        """Nothing to look over besides."""


class GridhudWindow:
    """gridhud --plain."""

    name = "gridhud"

    def __init__(self, hook):
        self.hud = Hud(hook, {"speech": {"enabled": "no"}, "history": {"keep_messages": 100000, "keep_bytes": "128M"}},
                       start=False, plain=True)

    def start(self):
        self.hud.start(wait=False)

    def kill(self):
        self.hud.process.send_signal(signal.SIGKILL)
        self.hud.process.wait()

    def shown(self):
        lines = lines_of(os.path.join(self.hud.folder, "history"))
        return [[line["e"], line["m"]["seq"], line["m"]["text"]] for line in lines if "m" in line]

    def end(self):
        """What it wrote for its reader stands in the history, in that order."""
        printed = [line.rsplit(" ", 1)[1] for line in self.hud.screen().splitlines() if " push: " in line]
        texts = [line[2] for line in self.shown()]
        equal(len(set(printed)), len(printed), "printed twice")
        assert printed, "nothing printed"
        equal([text for text in texts if text in set(printed)], printed, "printed")
        shutil.rmtree(self.hud.folder)


class Sender(threading.Thread):
    def __init__(self, hook, number, count):
        super().__init__()
        self.hook, self.number, self.count = hook, number, count
        self.counted = []
        self.lost = 0

    def run(self):
        sock = None
        for i in range(self.count):
            text = "%d-%d" % (self.number, i)
            body = json.dumps({"text": text}).encode()
            answer = None
            try:
                if sock is None:
                    sock = self.hook.connect()
                sock.sendall(b"POST /assistant/hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" %
                             len(body) + body)
                answer = read_answer(sock)
            except OSError:
                pass
            if answer is not None and answer.status == 200:
                self.counted.append(text)
                time.sleep(PAUSE)
                continue
            self.lost += 1
            sock = None
            time.sleep(0.03)


def push_and_kill(hook, window, senders):
    """How often gridhook and the window were killed until all was sent."""
    chance = random.Random(SEED)
    kills = [0, 0]
    for sender in senders:
        sender.start()
    while any(sender.is_alive() for sender in senders):
        time.sleep(chance.uniform(0.02, 0.25))
        which = chance.choice(("hook", "window", "both"))
        if which != "window":
            hook.kill()
            kills[0] += 1
        if which != "hook":
            window.kill()
            kills[1] += 1
            window.start()
        if which != "window":
            hook.start()
    for sender in senders:
        sender.join()
    return kills


def wait_all_taken(hook):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        status = hook.tool("get_app_status")["structuredContent"]
        if status["window_attached"] and status["pending_events"] == 0:
            return
        time.sleep(0.1)
    raise AssertionError("not all was taken: %r" % status)


def judge(lines, senders):
    seqs = [line[1] for line in lines]
    texts = [line[2] for line in lines]
    equal(len({line[0] for line in lines}), 1, "epochs")
    assert all(a < b for a, b in zip(seqs, seqs[1:])), "not in order"
    equal(len(set(texts)), len(texts), "something came twice")
    counted = [text for sender in senders for text in sender.counted]
    missing = set(counted) - set(texts)
    assert not missing, "%d counted pushes never came: %s" % (len(missing), sorted(missing)[:5])
    for sender in senders:
        own = [int(t.split("-")[1]) for t in texts if t.startswith("%d-" % sender.number)]
        equal(own, sorted(own), "order of one sender")
    assert counted
    return counted


def every_counted_push_arrives_once_and_in_order(kind):
    with Hook({"store": {"keep_events": 100000, "keep_bytes": "128M"}}) as hook:
        window = kind(hook)
        window.start()
        try:
            senders = [Sender(hook, i, PUSHES // SENDERS) for i in range(SENDERS)]
            kills = push_and_kill(hook, window, senders)
            wait_all_taken(hook)
        finally:
            window.kill()
        lines = window.shown()
        counted = judge(lines, senders)
        window.end()
        print("%s: %d pushes, %d counted with 200, %d answers lost, %d events shown, gridhook killed %d times, "
              "window %d times, seed %d" % (kind.name, PUSHES, len(counted), sum(s.lost for s in senders),
                                            len(lines), kills[0], kills[1], SEED))
        assert kills[0] > 0 and kills[1] > 0


def own_window_gets_each_push_once_and_in_order():
    every_counted_push_arrives_once_and_in_order(OwnWindow)


def gridhud_gets_each_push_once_and_in_order():
    every_counted_push_arrives_once_and_in_order(GridhudWindow)


if len(sys.argv) == 4 and sys.argv[1] == "--window":
    window_process(sys.argv[2], sys.argv[3])
else:
    run([own_window_gets_each_push_once_and_in_order, gridhud_gets_each_push_once_and_in_order])

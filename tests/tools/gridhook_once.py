"""Exactly once: gridhook and the window are killed with SIGKILL at random while
pushes come in; every push that got its 200 must reach the window once, in order.

GRIDHOOK_ONCE_PUSHES sets how many (default 1200; the long form is 10000), and
GRIDHOOK_ONCE_SEED the random seed.
"""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

from gridhook_kit import Hook, Window, equal, read_answer, run

PUSHES = int(os.environ.get("GRIDHOOK_ONCE_PUSHES", "1200"))
SEED = int(os.environ.get("GRIDHOOK_ONCE_SEED", "1"))
SENDERS = 4
PAUSE = 0.01  # so that the kills fall among the pushes


def handled(path):
    """What a window has written down: (epoch, seq, text) a line."""
    lines = []
    try:
        with open(path, "rb") as file:
            for line in file.read().split(b"\n")[:-1]:
                lines.append(json.loads(line))
    except FileNotFoundError:
        pass
    return lines


def window_process(socket_path, history):
    """A window that keeps its last seq and what it shows in one line."""
    while True:
        lines = handled(history)
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


def every_counted_push_arrives_once_and_in_order():
    chance = random.Random(SEED)
    with Hook({"store": {"keep_events": 100000, "keep_bytes": "128M"}}) as hook:
        history = os.path.join(hook.folder, "history")
        socket_path = os.path.join(hook.folder, "run", "interface.sock")

        def window():
            return subprocess.Popen([sys.executable, os.path.abspath(__file__), "--window", socket_path, history])

        shown = window()
        senders = [Sender(hook, i, PUSHES // SENDERS) for i in range(SENDERS)]
        for sender in senders:
            sender.start()
        kills = [0, 0]
        while any(sender.is_alive() for sender in senders):
            time.sleep(chance.uniform(0.02, 0.25))
            if chance.random() < 0.5:
                hook.kill()
                hook.start()
                kills[0] += 1
            else:
                shown.send_signal(signal.SIGKILL)
                shown.wait()
                shown = window()
                kills[1] += 1
        for sender in senders:
            sender.join()
        counted = [text for sender in senders for text in sender.counted]
        end = time.monotonic() + 60
        while time.monotonic() < end:
            status = hook.tool("get_app_status")["structuredContent"]
            if status["window_attached"] and status["pending_events"] == 0:
                break
            time.sleep(0.1)
        shown.send_signal(signal.SIGKILL)
        shown.wait()
        lines = handled(history)
        seqs = [line[1] for line in lines]
        texts = [line[2] for line in lines]
        equal(len({line[0] for line in lines}), 1, "epochs")
        assert all(a < b for a, b in zip(seqs, seqs[1:])), "not in order"
        equal(len(set(texts)), len(texts), "something came twice")
        missing = set(counted) - set(texts)
        assert not missing, "%d counted pushes never came: %s" % (len(missing), sorted(missing)[:5])
        for i in range(SENDERS):
            own = [int(t.split("-")[1]) for t in texts if t.startswith("%d-" % i)]
            equal(own, sorted(own), "order of one sender")
        print("%d pushes, %d counted with 200, %d answers lost, %d events shown, gridhook killed %d times, "
              "window %d times, seed %d" % (PUSHES, len(counted), sum(s.lost for s in senders), len(texts), kills[0],
                                            kills[1], SEED))
        assert counted and kills[0] > 0 and kills[1] > 0


if len(sys.argv) == 4 and sys.argv[1] == "--window":
    window_process(sys.argv[2], sys.argv[3])
else:
    run([every_counted_push_arrives_once_and_in_order])

"""Proposals while things go wrong: processes that are killed, computations
that take too long, a disk that is full.

    GRID_LONG=1      for the long test of what survives: 100 kills
    GRID_KILLS=300   for more
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid, GRIDCTL, write  # noqa: E402
from proposals import must  # noqa: E402
from stack import (PATIENCE, children, has_ended, kill,  # noqa: E402
                   run_in_a_namespace, run_tests, wait_until)

LONG = os.environ.get("GRID_LONG", "") not in ("", "0")
KILLS = int(os.environ.get("GRID_KILLS", "100" if LONG else "12"))
SEED = int(os.environ.get("GRID_KILL_SEED", "1"))

# --- kills -------------------------------------------------------------------


class Client(threading.Thread):
    """Proposes for all articles at once, over and over, never the same range
    twice in turn; between, requests that must be refused. Notes what was
    acknowledged."""

    def __init__(self, grid, name):
        super().__init__(daemon=True)
        self.grid, self.name_ = grid, name
        self.key = grid.make_key(name, "propose")
        self.noted, self.refused, self.broken = [], 0, 0
        self.wrong = []
        self.stop = False

    def ask(self, changes):
        connection = self.grid.connect(10)
        try:
            connection.request("POST", "/api/v1/gammes", json.dumps(
                {"fournisseur": "S1", "changes": [
                    {"codein": code, "gamme": gamme, "motif": "tour " + gamme}
                    for code, gamme in changes]}),
                {"X-API-Key": self.key, "Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def turn(self, number):
        gamme = "ABCY"[number % 4]
        status, body = self.ask([(code, gamme) for code in
                                 self.grid.articles])
        if status == 200:
            self.noted.append((json.loads(body)["meta"]["enregistreLe"],
                               gamme))
        elif status < 500:
            self.wrong.append((status, body))
        # Would withdraw all, were it not for the last one.
        status, body = self.ask([(code, "Z") for code in self.grid.articles] +
                                [("unknown", "Z")])
        if status == 404:
            self.refused += 1
        elif status < 500:
            self.wrong.append((status, body))

    def run(self):
        number = 0
        while not self.stop:
            try:
                self.turn(number)
            except Exception:  # what was cut is not acknowledged
                self.broken += 1
                time.sleep(0.01)
            number += 1


def kill_worker(grid, dice):
    workers = grid.workers()
    if workers:
        kill(dice.choice(workers))


def kill_supervisor(grid, _):
    """With all its workers, as systemd would: held first, so that it makes
    no new one meanwhile."""
    os.kill(grid.pool.pid, signal.SIGSTOP)
    pids = grid.workers() + [grid.pool.pid]
    for pid in pids:
        kill(pid)
    grid.pool.wait()
    wait_until(lambda: all(map(has_ended, pids)), "the pool is gone")
    grid.start_pool()


def kill_nginx(grid, _):
    pids = [grid.nginx.pid] + children(grid.nginx.pid)
    for pid in pids:
        kill(pid)
    grid.nginx.wait()
    wait_until(lambda: all(map(has_ended, pids)), "nginx is gone")
    grid.start_nginx()


def requests_of(grid):
    """What the trail has, in order: when, author and range of each request.
    Each stands in it whole, in one piece. One that was cut may be carried out
    beside the same one that was sent again, within a millisecond."""
    requests, first, expected = [], 0, 0
    for entry in grid.log_of("S1"):
        key = entry["at"], entry["actor"], entry["gamme"]
        assert entry["event"] in ("proposed", "replaced"), entry
        place = grid.articles.index(entry["codein"])
        if place == 0:
            requests.append(key)
            first = entry["number"]
        assert (place, entry["number"], key) == (
            expected, first + place, requests[-1]), entry
        expected = (place + 1) % len(grid.articles)
    assert expected == 0, requests[-1]
    return requests


def stood(requests, at):
    """Author and range of the last request until then."""
    before = [key for key in requests if key[0] < at]
    return before[-1][1:] if before else None


def check_acknowledged(grid, clients):
    """Each acknowledged request stands in the trail."""
    requests = requests_of(grid)
    there = set(requests)
    for client in clients:
        for at, gamme in client.noted:
            # Or it stood there already: when nothing got through for as
            # long as it takes to come round to the same range.
            assert (at, client.name_, gamme) in there or stood(
                requests, at) == (client.name_, gamme), (at, client.name_)
    last = requests[-1]
    pending = json.loads(grid.ctl("proposals", "list", "--json", "S1"))
    assert {(p["codein"], p["gamme"], p["author"]) for p in pending} == {
        (code, last[2], last[1]) for code in grid.articles}
    return len(requests)


def what_was_acknowledged_survives_kills():
    dice = random.Random(SEED)
    with Grid(articles=12) as grid:
        all_z = grid.path("z.csv")
        write(all_z, ["fournisseur,codein,gamme"] +
              ["S1,%s,Z" % code for code in grid.articles])
        grid.ctl("gammes", "import", "--quiet", all_z)
        clients = [Client(grid, "one"), Client(grid, "two")]
        for client in clients:
            client.start()
        def acknowledged():
            return sum(len(client.noted) for client in clients)

        for number in range(KILLS):
            before = acknowledged()
            time.sleep(dice.uniform(0.02, 0.25))
            # However slow the machine is, each kill meets somebody's work.
            wait_until(lambda: acknowledged() > before + 1 or any(
                client.wrong for client in clients), "they go on")
            dice.choices([kill_worker, kill_supervisor, kill_nginx],
                         [8, 1, 1])[0](grid, dice)
        time.sleep(0.3)
        for client in clients:
            client.stop = True
        for client in clients:
            client.join(PATIENCE)
            assert not client.wrong, client.wrong[:3]
        stored = check_acknowledged(grid, clients)
        noted = acknowledged()
        assert noted > KILLS, noted
        print("%d kills: %d acknowledged and all there, %d stored, "
              "%d refused, %d cut" % (
                  KILLS, noted, stored, sum(c.refused for c in clients),
                  sum(c.broken for c in clients)))


# --- slow computations -------------------------------------------------------


def program(grid, text):
    path = grid.path("gridctl")
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    grid.settings["compute.gridctl"] = path


class Post(threading.Thread):
    def __init__(self, grid, key):
        super().__init__(daemon=True)
        self.grid, self.key, self.answer = grid, key, None
        self.start()

    def run(self):
        connection = self.grid.connect()
        connection.request("POST", "/api/v1/gammes", json.dumps(
            {"fournisseur": "S3",
             "changes": [{"codein": "30000", "gamme": "A"}]}),
            {"X-API-Key": self.key, "Content-Type": "application/json"})
        response = connection.getresponse()
        self.answer = (response.status, json.loads(response.read()))


def a_slow_computation_holds_up_no_page_and_ends_at_its_limit():
    grid = Grid(settings={"compute.timeout": "2"})
    program(grid, "exec sleep 600\n")
    with grid:
        for _ in range(5):
            begin = time.monotonic()
            post = Post(grid, grid.key)
            times = pages_until(grid, post)
            status, body = post.answer
            assert status == 500 and body["error"]["code"] == "internal_error"
            assert "2 seconds" in body["error"]["message"], body
            assert time.monotonic() - begin > 1.9
            assert grid.log_of("S3") == []
            if len(times) > 50:
                break  # else this machine was too slow to tell
        # One that was held up would not be among them.
        assert len(times) > 50, times
        print("%d pages meanwhile, the longest %.1f ms" % (
            len(times), max(times) * 1000))


def pages_until(grid, post):
    """How long each page took that was there before the post's answer."""
    times = []
    while post.is_alive():
        start = time.monotonic()
        grid.rows()
        if post.answer is None:
            times.append(time.monotonic() - start)
    return times


def a_key_revoked_during_the_computation_proposes_nothing():
    grid = Grid()
    begun, go = grid.path("begun"), grid.path("go")
    program(grid, ": >%s; while [ -e %s ] && [ ! -e %s ]; do sleep 0.05; done; "
            "exec %s \"$@\"\n" % (begun, begun, go, GRIDCTL))
    with grid:
        key = grid.make_key("late", "propose")
        post = Post(grid, key)
        wait_until(lambda: os.path.exists(begun), "it is being computed")
        grid.ctl("key", "revoke", key.split("_")[1])
        write(go, [])
        post.join(PATIENCE)
        assert post.answer[0] == 401, post.answer
        assert grid.log_of("S3") == []
        must(grid.post([("30000", "A")], "S3"), 200)


# --- a full disk -------------------------------------------------------------


def fill_up(path):
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass


def in_a_disk_of_its_own():
    """Within a mount namespace of its own, where /mnt is a small disk."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs",
                    "/mnt"], check=True)
    with Grid(articles=10000, data="/mnt/data") as grid:
        other = "/mnt/filler"
        ranges = ["A", "B"]
        for turn in range(3):
            changes = [(code, ranges[turn % 2]) for code in grid.articles]
            before = json.loads(grid.ctl("proposals", "list", "--json", "S1"))
            trail = len(grid.log_of("S1"))
            fill_up(other)
            for _ in range(20):
                answer = must(grid.post(changes), 500, "internal_error")
                assert "disk is full" in answer.json["error"]["message"]
            assert grid.rows(more="&limit=10")["pagination"]["total"] == 10000
            must(grid.ask("GET", "/readyz"), 200)
            os.unlink(other)
            assert len(grid.log_of("S1")) == trail
            assert json.loads(grid.ctl("proposals", "list", "--json",
                                       "S1")) == before
            must(grid.post(changes), 200)
            assert len(grid.log_of("S1")) > trail
        full_disk_in_log(grid)


def full_disk_in_log(grid):
    """A line for each process and minute; the end of it is a minute without."""
    lines = grid.log().splitlines()
    told = [line for line in lines if "the disk is full: make room: "
            "file=/mnt/data/state.mdb times=" in line]
    works = [line for line in lines if "storage: writes work again: "
             "file=/mnt/data/state.mdb refused=" in line]
    begun = time.mktime(time.strptime(lines[0][:19], "%Y-%m-%dT%H:%M:%S"))
    ended = time.mktime(time.strptime(lines[-1][:19], "%Y-%m-%dT%H:%M:%S"))
    writers, minutes = len(set(pids(told))), int((ended - begun) / 60)
    most = writers * (1 + minutes)
    assert 0 < len(told) <= most, lines
    assert len(works) <= writers * minutes, lines
    others = [line for line in lines if " error " in line and line not in told]
    assert len(others) <= most, others


def pids(lines):
    return [line.split("[")[1].split("]")[0] for line in lines]


def a_full_disk_is_told_and_changes_nothing():
    run_in_a_namespace(__file__, "--inside")


if __name__ == "__main__":
    if sys.argv[1:] == ["--inside"]:
        in_a_disk_of_its_own()
        sys.exit(0)
    run_tests([
        what_was_acknowledged_survives_kills,
        a_slow_computation_holds_up_no_page_and_ends_at_its_limit,
        a_key_revoked_during_the_computation_proposes_nothing,
        a_full_disk_is_told_and_changes_nothing,
    ])

"""The feed of proposals while others write and workers are killed: a reader that
goes on by the cursor sees each entry once, in the order of the commits."""

import json
import os
import random
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid  # noqa: E402
from stack import run_tests, wait_until  # noqa: E402

KILLS = 12
ABOUT_RANGES = {"proposed", "replaced", "withdrawn", "validated", "rejected",
                "edited", "arrived"}


def trail(grid):
    """The same from gridctl."""
    return [entry for entry in json.loads(grid.ctl("proposals", "log",
                                                   "--json"))
            if entry["event"] in ABOUT_RANGES]


class Writer(threading.Thread):
    def __init__(self, grid, name):
        super().__init__(daemon=True)
        self.grid, self.end = grid, False
        self.key = grid.make_key(name, "propose")

    def run(self):
        number = 0
        while not self.end:
            number += 1
            changes = [{"codein": code, "gamme": "ABCY"[number % 4],
                        "motif": "tour %d" % number}
                       for code in self.grid.articles]
            connection = self.grid.connect(10)
            try:
                connection.request("POST", "/api/v1/gammes", json.dumps(
                    {"fournisseur": "S1", "changes": changes}),
                    {"X-API-Key": self.key,
                     "Content-Type": "application/json"})
                connection.getresponse().read()
            except OSError:
                pass  # its worker was killed
            except Exception as error:  # noqa: BLE001
                assert "http.client" in repr(type(error)), error
            finally:
                connection.close()


class Reader(threading.Thread):
    """Follows the feed by its cursor, some entries at a time."""

    def __init__(self, grid, seed):
        super().__init__(daemon=True)
        self.grid, self.chance = grid, random.Random(seed)
        self.seen, self.cursor, self.end, self.wrong = [], None, False, []

    def step(self):
        """How many entries came; None: nobody answered."""
        path = "/api/v1/propositions?order=asc&limit=%d" % \
            self.chance.choice((1, 7, 50))
        if self.cursor:
            path += "&depuis=" + self.cursor
        connection = self.grid.connect(10)
        try:
            connection.request("GET", path,
                               headers={"X-API-Key": self.grid.read_key})
            answer = connection.getresponse()
            body = answer.read()
        except Exception:  # noqa: BLE001
            return None
        finally:
            connection.close()
        if answer.status in (500, 502):
            return None
        if answer.status != 200:
            self.wrong.append((answer.status, body))
            return None
        body = json.loads(body)
        self.seen += body["data"]
        self.cursor = body["meta"]["suivant"]
        return len(body["data"])

    def run(self):
        while not self.end:
            self.step()


def a_reader_misses_nothing_and_sees_nothing_twice():
    with Grid() as grid:
        grid.make_key("other", "read")  # an entry that is none of the feed
        reader = Reader(grid, 1)
        writers = [Writer(grid, "writer%d" % i) for i in range(3)]
        chance = random.Random(2)
        reader.start()
        for writer in writers:
            writer.start()
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.1, 0.6))
            workers = grid.workers_of("pages")
            if workers:
                os.kill(chance.choice(workers), signal.SIGKILL)
        for writer in writers:
            writer.end = True
        for writer in writers:
            writer.join(60)
        reader.end = True
        reader.join(60)
        wait_until(lambda: reader.step() == 0, "the reader is at the end")
        assert not reader.wrong, reader.wrong[:2]
        want = trail(grid)
        assert [entry["numero"] for entry in reader.seen] == [
            entry["number"] for entry in want]
        for got, entry in zip(reader.seen, want):
            assert (got["codein"], got["gamme"], got["motif"]) == (
                entry["codein"], entry["gamme"], entry["motif"]), got
        # An article's part, by the index, is the same.
        for code in grid.articles:
            part = grid.ask("GET", "/api/v1/products/%s/gammes?fournisseur=S1"
                            "&order=asc&limit=10000" % code).json
            assert part["data"] == [entry for entry in reader.seen
                                    if entry["codein"] == code], code
        print("   %d entries, %d kills" % (len(want), KILLS))


def by_article_author_and_the_newest_first_it_is_the_same():
    with Grid() as grid:
        one, two = grid.articles[:2]
        grid.put(one, "B")
        grid.put(two, "C", motif="deux")
        grid.ctl("proposals", "save", "S1", one)
        grid.ctl("proposals", "cancel", "S1", two)
        every = grid.ask("GET", "/api/v1/propositions?order=asc").json["data"]
        assert [e["etat"] for e in every] == [
            "proposee", "proposee", "validee", "rejetee"], every
        assert all(e["proposeePar"] == "robot" for e in every)
        back, cursor = [], ""
        while cursor is not None:
            page = grid.ask("GET", "/api/v1/propositions?limit=1" + (
                "&depuis=" + cursor if cursor else "")).json
            back += page["data"]
            cursor = page["meta"]["suivant"]
        assert back == every[::-1], back
        mine = grid.ask("GET", "/api/v1/propositions?auteur=robot"
                        "&etat=validee,rejetee&order=asc").json["data"]
        assert mine == every[2:], mine
        history = grid.ask(
            "GET", "/api/v1/products/%s/gammes?order=asc" % one).json
        assert history["data"] == [e for e in every if e["codein"] == one]
        # Times 4 it is 2^64, and more than any history has.
        far = grid.ask("GET", "/api/v1/products/%s/gammes?limit=4"
                       "&page=4611686018427387905" % one).json
        assert far["data"] == [], far
        assert far["meta"]["total"] == len(history["data"]), far
        # A store from a backup has other entries at those numbers.
        wrong = grid.ask("GET", "/api/v1/propositions?depuis=%d-1" %
                         every[-1]["numero"])
        assert wrong.status == 404, wrong.text


run_tests([
    a_reader_misses_nothing_and_sees_nothing_twice,
    by_article_author_and_the_newest_first_it_is_the_same,
])

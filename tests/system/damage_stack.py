"""Bytes that change in published files while nginx and gridapi serve them, and
what curl makes of the answers.

    GRID_DAMAGES=100    damages (default 4), each to another file or place
    GRID_SEED=7         of the places (default: another one each time)

After each damage everything is asked for. An answer is the one that was given
before, or says that it is none: an error, or one that curl calls cut. Then the
supplier is computed anew by itself, and all answers are right again."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid  # noqa: E402
from stack import PATIENCE, run_tests, wait_until  # noqa: E402

DAMAGES = int(os.environ.get("GRID_DAMAGES", "4"))
SEED = int(os.environ.get("GRID_SEED", str(random.randrange(10**6))))
ARTICLES = 4000
CUT = (18, 56, 61, 92)  # of curl: partial, reset, bad coding, stream
API = "/api/v1"
S1 = API + "/grid?fournisseur=S1"
ASKED = [
    (S1, []),
    (S1, ["--compressed"]),
    (S1, ["-H", "Accept: text/csv"]),
    (S1, ["-H", "Accept: application/x-ndjson", "--compressed"]),
    (S1 + "&limit=100&page=7", []),
    (S1 + "&limit=100&sort=libelle1&order=desc&fields=codein,libelle1", []),
    (S1 + "&limit=50&search=article%2013", []),
    (S1 + "&limit=50&gamme=C&sort=prixVente", []),
    (API + "/products/search?q=article&limit=60", []),
    (API + "/products/search?q=13012&fournisseur=S1", []),
    (API + "/products/10001?fournisseur=S1", []),
    (API + "/products/10001", []),
    (API + "/nomenclatures?fournisseur=S1&niveau=2", []),
]


def curl(grid, path, more=()):
    """(curl's exit status, the HTTP status, the body)."""
    with tempfile.NamedTemporaryFile(dir=grid.path(".")) as body:
        # The key by standard input: arguments are seen by all.
        done = subprocess.run(
            ["curl", "-s", "-o", body.name, "-w", "%{http_code}", "-K", "-",
             "--max-time", str(PATIENCE)] + list(more) +
            ["http://127.0.0.1:%d%s" % (grid.port, path)],
            input='header = "X-API-Key: %s"\n' % grid.key,
            capture_output=True, text=True, check=False)
        with open(body.name, "rb") as file:
            return done.returncode, int(done.stdout or 0), file.read()


def rows_of(body):
    """What a computation of the same facts makes again."""
    try:
        answer = json.loads(body.decode())
        return json.dumps([answer["data"], answer.get("pagination")])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")


def all_answers(grid):
    return [curl(grid, path, more) for path, more in ASKED]


def files_of(grid, kind):
    if kind == "words":
        # A damaged one goes; the next is made after a minute.
        words = os.path.join(grid.data, "words.idx")
        return [words] if os.path.exists(words) else []
    folder = os.path.join(grid.data, "snapshots", "S1")
    newest = sorted(name for name in os.listdir(folder)
                    if name.endswith(".mdb") == (kind == "snapshot"))
    return [os.path.join(folder, name) for name in newest[-1:]]


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes((byte ^ 1 << at % 8,)))


def whole_answers(grid):
    """Until each is there, and the packed rows too."""
    end = time.monotonic() + PATIENCE
    while True:
        answers = all_answers(grid)
        if all(code == 0 and status == 200 for code, status, _ in answers):
            return [rows_of(body) for _, _, body in answers]
        assert time.monotonic() < end, [one[:2] for one in answers]
        time.sleep(0.1)


def judge(answer, want, told):
    """Whether it is right; what is not must say that it is no answer."""
    code, status, body = answer
    if code == 0 and status == 200:
        return rows_of(body) == want
    if status in (202, 500, 502, 503) and code == 0:
        json.loads(body.decode())["error"]["code"]
        told["refused"] += 1
        return True
    told["cut"] += code in CUT
    return code in CUT


def no_worker_died(grid):
    log = grid.log()
    return "worker ended" not in log and "worker was killed" not in log


def bytes_that_change_under_the_server_are_never_answered():
    chance = random.Random(SEED)
    told = {"refused": 0, "cut": 0}
    wrong = []
    with Grid(articles=ARTICLES) as grid:
        grid.ctl("pack", "S1")
        grid.ctl("index")
        want = whole_answers(grid)
        for number in range(DAMAGES):
            kind = ("snapshot", "snapshot", "packed", "words")[number % 4]
            for path in files_of(grid, kind):
                at = chance.randrange(os.path.getsize(path))
                flip(path, at)
            time.sleep(0.012)  # files are looked at each 10 ms
            for (path, more), answer, right in zip(ASKED, all_answers(grid),
                                                   want):
                # A search may leave S1 out, and says so.
                if b'"sansSnapshot":2' not in answer[2] and \
                        not judge(answer, right, told):
                    wrong.append((kind, at, path, more, answer[:2]))
            assert whole_answers(grid) == want, "computed anew"
        print("seed %d: %d damages, %d answers refused, %d cut, %d wrong" %
              (SEED, DAMAGES, told["refused"], told["cut"], len(wrong)))
        assert not wrong, wrong
        assert no_worker_died(grid), grid.log()


def a_dump_of_damaged_rows_is_cut_and_the_next_one_whole():
    with Grid(articles=ARTICLES) as grid:
        grid.ctl("pack", "S1")
        code, status, before = curl(grid, S1, ["--compressed"])
        assert (code, status) == (0, 200)
        packed = files_of(grid, "packed")[0]
        flip(packed, os.path.getsize(packed) // 2)
        time.sleep(0.012)
        code, status, body = curl(grid, S1, ["--compressed"])
        # 500: no byte was out yet.
        assert code in CUT or (code, status) == (0, 500) or \
            (code, status, body) == (0, 200, before), (code, status)
        print("curl says %d, status %d, %d of %d bytes" %
              (code, status, len(body), len(before)))
        wait_until(lambda: curl(grid, S1, ["--compressed"])[0::2] ==
                   (0, before), "the next dump is whole")
        assert no_worker_died(grid), grid.log()


run_tests([
    bytes_that_change_under_the_server_are_never_answered,
    a_dump_of_damaged_rows_is_cut_and_the_next_one_whole,
])

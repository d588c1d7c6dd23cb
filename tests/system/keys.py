"""Keys that end, that have a pace, that see some suppliers only."""

import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid  # noqa: E402
from stack import run_tests, wait_until  # noqa: E402


def make(grid, *words, scope="read", name="bounded"):
    return grid.ctl("key", "create", "--name", name, "--scope", scope,
                    *words).strip()


def status(grid, key, path="/api/v1/fournisseurs"):
    return grid.ask("GET", path, key=key).status


def a_key_ends():
    with Grid() as grid:
        end = time.gmtime(time.time() + 20)
        key = make(grid, "--expires", time.strftime("%Y-%m-%dT%H:%M:%SZ", end))
        assert status(grid, key) == 200
        wait_until(lambda: status(grid, key) == 401, "the key ends", 60)
        make(grid, "--expires", "90d")  # the name is free again
        refused = grid.ctl("key", "create", "--name", "x", "--scope", "read",
                           "--expires", "2001-01-01", check=False)
        assert refused.returncode == 2 and "2001-01-01" in refused.stderr


def a_key_has_a_pace_over_all_processes():
    with Grid() as grid:
        key = make(grid, "--rate", "30")
        answers = [grid.ask("GET", "/api/v1/fournisseurs", key=key)
                   for _ in range(45)]
        good = [a.status for a in answers].count(200)
        refused = [a for a in answers if a.status == 429]
        # 30 at once, and one more for each two seconds that went by.
        assert 30 <= good and refused, [a.status for a in answers]
        assert answers[29].status == 200
        assert refused[0].code == "forbidden"
        assert int(refused[0].headers["Retry-After"]) >= 1
        assert status(grid, grid.key) == 200
        wait_until(lambda: status(grid, key) == 200, "it may ask again", 60)


def other_suppliers_do_not_exist():
    with Grid() as grid:
        one, mine = grid.articles[0], make(grid, "--suppliers", "S2",
                                           scope="propose")
        two = make(grid, "--suppliers", "S1,S3", name="two")

        def ask(path, key=mine, **headers):
            return grid.ask("GET", "/api/v1" + path, key=key, headers=headers)
        codes = [row["code"] for row in ask("/fournisseurs").json["data"]]
        assert codes == ["S2"], codes
        for path in ("/grid?fournisseur=S1", "/nomenclatures?fournisseur=S1",
                     "/grid/aggregates?fournisseur=S1",
                     "/products/search?q=article&fournisseur=S1",
                     "/products/%s?fournisseur=S1" % one,
                     "/products/%s/gammes?fournisseur=S1" % one):
            got = ask(path)
            assert got.status == 404, (path, got.text)
            plain = grid.ask("GET", "/api/v1" + path.replace("S1", "S9"))
            assert got.text == plain.text.replace("S9", "S1"), got.text
        row = ask("/products/" + one).json
        assert row["data"]["codeFournisseur"] == "S2"
        assert row["meta"]["fournisseurs"] == ["S2"], row["meta"]
        found = ask("/products/search?q=same&fields=codeFournisseur").json
        assert {r["codeFournisseur"] for r in found["data"]} == {"S2"}
        assert ask("/products/search?q=same", two).status == 403
        assert ask("/products/search?q=article&fournisseur=S1",
                   two).json["data"]
        # What another supplier's articles get is not told, nor proposed.
        grid.put(one, "B")
        assert ask("/propositions").json["data"] == []
        assert len(ask("/propositions", two).json["data"]) == 1
        assert grid.put(one, "C", key=mine).status == 404
        assert grid.ask("POST", "/api/v1/products/lookup?fournisseur=S1",
                        {"codein": [one]}, key=mine).status == 404
        assert grid.ask("PUT", "/api/v1/products/%s/gamme" % one,
                        {"gamme": "Z"}, key=mine).json["data"][
                            "codeFournisseur"] == "S2"
        # A tag of one key's answer is none of another's.
        tag = grid.ask("GET", "/api/v1/fournisseurs").headers["ETag"]
        assert ask("/fournisseurs", **{"If-None-Match": tag}).status == 200


def lists_show_what_bounds_a_key():
    with Grid() as grid:
        make(grid, "--rate", "600", "--suppliers", "S2,S3", "--expires",
             "2999-01-01")
        shown = {key["name"]: key for key in
                 json.loads(grid.ctl("key", "list", "--json"))}
        assert shown["bounded"]["perMinute"] == 600
        assert shown["bounded"]["suppliers"] == ["S2", "S3"]
        assert shown["bounded"]["expiresAt"].startswith("2999-01-01T")
        assert [shown["robot"][name] for name in (
            "perMinute", "suppliers", "expiresAt")] == [None, None, None]
        line = [line for line in grid.ctl("key", "list").splitlines()
                if "bounded" in line][0]
        assert line.endswith("bounded, until 2999-01-01T00:00:00.000Z, "
                             "600 a minute, suppliers S2,S3"), line


def a_key_is_replaced_without_a_gap():
    with Grid() as grid:
        def shown():
            return {key["name"]: key for key in
                    json.loads(grid.ctl("key", "list", "--json"))}

        old = make(grid, name="night 2026")
        assert status(grid, old) == 200
        new = make(grid, name="night 2027")
        assert status(grid, old) == 200 and status(grid, new) == 200
        # Whether anybody still has the old one, the list says.
        wait_until(lambda: shown()["night 2027"]["lastUsedAt"],
                   "the use is noted", 120)
        assert shown()["night 2026"]["lastUsedAt"]
        grid.ctl("key", "revoke", shown()["night 2026"]["id"])
        assert status(grid, old) == 401 and status(grid, new) == 200


run_tests([
    a_key_is_replaced_without_a_gap,
    a_key_ends,
    a_key_has_a_pace_over_all_processes,
    other_suppliers_do_not_exist,
    lists_show_what_bounds_a_key,
])

"""Range proposals through nginx, from deposit to arrival."""

import json
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid  # noqa: E402
from stack import run_tests  # noqa: E402


def must(answer, status, code=None):
    assert answer.status == status, (answer.status, answer.text)
    if code is not None:
        assert answer.code == code, answer.text
    return answer


# --- the life of a proposal --------------------------------------------------


def a_proposal_goes_its_whole_way():
    with Grid() as grid:
        codein = grid.articles[0]
        result = must(grid.put(codein, "B"), 200).json
        assert result["data"] == {
            "codein": codein, "gamme": "B", "gammePrecedente": "A",
            "codeGammeServeur": "A", "modifie": True, "statut": "a_valider",
            "codeFournisseur": "S1", "nomFournisseur": "Un"}, result
        assert grid.row(codein) == ("A", "A", "B")
        grid.ctl("proposals", "save", "S1", codein)
        assert grid.row(codein) == ("A", "B", None)
        assert grid.ctl("gammes", "export") == (
            "fournisseur,codein,gamme\nS1,%s,B\n" % codein)
        again = must(grid.put(codein, "B"), 200).json["data"]
        assert (again["modifie"], again["statut"], again["gammePrecedente"],
                again["codeGammeServeur"]) == (False, "inchangee", "B", "A")
        out = grid.path("back.csv")
        grid.ctl("gammes", "export", "--out", out)
        said = grid.ctl("gammes", "import", out)
        assert "1 validated changes have arrived" in said, said
        assert grid.row(codein) == ("B", "B", None)
        assert grid.ctl("gammes", "export") == "fournisseur,codein,gamme\n"
        assert [(entry["event"], entry["actor"]) for entry in
                grid.log_of("--codein", codein, "S1")] == [
                    ("proposed", "robot"), ("validated", "gridctl"),
                    ("arrived", "gridctl")]


def an_import_of_the_proposed_range_withdraws_the_proposal():
    with Grid() as grid:
        same, other = grid.articles[0], grid.articles[1]
        must(grid.post([(same, "C"), (other, "C")]), 200)
        path = grid.path("ranges.csv")
        with open(path, "w") as file:
            file.write("fournisseur,codein,gamme\nS1,%s,C\nS1,%s,Y\n" % (
                same, other))
        said = grid.ctl("gammes", "import", path)
        assert "1 proposals are withdrawn" in said, said
        assert grid.row(same) == ("C", "C", None)
        assert grid.row(other) == ("Y", "Y", "C")
        assert [(entry["event"], entry["actor"], entry["gamme"]) for entry in
                grid.log_of("--codein", same, "S1")] == [
                    ("proposed", "robot", "C"), ("withdrawn", "gridctl", "C")]


def the_last_decision_is_the_last_that_is_exported():
    """B is exported; before it arrives the buyer goes back to A, which the
    server has. The import of B comes, and the one of A after it."""
    with Grid() as grid:
        codein = grid.articles[0]
        session = grid.login()

        def decide(gamme, before, result):
            answer = must(grid.app(session, "POST", "/save", {
                "fournisseur": "S1", "proposals": [], "edits": [
                    {"codein": codein, "gamme": gamme, "codeGamme": before,
                     "gammeAValider": None}]}), 200)
            assert answer.json["data"][0]["result"] == result, answer.text

        files = [grid.path("%d.csv" % i) for i in range(2)]
        decide("B", "A", "applied")
        grid.ctl("gammes", "export", "--out", files[0])
        decide("A", "B", "applied")
        assert grid.row(codein) == ("A", "A", None)
        grid.ctl("gammes", "export", "--out", files[1])
        with open(files[1]) as file:
            assert file.read().endswith("\nS1,%s,A\n" % codein)
        for path, row in zip(files, [("B", "A", None), ("A", "A", None)]):
            grid.ctl("gammes", "import", path)
            assert grid.row(codein) == row, grid.row(codein)
        assert grid.ctl("gammes", "export") == "fournisseur,codein,gamme\n"
        # Of an article without a range: null cannot overtake what was sent.
        codein = grid.articles[5]
        decide("C", None, "applied")
        grid.ctl("gammes", "export")
        decide(None, "C", "refused")
        assert grid.row(codein) == (None, "C", None)


def a_change_that_has_arrived_is_the_servers():
    """Seen with enrich=0 it is computed first, like all that is."""
    with Grid() as grid:
        codein = grid.articles[0]

        def raw():
            rows = grid.rows(more="&enrich=0")["data"]
            return next((row["codeGammeServeur"], row["codeGamme"])
                        for row in rows if row["codein"] == codein)

        must(grid.put(codein, "B"), 200)
        grid.ctl("proposals", "save", "S1", codein)
        assert raw() == ("A", "B")
        out = grid.path("out.csv")
        grid.ctl("gammes", "export", "--out", out)
        grid.ctl("gammes", "import", out)
        assert raw() == ("A", "A")
        assert grid.row(codein) == ("B", "B", None)
        grid.ctl("compute", "S1")
        assert raw() == ("B", "B")


def changes_of_articles_that_are_gone_are_left_out_and_told():
    with Grid() as grid:
        here, gone = grid.articles[:2]
        must(grid.post([(here, "C"), (gone, "C")]), 200)
        grid.ctl("proposals", "save", "S1", here, gone)
        path = grid.path("csv/articles.csv")
        with open(path) as file:
            lines = file.read().splitlines()
        with open(path, "w") as file:
            file.writelines(line + "\n" for line in lines
                            if not line.startswith("S1,%s," % gone))
        grid.ctl("import", "--quiet", grid.path("csv"))
        done = grid.ctl("gammes", "export", check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "fournisseur,codein,gamme\nS1,%s,C\n" % here
        assert "1 validated change is left out" in done.stderr, done.stderr
        with open(path, "w") as file:
            file.writelines(line + "\n" for line in lines)
        grid.ctl("import", "--quiet", grid.path("csv"))
        done = grid.ctl("gammes", "export", check=False)
        assert done.stdout == (
            "fournisseur,codein,gamme\nS1,%s,C\nS1,%s,C\n" % (here, gone))
        assert done.stderr == "", done.stderr


def a_post_tells_each_result_and_the_sums():
    with Grid() as grid:
        one, two, none = grid.articles[0], grid.articles[1], grid.articles[5]
        answer = must(grid.post([(one, "C"), (two, "B"), (none, "Z"),
                                 (one, "C")]), 200).json
        assert [(item["codein"], item["gammePrecedente"], item["statut"])
                for item in answer["data"]] == [
                    (one, "A", "a_valider"), (two, "B", "inchangee"),
                    (none, None, "a_valider"), (one, "A", "a_valider")]
        meta = answer["meta"]
        assert meta.pop("enregistreLe").endswith("Z")
        assert meta == {"codeFournisseur": "S1", "nomFournisseur": "Un",
                        "demandes": 4, "modifies": 3, "aValider": 3,
                        "computedOnDemand": False}, meta
        assert grid.row(none) == (None, None, "Z")


def withdrawing_and_rejecting_leave_nothing():
    with Grid() as grid:
        codein = grid.articles[0]
        grid.put(codein, "B")
        result = must(grid.put(codein, "A"), 200).json["data"]
        assert (result["modifie"], result["statut"]) == (False, "inchangee")
        assert grid.row(codein) == ("A", "A", None)
        grid.put(codein, "B")
        grid.ctl("proposals", "cancel", "--all", "S1")
        assert grid.row(codein) == ("A", "A", None)


def a_supplier_that_the_facts_have_no_more_is_still_known():
    with Grid() as grid:
        codein = grid.articles[0]
        grid.put(codein, "B")
        with open(grid.path("csv/suppliers.csv"), "w") as file:
            file.write("code,nom\nS9,Neuf\n")
        with open(grid.path("csv/articles.csv")) as file:
            head, row = file.readlines()[:2]
        with open(grid.path("csv/articles.csv"), "w") as file:
            file.write(head + row.replace("S1,", "S9,"))
        grid.ctl("import", "--quiet", grid.path("csv"))
        assert codein in grid.ctl("proposals", "list", "S1")
        assert "proposed" in grid.ctl("proposals", "log", "S1")
        assert "S2" not in grid.ctl("suppliers")
        done = grid.ctl("proposals", "list", "S2", check=False)
        assert done.returncode == 1 and done.stdout == "", done
        assert "S2: there is no such supplier" in done.stderr, done


def the_filter_means_what_the_rows_show():
    with Grid() as grid:
        codein = grid.articles[0]
        before = grid.rows(more="&gamme=Z")["pagination"]["total"]
        grid.put(codein, "Z")
        assert grid.rows(more="&gamme=Z")["pagination"]["total"] == before
        grid.ctl("proposals", "save", "--all", "S1")
        found = grid.rows(more="&gamme=Z")
        assert found["pagination"]["total"] == before + 1
        assert codein in [row["codein"] for row in found["data"]]


def a_tag_changes_with_a_proposal():
    with Grid() as grid:
        path = "/api/v1/products/%s?fournisseur=S1" % grid.articles[0]
        tag = grid.ask("GET", path).headers["ETag"]
        same = {"If-None-Match": tag}
        assert grid.ask("GET", path, headers=same).status == 304
        grid.put(grid.articles[0], "B")
        assert grid.ask("GET", path, headers=same).status == 200


# --- which supplier ----------------------------------------------------------


def a_supplier_is_named_when_there_are_several():
    with Grid() as grid:
        path = "/api/v1/products/%s/gamme"
        answer = must(grid.ask("PUT", path % grid.articles[0], {"gamme": "B"}),
                      400, "bad_request")
        assert answer.details["fournisseurs"] == ["S1", "S2"], answer.text
        only = must(grid.ask("PUT", path % "20000", {"gamme": "B"}), 200)
        assert only.json["data"]["codeFournisseur"] == "S2"
        must(grid.ask("PUT", path % "nothing", {"gamme": "B"}), 404,
             "not_found")
        must(grid.put("20000", "B"), 404, "not_found")
        must(grid.put("20000", "B", fournisseur="S9"), 404, "not_found")
        must(grid.put("20000", "B", fournisseur="EMPTY"), 404, "not_found")


def a_supplier_is_computed_unless_it_may_not():
    with Grid() as grid:
        must(grid.post([("30000", "A")], "S3", compute=False), 202,
             "not_ready")
        must(grid.put("30000", "A", fournisseur="S3", compute=False), 202,
             "not_ready")
        assert grid.log_of("S3") == []
        answer = must(grid.post([("30000", "A")], "S3"), 200).json
        assert answer["meta"]["computedOnDemand"] is True
        assert answer["meta"]["nomFournisseur"] is None
        assert grid.row("30000", "S3") == ("B", "B", "A")


def unknown_articles_are_all_named_and_nothing_is_proposed():
    with Grid() as grid:
        answer = must(grid.post([(grid.articles[0], "B"), ("nope", "B"),
                                 ("20000", "C"), ("nope", "B")]),
                      404, "not_found")
        assert answer.details["inconnus"] == ["nope", "20000"], answer.text
        assert grid.row(grid.articles[0]) == ("A", "A", None)
        assert [e for e in grid.log_of() if e["fournisseur"]] == []


# --- bodies ------------------------------------------------------------------

GOOD = '{"fournisseur":"S1","changes":[{"codein":"10000","gamme":"B"}]}'

BAD_POSTS = [
    # body, status, the paths of its issues ("": the whole of it)
    ("", 400, [""]),
    ("nothing", 400, [""]),
    ("[]", 400, [""]),
    (GOOD + "x", 400, [""]),
    (GOOD[:-1], 400, [""]),
    ('{"fournisseur":"S1","fournisseur":"S1","changes":[]}', 400, [""]),
    ("{}", 400, ["fournisseur", "changes"]),
    ('{"fournisseur":1,"changes":{}}', 400, ["fournisseur", "changes"]),
    ('{"fournisseur":"S1","changes":[]}', 400, ["changes"]),
    ('{"fournisseur":"","changes":[{"codein":"","gamme":"B"}]}', 400,
     ["fournisseur", "changes[0].codein"]),
    ('{"fournisseur":"S1","changes":[1,{"codein":"1"},{"gamme":"D"}]}', 400,
     ["changes[0]", "changes[1].gamme", "changes[2].codein",
      "changes[2].gamme"]),
    (GOOD[:-1] + ',"compute":1}', 400, ["compute"]),
    (GOOD[:-1] + ',"compute":null}', 400, ["compute"]),
    (GOOD[:-1] + ',"other":1}', 400, ["other"]),
    (GOOD.replace('"gamme":"B"', '"gamme":"B","note":""'), 400,
     ["changes[0].note"]),
    (GOOD.replace('"B"', '"b"'), 400, ["changes[0].gamme"]),
    (GOOD.replace('"B"', '""'), 400, ["changes[0].gamme"]),
    (GOOD.replace('"B"', "null"), 400, ["changes[0].gamme"]),
    (GOOD.replace("[{", '[{"codein":"10000","gamme":"C"},{'), 400,
     ["changes[1].gamme"]),
    ('{"fournisseur":"S1","changes":[%s]}' % ",".join(
        ['{"codein":"10000","gamme":"B"}'] * 10001), 400, ["changes"]),
    ("[" * 100, 400, [""]),
]


def bad_bodies_are_refused_with_every_issue():
    with Grid() as grid:
        for body, status, paths in BAD_POSTS:
            answer = must(grid.ask("POST", "/api/v1/gammes", body), status,
                          "bad_request")
            told = [issue["path"] for issue in
                    answer.details.get("issues", [])]
            assert told == paths, (body[:200], answer.text[:500])
            assert all(issue["message"] for issue in
                       answer.details.get("issues", []))
        answer = must(grid.put(grid.articles[0], "X"), 400, "bad_request")
        assert [i["path"] for i in answer.details["issues"]] == ["gamme"]
        assert grid.ctl("proposals", "list", "--json") == "[]\n"
        must(grid.ask("POST", "/api/v1/gammes", GOOD), 200)


def bodies_of_another_kind_or_size_are_refused():
    with Grid(settings={"api.body_max": "4096"}) as grid:
        for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
            must(grid.ask("POST", "/api/v1/gammes", GOOD,
                          headers={"Content-Type": kind}), 415, "bad_request")
        must(grid.ask("POST", "/api/v1/gammes", GOOD, headers={
            "Content-Type": "Application/JSON; charset=utf-8"}), 200)
        must(grid.ask("POST", "/api/v1/gammes", GOOD + " " * 40000), 413,
             "bad_request")
        must(grid.ask("POST", "/api/v1/gammes", GOOD + " " * 10000000), 413,
             "bad_request")


def a_key_that_may_only_read_proposes_nothing():
    with Grid() as grid:
        codein = grid.articles[0]
        must(grid.put(codein, "B", key=grid.read_key), 403, "forbidden")
        must(grid.post([(codein, "B")], key=grid.read_key), 403, "forbidden")
        must(grid.put(codein, "B", key="grid_none"), 401, "unauthorized")
        must(grid.put(codein, "B", key=""), 401, "unauthorized")
        assert grid.row(codein) == ("A", "A", None)
        for method in ("GET", "POST", "DELETE"):
            answer = must(grid.ask(method, "/api/v1/products/1/gamme"), 405,
                          "bad_request")
            assert "PUT" in answer.headers["Allow"]


def ten_thousand_changes_are_one_transaction():
    with Grid(articles=10000) as grid:
        changes = [(code, "Z" if grid.server[code] != "Z" else "A")
                   for code in grid.articles]
        answer = must(grid.post(changes), 200).json
        assert answer["meta"]["modifies"] == 10000
        assert len(answer["data"]) == 10000
        assert len({e["at"] for e in grid.log_of("S1")}) == 1


# --- two at once -------------------------------------------------------------


def two_clients_at_once_leave_what_one_order_explains():
    with Grid() as grid:
        path = "/api/v1/gammes"
        keys = {"one": grid.make_key("one", "propose"),
                "two": grid.make_key("two", "propose")}
        failures = []

        def propose(name):
            connection = grid.connect()
            for i in range(100):
                gamme = "ABCYZ"[i % 5]
                connection.request("POST", path, json.dumps(
                    {"fournisseur": "S1", "changes": [
                        {"codein": code, "gamme": gamme}
                        for code in grid.articles]}),
                    {"X-API-Key": keys[name],
                     "Content-Type": "application/json"})
                response = connection.getresponse()
                response.read()
                if response.status != 200:
                    failures.append(response.status)

        threads = [threading.Thread(target=propose, args=(name,))
                   for name in keys]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        explained_by_the_trail(grid)


def explained_by_the_trail(grid):
    """Reading the trail in its order gives what is pending now."""
    pending = {}
    for entry in grid.log_of("S1"):
        code = entry["codein"]
        if entry["event"] in ("proposed", "replaced"):
            assert (entry["event"] == "replaced") == (code in pending), entry
            pending[code] = (entry["gamme"], entry["actor"])
        else:
            assert entry["event"] == "withdrawn", entry
            assert pending.pop(code)[0] == entry["gamme"]
    shown = {item["codein"]: (item["gamme"], item["author"]) for item in
             json.loads(grid.ctl("proposals", "list", "--json", "S1"))}
    assert shown == pending, (shown, pending)


if __name__ == "__main__":
    run_tests([
        a_proposal_goes_its_whole_way,
        an_import_of_the_proposed_range_withdraws_the_proposal,
        the_last_decision_is_the_last_that_is_exported,
        a_change_that_has_arrived_is_the_servers,
        changes_of_articles_that_are_gone_are_left_out_and_told,
        a_post_tells_each_result_and_the_sums,
        withdrawing_and_rejecting_leave_nothing,
        a_supplier_that_the_facts_have_no_more_is_still_known,
        the_filter_means_what_the_rows_show,
        a_tag_changes_with_a_proposal,
        a_supplier_is_named_when_there_are_several,
        a_supplier_is_computed_unless_it_may_not,
        unknown_articles_are_all_named_and_nothing_is_proposed,
        bad_bodies_are_refused_with_every_issue,
        bodies_of_another_kind_or_size_are_refused,
        a_key_that_may_only_read_proposes_nothing,
        ten_thousand_changes_are_one_transaction,
        two_clients_at_once_leave_what_one_order_explains,
    ])

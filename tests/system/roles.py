"""Who may do what in the Grid screen: each role against each endpoint."""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid, PASSWORD  # noqa: E402
from proposals import must  # noqa: E402
from stack import TOP, run_tests  # noqa: E402

VIEW = {"value": "{}"}
KEY = {"name": "made", "scope": "read"}
USER = {"password": PASSWORD, "role": "buyer"}


def save(supplier, codein):
    return {"fournisseur": supplier,
            "edits": [{"codein": codein, "gamme": "Z"}]}


def cancel(supplier, codein):
    return {"fournisseur": supplier,
            "proposals": [{"codein": codein, "gamme": "Z"}]}


# Who has a name in `users` below; the statuses are those of these four.
ROLES = ("some", "all", "manager", "administrator")

# Method, path, body, then the status for each role. {key} is a key's id.
TABLE = [
    ("GET", "/session", None, (200, 200, 200, 200)),
    ("GET", "/pending?fournisseur=S1", None, (200, 200, 200, 200)),
    ("GET", "/pending?fournisseur=S2", None, (200, 200, 200, 200)),
    ("GET", "/waiting", None, (200, 200, 200, 200)),
    ("POST", "/save", save("S1", "10001"), (200, 200, 200, 200)),
    ("POST", "/save", save("S2", "10001"), (403, 200, 200, 200)),
    ("POST", "/cancel", cancel("S1", "10001"), (200, 200, 200, 200)),
    ("POST", "/cancel", cancel("S2", "10001"), (403, 200, 200, 200)),
    ("POST", "/save", save("NONE", "10001"), (403, 404, 404, 404)),
    ("PUT", "/kept/mine/view.a", VIEW, (200, 200, 200, 200)),
    ("DELETE", "/kept/mine/view.a", None, (200, 200, 200, 200)),
    ("PUT", "/kept/shared/view.b", VIEW, (403, 403, 200, 200)),
    ("GET", "/kept", None, (200, 200, 200, 200)),
    ("GET", "/kept/shared/view.all", None, (200, 200, 200, 200)),
    ("DELETE", "/kept/shared/view.b", None, (403, 403, 200, 200)),
    ("GET", "/keys", None, (403, 403, 403, 200)),
    ("POST", "/keys", KEY, (403, 403, 403, 200)),
    ("DELETE", "/keys/{key}", None, (403, 403, 403, 200)),
    ("GET", "/users", None, (403, 403, 403, 200)),
    ("POST", "/users", dict(USER, name="new"), (403, 403, 403, 200)),
    ("PUT", "/users/new", {"role": "manager"}, (403, 403, 403, 200)),
    ("PUT", "/users/new/password", {"password": PASSWORD},
     (403, 403, 403, 200)),
    ("DELETE", "/users/new", None, (403, 403, 403, 200)),
    ("PUT", "/password", {"password": PASSWORD, "newPassword": PASSWORD},
     (200, 200, 200, 200)),
    ("DELETE", "/session", None, (200, 200, 200, 200)),
    # These need no session.
    ("POST", "/outside/session", None, (404, 404, 404, 404)),
    ("POST", "/session", {"user": "administrator", "password": PASSWORD},
     (200, 200, 200, 200)),
]


def add_users(grid):
    for words in (["some", "--role", "buyer", "--suppliers", "S1,S3"],
                  ["all", "--role", "buyer"],
                  ["manager", "--role", "manager"],
                  ["administrator", "--role", "administrator"]):
        grid.ctl("user", "add", *words, stdin=PASSWORD + "\n")


def a_key(grid, name):
    grid.make_key(name, "read")
    return next(key["id"] for key in json.loads(
        grid.ctl("key", "list", "--json")) if key["name"] == name)


def cookie_of(answer):
    return {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}


def each_role_may_what_the_table_says():
    with Grid() as grid:
        add_users(grid)
        marie = grid.login()
        must(grid.app(marie, "PUT", "/kept/shared/view.all", VIEW), 200)
        wrong = []
        for number, role in enumerate(ROLES):
            session, key = grid.login(role), a_key(grid, "of " + role)
            for method, path, body, statuses in TABLE:
                answer = grid.app(session, method, path.format(key=key), body)
                if answer.status != statuses[number]:
                    wrong.append((role, method, path, answer.status,
                                  answer.text))
                if answer.status == 403:
                    assert answer.code == "forbidden", answer.text
                if path == "/password":
                    session = cookie_of(answer)
        assert not wrong, wrong


def the_table_has_every_endpoint_that_alters_something():
    with open(os.path.join(TOP, "docs", "app-openapi.json")) as file:
        paths = json.load(file)["paths"]
    known = {(method, path.split("?")[0].replace("mine", "{owner}").replace(
        "shared", "{owner}").replace("view.a", "{name}").replace(
            "view.b", "{name}").replace("users/new", "users/{name}").replace(
                "{key}", "{id}"))
        for method, path, _, _ in TABLE}
    for path, methods in paths.items():
        for method in methods:
            if method in ("post", "put", "delete", "patch"):
                assert (method.upper(), path) in known, (method, path)


def a_refusal_changes_nothing_and_says_why():
    with Grid() as grid:
        add_users(grid)
        some = grid.login("some")
        before = grid.row("10001", "S2")
        answer = must(grid.app(some, "POST", "/save", save("S2", "10001")),
                      403, "forbidden")
        assert "S2" in answer.json["error"]["message"], answer.text
        assert grid.row("10001", "S2") == before
        french = dict(some, **{"Accept-Language": "fr"})
        answer = must(grid.app(french, "POST", "/save", save("S2", "10001")),
                      403)
        assert "Cet utilisateur ne décide que pour" in answer.text, answer.text
        answer = must(grid.app(french, "GET", "/keys"), 403)
        assert "Seul un administrateur" in answer.text, answer.text
        answer = must(grid.app(french, "PUT", "/kept/shared/view.b", VIEW),
                      403)
        assert "Seul un responsable" in answer.text, answer.text
        # Reading and proposing need no right of deciding.
        must(grid.ask("PUT", "/api/v1/products/10001/gamme",
                      {"gamme": "Z", "fournisseur": "S2"}, key="",
                      headers=some), 200)


def the_session_tells_role_and_suppliers():
    with Grid() as grid:
        add_users(grid)
        for user, role, suppliers in (
                ("some", "buyer", ["S1", "S3"]), ("all", "buyer", None),
                ("manager", "manager", None),
                ("administrator", "administrator", None),
                ("marie", "administrator", None)):  # added without a role
            login = must(grid.ask("POST", "/app/session", {
                "user": user, "password": PASSWORD}, key=""), 200)
            for answer in (login, grid.app(cookie_of(login), "GET",
                                           "/session")):
                data = must(answer, 200).json["data"]
                assert (data["role"], data["suppliers"]) == (
                    role, suppliers), answer.text


def another_role_counts_from_the_next_request_on():
    with Grid() as grid:
        add_users(grid)
        some = grid.login("some")
        must(grid.app(some, "POST", "/save", save("S2", "10001")), 403)
        said = grid.ctl("user", "role", "some", "buyer", "--suppliers", "S2")
        assert said == "some is a buyer now\n", said
        must(grid.app(some, "POST", "/save", save("S2", "10001")), 200)
        must(grid.app(some, "POST", "/save", save("S1", "10001")), 403)
        must(grid.app(some, "GET", "/keys"), 403)
        said = grid.ctl("user", "role", "some", "administrator")
        assert said == "some is an administrator now\n", said
        must(grid.app(some, "GET", "/keys"), 200)
        grid.ctl("user", "role", "some", "manager")
        must(grid.app(some, "GET", "/keys"), 403)
        must(grid.app(some, "PUT", "/kept/shared/view.b", VIEW), 200)


def who_is_removed_or_demoted_loses_the_right_at_once():
    with Grid() as grid:
        add_users(grid)
        marie, other = grid.login(), grid.login("administrator")
        must(grid.app(other, "GET", "/users"), 200)
        must(grid.app(marie, "PUT", "/users/administrator",
                      {"role": "buyer", "suppliers": ["S1"]}), 200)
        must(grid.app(other, "GET", "/users"), 403, "forbidden")
        must(grid.app(other, "DELETE", "/users/marie"), 403, "forbidden")
        must(grid.app(other, "POST", "/save", save("S2", "10001")), 403)
        must(grid.app(marie, "DELETE", "/users/administrator"), 200)
        must(grid.app(other, "GET", "/session"), 401)
        listed = must(grid.app(marie, "GET", "/users"), 200).json["data"]
        assert [(user["name"], user["role"], user["suppliers"])
                for user in listed] == [
                    ("all", "buyer", None), ("manager", "manager", None),
                    ("marie", "administrator", None),
                    ("some", "buyer", ["S1", "S3"])], listed
        assert listed[2]["lastSeenAt"] and not listed[0]["lastSeenAt"]


def at_once(grid, session, method, path, body=None):
    """Sends a request over a connection of its own; gives what awaits its
    status."""
    connection = grid.connect()
    connection.request(method, "/app" + path, json.dumps(body) if body else
                       None, dict(session, **{
                           "Content-Type": "application/json"}))
    return lambda: connection.getresponse().status


def of_administrators_who_remove_each_other_at_once_one_stays():
    with Grid() as grid:
        add_users(grid)
        names = ["marie", "administrator"]
        for act, body in (("PUT", {"role": "manager"}), ("DELETE", None)):
            sessions = [grid.login(name) for name in names]
            waiting = [at_once(grid, sessions[i], act,
                               "/users/" + names[1 - i], body)
                       for i in (0, 1)]
            codes = sorted(status() for status in waiting)
            # The other one's right is gone, or the session is over.
            assert codes in ([200, 401], [200, 403]), codes
            left = [user["name"] for user in json.loads(
                grid.ctl("user", "list", "--json"))
                if user["role"] == "administrator"]
            assert len(left) == 1 and left[0] in names, left
            other = names[1 - names.index(left[0])]
            if act == "PUT":
                grid.ctl("user", "role", other, "administrator")


def gridctl_lists_roles_and_refuses_wrong_ones():
    with Grid() as grid:
        add_users(grid)
        users = {user["name"]: (user["role"], user["suppliers"])
                 for user in json.loads(grid.ctl("user", "list", "--json"))}
        assert users == {"marie": ("administrator", None),
                         "administrator": ("administrator", None),
                         "manager": ("manager", None), "all": ("buyer", None),
                         "some": ("buyer", ["S1", "S3"])}, users
        lines = grid.ctl("user", "list").splitlines()
        assert lines[0].split() == ["created", "role", "name"], lines
        assert any(line.endswith("  buyer          some, suppliers S1,S3")
                   for line in lines), lines
        for words, says in (
                (["role", "some", "boss"], "buyer, manager or administrator"),
                (["role", "some", "manager", "--suppliers", "S1"],
                 "--suppliers is for a buyer"),
                (["role", "some", "buyer", "--suppliers", ","],
                 "codes separated by commas"),
                (["add", "x", "--role", ""], "buyer, manager or"),
                (["add", "x", "--suppliers", "S1"],
                 "--suppliers is for a buyer")):
            done = grid.ctl("user", *words, check=False,
                            stdin=PASSWORD + "\n")
            assert done.returncode == 2 and says in done.stderr, (words, done)
        done = grid.ctl("user", "role", "nobody", "buyer", check=False)
        assert done.returncode == 1 and "is no user" in done.stderr, done
        done = grid.ctl("user", "role", "some", "buyer", "--suppliers",
                        "S1,S9", check=False)
        assert done.returncode == 0 and "S9" in done.stderr, done


run_tests([each_role_may_what_the_table_says,
           the_table_has_every_endpoint_that_alters_something,
           a_refusal_changes_nothing_and_says_why,
           the_session_tells_role_and_suppliers,
           another_role_counts_from_the_next_request_on,
           who_is_removed_or_demoted_loses_the_right_at_once,
           of_administrators_who_remove_each_other_at_once_one_stays,
           gridctl_lists_roles_and_refuses_wrong_ones])

"""Users from outside: an account elsewhere, told to nginx by auth_request."""

import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from accounts import COOKIE, REST, Accounts  # noqa: E402
from grid import Grid, PASSWORD  # noqa: E402
from proposals import must  # noqa: E402
from stack import TOP, run_tests  # noqa: E402

LINES = os.path.join(TOP, "nginx", "outside-oauth2-proxy.conf")
ON = {"outside.accept": "yes",
      "outside.administrators": "chefs",
      "outside.managers": "grid-managers, direction",
      "outside.buyers": "buyers, fruits=S1, wine = S2  S3"}
PEOPLE = {"zoe": ["fruits", "staff"], "yan": ["wine", "fruits"],
          "ben": ["fruits", "buyers"], "mia": ["fruits", "direction"],
          "ada": ["staff", "chefs"], "odd": ["staff"], "none": []}
# What a client may send in the hope to be somebody.
FORGED = {name: "ada" for name in (
    "X-Auth-Request-User", "X-Auth-Request-Preferred-Username",
    "X-Auth-Request-Email", "X-Forwarded-User", "X-Forwarded-Email",
    "X-Forwarded-Preferred-Username", "Remote-User", "Outside-User",
    "OUTSIDE_USER", "Outside-Preferred-Username", "OUTSIDE_EMAIL")}
FORGED.update({name: "chefs" for name in (
    "X-Auth-Request-Groups", "X-Forwarded-Groups", "Remote-Groups",
    "Outside-Groups", "OUTSIDE_GROUPS")})


class Outside(Grid):
    """The grid with the lines for oauth2-proxy in its site."""

    def __init__(self, change=lambda text: text, **settings):
        super().__init__(settings=dict(ON, **settings))
        self.accounts = Accounts()
        self.accounts.people = dict(PEOPLE)
        path = self.path("outside.conf")
        self.accounts.site_lines(path, LINES)
        with open(path) as file:
            text = change(file.read())
        with open(path, "w") as file:
            file.write(text)
        self.directives.append("include " + path)

    def __exit__(self, *rest):
        self.accounts.close()
        return super().__exit__(*rest)

    def come_in(self, name, headers=None):
        return self.ask("POST", "/app/outside/session", key="", headers=dict(
            headers or {}, Cookie="%s=%s" % (COOKIE, name)))

    def session(self, name):
        answer = must(self.come_in(name), 200)
        return {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}


def save(supplier, codein="10001"):
    return {"fournisseur": supplier,
            "edits": [{"codein": codein, "gamme": "Z"}]}


def groups_give_the_rights():
    with Outside() as grid:
        for name, role, suppliers in (
                ("zoe", "buyer", ["S1"]), ("yan", "buyer", ["S1", "S2", "S3"]),
                ("ben", "buyer", None), ("mia", "manager", None),
                ("ada", "administrator", None)):
            data = must(grid.come_in(name), 200).json["data"]
            assert (data["user"], data["role"], data["suppliers"]) == (
                name, role, suppliers), data
            assert data["outside"] is True, data
            assert data["signOut"] == "/oauth2/sign_out?rd=/", data
            again = must(grid.app(grid.session(name), "GET", "/session"),
                         200).json["data"]
            assert {k: again[k] for k in data if k != "expiresAt"} == {
                k: data[k] for k in data if k != "expiresAt"}, again
        for name in ("odd", "none"):
            answer = must(grid.come_in(name), 403, "forbidden")
            assert "Set-Cookie" not in answer.headers, answer.headers
        zoe, ada = grid.session("zoe"), grid.session("ada")
        must(grid.app(zoe, "POST", "/save", save("S1")), 200)
        must(grid.app(zoe, "POST", "/save", save("S2")), 403, "forbidden")
        must(grid.app(zoe, "GET", "/keys"), 403, "forbidden")
        must(grid.app(ada, "GET", "/keys"), 200)
        assert grid.log_of("S1")[-1]["actor"] == "zoe"


def nobody_is_let_in_without_the_word_of_the_server():
    with Outside() as grid:
        for headers in ({}, FORGED, {"Cookie": COOKIE + "=somebody"},
                        dict(FORGED, Cookie=COOKIE + "=")):
            answer = must(grid.ask("POST", "/app/outside/session", key="",
                                   headers=headers), 401, "unauthorized")
            assert "Set-Cookie" not in answer.headers, answer.headers
        # The real person, whatever the client adds.
        data = must(grid.come_in("zoe", FORGED), 200).json["data"]
        assert (data["user"], data["role"]) == ("zoe", "buyer"), data
        # None of it has gone to the organisation's server either.
        for asked in grid.accounts.asked:
            names = {name.lower() for name in asked}
            assert not names & {"x-auth-request-user", "x-forwarded-user",
                                "x-auth-request-groups",
                                "x-forwarded-groups"}, asked
        # No other address takes a word of it.
        for method, path in (("GET", "/app/session"), ("GET", "/app/keys"),
                             ("GET", "/api/v1/fournisseurs"),
                             ("GET", "/app/outside/session"),
                             ("POST", "/app/outside/session/"),
                             ("POST", "/app/outside//session")):
            answer = grid.ask(method, path, key="", headers=dict(
                FORGED, Cookie=COOKIE + "=ada"))
            assert answer.status in (400, 401, 404, 405), (path, answer.text)
            assert "Set-Cookie" not in answer.headers, path
        must(grid.ask("GET", "/oauth2/auth", key="", headers={
            "Cookie": COOKIE + "=ada"}), 404)


def forged_headers_do_nothing_where_it_is_off():
    with Grid() as grid:  # neither the setting nor the lines
        answer = must(grid.ask("GET", "/app/outside", key=""), 200)
        assert answer.json == {"data": {"signIn": None}}, answer.text
        must(grid.ask("POST", "/app/outside/session", key="", headers=FORGED),
             404, "not_found")
        must(grid.app(FORGED, "GET", "/session"), 401, "unauthorized")
    with Grid(settings=ON) as grid:  # the setting without the lines
        must(grid.ask("POST", "/app/outside/session", key="", headers=FORGED),
             401, "unauthorized")
        must(grid.app(FORGED, "GET", "/session"), 401, "unauthorized")
    off = {"outside.accept": "no"}
    with Outside(**off) as grid:  # the lines without the setting
        must(grid.come_in("ada", FORGED), 404, "not_found")


def the_page_hears_where_to_sign_in():
    with Outside(**{"outside.sign_in": "https://id.example/in"}) as grid:
        answer = must(grid.ask("GET", "/app/outside", key=""), 200)
        assert answer.json == {"data": {"signIn": "https://id.example/in"}}


def another_site_and_keys_let_nobody_in():
    with Outside() as grid:
        for headers in ({"Origin": "http://evil.example"},
                        {"Sec-Fetch-Site": "cross-site"}):
            must(grid.come_in("ada", headers), 403, "forbidden")
        must(grid.come_in("ada", {"X-API-Key": grid.key}), 403, "forbidden")
        session = grid.session("zoe")
        must(grid.app(dict(session, Origin="http://evil.example"), "POST",
                      "/save", save("S1")), 403, "forbidden")


def signing_out_ends_the_session():
    with Outside() as grid:
        session = grid.session("zoe")
        must(grid.app(session, "DELETE", "/session"), 200)
        must(grid.app(session, "GET", "/session"), 401, "unauthorized")
        # A new one ends that of the same browser.
        first = grid.session("zoe")
        answer = grid.ask("POST", "/app/outside/session", key="", headers={
            "Cookie": "%s; %s=mia" % (first["Cookie"], COOKIE)})
        assert must(answer, 200).json["data"]["user"] == "mia"
        must(grid.app(first, "GET", "/session"), 401, "unauthorized")


def the_server_is_asked_again_after_a_time():
    with Outside(**{"outside.confirm": "3"}) as grid:
        start = time.monotonic()
        session = grid.session("zoe")
        made = time.monotonic()
        seen = grid.app(session, "GET", "/session")
        if time.monotonic() - start < 3:
            must(seen, 200)
        # Its use does not make it last.
        while time.monotonic() - made < 3.2:
            grid.app(session, "GET", "/session")
            time.sleep(0.3)
        must(grid.app(session, "GET", "/session"), 401, "unauthorized")
        # Other groups meanwhile, or none.
        grid.accounts.people["zoe"] = ["direction"]
        assert must(grid.come_in("zoe"), 200).json["data"]["role"] == "manager"
        del grid.accounts.people["zoe"]
        must(grid.come_in("zoe"), 401, "unauthorized")


def a_renewed_account_reaches_the_browser():
    """With cookie_refresh each answer may have a new cookie, whole or in parts."""
    for parts in (1, 2):
        with Outside() as grid:
            grid.accounts.renews, grid.accounts.parts = True, parts
            for _ in range(3):
                before = grid.accounts.cookies("zoe")
                sent = {"Cookie": "; ".join("%s=%s" % pair for pair in before)}
                answer = must(grid.ask("POST", "/app/outside/session", key="",
                                       headers=sent), 200)
                own, *told = answer.headers.get_all("Set-Cookie")
                assert own.startswith("grid_session="), own
                after = ["%s=%s" % pair for pair in
                         grid.accounts.cookies("zoe")]
                assert told == [pair + REST for pair in after], told
                assert len(after) == parts, after
            # The old one holds nothing any more.
            must(grid.ask("POST", "/app/outside/session", key="",
                          headers=sent), 401, "unauthorized")


def an_operator_puts_somebody_out():
    with Outside() as grid:
        session = grid.session("zoe")
        must(grid.app(session, "PUT", "/kept/mine/view.a", {"value": "{}"}),
             200)
        assert grid.ctl("user", "remove", "zoe") == "zoe is removed\n"
        must(grid.app(session, "GET", "/session"), 401, "unauthorized")
        done = grid.ctl("user", "remove", "zoe", check=False)
        assert done.returncode == 1 and "is no user" in done.stderr, done
        session = grid.session("zoe")
        done = grid.ctl("check", check=False)
        assert done.returncode == 0, done


def passwords_work_beside_it_and_are_not_for_outside():
    with Outside() as grid:
        marie = grid.login()
        must(grid.app(marie, "GET", "/keys"), 200)
        answer = must(grid.app(grid.session("ada"), "PUT", "/password", {
            "password": PASSWORD, "newPassword": "another password"}), 403,
            "forbidden")
        assert "organisation" in answer.text, answer.text


def names_that_cannot_be_used_are_told():
    with Outside() as grid:
        long = "a" * 65
        grid.accounts.people[long] = ["chefs"]
        answer = must(grid.come_in(long), 403, "forbidden")
        assert "1 to 64 bytes" in answer.text, answer.text


def other_headers_name_a_person_too():
    for names, user in (
            ([("x_auth_request_preferred_username", "x_auth_request_email")],
             "mia@grid.example"),
            ([("x_auth_request_preferred_username", "x_auth_request_user")],
             "id-mia"),
            # Authelia's
            ([("x_auth_request_preferred_username", "remote_user"),
              ("x_auth_request_groups", "remote_groups")], "mia")):
        def change(text, names=names):
            for old, new in names:
                assert "$upstream_http_" + old in text
                text = text.replace("$upstream_http_" + old,
                                    "$upstream_http_" + new)
            return text

        with Outside(change) as grid:
            data = must(grid.come_in("mia"), 200).json["data"]
            assert (data["user"], data["role"]) == (user, "manager"), data


def a_server_that_is_away_is_told():
    with Outside() as grid:
        session = grid.session("zoe")
        grid.accounts.close()
        must(grid.come_in("zoe"), 500, "internal_error")
        # Who is in stays in.
        must(grid.app(session, "GET", "/session"), 200)


def wrong_settings_are_told():
    for settings, says in (
            ({"outside.administrators": "", "outside.managers": "",
              "outside.buyers": ""}, "lets nobody in"),
            ({"outside.sign_in": "javascript:alert(1)"}, "must each be a path"),
            ({"outside.sign_out": "//evil.example"}, "must each be a path"),
            ({"outside.buyers": "g=" + "1 " * 1100}, "are the most")):
        grid = Outside(**settings)
        try:
            grid.start()
            raise SystemError("gridapi took %s" % settings)
        except AssertionError as error:
            assert says in str(error), error
        finally:
            grid.__exit__(None, None, None)


run_tests([groups_give_the_rights,
           nobody_is_let_in_without_the_word_of_the_server,
           forged_headers_do_nothing_where_it_is_off,
           the_page_hears_where_to_sign_in,
           another_site_and_keys_let_nobody_in, signing_out_ends_the_session,
           the_server_is_asked_again_after_a_time,
           a_renewed_account_reaches_the_browser,
           an_operator_puts_somebody_out,
           passwords_work_beside_it_and_are_not_for_outside,
           names_that_cannot_be_used_are_told, other_headers_name_a_person_too,
           a_server_that_is_away_is_told, wrong_settings_are_told])

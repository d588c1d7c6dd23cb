"""Users, sessions and the screen's own endpoints, through nginx."""

import json
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from grid import Grid, PASSWORD  # noqa: E402
from proposals import must  # noqa: E402
from stack import is_sanitized, run_tests  # noqa: E402

# Every endpoint under /app that only a person may use.
PERSONS = [("GET", "/session", None), ("GET", "/pending?fournisseur=S1", None),
           ("POST", "/save", {"fournisseur": "S1", "all": True,
                              "version": "0000000000000000"}),
           ("POST", "/cancel", {"fournisseur": "S1", "all": True,
                                "version": "0000000000000000"}),
           ("GET", "/keys", None),
           ("POST", "/keys", {"name": "x", "scope": "read"}),
           ("DELETE", "/keys/none", None),
           ("PUT", "/password", {"password": PASSWORD,
                                 "newPassword": "another password"})]


def host(grid):
    return "127.0.0.1:%d" % grid.port


def a_login_makes_a_session_that_every_endpoint_takes():
    with Grid() as grid:
        answer = must(grid.ask("POST", "/app/session", {
            "user": "marie", "password": PASSWORD}, key=""), 200)
        assert answer.json["data"]["user"] == "marie"
        cookie = answer.headers["Set-Cookie"]
        for word in ("HttpOnly", "SameSite=Strict", "Path=/"):
            assert word in cookie, cookie
        assert "Secure" not in cookie, cookie
        session = {"Cookie": "other=1; " + cookie.split(";")[0] + "; x=y"}
        must(grid.app(session, "GET", "/session"), 200)
        must(grid.ask("GET", "/api/v1/grid?fournisseur=S1&limit=1", key="",
                      headers=session), 200)
        must(grid.put(grid.articles[0], "B", key="", headers=session), 200)
        pending = must(grid.app(session, "GET", "/pending?fournisseur=S1"),
                       200).json
        assert pending["data"][0]["author"] == "marie"
        assert cookie.split(";")[0].split("=")[1] not in grid.log()
        with open(grid.data + "/state.mdb", "rb") as file:
            stored = file.read()
        assert cookie.split(";")[0].split("=")[1].encode() not in stored
        assert PASSWORD.encode() not in stored


def the_cookie_is_secure_where_tls_is():
    with Grid(settings={"session.secure_cookie": "yes"}) as grid:
        answer = grid.ask("POST", "/app/session", {
            "user": "marie", "password": PASSWORD}, key="")
        cookie = answer.headers["Set-Cookie"]
        assert "; Secure" in cookie and "; Path=/;" in cookie, cookie
        assert "Domain" not in cookie, cookie
        name, token = cookie.split(";")[0].split("=")
        assert name == "__Host-grid_session", cookie
        # The other name, which plain HTTP may set, means nothing there.
        for pair in ("grid_session=" + token, "x__Host-grid_session=" + token,
                     "__Host-grid_sessions=" + token):
            must(grid.app({"Cookie": pair}, "GET", "/session"), 401)
        session = {"Cookie": "grid_session=old; %s=%s" % (name, token)}
        must(grid.app(session, "GET", "/session"), 200)
        gone = must(grid.app(session, "DELETE", "/session"), 200)
        assert gone.headers["Set-Cookie"].startswith(name + "=; "), gone.headers
        must(grid.app(session, "GET", "/session"), 401)


def a_login_ends_the_session_that_the_browser_had():
    with Grid() as grid:
        grid.ctl("user", "add", "paul", stdin=PASSWORD + "\n")
        first, elsewhere = grid.login(), grid.login()
        # A password that is wrong ends nothing.
        must(grid.ask("POST", "/app/session", {
            "user": "paul", "password": "wrong"}, key="", headers=first), 401)
        must(grid.app(first, "GET", "/session"), 200)
        second = grid.login("paul", headers=first)
        assert second != first
        must(grid.app(first, "GET", "/session"), 401, "unauthorized")
        assert must(grid.app(second, "GET", "/session"),
                    200).json["data"]["user"] == "paul"
        # Another browser's goes on.
        must(grid.app(elsewhere, "GET", "/session"), 200)
        # A token that somebody slipped in is never taken over.
        planted = {"Cookie": "grid_session=" + "A" * 43}
        third = grid.login(headers=planted)
        assert third["Cookie"] != planted["Cookie"]
        must(grid.app(planted, "GET", "/session"), 401)


def resident_kb(pids):
    total = 0
    for pid in pids:
        with open("/proc/%d/status" % pid) as file:
            total += sum(int(line.split()[1]) for line in file
                         if line.startswith("VmRSS"))
    return total


def many_logins_at_once_take_little_and_hold_up_nobody():
    """GRID_LOGINS at once (40), each of another user, half of them right."""
    count = int(os.environ.get("GRID_LOGINS", "40"))
    with Grid(articles=6000) as grid:
        for i in range(count):
            grid.ctl("user", "add", "u%d" % i, stdin=PASSWORD + "\n")
        dump = "/api/v1/grid?fournisseur=S1"
        begin = time.monotonic()
        must(grid.ask("GET", dump), 200)
        alone = time.monotonic() - begin
        before = resident_kb(grid.workers())
        gate = threading.Barrier(count + 1)
        answers = []

        def log_in(i):
            connection = grid.connect()
            connection.connect()
            gate.wait()
            connection.request("POST", "/app/session", json.dumps({
                "user": "u%d" % i,
                "password": PASSWORD if i % 2 else "wrong"}),
                {"Content-Type": "application/json"})
            response = connection.getresponse()
            answers.append((response.status, response.headers,
                            json.loads(response.read())))
            connection.close()

        clients = [threading.Thread(target=log_in, args=[i])
                   for i in range(count)]
        for client in clients:
            client.start()
        gate.wait()
        begin = time.monotonic()
        must(grid.ask("GET", dump), 200)
        beside = time.monotonic() - begin
        most = 0
        while any(client.is_alive() for client in clients):
            most = max(most, resident_kb(grid.workers()))
            clients[0].join(0.01)
            time.sleep(0.01)
        statuses = sorted(status for status, _, _ in answers)
        print("%d logins at once: a dump took %.2f s (alone %.2f s), workers "
              "%d MB more; %s" % (count, beside, alone, (most - before) >> 10,
                                  {s: statuses.count(s)
                                   for s in set(statuses)}))
        assert set(statuses) <= {200, 401, 429} and len(statuses) == count
        assert statuses.count(429) >= count - 16, statuses
        assert statuses.count(429) < count, statuses
        for status, headers, body in answers:
            if status == 429:
                assert int(headers["Retry-After"]) > 0, headers
                assert body["error"]["code"] == "unauthorized", body
                assert "at this moment" in body["error"]["message"], body
        if not is_sanitized(grid.gridapi):
            assert most - before < (2 * 64 + 60) << 10, (before, most)
        # Those who come later get in.
        grid.login()


def logout_ends_it():
    with Grid() as grid:
        session = grid.login()
        answer = must(grid.app(session, "DELETE", "/session"), 200)
        assert answer.json == {"data": {"user": None}}, answer.text
        assert "Max-Age=0" in answer.headers["Set-Cookie"]
        must(grid.app(session, "GET", "/session"), 401, "unauthorized")
        must(grid.app(session, "DELETE", "/session"), 200)
        must(grid.put(grid.articles[0], "B", key="", headers=session), 401)


def what_is_no_session_is_refused_everywhere():
    with Grid() as grid:
        session = grid.login()
        token = session["Cookie"].split("=")[1]
        forged = token[:-1] + ("x" if token[-1] != "x" else "y")
        for cookie in ("", "grid_session=", "grid_session=" + forged,
                       "session=" + token, "grid_session=" + token * 2):
            for method, path, body in PERSONS:
                answer = grid.app({"Cookie": cookie}, method, path, body)
                must(answer, 401, "unauthorized")
        for key in (grid.key, grid.read_key):
            for method, path, body in PERSONS:
                must(grid.ask(method, "/app" + path, body, key=key), 403,
                     "forbidden")
                # A key decides alone, also beside a session.
                must(grid.ask(method, "/app" + path, body, key=key,
                              headers=session), 403, "forbidden")
            must(grid.ask("POST", "/app/session", {
                "user": "marie", "password": PASSWORD}, key=key), 403,
                "forbidden")
        must(grid.app(session, "GET", "/session"), 200)


def another_sites_pages_are_refused():
    with Grid() as grid:
        session = grid.login()
        good = [{}, {"Origin": "http://" + host(grid)},
                {"Sec-Fetch-Site": "same-origin"},
                {"Origin": "http://" + host(grid),
                 "Sec-Fetch-Site": "same-origin"}]
        bad = [{"Origin": "http://evil.example"}, {"Origin": "null"},
               {"Origin": "http://%s.evil.example" % host(grid)},
               {"Origin": "http://127.0.0.1:1"},
               {"Sec-Fetch-Site": "cross-site"},
               {"Sec-Fetch-Site": "same-site"},
               {"Origin": "http://" + host(grid),
                "Sec-Fetch-Site": "cross-site"}]
        login = {"user": "marie", "password": PASSWORD}
        for headers in bad:
            both = dict(session, **headers)
            must(grid.app(both, "POST", "/keys", {"name": "evil",
                                                  "scope": "propose"}),
                 403, "forbidden")
            must(grid.put(grid.articles[0], "B", key="", headers=both), 403,
                 "forbidden")
            must(grid.app(both, "DELETE", "/session"), 403, "forbidden")
            must(grid.app(headers, "POST", "/session", login), 403,
                 "forbidden")
            # A key is no cookie: no browser adds it by itself.
            must(grid.put(grid.articles[0], "A", headers=headers), 200)
        for headers in good:
            must(grid.put(grid.articles[0], "A", key="",
                          headers=dict(session, **headers)), 200)
        keys = must(grid.app(session, "GET", "/keys"), 200).json["data"]
        assert "evil" not in [key["name"] for key in keys]


def ends_unused(lifetime):
    """False when this machine was too slow to use it before its end."""
    with Grid(settings={"session.lifetime": str(lifetime)}) as grid:
        start = time.monotonic()
        session = grid.login()
        seen = grid.app(session, "GET", "/session")
        used = time.monotonic()
        if used - start >= lifetime:
            return False
        must(seen, 200)
        time.sleep(max(0, used + lifetime + 0.1 - time.monotonic()))
        must(grid.app(session, "GET", "/session"), 401, "unauthorized")
        must(grid.put(grid.articles[0], "B", key="", headers=session), 401)
        return True


def a_session_ends_when_it_is_not_used():
    assert any(ends_unused(lifetime) for lifetime in (3, 15, 60))


def sessions_end_with_the_password_and_the_user():
    with Grid() as grid:
        first, second = grid.login(), grid.login()
        assert first != second
        grid.ctl("user", "passwd", "marie", stdin="another password\n")
        for session in (first, second):
            must(grid.app(session, "GET", "/session"), 401, "unauthorized")
        session = grid.login(password="another password")
        grid.ctl("user", "remove", "marie")
        must(grid.app(session, "GET", "/session"), 401, "unauthorized")


def renew(grid, session, old, new):
    return grid.app(session, "PUT", "/password", {
        "password": old, "newPassword": new})


def ones_own_password_ends_the_other_sessions():
    new = "another password"
    with Grid() as grid:
        grid.ctl("user", "add", "paul", stdin=PASSWORD + "\n")
        here, elsewhere, paul = grid.login(), grid.login(), grid.login("paul")
        must(renew(grid, here, "wrong password", new), 403, "forbidden")
        answer = must(renew(grid, here, PASSWORD, "short"), 400, "bad_request")
        assert [i["path"] for i in answer.details["issues"]] == ["newPassword"]
        must(grid.app(dict(here, Origin="http://evil.example"), "PUT",
                      "/password", {"password": PASSWORD,
                                    "newPassword": new}), 403, "forbidden")
        for session in (here, elsewhere):
            must(grid.app(session, "GET", "/session"), 200)
        answer = must(renew(grid, here, PASSWORD, new), 200)
        assert answer.json["data"]["user"] == "marie", answer.text
        fresh = {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}
        must(grid.app(fresh, "GET", "/session"), 200)
        for session in (here, elsewhere):
            must(grid.app(session, "GET", "/session"), 401, "unauthorized")
        must(grid.app(paul, "GET", "/session"), 200)
        must(grid.ask("POST", "/app/session", {
            "user": "marie", "password": PASSWORD}, key=""), 401)
        grid.login(password=new)
        # Guessing with a session that was left open is held up like a login.
        statuses = [renew(grid, fresh, "wrong %d" % i, new).status
                    for i in range(7)]
        assert statuses == [403] * 5 + [429] * 2, statuses
        must(renew(grid, fresh, new, PASSWORD), 429)
        must(grid.app(fresh, "GET", "/session"), 200)
        assert new not in grid.log() and PASSWORD not in grid.log()


def a_session_is_its_own_users_alone():
    with Grid() as grid:
        grid.ctl("user", "add", "paul", stdin=PASSWORD + "\n")
        marie, paul = grid.login(), grid.login("paul")
        one, two = grid.articles[:2]
        must(grid.put(one, "B", key="", headers=marie), 200)
        must(grid.put(two, "C", key="", headers=paul), 200)
        # Of two in one request the first decides, as browsers send them.
        both = {"Cookie": marie["Cookie"] + "; " + paul["Cookie"]}
        assert must(grid.app(both, "GET", "/session"),
                    200).json["data"]["user"] == "marie"
        # What ends one's session leaves the other's.
        must(grid.app(paul, "DELETE", "/session"), 200)
        must(grid.app(paul, "GET", "/session"), 401, "unauthorized")
        assert must(grid.app(marie, "GET", "/session"),
                    200).json["data"]["user"] == "marie"
        paul = grid.login("paul")
        grid.ctl("user", "passwd", "paul", stdin="another password\n")
        must(grid.put(two, "B", key="", headers=paul), 401, "unauthorized")
        must(grid.app(marie, "GET", "/session"), 200)
        assert [(e["codein"], e["actor"]) for e in grid.log_of("S1")] == [
            (one, "marie"), (two, "paul")]


def too_many_attempts_are_held_up():
    with Grid() as grid:
        grid.ctl("user", "add", "paul", stdin=PASSWORD + "\n")
        statuses = []
        for _ in range(8):
            answer = grid.ask("POST", "/app/session", {
                "user": "marie", "password": "wrong"}, key="")
            statuses.append(answer.status)
        assert statuses == [401] * 5 + [429] * 3, statuses
        assert int(answer.headers["Retry-After"]) > 60
        assert answer.code == "unauthorized"
        # Also with the right one; but not another user.
        must(grid.ask("POST", "/app/session", {
            "user": "marie", "password": PASSWORD}, key=""), 429)
        grid.login("paul")


def bad_logins_are_told_the_same():
    with Grid() as grid:
        texts = set()
        for user, password in (("marie", "wrong"), ("nobody", "wrong"),
                               ("", "wrong"), ("nobody", PASSWORD)):
            answer = must(grid.ask("POST", "/app/session", {
                "user": user, "password": password}, key=""), 401,
                "unauthorized")
            assert answer.headers["Set-Cookie"] is None
            texts.add(answer.text)
        assert len(texts) == 1, texts
        answer = must(grid.ask("POST", "/app/session", {"user": 1}, key=""),
                      400, "bad_request")
        assert [i["path"] for i in answer.details["issues"]] == [
            "user", "password"]


# --- the screen --------------------------------------------------------------


def a_buyer_saves_cancels_and_edits_in_one_call():
    with Grid() as grid:
        session = grid.login()
        one, two, three, four = grid.articles[:4]
        must(grid.post([(one, "B"), (two, "C"), (three, "Z")]), 200)
        seen = must(grid.app(session, "GET", "/pending?fournisseur=S1"),
                    200).json
        assert [(p["codein"], p["gamme"], p["codeGamme"],
                 p["codeGammeServeur"], p["author"]) for p in seen["data"]] \
            == [(one, "B", "A", "A", "robot"), (two, "C", "B", "B", "robot"),
                (three, "Z", "C", "C", "robot")], seen
        assert seen["data"][0]["at"].endswith("Z")
        must(grid.put(two, "Y"), 200)  # meanwhile
        answer = must(grid.app(session, "POST", "/save", {
            "fournisseur": "S1",
            "proposals": [{"codein": one, "gamme": "B", "codeGamme": "A"},
                          {"codein": two, "gamme": "C", "codeGamme": "B"}],
            "edits": [{"codein": three, "gamme": "A", "codeGamme": "C",
                       "gammeAValider": "Z"},
                      {"codein": four, "gamme": "A", "codeGamme": "Y",
                       "gammeAValider": None}]}), 200).json
        assert [(i["result"], i["codeGammeServeur"], i["codeGamme"],
                 i["gammeAValider"]) for i in answer["data"]] == [
                     ("applied", "A", "B", None), ("conflict", "B", "B", "Y"),
                     ("applied", "C", "A", None),
                     ("applied", "Y", "A", None)], answer
        meta = answer["meta"]
        assert (meta["demandes"], meta["appliques"], meta["conflits"],
                meta["reste"]) == (4, 3, 1, 0), meta
        assert grid.row(one) == ("A", "B", None)
        assert grid.row(two) == ("B", "B", "Y")
        assert grid.row(three) == ("C", "A", None)
        old = {"fournisseur": "S1", "all": True,
               "version": seen["meta"]["version"]}
        answer = must(grid.app(session, "POST", "/cancel", old), 409,
                      "bad_request")
        old["version"] = answer.details["version"]
        answer = must(grid.app(session, "POST", "/cancel", old), 200).json
        assert answer["meta"]["reste"] == 1 and answer["data"] == []
        assert grid.row(two) == ("B", "B", None)
        assert [(e["event"], e["actor"]) for e in
                grid.log_of("--codein", three, "S1")] == [
                    ("proposed", "robot"), ("rejected", "marie"),
                    ("edited", "marie")]


BAD_SAVES = [
    ({"fournisseur": "S1"}, [""]),
    ({"fournisseur": "S1", "all": True}, ["version"]),
    ({"fournisseur": "S1", "all": True, "version": "x"}, ["version"]),
    ({"fournisseur": "S1", "proposals": [{"codein": "1"}]},
     ["proposals[0].gamme"]),
    ({"fournisseur": "S1", "proposals": [{"codein": "1", "gamme": None}]},
     ["proposals[0].gamme"]),
    ({"fournisseur": "S1", "edits": [{"codein": "1", "gamme": "Q"}]},
     ["edits[0].gamme"]),
    ({"fournisseur": "S1", "edits": [{"codein": "1"}]}, ["edits[0].gamme"]),
    ({"fournisseur": "S1", "proposals": [{"codein": "1", "gamme": "A"}],
      "edits": [{"codein": "1", "gamme": "A"}]}, ["edits[0].codein"]),
    ({"fournisseur": "S1", "edits": [{"codein": "1", "gamme": "A",
                                      "codeGamme": 1}]},
     ["edits[0].codeGamme"]),
    ({"fournisseur": "S1", "more": 1, "proposals": []}, ["more"]),
]


def bad_saves_are_refused_with_every_issue():
    with Grid() as grid:
        session = grid.login()
        for body, paths in BAD_SAVES:
            answer = must(grid.app(session, "POST", "/save", body), 400,
                          "bad_request")
            assert [i["path"] for i in answer.details["issues"]] == paths, (
                body, answer.text)
        must(grid.app(session, "POST", "/cancel", {
            "fournisseur": "S1", "edits": []}), 400, "bad_request")
        answer = must(grid.app(session, "POST", "/save", {
            "fournisseur": "S1",
            "edits": [{"codein": "nope", "gamme": "A"}]}), 404, "not_found")
        assert answer.details["inconnus"] == ["nope"]
        must(grid.app(session, "GET", "/pending"), 400, "bad_request")


# --- keys --------------------------------------------------------------------


def keys_are_made_shown_once_and_revoked():
    with Grid() as grid:
        session = grid.login()
        made = must(grid.app(session, "POST", "/keys", {
            "name": "nouveau", "scope": "propose"}), 200).json["data"]
        assert made["key"].startswith("grid_" + made["id"])
        must(grid.put(grid.articles[0], "B", key=made["key"]), 200)
        listed = must(grid.app(session, "GET", "/keys"), 200)
        assert made["key"] not in listed.text
        assert listed.json["data"][0]["id"] == made["id"]
        assert listed.json["meta"]["total"] == 3
        taken = must(grid.app(session, "POST", "/keys", {
            "name": "nouveau", "scope": "write"}), 400, "bad_request")
        assert [i["path"] for i in taken.details["issues"]] == [
            "name", "scope"]
        path = "/keys/" + made["id"]
        first = must(grid.app(session, "DELETE", path), 200).json["data"]
        assert first["id"] == made["id"] and first["revokedAt"]
        must(grid.put(grid.articles[0], "C", key=made["key"]), 401,
             "unauthorized")
        again = must(grid.app(session, "DELETE", path), 200).json["data"]
        assert again == first
        must(grid.app(session, "DELETE", "/keys/none"), 404, "not_found")
        assert grid.row(grid.articles[0]) == ("A", "A", "B")
        events = [(e["event"], e["actor"]) for e in grid.log_of()
                  if e["codein"] == made["id"]]
        assert events == [("key-created", "marie"), ("key-revoked", "marie")]


def of_two_who_want_a_keys_name_one_gets_it():
    with Grid() as grid:
        session = grid.login()
        headers = dict(session, **{"Content-Type": "application/json"})
        for turn in range(8):
            body = json.dumps({"name": "same %d" % turn, "scope": "read"})
            gate = threading.Barrier(6)
            answers = []

            def want():
                connection = grid.connect()
                connection.connect()
                gate.wait()
                connection.request("POST", "/app/keys", body, headers)
                response = connection.getresponse()
                answers.append((response.status,
                                json.loads(response.read())))
                connection.close()

            clients = [threading.Thread(target=want) for _ in range(6)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            assert sorted(status for status, _ in answers) == [
                200] + [400] * 5, answers
            for status, answer in answers:
                if status == 400:
                    issues = answer["error"]["details"]["issues"]
                    assert [i["path"] for i in issues] == ["name"], answer
        # gridctl tells the same, in a sentence; a revoked one's is free.
        told = grid.ctl("key", "create", "--name", "same 0", "--scope", "read",
                        check=False)
        assert told.returncode == 1 and told.stdout == "", told
        assert "same 0: is the name of a key in use" in told.stderr, told
        free = grid.ctl("key", "create", "--name", "revoked", "--scope",
                        "read").split("_")[1]
        grid.ctl("key", "revoke", free)
        grid.ctl("key", "create", "--name", "revoked", "--scope", "read")
        keys = [key for key in must(grid.app(session, "GET", "/keys"),
                                    200).json["data"]
                if key["name"] != "revoked"]
        names = [key["name"] for key in keys]
        assert len(set(names)) == len(names) == 2 + 8, names


def read_until(pipe, text):
    got = b""
    while text not in got:
        piece = os.read(pipe.fileno(), 4096)
        assert piece, got
        got += piece
    return got


def passwords_typed_at_a_terminal_do_not_show():
    import pty
    import subprocess
    from grid import GRIDCTL
    with Grid(nginx=False) as grid:
        for second, code in (("long enough", 0), ("something else", 1)):
            master, slave = pty.openpty()
            process = subprocess.Popen(
                [GRIDCTL, "--data", grid.data, "user", "add", "p%d" % code],
                stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            # What is typed before it asks is thrown away.
            first = read_until(process.stderr, b"Password: ")
            os.write(master, b"long enough\n")
            first += read_until(process.stderr, b"again: ")
            os.write(master, second.encode() + b"\n")
            out, err = process.communicate(timeout=60)
            err = first + err
            assert process.returncode == code, err
            os.set_blocking(master, False)
            try:
                shown = os.read(master, 4096)
            except BlockingIOError:
                shown = b""
            assert b"enough" not in shown + out + err, shown
            os.close(master)
            os.close(slave)
        users = [user["name"] for user in
                 json.loads(grid.ctl("user", "list", "--json"))]
        assert users == ["marie", "p0"], users


if __name__ == "__main__":
    run_tests([
        a_login_makes_a_session_that_every_endpoint_takes,
        the_cookie_is_secure_where_tls_is,
        a_login_ends_the_session_that_the_browser_had,
        many_logins_at_once_take_little_and_hold_up_nobody,
        logout_ends_it,
        what_is_no_session_is_refused_everywhere,
        another_sites_pages_are_refused,
        a_session_ends_when_it_is_not_used,
        sessions_end_with_the_password_and_the_user,
        ones_own_password_ends_the_other_sessions,
        a_session_is_its_own_users_alone,
        too_many_attempts_are_held_up,
        bad_logins_are_told_the_same,
        a_buyer_saves_cancels_and_edits_in_one_call,
        bad_saves_are_refused_with_every_issue,
        keys_are_made_shown_once_and_revoked,
        of_two_who_want_a_keys_name_one_gets_it,
        passwords_typed_at_a_terminal_do_not_show,
    ])

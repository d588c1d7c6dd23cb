"""Every example of docs/api.md, as a reader would run it: the blocks of sh,
python, js and r in turn, each named by its first line, against nginx and gridapi.
"""

import contextlib
import json
import os
import re
import resource
import select
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stack import (BUILD, TOP, Stack, run_tests, skip,  # noqa: E402
                   wait_until)

GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
SUPPLIER = "12345"
ODD_SUPPLIER = "A&B 1"
ROWS = 3000
RUNNERS = {"sh": ["sh", "-eu"], "python": [sys.executable], "js": ["node"],
           "r": ["Rscript", "--vanilla"]}
MODULES = os.environ.get("GRID_MODULES")  # what npm has brought
DEBIAN_PYTHON = "/usr/bin/python3"

FIRST = r'^\{"data":\[\{"codein":"[^"]+","libelle1":"[^"]+","totalCa":[\d.]+\}\]' \
    r'.*"total":3000,.*"meta":\{.*"codeFournisseur":"12345"'

# What each prints, as far as it can be known.
PRINTS = {
    "first.sh": FIRST,
    "suppliers.sh": r"(?m)^12345\t[^\t]+\t3000$",
    "page.sh": r"^(\d+\t[^\t\n]+\t[\d.]+\t[ABCYZ]?\n){5}$",
    "grid.py": r"^$",
    "pages.py": r"^3000 articles, turnover \d+\.\d\d\n$",
    "pages.sh": r"^(0\d{7}\n){3000}$",
    "pages.mjs": r"^3000 articles\n$",
    "classes.py": r"^(\d\d; [^;]+; \d+; [^;\n]+\n){3}$",
    "dump.sh": r"^[\d.]+\nx-total-count: 3000\n3000\n$",
    "dump_csv.py":
        r"^\d+ articles of range A; columns codein,libelle1,stockActuel,pcb\n$",
    "months.sh": r"^grid-12345.csv\nsales12m\.\d{6} [\d.e+]+\n$",
    "read_pandas.py": r"^3000 articles; 0\d{7} float64 datetime64\[ns\]\n$",
    "duck.mjs": r"^(\d{6} \d+ [\d.]+\n){3}$",
    "read.R": r"^3000 articles; turnover TRUE \n$",
    "poll.py": r"^unchanged\n$",
    "since.py":
        r"^3000 rows came, 3000 there are\n0 rows came, 3000 there are\n"
        r"3000 rows came, 3000 there are\n$",
    "worst.sh": r"^\d+\n(\w+\t[^\t\n]*\t[\d.]+\n)*$",
    "brands.py": r"^(.{20,} +\d+ +[\d.]+ +[\d.]+ %\n)*$",
    "search.sh": r"^\d+\n(\w+\t\d+\n){3}$",
    "lookup.py": r"^3 found; not found: \['no such article'\]\n$",
    "article.py": r"^.+\n(\d+ stores|no network data: 404 .*)\n$",
    "propose.py": r"^3 proposed\ninchangee\n404 \['no such article'\]\n$",
    "propose.sh": r"^a_valider\n$",
    "decisions.py": r"^True 0\n$",
    "agent.sh": r"^\d groups of \d+ articles\.\n$",
    "verify.py": r"^True False\n$",
    "verify.sh": r"^g0hM9SsE\+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=\n$",
    "errors.sh": r"^bad_request\n.*limit.*\n$",
}


def blocks():
    """Name, language and text of each."""
    with open(os.path.join(TOP, "docs", "api.md"), encoding="utf-8") as file:
        text = file.read()
    for language, block in re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", text):
        name = block.split("\n")[0].lstrip("#/ ")
        yield name, language, block


def environment(grid, key, supplier=SUPPLIER):
    return dict(os.environ, GRID_KEY=key, GRID_SUPPLIER=supplier,
                GRID_URL="http://127.0.0.1:%d" % grid.port,
                PYTHONDONTWRITEBYTECODE="1", NO_PROXY="127.0.0.1")


def filled():
    grid = Stack(settings={"pages.processes": 1, "slow.processes": 1})

    def gridctl(*words):
        return subprocess.run(
            [GRIDCTL, "--data", grid.data] + list(words), check=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode()

    subprocess.run([GRIDCTL, "demo", "--out", grid.path("csv"), "--articles",
                    str(ROWS), "--suppliers", "12", "--stores", "3"],
                   check=True, stdout=subprocess.DEVNULL)
    gridctl("init")
    gridctl("import", grid.path("csv"))
    gridctl("compute", "--quiet", SUPPLIER)
    return grid, gridctl


def add_odd_codes(grid, gridctl):
    """A supplier and articles whose codes an address holds only escaped."""
    folder = grid.path("odd")
    os.mkdir(folder)
    with open(folder + "/suppliers.csv", "w", encoding="utf-8") as file:
        file.write("code,nom\n%s,Odd\n" % ODD_SUPPLIER)
    with open(folder + "/articles.csv", "w", encoding="utf-8") as file:
        file.write("fournisseur,codein,libelle1,libelle2,marque,gtin,"
                   "reference,codeCentrale,code3,pcb,prixAchat,prixVente,"
                   "tva,gamme\n")
        for number, gamme in enumerate("ABBBCC"):
            file.write("%s,%d/%% é?#&,Odd,,,,,1000077,101010,,,,,%s\n" %
                       (ODD_SUPPLIER, number, gamme))
    gridctl("import", "--quiet", "--merge", folder)
    gridctl("compute", "--quiet", ODD_SUPPLIER)


def runner_of(name, language):
    """Who runs an example; None: not installed here."""
    runner = RUNNERS[language]
    if shutil.which(runner[0]) is None or \
            (name == "duck.mjs" and not MODULES):
        return None
    if name != "read_pandas.py":
        return runner
    for python in (sys.executable, DEBIAN_PYTHON):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import pandas"],
                stderr=subprocess.DEVNULL).returncode == 0:
            return [python]
    return None


def run_block(name, language, block, folder, env, prints):
    runner = runner_of(name, language)
    if runner is None:
        print("   not run, its program is not installed: " + name)
        return
    path = os.path.join(folder, name)
    link = os.path.join(folder, "node_modules")
    if MODULES and not os.path.islink(link):
        os.symlink(os.path.abspath(MODULES + "/node_modules"), link)
    with open(path, "w", encoding="utf-8") as file:
        file.write(block)
    done = subprocess.run(runner + [path], cwd=folder, env=env,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, "%s ended with %d: %s%s" % (
        name, done.returncode, done.stdout, done.stderr)
    assert not done.stderr, (name, done.stderr)
    assert re.search(prints, done.stdout), (name, done.stdout)


def each_example_does_what_the_guide_says():
    for program in ("curl", "jq"):
        if shutil.which(program) is None:
            skip(program + " is not installed")
    grid, gridctl = filled()
    with grid:
        key = gridctl("key", "create", "--name", "t", "--scope",
                      "propose").strip()
        os.mkdir(grid.path("work"))
        names = []
        for name, language, block in blocks():
            run_block(name, language, block, grid.path("work"),
                      environment(grid, key), PRINTS[name])
            names.append(name)
        assert sorted(names) == sorted(PRINTS), names


def each_example_takes_any_code():
    for program in ("curl", "jq"):
        if shutil.which(program) is None:
            skip(program + " is not installed")
    grid, gridctl = filled()
    add_odd_codes(grid, gridctl)
    with grid:
        key = gridctl("key", "create", "--name", "t", "--scope",
                      "propose").strip()
        os.mkdir(grid.path("work"))
        prints = dict.fromkeys(PRINTS, "")
        prints.update({"pages.py": "^6 articles", "pages.mjs": "^6 articles",
                       "propose.py": PRINTS["propose.py"],
                       "lookup.py": PRINTS["lookup.py"],
                       "propose.sh": PRINTS["propose.sh"],
                       "article.py": "^Odd", "dump.sh": r"\n6\n$",
                       "errors.sh": PRINTS["errors.sh"],
                       "decisions.py": PRINTS["decisions.py"],
                       "months.sh": r"^grid-.*1\.csv\n",
                       "read.R": r"^6 articles; turnover FALSE"})
        for name, language, block in blocks():
            run_block(name, language, block, grid.path("work"),
                      environment(grid, key, ODD_SUPPLIER), prints[name])


# What gets each answer of the table of errors: a request, or the test that has
# it, since it takes a server of its own.
JSON = {"Content-Type": "application/json"}
GRID = "/grid?limit=1&fournisseur="
ANSWERS = {
    ("unauthorized", 401): ("GET", GRID + SUPPLIER, {"X-API-Key": "no"}, None),
    ("unauthorized", 429):
        "api_guide.py: too_many_without_a_key_get_429",
    ("forbidden", 403): ("POST", "/gammes", JSON, b"{}"),
    ("forbidden", 429): "keys.py: a_key_has_a_pace_over_all_processes",
    ("bad_request", 400): ("GET", GRID + SUPPLIER + "&sort=x", {}, None),
    ("bad_request", 405): ("DELETE", GRID + SUPPLIER, {}, None),
    ("bad_request", 406): ("GET", GRID + SUPPLIER + "&format=x", {}, None),
    ("bad_request", 413): ("POST", "/gammes", JSON, b" " * (8 << 20) + b"{}"),
    ("bad_request", 414): ("GET", GRID + "9" * 20000, {}, None),
    ("bad_request", 415): ("POST", "/gammes", {}, b"{}"),
    ("bad_request", 431): ("GET", GRID + SUPPLIER, {"X-Long": "9" * 20000},
                           None),
    ("not_found", 404): ("GET", GRID + "nobody", {}, None),
    ("not_ready", 202): ("GET", GRID + "00042&compute=0", {}, None),
    ("internal_error", 500): "proposals_hard.py: 500, \"internal_error\"",
    ("internal_error", 502): "pool.py: nginx_errors_are_json",
    ("internal_error", 503): "readers.py: READERS - BY_CALLER",
    ("internal_error", 504): "pool.py: a_worker_that_says_nothing_in_time",
}


def table_of_errors():
    """Code and status of each line."""
    with open(os.path.join(TOP, "docs", "api.md"), encoding="utf-8") as file:
        rows = re.findall(r"(?m)^\| `([a-z_]+)` \| ([0-9, ]+) \|", file.read())
    return [(code, int(status)) for code, more in rows
            for status in more.split(",")]


def the_table_of_errors_is_what_is_answered():
    grid, gridctl = filled()
    with grid:
        keys = {scope: gridctl("key", "create", "--name", scope, "--scope",
                               scope).strip() for scope in ("read", "propose")}
        found = table_of_errors()
        assert sorted(found) == sorted(ANSWERS), \
            set(found).symmetric_difference(ANSWERS)
        for (code, status), what in ANSWERS.items():
            if isinstance(what, str):
                name, _, test = what.partition(": ")
                with open(os.path.join(TOP, "tests", "system", name)) as file:
                    assert test in file.read(), what
                continue
            method, path, headers, body = what
            key = keys["read" if status == 403 else "propose"]
            answer = grid.get("/api/v1" + path, method, body=body,
                              headers={"X-API-Key": key, **headers})
            assert answer.status == status, (status, answer.status)
            assert json.loads(answer.body)["error"]["code"] == code, answer.body
            assert answer.headers["Content-Type"] == "application/json"
            assert answer.headers["X-Request-Id"], status
            assert answer.headers["ETag"] is None, status


def a_refusal_is_as_shown_in_each_format():
    with open(os.path.join(TOP, "docs", "api.md"), encoding="utf-8") as file:
        shown = json.loads(re.search(r"(?ms)^```\n(\{\"error\".*?)^```$",
                                     file.read())[1])
    grid, gridctl = filled()
    with grid:
        key = {"X-API-Key": gridctl("key", "create", "--name", "t", "--scope",
                                    "read").strip()}
        for more in ("", "&format=csv"):
            answer = grid.get("/api/v1/grid?limit=0&fournisseur=" + SUPPLIER +
                              more, headers=key)
            assert answer.status == 400, answer.status
            assert json.loads(answer.body) == shown, answer.body


def values_and_origins_are_as_the_guide_says():
    grid, gridctl = filled()
    with grid:
        key = {"X-API-Key": gridctl("key", "create", "--name", "t", "--scope",
                                    "read").strip(),
               "Origin": "https://elsewhere.example"}
        answer = grid.get("/api/v1/grid?limit=1000&fournisseur=" + SUPPLIER,
                          headers=key)
        found = json.loads(answer.body.decode("utf-8"), parse_float=str)
        texts = [text for row in found["data"] for text in row.values()
                 if isinstance(text, str) and re.match(r"-?\d+\.\d", text)]
        assert len(texts) > 1000 and all(
            re.fullmatch(r"-?\d+\.\d{1,6}", text) for text in texts), \
            [text for text in texts if not re.fullmatch(
                r"-?\d+\.\d{1,6}", text)][:5]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
                            found["meta"]["computedAt"]), found["meta"]
        assert answer.headers["Access-Control-Allow-Origin"] is None
        assert grid.get("/api/v1/openapi.json").headers[
            "Access-Control-Allow-Origin"] == "*"


def pages_end_as_the_guide_says():
    """Behind the last one, where no row matches, and without a limit."""
    grid, gridctl = filled()
    with grid:
        key = {"X-API-Key": gridctl("key", "create", "--name", "t", "--scope",
                                    "read").strip()}

        def ask(query):
            answer = grid.get("/api/v1/grid?fields=codein&fournisseur=" +
                              SUPPLIER + query, headers=key)
            assert answer.status == 200, answer.body
            found = json.loads(answer.body)
            return len(found["data"]), found["pagination"]

        assert ask("&limit=1000&page=3") == (1000, {
            "page": 3, "limit": 1000, "total": ROWS, "totalPages": 3,
            "hasMore": False})
        assert ask("&limit=1000&page=4") == (0, {
            "page": 4, "limit": 1000, "total": ROWS, "totalPages": 3,
            "hasMore": False})
        assert ask("&limit=10&marque=eq.nobody")[1] == {
            "page": 1, "limit": 10, "total": 0, "totalPages": 0,
            "hasMore": False}
        assert ask("")[0] == ROWS


def answers_of_get_have_an_etag():
    grid, gridctl = filled()
    with grid:
        key = {"X-API-Key": gridctl("key", "create", "--name", "t", "--scope",
                                    "propose").strip()}
        row = json.loads(grid.get(
            "/api/v1/grid?limit=1&fournisseur=" + SUPPLIER +
            "&fields=codeGamme", headers=key).body)["data"][0]
        for path in ("/openapi.json", "/fournisseurs", GRID + SUPPLIER,
                     "/nomenclatures?fournisseur=" + SUPPLIER,
                     "/products/search?q=creme", "/products/" + row["codein"]):
            first = grid.get("/api/v1" + path, headers=key)
            assert first.status == 200 and first.headers["ETag"], path
            again = grid.get("/api/v1" + path, headers={
                "If-None-Match": first.headers["ETag"], **key})
            assert (again.status, again.body) == (304, b""), path
        put = grid.get(
            "/api/v1/products/%s/gamme" % row["codein"], "PUT",
            body=json.dumps({"fournisseur": SUPPLIER, "gamme": "Z"}).encode(),
            headers={**key, **JSON})
        assert put.status == 200 and put.headers["ETag"] is None, put.status


def form(value):
    """Members and types, without what they hold."""
    if isinstance(value, dict):
        return {name: form(one) for name, one in value.items()}
    if isinstance(value, list):
        return [form(one) for one in value]
    return type(value).__name__


def proposals_are_taken_and_answered_as_shown():
    with open(os.path.join(TOP, "docs", "api.md"), encoding="utf-8") as file:
        asked, told = (json.loads(block) for block in re.findall(
            r"(?ms)^```\n(\{.*?)^```$",
            file.read().partition("\n## Proposals\n")[2])[:2])
    grid, gridctl = filled()
    with grid:
        key = {"X-API-Key": gridctl("key", "create", "--name", "t", "--scope",
                                    "propose").strip()}
        for number, gamme in enumerate("BA"):
            row = json.loads(grid.get(
                "/api/v1/grid?limit=1&fields=codein&gamme=" + gamme +
                "&fournisseur=" + SUPPLIER, headers=key).body)["data"][0]
            asked["changes"][number]["codein"] = row["codein"]
            told["data"][number]["codein"] = row["codein"]
        answer = grid.get("/api/v1/gammes", "POST", headers={**key, **JSON},
                          body=json.dumps(asked).encode())
        assert answer.status == 200, answer.body
        found = json.loads(answer.body)
        assert form(found) == form(told), found
        assert found["data"] == told["data"], found


def too_many_without_a_key_get_429():
    """While a thousand wait; nobody with a key does."""
    grid, gridctl = filled()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (hard if soft < 2000 else soft, hard))
    head = ("GET /api/v1/fournisseurs HTTP/1.1\r\nHost: grid\r\n"
            "Connection: close\r\n\r\n").encode()
    with grid, contextlib.ExitStack() as open_ones:
        key = {"X-API-Key": gridctl("key", "create", "--name", "t", "--scope",
                                    "read").strip()}
        poll, waiting, told = select.poll(), {}, []

        def is_refused():
            for _ in range(50):
                sock = open_ones.enter_context(socket.create_connection(
                    ("127.0.0.1", grid.port)))
                sock.sendall(head)
                waiting[sock.fileno()] = sock
                poll.register(sock, select.POLLIN)
            for number, _ in poll.poll(0):
                poll.unregister(number)
                told.append(waiting.pop(number).recv(4096).decode())
            return any(" 429 " in answer[:20] for answer in told)

        wait_until(is_refused, "a 429 comes")
        answer = next(one for one in told if " 429 " in one[:20])
        assert "\r\nRetry-After: " in answer and \
            '"code":"unauthorized"' in answer, answer
        assert grid.get("/api/v1/fournisseurs", headers=key).status == 200


def the_client_tries_again_and_tells_what_will_not_mend():
    """grid.py against a server that fails first, and errors that stay."""
    grid, gridctl = filled()
    with grid:
        key = gridctl("key", "create", "--name", "t", "--scope",
                      "read").strip()
        os.mkdir(grid.path("work"))
        text = {name: block for name, _, block in blocks()}
        with open(grid.path("work/grid.py"), "w") as file:
            file.write(text["grid.py"])
        program = (
            "import grid, json, sys\n"
            "path, query, body = json.loads(sys.argv[1])\n"
            "try:\n"
            "    answer, _ = grid.ask(path, query, body, tries=4)\n"
            "    print('rows', len(answer['data']))\n"
            "except grid.GridError as error:\n"
            "    print('error', error.status)\n")

        def ask(*what):
            return subprocess.Popen(
                [sys.executable, "-c", program, json.dumps(what)],
                cwd=grid.path("work"), env=environment(grid, key),
                stdout=subprocess.PIPE, text=True)

        query = {"fournisseur": SUPPLIER, "limit": 7}
        grid.pool.terminate()  # 502 until there is a pool again
        grid.pool.wait(30)
        asking = ask("/grid", query, None)
        grid.start_pool()
        assert asking.communicate(timeout=60)[0] == "rows 7\n"
        for status, what in (
                (400, ("/grid", {"fournisseur": SUPPLIER, "limit": 0}, None)),
                (404, ("/grid", {"fournisseur": "nobody"}, None)),
                (202, ("/grid", {"fournisseur": "00042", "compute": 0}, None)),
                (403, ("/gammes", None, {"fournisseur": SUPPLIER,
                                         "changes": []}))):
            asking = ask(*what)
            assert asking.communicate(timeout=60)[0] == \
                "error %d\n" % status, (status, what)


if __name__ == "__main__":
    run_tests([each_example_does_what_the_guide_says,
               each_example_takes_any_code,
               the_table_of_errors_is_what_is_answered,
               proposals_are_taken_and_answered_as_shown,
               a_refusal_is_as_shown_in_each_format,
               values_and_origins_are_as_the_guide_says,
               pages_end_as_the_guide_says,
               answers_of_get_have_an_etag, too_many_without_a_key_get_429,
               the_client_tries_again_and_tells_what_will_not_mend])

"""tools/quickstart: its words, its file of settings, and all that it promises.

The build that is being tested stands in for the one that it would make in its
folder; GRID_LONG=1 lets it make its own.
"""

import atexit
import csv
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from stack import (BUILD, TOP, find_nginx, free_port, kill, needs_build_folder, run_tests,
                   wait_until)

QUICKSTART = os.path.join(TOP, "tools", "quickstart")
OPTIONS = ("--dir", "--port", "--push-port", "--articles", "--nodes",
           "--etcd-port", "--detach",
           "--stop", "--no-install")
# What outside scripts read, in this order.
NAMES = ["GRID_URL", "GRID_KEY", "GRID_KEY_READ", "GRID_SUPPLIER",
         "GRID_USER", "GRID_PASSWORD", "GRID_DATA", "GRID_CSV", "GRIDCTL",
         "HOOK_URL", "HOOK_SECRET", "HOOK_PATH"]
ARTICLES = 1000
LONG = os.environ.get("GRID_LONG", "") not in ("", "0")
AGAIN_SECONDS = 60  # a second run: it takes two or three on a quiet machine


def folder_with_build():
    folder = tempfile.mkdtemp(prefix="grid-quick-")
    atexit.register(shutil.rmtree, folder, True)
    atexit.register(run, "--dir", folder, "--stop")
    if not LONG:
        os.symlink(BUILD, os.path.join(folder, "build"))
    return folder


def environment():
    """As a shell would give it: no make is above us."""
    given = {name: value for name, value in os.environ.items()
             if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "NGINX",
                             "WAYLAND_DISPLAY")}
    # Nobody's desktop is told or locked by a test.
    for bus in ("SESSION", "SYSTEM"):
        given["DBUS_%s_BUS_ADDRESS" % bus] = "unix:path=/nonexistent/bus"
    if Desktop.display:
        given["DISPLAY"] = Desktop.display
    return given


class Desktop:
    """An X server, whose display gridhook inherits from quickstart."""

    display = None

    @classmethod
    def start(cls):
        server = shutil.which("Xvfb")
        if cls.display or not server:
            return
        reader, writer = os.pipe()
        process = subprocess.Popen(
            [server, "-displayfd", str(writer), "-screen", "0", "640x480x24",
             "-nolisten", "tcp", "-noreset"], pass_fds=[writer],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(writer)
        atexit.register(process.wait)
        atexit.register(process.terminate)
        with os.fdopen(reader) as file:
            number = file.readline().strip()
        cls.display = ":" + number if number else None


def run(*words, seconds=900):
    return subprocess.run([QUICKSTART] + list(words), env=environment(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=seconds,
                          universal_newlines=True, cwd=os.path.dirname(BUILD))


class Quick:
    """One folder, started once for all the tests that only look."""

    started = None

    def __init__(self):
        self.folder = folder_with_build()
        self.port, self.push_port = free_port(), free_port()

    def words(self, *more):
        return ["--dir", self.folder, "--port", str(self.port), "--push-port",
                str(self.push_port), "--articles", str(ARTICLES),
                "--no-install"] + list(more)

    def start(self):
        Desktop.start()
        done = run(*self.words("--detach"))
        assert done.returncode == 0, done.stdout + done.stderr
        self.said = done.stdout
        return self

    def env(self):
        """As a shell reads it."""
        with open(os.path.join(self.folder, "quickstart.env")) as file:
            return dict("".join(shlex.split(line)).split("=", 1)
                        for line in file)

    def pids(self):
        found = {}
        for name in ("nginx", "gridapi", "gridhook"):
            try:
                with open(os.path.join(self.folder, "run",
                                       name + ".pid")) as file:
                    found[name] = int(file.read())
            except FileNotFoundError:
                pass
        return found


def quick():
    if Quick.started is None:
        Quick.started = Quick().start()
    return Quick.started


def ask(url, key=None, method="GET", body=None, headers=None):
    headers = dict(headers or {})
    if key:
        headers["X-API-Key"] = key
    if body is not None:
        body = json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(url, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, reply.read(), reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def get(path, key="GRID_KEY_READ"):
    env = quick().env()
    status, body, _ = ask(env["GRID_URL"] + "/api/v1" + path, env[key])
    return status, json.loads(body)


def listening(port):
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def processes_of(folder):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                line = file.read().decode("utf-8", "replace")
        except OSError:
            continue
        if folder + "/" in line:
            found.append((name, line.replace("\0", " ")))
    return found


# --- words ------------------------------------------------------------------


def help_names_every_option():
    for word in ("--help", "-h"):
        done = run(word, seconds=60)
        assert done.returncode == 0 and done.stderr == "", done
        for option in OPTIONS:
            assert re.search(r"^  %s\b" % option, done.stdout, re.M), option
        assert "8080" in done.stdout and "7842" in done.stdout
        assert "130000" in done.stdout


def wrong_words_are_usage_errors():
    for words, told in (
            (["--nothing"], "--nothing"), (["here"], "here"),
            (["--port"], "--port"), (["--port", "0"], "--port"),
            (["--port", "65536"], "--port"), (["--port", "x"], "--port"),
            (["--port="], "--port"), (["--push-port", "-1"], "--push-port"),
            (["--articles", "10"], "--articles"),
            (["--articles", "1e6"], "--articles"), (["--dir", ""], "--dir"),
            (["--port", "7842"], "--push-port")):
        done = run(*words, seconds=60)
        assert done.returncode == 2, (words, done)
        assert told in done.stderr and done.stdout == "", (words, done)


def stop_of_nothing_is_told():
    done = run("--stop", "--dir", "/nonexistent/grid", seconds=60)
    assert done.returncode == 1 and "/nonexistent/grid" in done.stderr, done


def folder_that_settings_cannot_name_is_refused():
    parent = tempfile.mkdtemp(prefix="grid-quick-")
    atexit.register(shutil.rmtree, parent, True)
    for name, told in (("a b", "blanks"), ("x" * 100, "too long")):
        done = run("--no-install", "--dir", os.path.join(parent, name),
                   seconds=60)
        assert done.returncode == 1 and told in done.stderr, done
    assert os.listdir(parent) == [], "what is refused leaves no folder"


def taken_port_is_told_before_anything_is_built():
    folder = tempfile.mkdtemp(prefix="grid-quick-")
    atexit.register(shutil.rmtree, folder, True)
    for option, other in (("--port", "--push-port"), ("--push-port", "--port")):
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            sock.listen(1)
            port = str(sock.getsockname()[1])
            done = run("--no-install", "--dir", folder, option, port, other,
                       str(free_port()), seconds=60)
        assert done.returncode == 1, done
        assert "port %s is taken" % port in done.stderr, done
        assert done.stdout == "", done
    assert not os.path.exists(os.path.join(folder, "build"))


STUB = """#!/bin/sh
# configure's part, and make's: three steps, the second of which waits.
cat >Makefile <<'END'
all:
	@echo "  CC       a.o"
	@echo "  CC       b.o"; while [ ! -e go ]; do sleep 0.1; done
	@echo "  CCLD     c"; exit 1
END
: >config.status
"""


def tree_that_builds_slowly():
    """A source folder whose build goes on once the file "go" is there."""
    top = tempfile.mkdtemp(prefix="grid-quick-")
    atexit.register(shutil.rmtree, top, True)
    os.mkdir(os.path.join(top, "tools"))
    shutil.copy(QUICKSTART, os.path.join(top, "tools"))
    for name in ("configure.ac", "Makefile.am", "Makefile.in", "configure"):
        with open(os.path.join(top, name), "w") as file:
            file.write(STUB)
        os.chmod(os.path.join(top, name), 0o755)
    return top


def a_build_shows_how_far_it_is():
    """A line an interval into a file; on a terminal one line that moves."""
    for on_terminal in (False, True):
        top = tree_that_builds_slowly()
        folder = os.path.join(top, "data")
        reader, writer = os.openpty() if on_terminal else os.pipe()
        env = dict(environment(), QUICKSTART_INTERVAL="1")
        process = subprocess.Popen(
            ["bash", os.path.join(top, "tools", "quickstart"), "--no-install",
             "--dir", folder, "--port", str(free_port()), "--push-port",
             str(free_port())], stdin=subprocess.DEVNULL, stdout=writer,
            stderr=subprocess.DEVNULL, env=env)
        os.close(writer)
        said = b""
        while b"2 of 3" not in said:
            assert process.poll() is None, said
            got = os.read(reader, 4096)
            assert got, said
            said += got
        with open(os.path.join(folder, "build", "go"), "w"):
            pass
        assert process.wait(60) == 1  # the stub's make fails
        assert (b"\r\033[K" in said) == on_terminal, said
        os.close(reader)


def end_all(pids):
    for pid in pids:
        kill(pid)


def processes_that_a_killed_nginx_left_are_ended():
    """The first process was killed with -9: the others hold port and sockets."""
    program = find_nginx()
    if not program:
        return
    folder = tempfile.mkdtemp(prefix="grid-quick-")
    atexit.register(shutil.rmtree, folder, True)
    port = free_port()
    subprocess.run(["sh", os.path.join(TOP, "tools/dev/nginx-conf.sh"), folder,
                    "127.0.0.1:%d" % port, folder], check=True)
    log = os.path.join(folder, "log", "nginx.log")
    for words in (["--stop"], ["--no-install", "--port", str(port),
                               "--push-port", str(free_port())]):
        master = subprocess.Popen(
            [program, "-p", folder + "/", "-e", log, "-c",
             os.path.join(folder, "nginx", "nginx.conf"), "-g", "daemon off;"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        with open("/proc/%d/task/%d/children" % (master.pid,
                                                 master.pid)) as file:
            wait_until(lambda: file.seek(0) == 0 and file.read().split(),
                       "nginx has workers")
            file.seek(0)
            workers = [int(pid) for pid in file.read().split()]
        atexit.register(end_all, workers)
        wait_until(lambda: listening(port), "nginx listens")
        master.kill()
        master.wait()
        assert listening(port)
        top = tree_that_builds_slowly()
        os.makedirs(os.path.join(folder, "build"), exist_ok=True)
        with open(os.path.join(folder, "build", "go"), "w"):
            pass
        done = subprocess.run(
            ["bash", os.path.join(top, "tools", "quickstart"), "--dir", folder]
            + words, capture_output=True, text=True, timeout=60,
            env=environment(), check=False)
        assert "nginx was killed and left processes" in done.stdout, done
        assert "another program" not in done.stderr, done
        assert not listening(port), done
        for pid in workers:
            assert str(pid) in done.stdout, (pid, done)


def commands_that_gridapi_begins():
    """Their words, without those that differ from one to the next."""
    with open(os.path.join(TOP, "fcgi", "rows", "on_demand.c")) as file:
        found = re.findall(r"\*\w+\[\] = \{settings->gridctl,(.*?)NULL\}",
                           file.read(), re.S)
    return [re.findall(r'"([^"]+)"', words) for words in found]


def what_gridapi_has_begun_is_ended():
    """By programs that wait, and are called with the same words."""
    folder = tempfile.mkdtemp(prefix="grid-quick-")
    atexit.register(shutil.rmtree, folder, True)
    commands = commands_that_gridapi_begins()
    assert len(commands) == 3, commands
    for words in commands:
        with subprocess.Popen(
                ["bash", "-c", "read -r line", words[0], folder + "/data"] +
                words[1:], stdin=subprocess.PIPE) as begun:
            try:
                done = run("--stop", "--dir", folder, seconds=60)
                assert done.returncode == 0, done
                assert begun.wait(30) == -signal.SIGTERM, (words, begun)
            finally:
                begun.kill()


# --- what a run leaves ------------------------------------------------------


def settings_file_has_the_promised_names():
    env = quick().env()
    assert list(env) == NAMES, list(env)
    assert all(env.values()), env
    assert env["GRID_URL"] == "http://127.0.0.1:%d" % quick().port
    assert env["HOOK_URL"] == "http://127.0.0.1:%d" % quick().push_port
    path = os.path.join(quick().folder, "quickstart.env")
    assert os.stat(path).st_mode & 0o077 == 0, "others may read the keys"
    shell = subprocess.run(
        ["sh", "-eu", "-c", '. "$0"; printf %s "$GRID_KEY"', path],
        stdout=subprocess.PIPE, check=True)
    assert shell.stdout.decode() == env["GRID_KEY"]


def activate_exports_the_names_and_finds_the_programs():
    """Twice, too: PATH has its folder once then."""
    path = os.path.join(quick().folder, "activate")
    shell = subprocess.run(
        ["sh", "-eu", "-c", '. "$0"; . "$0"; env', path],
        stdout=subprocess.PIPE, check=True)
    told = dict(line.split("=", 1)
                for line in shell.stdout.decode().splitlines() if "=" in line)
    env = quick().env()
    assert {name: told.get(name) for name in env} == env
    folder = os.path.join(quick().folder, "bin")
    assert told["PATH"].split(":").count(folder) == 1, told["PATH"]
    done = subprocess.run(["gridctl", "suppliers"], env=told,
                          stdout=subprocess.PIPE)
    assert done.returncode == 0 and env["GRID_SUPPLIER"] in str(done.stdout)
    done = subprocess.run(["gridapi", "--check"], env=told,
                          stdout=subprocess.PIPE)
    assert done.stdout == b"settings and data directory are fine\n", done
    done = subprocess.run(["gridhook", "ctl", "status"], env=told,
                          stdout=subprocess.PIPE)
    assert json.loads(done.stdout)["port"] == quick().push_port, done


def both_keys_have_their_scopes():
    env = quick().env()
    status, body = get("/grid?fournisseur=%s&limit=1&fields=codein,codeGamme" %
                       env["GRID_SUPPLIER"])
    assert status == 200, body
    row = body["data"][0]
    path = "/api/v1/products/%s/gamme" % row["codein"]
    change = {"gamme": "A" if row["codeGamme"] != "A" else "B",
              "fournisseur": env["GRID_SUPPLIER"]}
    for key, want in (("GRID_KEY_READ", 403), ("GRID_KEY", 200)):
        status, body, _ = ask(env["GRID_URL"] + path, env[key], "PUT", change)
        assert status == want, (key, status, body)
    status, body, headers = ask(env["GRID_URL"] + "/api/v1/fournisseurs")
    assert status == 401 and headers["WWW-Authenticate"], (status, body)


def largest_and_half_of_the_suppliers_are_computed():
    env = quick().env()
    status, body = get("/fournisseurs?limit=1000")
    assert status == 200
    known = body["data"]
    assert len(known) == 400, len(known)
    ready = [one for one in known if one["hasSnapshot"]]
    assert abs(len(ready) - len(known) / 2) <= 10, len(ready)
    listed = subprocess.run(
        [env["GRIDCTL"], "--data", env["GRID_DATA"], "suppliers"],
        stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    articles = {line.split()[0]: int(line.split()[1].replace(",", ""))
                for line in listed[1:]}
    assert articles.keys() == {one["code"] for one in known}
    assert articles[env["GRID_SUPPLIER"]] == max(articles.values()) == ARTICLES
    mine = [one for one in known if one["code"] == env["GRID_SUPPLIER"]][0]
    assert mine["hasSnapshot"] and mine["rowCount"] == ARTICLES, mine
    later = [one["code"] for one in known
             if not one["hasSnapshot"] and articles[one["code"]] > 0]
    assert len(later) >= 10, len(later)
    assert 0 in articles.values()
    status, body = get("/grid?fields=codein&limit=1&fournisseur=" + later[0])
    assert status == 200 and body["meta"]["computedOnDemand"] is True, body


def data_and_programs_are_where_it_says():
    env = quick().env()
    assert os.path.exists(os.path.join(env["GRID_CSV"], "articles.csv"))
    done = subprocess.run([env["GRIDCTL"], "--data", env["GRID_DATA"], "stat"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout


def user_may_sign_in():
    env = quick().env()
    status, body, headers = ask(
        env["GRID_URL"] + "/app/session", method="POST",
        body={"user": env["GRID_USER"], "password": env["GRID_PASSWORD"]},
        headers={"Origin": env["GRID_URL"], "Sec-Fetch-Site": "same-origin"})
    assert status in (200, 201, 204), (status, body)
    assert "HttpOnly" in headers["Set-Cookie"], headers


def proposals_edits_and_decisions_are_there_at_first_sight():
    """Of smaller suppliers: the largest one is as its CSV files are."""
    env = quick().env()
    status, entries = get("/propositions?limit=100")
    assert status == 200, entries
    states, reasons = {}, 0
    for entry in entries["data"]:
        if entry["codeFournisseur"] != env["GRID_SUPPLIER"]:
            states.setdefault(entry["codeFournisseur"], set()).add(
                entry["etat"])
            reasons += entry["motif"] is not None
    decided = [supplier for supplier, found in states.items()
               if {"proposee", "validee", "rejetee"} <= found]
    assert len(states) == 3 and len(decided) == 1 and reasons > 0, states
    _, _, headers = ask(
        env["GRID_URL"] + "/app/session", method="POST",
        body={"user": env["GRID_USER"], "password": env["GRID_PASSWORD"]},
        headers={"Origin": env["GRID_URL"]})
    cookie = {"Cookie": headers["Set-Cookie"].split(";")[0]}
    _, body, _ = ask(env["GRID_URL"] + "/app/waiting", headers=cookie)
    assert decided[0] in [
        one["codeFournisseur"] for one in json.loads(body)["data"]], body
    status, body, _ = ask(env["GRID_URL"] + "/app/kept/mine/drafts." +
                          decided[0], headers=cookie)
    assert status == 200, body
    assert len(json.loads(body)["data"]["value"].split("\n")) == 3, body


def pages_and_push_server_answer():
    env = quick().env()
    for path, told in (("/", b"<html"), ("/docs/", b"openapi.json"),
                       ("/api/v1/openapi.json", b'"3.1.0"')):
        status, body, _ = ask(env["GRID_URL"] + path)
        assert status == 200 and told in body, (path, status, body[:300])
    status, _, _ = ask(env["HOOK_URL"] + env["HOOK_PATH"], method="POST",
                       body={})
    assert status in (400, 401, 403), status


def three_things_to_try_work_as_printed():
    lines = [line.strip() for line in quick().said.splitlines()]
    start = [line for line in lines if line.startswith(". /")]
    tries = [line for line in lines if line.startswith("curl ")]
    assert len(start) == 1 and len(tries) == 3, quick().said
    env = quick().env()
    assert env["GRID_KEY"] in quick().said
    assert env["GRID_URL"] + "/api/v1" in quick().said
    for line in tries:
        done = subprocess.run(
            ["sh", "-euc", start[0] + "\n" + line.replace(
                "curl ", "curl -sf ", 1)], stdout=subprocess.PIPE, check=True)
        assert json.loads(done.stdout.decode())["data"], line


# --- again, elsewhere, and the end -------------------------------------------


def second_run_keeps_all_and_takes_seconds():
    before, pids = quick().env(), quick().pids()
    began = time.monotonic()
    quick().start()
    took = time.monotonic() - began
    assert took < AGAIN_SECONDS, "it took %.1f s" % took
    assert quick().env() == before
    assert quick().pids().keys() == pids.keys()
    assert not set(quick().pids().values()) & set(pids.values())
    status, _ = get("/fournisseurs?withData=1", "GRID_KEY")
    assert status == 200


def second_run_without_a_number_keeps_what_is_there():
    """What was imported, proposed and saved there since is somebody's work."""
    before = quick().env()
    words = quick().words("--detach")
    at = words.index("--articles")
    done = run(*(words[:at] + words[at + 2:]), seconds=AGAIN_SECONDS)
    assert done.returncode == 0 and "demo data" not in done.stdout, done
    assert quick().env() == before
    status, answer = get("/grid?limit=1&fields=codein&fournisseur=" +
                         before["GRID_SUPPLIER"])
    assert status == 200 and answer["pagination"]["total"] == ARTICLES, answer


def second_run_may_move_to_another_port():
    old = quick().port
    quick().port = free_port()
    quick().start()
    assert not listening(old)
    assert quick().env()["GRID_URL"].endswith(":%d" % quick().port)
    assert get("/fournisseurs")[0] == 200


def nothing_listens_elsewhere_than_on_loopback():
    hexes = {"%04X" % quick().port, "%04X" % quick().push_port}
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name) as file:
            for line in list(file)[1:]:
                words = line.split()
                address, port = words[1].split(":")
                if words[3] == "0A" and port in hexes:
                    assert address == "0100007F", line


def nginx_writes_no_pid_file_of_quickstart():
    """A file that two write is empty for a moment: what reads it then takes
    nginx for dead."""
    with open(os.path.join(quick().folder, "nginx", "nginx.conf")) as file:
        own = re.search(r"(?m)^pid (.*);", file.read()).group(1)
    assert os.path.exists(own), own
    assert os.path.dirname(own) != os.path.join(quick().folder, "run"), own


def what_was_killed_is_started_again_without_noise():
    """The pid files of the dead are still there: that is nothing to tell."""
    pids = quick().pids()
    for name in ("gridapi", "gridhook"):
        os.kill(pids[name], signal.SIGKILL)
    wait_until(lambda: len(processes_of(quick().folder)) == 1 and
               not os.path.exists("/proc/%d" % pids["gridapi"]),
               "only nginx runs")
    done = run(*quick().words("--detach"), seconds=AGAIN_SECONDS)
    assert done.returncode == 0 and done.stderr == "", done
    assert get("/fournisseurs")[0] == 200


def an_own_import_may_have_any_code():
    """The largest supplier's code is asked for, and written down."""
    env = quick().env()
    code = "L'eau & Cie 1%"
    with open(os.path.join(env["GRID_CSV"], "articles.csv")) as file:
        head, row = list(csv.reader(file))[:2]
    folder = os.path.join(quick().folder, "own")
    os.mkdir(folder)
    with open(os.path.join(folder, "suppliers.csv"), "w") as file:
        csv.writer(file).writerows([["code", "nom"], [code, "Sources, 12 unis"]])
    with open(os.path.join(folder, "articles.csv"), "w") as file:
        csv.writer(file).writerows([head] + [
            [code, "OWN%d" % i] + row[2:] for i in range(ARTICLES + 1)])
    subprocess.run([env["GRIDCTL"], "--data", env["GRID_DATA"], "import",
                    "--merge", "--quiet", folder], check=True)
    assert run("--dir", quick().folder, "--stop").returncode == 0
    quick().start()
    assert quick().env()["GRID_SUPPLIER"] == code, quick().env()
    three_things_to_try_work_as_printed()


def stop_ends_all_and_may_be_said_twice():
    folder = quick().folder
    assert processes_of(folder)
    done = run("--dir", folder, "--stop", seconds=60)
    assert done.returncode == 0, done
    for name in ("nginx", "gridapi", "gridhook"):
        assert name in done.stdout, done.stdout
    assert not listening(quick().port) and not listening(quick().push_port)
    assert processes_of(folder) == []
    done = run("--dir", folder, "--stop", seconds=60)
    assert done.returncode == 0 and "nothing ran" in done.stdout, done


def heed_interrupts():
    """Who was started behind a shell's & has them ignored, and hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def in_front_it_runs_until_it_is_interrupted():
    with subprocess.Popen([QUICKSTART] + quick().words(), env=environment(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True,
                          preexec_fn=heed_interrupts,
                          universal_newlines=True) as process:
        said = ""
        for line in process.stdout:
            said += line
            if "Ctrl-C ends it" in line:
                break
        try:
            assert "Ctrl-C ends it" in said, said
            assert get("/fournisseurs")[0] == 200
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.stdout.read()
        assert process.wait(60) == 130
    assert not listening(quick().port) and not listening(quick().push_port)
    assert processes_of(quick().folder) == []


def free_ports_on_all(count):
    """So many in a row that nobody has at 127.0.0.1, .2 and .3."""
    while True:
        first = free_port()
        sockets = []
        try:
            for i in range(1, 4):
                for port in range(first, first + count):
                    sockets.append(socket.socket())
                    sockets[-1].setsockopt(socket.SOL_SOCKET,
                                           socket.SO_REUSEADDR, 1)
                    sockets[-1].bind(("127.0.0.%d" % i, port))
            return first
        except (OSError, OverflowError):
            pass
        finally:
            for each in sockets:
                each.close()


def three_nodes_go_on_without_one():
    """What is printed, each line as it is: one is killed, another writes, and
    the third shows it."""
    if not shutil.which("etcd"):
        print("without etcd: no nodes are tried")
        return
    let_the_first_article_have_what_is_proposed()
    port = free_ports_on_all(3)
    words = ["--dir", quick().folder, "--nodes", "3", "--port", str(port),
             "--etcd-port", str(port + 1), "--no-install"]
    quick().node_port = port
    with subprocess.Popen([QUICKSTART] + words, env=environment(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True,
                          preexec_fn=heed_interrupts,
                          universal_newlines=True) as process:
        said = ""
        for line in process.stdout:
            said += line
            if "Ctrl-C ends it" in line:
                break
        try:
            assert "Ctrl-C ends it" in said, said
            import_at_one_is_shown_by_all(port)
            try_what_is_printed(said, port)
        finally:
            os.killpg(process.pid, signal.SIGINT)
            rest = process.stdout.read()
        assert process.wait(60) == 130
        assert "has ended" in rest, rest
    assert processes_of(quick().folder) == []


def settings_that_are_added_to_a_node_stay():
    """By the words of docs/cluster.md: each node then keeps a part, and each
    answers for all."""
    if not shutil.which("etcd"):
        print("without etcd: no nodes are tried")
        return
    with open(os.path.join(TOP, "docs", "cluster.md")) as file:
        lines = [line.strip() for line in file if "'keep = 2'" in line]
    assert len(lines) == 1, lines
    shell = lines[0].replace("quickstart-data", shlex.quote(quick().folder))
    subprocess.run(["sh", "-euc", shell], check=True)
    port = quick().node_port
    env = quick().env()
    for _ in range(2):
        done = run("--dir", quick().folder, "--nodes", "3", "--port", str(port),
                   "--no-install", "--detach")
        assert done.returncode == 0, done
        for i in (1, 2, 3):
            data = os.path.join(quick().folder, "nodes/%d/data" % i)
            with open(os.path.join(data, "cluster.conf")) as file:
                text = file.read()
            for setting in ("keep", "etcd", "node", "address", "secret_file"):
                assert len(re.findall(r"(?m)^%s = " % setting, text)) == 1, text
            assert "keep = 2\n" in text, text
            with open(os.path.join(quick().folder, "nodes/%d/nginx/cluster.conf"
                                   % i)) as file:
                assert "X-Grid-Passed" in file.read(), i
    query = "/api/v1/grid?limit=1&fournisseur=" + urllib.parse.quote(
        env["GRID_SUPPLIER"], safe="")

    def by_two():
        answers = [ask("http://127.0.0.%d:%d%s" % (i, port, query),
                       env["GRID_KEY"]) for i in (1, 2, 3)]
        assert all(status == 200 for status, _, _ in answers), answers
        return len({headers["X-Grid-Node"]
                    for _, _, headers in answers}) == 2

    wait_until(by_two, "two of three nodes answer for the supplier")

    def same_suppliers():
        answers = [ask("http://127.0.0.%d:%d/api/v1/fournisseurs?withData=1"
                       "&limit=1000" % (i, port), env["GRID_KEY"])
                   for i in (1, 2, 3)]
        assert all(status == 200 for status, _, _ in answers), answers
        return len({body for _, body, _ in answers}) == 1

    wait_until(same_suppliers, "all nodes list the same suppliers")
    assert run("--dir", quick().folder, "--stop").returncode == 0
    assert processes_of(quick().folder) == []


def what_is_healthy_goes_on_without_the_rest():
    """A node that does not start is named, with its log; members of etcd are not
    started again."""
    if not shutil.which("etcd"):
        print("without etcd: no nodes are tried")
        return
    port = quick().node_port
    words = ["--dir", quick().folder, "--nodes", "3", "--port", str(port),
             "--no-install", "--detach"]

    def members():
        pids = []
        for i in (1, 2, 3):
            with open("%s/run/etcd-%d.pid" % (quick().folder, i)) as file:
                pids.append(file.read())
        return pids

    assert run(*words).returncode == 0
    before = members()
    socket_path = os.path.join(quick().folder, "nodes/3/run/slow.sock")
    os.unlink(socket_path)
    os.mkdir(socket_path)
    with open(os.path.join(socket_path, "file"), "w"):
        pass
    done = run(*words)
    assert done.returncode == 1, done
    assert "gridapi-3 is not ready: see %s/log/gridapi-3.log" % \
        quick().folder in done.stderr, done
    assert members() == before
    for i in (1, 2):
        status, _, _ = ask("http://127.0.0.%d:%d/readyz" % (i, port))
        assert status == 200, i
    shutil.rmtree(socket_path)
    done = run(*words)
    assert done.returncode == 0, done
    assert members() == before
    assert run("--dir", quick().folder, "--stop").returncode == 0
    assert processes_of(quick().folder) == []


def ports_of_etcd_stay():
    """Its members know each other by them: a start with others would wait in vain."""
    if not shutil.which("etcd"):
        print("without etcd: no nodes are tried")
        return
    words = ["--dir", quick().folder, "--nodes", "3", "--no-install", "--detach"]
    etcd_port = quick().node_port + 1
    done = run(*words, "--etcd-port", str(etcd_port + 2), seconds=60)
    assert done.returncode == 1 and done.stdout == "", done
    assert "have port %d for good" % etcd_port in done.stderr, done
    done = run(*words, "--port", str(etcd_port + 1), seconds=60)
    assert done.returncode == 2 and "--port is one of etcd's" in done.stderr, done


def let_the_first_article_have_what_is_proposed():
    """A proposal of the range that an article has is none, and shows nothing."""
    env = quick().env()
    gridctl = [env["GRIDCTL"], "--data", os.path.join(quick().folder, "data")]
    with subprocess.Popen(gridctl + ["dump", env["GRID_SUPPLIER"]],
                          stdout=subprocess.PIPE) as dump:
        codein = json.loads(dump.stdout.readline())["codein"]
        dump.kill()
    path = os.path.join(quick().folder, "gammes.csv")
    with open(path, "w") as file:
        file.write("fournisseur,codein,gamme\n%s,%s,B\n"
                   % (env["GRID_SUPPLIER"], codein))
    for words in (["gammes", "import", path],
                  ["compute", env["GRID_SUPPLIER"]]):
        subprocess.run(gridctl + words, check=True,
                       stdout=subprocess.DEVNULL)


def import_at_one_is_shown_by_all(port):
    def product(node, codein):
        status, body, _ = ask(
            "http://127.0.0.%d:%d/api/v1/products/%s?fields=codeGamme"
            % (node, port, codein), headers={"X-API-Key": key})
        assert status == 200, (status, body)
        return json.loads(body)["data"]["codeGamme"]

    env = quick().env()
    key = env["GRID_KEY"]
    status, body, _ = ask(
        "http://127.0.0.1:%d/api/v1/grid?fournisseur=%s&limit=1"
        "&fields=codein,codeGamme"
        % (port, urllib.parse.quote(env["GRID_SUPPLIER"], safe="")),
        headers={"X-API-Key": key})
    assert status == 200, (status, body)
    row = json.loads(body)["data"][0]
    assert row["codeGamme"] == "B", row
    other = "C"  # A or B is proposed later
    path = os.path.join(quick().folder, "gammes.csv")
    with open(path, "w") as file:
        file.write("fournisseur,codein,gamme\n%s,%s,%s\n"
                   % (env["GRID_SUPPLIER"], row["codein"], other))
    subprocess.run(
        [env["GRIDCTL"], "--data",
         os.path.join(quick().folder, "nodes/2/data"), "gammes", "import",
         path], check=True, stdout=subprocess.DEVNULL)
    for node in (1, 2, 3):
        wait_until(lambda: product(node, row["codein"]) == other,
                   "node %d shows the import of node 2" % node)


def try_what_is_printed(said, port):
    lines = [line.strip() for line in said.split("Kill node ")[1].splitlines()
             if line.startswith("  ")]
    activate, kill, write, read, ready, again = lines
    assert again.startswith("tools/quickstart --dir "), again
    dead = int(re.search(r"-([123])\.pid", kill).group(1))

    def out_of(line):
        return subprocess.run(["bash", "-euc", activate + "\n" + line],
                              stdout=subprocess.PIPE, check=True,
                              stderr=subprocess.PIPE).stdout.decode()

    out_of(kill)
    assert json.loads(out_of(write))["data"]["gamme"] == "A"
    wait_until(lambda: json.loads(out_of(read))["data"].get(
        "gammeAValider") == "A", "the third node shows it")
    wait_until(lambda: json.loads(out_of(ready)).get("ok"), "it is ready")
    for i in (1, 2, 3):
        with socket.socket() as one:
            assert (one.connect_ex(("127.0.0.%d" % i, port)) == 0) == \
                (i != dead), i


def tool(name, arguments=None):
    env = quick().env()
    status, body, _ = ask(
        env["HOOK_URL"] + "/mcp", method="POST",
        body={"jsonrpc": "2.0", "id": 1, "method": "tools/call",
              "params": {"name": name, "arguments": arguments or {}}},
        headers={"X-Service-Secret": env["HOOK_SECRET"],
                 "Accept": "application/json, text/event-stream"})
    assert status == 200, (status, body)
    return json.loads(body)["result"]


def desktop_tools_are_in_what_it_built():
    """Each answers of this desktop, and none that the build lacks it."""
    env = quick().env()
    built = subprocess.run(
        [os.path.join(quick().folder,
                      "build/tools/gridhook/tool/gridhook-tool"),
         "--backends"], stdout=subprocess.PIPE, check=True)
    assert built.stdout == b"x11 yes\ndbus yes\npng yes\njpeg yes\n", built
    status = tool("get_app_status")["structuredContent"]
    tools = {each["name"]: each for each in status["tools"]}
    assert len(tools) == 14, tools
    assert "configured without" not in json.dumps(tools), tools
    for name in ("notify_user", "lock_session"):
        said = tool(name, {"title": "a", "message": "b"}
                    if name == "notify_user" else {})
        assert "configured without" not in json.dumps(said), said
    if not Desktop.display:
        print("without Xvfb: no display is tried")
        return
    for name in ("capture_screen", "clipboard_get", "clipboard_set",
                 "open_app"):
        assert tools[name]["works"], tools[name]
    picture = tool("capture_screen")
    assert not picture["isError"], picture
    assert "image/png" in [item.get("mimeType")
                           for item in picture["content"]], picture
    text = "r\u00e9sum\u00e9 of %d" % quick().port
    assert not tool("clipboard_set", {"text": text})["isError"]
    assert tool("clipboard_get")["structuredContent"]["text"] == text
    assert "nobody would hear" in json.dumps(tool("media_key",
                                                  {"key": "next"}))


def main():
    needs_build_folder()
    run_tests([
        help_names_every_option, wrong_words_are_usage_errors,
        stop_of_nothing_is_told, folder_that_settings_cannot_name_is_refused,
        taken_port_is_told_before_anything_is_built,
        a_build_shows_how_far_it_is,
        processes_that_a_killed_nginx_left_are_ended,
        what_gridapi_has_begun_is_ended,
        settings_file_has_the_promised_names,
        activate_exports_the_names_and_finds_the_programs, both_keys_have_their_scopes,
        largest_and_half_of_the_suppliers_are_computed,
        data_and_programs_are_where_it_says, user_may_sign_in,
        proposals_edits_and_decisions_are_there_at_first_sight,
        pages_and_push_server_answer, desktop_tools_are_in_what_it_built,
        three_things_to_try_work_as_printed,
        second_run_keeps_all_and_takes_seconds,
        second_run_without_a_number_keeps_what_is_there,
        second_run_may_move_to_another_port,
        nothing_listens_elsewhere_than_on_loopback,
        nginx_writes_no_pid_file_of_quickstart,
        what_was_killed_is_started_again_without_noise,
        an_own_import_may_have_any_code,
        stop_ends_all_and_may_be_said_twice,
        in_front_it_runs_until_it_is_interrupted,
        three_nodes_go_on_without_one, settings_that_are_added_to_a_node_stay,
        what_is_healthy_goes_on_without_the_rest, ports_of_etcd_stay])


if __name__ == "__main__":
    main()

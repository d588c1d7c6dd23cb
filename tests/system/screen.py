"""Starts nginx and gridapi with demo data, then the browser's script.

    screen.py [SCRIPT]      SCRIPT is screen/screen.mjs unless given

The supplier has 3,000 articles, with GRID_LONG=1 130,000; GRID_ARTICLES says
otherwise. The script asks for what only we can do by a line on its output,
"@ WORDS", and reads a line of JSON for an answer: "@ stop" and "@ start" end
and start gridapi, "@ expire" ends all of claire's sessions, "@ user NAME" lets
one more in, with the same password, "@ account NAME GROUP" signs somebody in next, "@ ctl WORDS" runs gridctl,
"@ without WORD..." imports the demo data anew but for lines that begin with
one of the words and a comma, and computes the supplier, "@ workbook WORDS" runs workbook.py.
"""

import json
import os
import shutil
import signal
import subprocess
import sys

from accounts import Accounts
from stack import BUILD, TOP, Stack

HERE = os.path.dirname(os.path.abspath(__file__))
GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
PASSWORD = "grille et gammes"
ARTICLES = os.environ.get("GRID_ARTICLES") or (
    "130000" if os.environ.get("GRID_LONG") else "3000")
HTML = os.environ.get("GRID_HTML") or os.path.join(BUILD, "nginx", "html")


def ctl(stack, *words, stdin=""):
    return subprocess.run([GRIDCTL, "--data", stack.data] + list(words),
                          input=stdin, capture_output=True, text=True,
                          check=True).stdout


def fill(stack):
    """Demo data, the largest supplier computed; who may come in."""
    csv = stack.path("csv")
    subprocess.run([GRIDCTL, "demo", "--out", csv, "--articles", ARTICLES,
                    "--suppliers", "24", "--stores", "3"], check=True,
                   capture_output=True)
    ctl(stack, "init")
    ctl(stack, "import", "--quiet", csv)
    ctl(stack, "compute", "--quiet", "12345")
    ctl(stack, "user", "add", "claire", stdin=PASSWORD + "\n")
    key = ctl(stack, "key", "create", "--name", "agent-gammes",
              "--scope", "propose")
    return next(word for word in key.split() if word.startswith("grid_"))


def stop(stack):
    stack.pool.terminate()
    stack.pool.wait(40)


def expire(stack):
    ctl(stack, "user", "passwd", "claire", stdin=PASSWORD + "\n")


def without(stack, *starts):
    """The next night's data: of some suppliers or articles there is none."""
    folder = stack.path("without")
    starts = tuple(start + "," for start in starts)
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(stack.path("csv")):
        with open(os.path.join(stack.path("csv"), name)) as whole, \
                open(os.path.join(folder, name), "w") as left:
            left.writelines(line for line in whole
                            if not line.startswith(starts))
    ctl(stack, "import", "--quiet", folder)
    ctl(stack, "compute", "--quiet", "12345")


def workbook(*words):
    """Debian's Python has openpyxl, wherever another one comes first."""
    for python in (sys.executable, "/usr/bin/python3"):
        told = json.loads(subprocess.run(
            [python, os.path.join(HERE, "workbook.py")] + list(words),
            capture_output=True, text=True, check=True).stdout)
        if told is not None:
            return told
    return None


def serve(stack, words):
    acts = {"stop": stop, "start": lambda stack: stack.start_pool(),
            "expire": expire,
            "user": lambda stack: ctl(stack, "user", "add", words[1],
                                      stdin=PASSWORD + "\n"),
            "without": lambda stack: without(stack, *words[1:]),
            "account": lambda stack: stack.accounts.sign_in(*words[1:]),
            "workbook": lambda stack: workbook(*words[1:]),
            "ctl": lambda stack: ctl(stack, *words[1:])}
    return json.dumps(acts[words[0]](stack))


def chromium():
    """The shell has no window of its own to draw: a third less to compute."""
    return (os.environ.get("GRID_CHROMIUM") or
            shutil.which("chromium-headless-shell") or
            shutil.which("chromium"))


def environment(stack, key):
    shots = os.environ.get("GRID_SCREENSHOTS") or os.path.join(
        BUILD, "tests", "screenshots")
    os.makedirs(shots, exist_ok=True)
    return dict(
        os.environ, GRID_URL="http://127.0.0.1:%d" % stack.port,
        GRID_KEY=key, GRID_USER="claire", GRID_PASSWORD=PASSWORD,
        GRID_SHOTS=shots, GRID_ARTICLES=ARTICLES, GRID_HTML=HTML,
        GRID_CHROMIUM=chromium())


def run(stack, key, script):
    """The script ends its browser when it is told to end."""
    node = subprocess.Popen(["node", script], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True,
                            env=environment(stack, key))
    try:
        for line in node.stdout:
            if line.startswith("@ "):
                node.stdin.write(serve(stack, line.split()[1:]) + "\n")
                node.stdin.flush()
            else:
                print(line, end="", flush=True)
        return node.wait(30)
    finally:
        if node.poll() is None:
            node.terminate()
            print(node.communicate(timeout=30)[0], end="", flush=True)


def with_accounts(stack):
    """Users from outside too: what stands for oauth2-proxy, and the settings."""
    stack.accounts = Accounts()
    path = stack.path("outside.conf")
    stack.accounts.site_lines(path, os.path.join(
        TOP, "nginx", "outside-oauth2-proxy.conf"))
    stack.directives.append("include " + path)
    stack.settings.update({"outside.accept": "yes",
                           "outside.buyers": "fruits=12345",
                           "outside.managers": "direction"})


def ended(*_):
    """The script tells which check was under way, the stack is taken away."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit("ended by TERM")


def main():
    script = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        HERE, "screen", "screen.mjs")
    signal.signal(signal.SIGTERM, ended)
    stack = Stack(html=HTML)
    try:
        key = fill(stack)
        if os.path.basename(script) == "outside.mjs":
            with_accounts(stack)
        with stack:
            return run(stack, key, script)
    finally:
        shutil.rmtree(stack.folder, ignore_errors=True)


assert os.path.isdir(TOP)
sys.exit(main())

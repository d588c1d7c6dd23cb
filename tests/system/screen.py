"""Starts nginx and gridapi with demo data, then the browser's script.

    screen.py [SCRIPT]      SCRIPT is screen/screen.mjs unless given

The script asks for what only we can do by a line on its output, "@ WORDS",
and reads one line for an answer: "@ restart" ends gridapi and starts
it again, "@ expire" ends all sessions, "@ ctl WORDS" runs gridctl.
"""

import json
import os
import subprocess
import sys

from stack import BUILD, TOP, Stack

HERE = os.path.dirname(os.path.abspath(__file__))
GRIDCTL = os.path.join(BUILD, "tools", "gridctl", "gridctl")
PASSWORD = "grille et gammes"


def ctl(stack, *words, stdin=""):
    return subprocess.run([GRIDCTL, "--data", stack.data] + list(words),
                          input=stdin, capture_output=True, text=True,
                          check=True).stdout


def fill(stack):
    """Demo data, the largest supplier computed; who may come in."""
    csv = stack.path("csv")
    articles = os.environ.get("GRID_ARTICLES", "130000")
    subprocess.run([GRIDCTL, "demo", "--out", csv, "--articles", articles,
                    "--suppliers", "24", "--stores", "3"], check=True,
                   capture_output=True)
    ctl(stack, "init")
    ctl(stack, "import", "--quiet", csv)
    ctl(stack, "compute", "--quiet", "12345")
    ctl(stack, "user", "add", "claire", stdin=PASSWORD + "\n")
    key = ctl(stack, "key", "create", "--name", "agent-gammes",
              "--scope", "propose")
    return next(word for word in key.split() if word.startswith("grid_"))


def restart(stack):
    stack.pool.terminate()
    stack.pool.wait(40)
    stack.start_pool()
    return "done"


def expire(stack):
    ctl(stack, "user", "passwd", "claire", stdin=PASSWORD + "\n")
    return "done"


def serve(stack, words):
    if words[0] == "restart":
        return restart(stack)
    if words[0] == "expire":
        return expire(stack)
    return json.dumps(ctl(stack, *words[1:]))


def run(stack, key, script):
    shots = os.environ.get("GRID_SCREENSHOTS") or os.path.join(
        BUILD, "tests", "system", "screenshots")
    os.makedirs(shots, exist_ok=True)
    environment = dict(
        os.environ, GRID_URL="http://127.0.0.1:%d" % stack.port,
        GRID_KEY=key, GRID_USER="claire", GRID_PASSWORD=PASSWORD,
        GRID_SHOTS=shots)
    browser = subprocess.Popen(["node", script], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True,
                               env=environment)
    for line in browser.stdout:
        if line.startswith("@ "):
            browser.stdin.write(serve(stack, line.split()[1:]) + "\n")
            browser.stdin.flush()
        else:
            print(line, end="", flush=True)
    return browser.wait()


def main():
    script = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        HERE, "screen", "screen.mjs")
    html = os.environ.get("GRID_HTML") or os.path.join(BUILD, "nginx", "html")
    stack = Stack(html=html)
    with_data = fill(stack)
    with stack:
        return run(stack, with_data, script)


assert os.path.isdir(TOP)
sys.exit(main())

"""The conformance suite and the Inspector against /mcp behind nginx.

    mcp_suites.py NODE NODE_MODULES SUITE INSPECTOR

The suite can send no key, so it goes through a proxy that adds one and passes
Host and Origin on as they came.
"""

import http.client
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "flow"))
from kit import TOP, Data, Score  # noqa: E402
from stack import Stack  # noqa: E402

NODE, MODULES, SUITE, INSPECTOR = sys.argv[1:5]

# Revision, scenario, what it must say.
SCENARIOS = [
    ("2025-06-18", "server-initialize", "Passed: 2/2, 0 failed"),
    ("2025-11-25", "server-initialize", "Passed: 2/2, 0 failed"),
    ("2025-06-18", "ping", "Passed: 2/2, 0 failed"),
    ("2025-11-25", "ping", "Passed: 2/2, 0 failed"),
    ("2025-06-18", "tools-list", "Passed: 2/2, 0 failed"),
    ("2025-11-25", "tools-list", "Passed: 3/3, 0 failed"),
    ("2025-11-25", "dns-rebinding-protection", "Passed: 2/2, 0 failed"),
    ("2025-11-25", "server-session-lifecycle", "Server is stateless"),
    ("2026-07-28", "tools-list", "Passed: 4/4, 0 failed"),
    ("2026-07-28", "dns-rebinding-protection", "Passed: 2/2, 0 failed"),
    ("2026-07-28", "http-header-validation", "Passed: 14/14, 0 failed"),
    ("2026-07-28", "server-sse-multiple-streams", "Passed: 1/1, 0 failed"),
    # The rest of these two asks for prompts, resources and tools of the
    # suite's own, which no server with other tools has.
    ("2026-07-28", "server-stateless", "Passed: 21/25, 4 failed"),
    ("2026-07-28", "caching", "Passed: 4/7, 3 failed"),
]


class Proxy(BaseHTTPRequestHandler):
    """Each request to the site, with the key."""
    protocol_version = "HTTP/1.1"
    port, key = 0, ""

    def log_message(self, *args):
        pass

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        site = http.client.HTTPConnection("127.0.0.1", self.port)
        site.putrequest(self.command, self.path, skip_host=True,
                        skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in ("connection", "content-length",
                                    "authorization"):
                site.putheader(name, value)
        site.putheader("Authorization", "Bearer " + self.key)
        site.putheader("Content-Length", str(len(body)))
        site.endheaders(body)
        answer = site.getresponse()
        text = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "content-length",
                                    "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        site.close()

    do_GET = do_POST = do_DELETE = do_OPTIONS = pass_on


def run(words, folder, **more):
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, **more)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def scenarios(score, url, folder):
    for revision, name, wanted in SCENARIOS:
        _, said = run([NODE, SUITE, "server", "--url", url, "--scenario", name,
                       "--spec-version", revision], folder)
        score.note("%s, %s" % (name, revision),
                   [] if wanted in said else ["not " + wanted, said[-1500:]])


def clients(score, url, key, folder):
    for era in ("legacy", "modern"):
        code, said = run([
            NODE, INSPECTOR, "--cli", url, "--transport", "http",
            "--protocol-era", era, "--header", "Authorization: Bearer " + key,
            "--stored-auth-only", "--method", "tools/list", "--strict"],
            folder)
        score.note("Inspector --strict, " + era,
                   [] if code == 0 and "query_rows" in said else [said[-1500:]])
    caller = os.path.join(TOP, "tests", "flow", "mcp_caller.mjs")
    for kind in ("v1", "auto"):
        code, said = run([NODE, caller, MODULES, url, "grid_wrong_key", kind],
                         folder, stdin=subprocess.DEVNULL)
        score.note("a wrong key is refused, SDK " + kind,
                   [] if code != 0 and ("401" in said or
                                        "nauthorized" in said)
                   else [said[-1500:]])


def main():
    score = Score()
    data = Data().fill(os.path.join(TOP, "tests", "flow", "data"), "S1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    with Stack(data=data.folder, settings={
            "api.public_url": "http://127.0.0.1:%d" % port}) as stack, \
            tempfile.TemporaryDirectory() as folder:
        Proxy.port, Proxy.key = stack.port, data.key()
        scenarios(score, "http://127.0.0.1:%d/mcp" % port, folder)
        clients(score, "http://127.0.0.1:%d/mcp" % stack.port, Proxy.key,
                folder)
    server.shutdown()
    score.end()


main()

"""A gridhook of its own for a test: scratch folder, free port, raw sockets.

A test script defines functions, passes them to run(), and closes with
"N passed, N failed" as every test here does.
"""
import http.server
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from patience import PATIENCE, free_port, wait_until  # noqa: E402,F401

BUILD = os.environ.get("abs_top_builddir", ".")
PROGRAM = os.environ.get("GRIDHOOK", os.path.join(BUILD, "tools/gridhook/gridhook"))
SECRET = "s3cret"


class Skip(Exception):
    pass


class Hook:
    """One gridhook; `settings` is {section: {name: value}}."""

    def __init__(self, settings=None, secret=None, start=True, env=None, args=()):
        self.folder = tempfile.mkdtemp(prefix="grid-hook-")
        self.port = free_port()
        self.secret = secret
        self.env = dict(env or {})
        self.args = list(args)
        self.process = None
        config = {
            "server": {"port": self.port},
            "store": {"data": os.path.join(self.folder, "data")},
            "interface": {"sockets": os.path.join(self.folder, "run")},
        }
        for section, values in (settings or {}).items():
            config.setdefault(section, {}).update(values)
        self.config = os.path.join(self.folder, "gridhook.conf")
        with open(self.config, "w", encoding="utf-8") as file:
            for section, values in config.items():
                file.write("[%s]\n" % section)
                for name, value in values.items():
                    file.write("%s = %s\n" % (name, value))
        self.log_path = os.path.join(self.folder, "log")
        if start:
            self.start()

    def environment(self):
        env = {k: v for k, v in os.environ.items()
               if k not in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "GRIDHOOK_SECRET")}
        if self.secret is not None:
            env["GRIDHOOK_SECRET"] = self.secret
        env.update(self.env)
        return env

    def start(self, wait=True):
        log = open(self.log_path, "ab")
        self.process = subprocess.Popen([PROGRAM, "--config", self.config] + self.args,
                                        stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                        env=self.environment())
        log.close()
        if wait:
            self.wait_listening()
        return self

    def wait_listening(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError("gridhook ended: " + self.log())
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.005)
        raise AssertionError("gridhook does not listen: " + self.log())

    def log(self):
        with open(self.log_path, "rb") as file:
            return file.read().decode("utf-8", "replace")

    def wait_log(self, text):
        wait_until(lambda: text in self.log(), lambda: "not in the log: %r\n%s" % (text, self.log()))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError("gridhook did not end on SIGTERM")
        code = None if self.process is None else self.process.returncode
        return code

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            code = self.stop()
            if kind is None and code not in (0, -signal.SIGKILL, None):
                raise AssertionError("exit code %s: %s" % (code, self.log()))
        finally:
            if kind is not None:
                sys.stdout.write("--- log\n" + self.log()[-3000:] + "---\n")
            shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *args, stdin=None, env=None):
        """A command of the same settings: (exit code, stdout, stderr)."""
        full = self.environment()
        full.update(env or {})
        done = subprocess.run([PROGRAM, "--config", self.config] + list(args), input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, env=full,
                              stdin=None if stdin is not None else subprocess.DEVNULL)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    # --- HTTP ---------------------------------------------------------------

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def connections(self):
        """(how many there are, how many of them the server has, how many it has read all of)"""
        rows = []
        with open("/proc/net/tcp", encoding="ascii") as file:
            for words in (line.split() for line in list(file)[1:]):
                # Its end, established or left by the other; who was not accepted has no inode.
                if words[1].endswith(":%04X" % self.port) and words[3] in ("01", "08"):
                    rows.append((words[9] != "0", words[4].endswith(":00000000")))
        return len(rows), sum(taken for taken, _ in rows), sum(taken and read for taken, read in rows)

    def wait_read(self, count):
        """So many connections are there, and all that came on them was read."""
        wait_until(lambda: self.connections() == (count,) * 3, lambda: "read of %d: %r" % (count, self.connections()))

    def take_turns(self, wrong, count=6):
        """Connections with a wrong secret each: with one turn a second, and one at once, who comes behind them waits
        for count - 1 seconds."""
        socks = [self.connect() for _ in range(count)]
        for sock in socks:
            sock.sendall(wrong)
        return socks

    def raw(self, data):
        """Sends bytes as they are; gives the first answer."""
        no_body = data.startswith(b"HEAD ")
        with self.connect() as sock:
            try:
                sock.sendall(data)
            except OSError:
                pass
            return read_answer(sock, no_body=no_body)

    def request(self, method, path, body=None, headers=(), secret=True):
        """The bytes that ask() sends."""
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: 127.0.0.1:%d" % self.port]
        if secret and self.secret:
            lines.append("X-Service-Secret: " + self.secret)
        if isinstance(body, str):
            body = body.encode()
        if body is not None:
            lines.append("Content-Length: %d" % len(body))
        lines += list(headers)
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b"")

    def ask(self, *words, **options):
        return self.raw(self.request(*words, **options))

    def push(self, body, path="/assistant/hook", headers=()):
        if not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        return self.ask("POST", path, body, headers)

    def rpc(self, message, headers=("Content-Type: application/json",)):
        if not isinstance(message, (str, bytes)):
            message = json.dumps(message)
        return self.ask("POST", "/mcp", message, headers)

    def tool(self, name, arguments=None):
        params = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        answer = self.rpc({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        return answer.json()["result"]

    def window(self, **hello):
        return Window(os.path.join(self.folder, "run", "interface.sock"), **hello)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return "%s %r %r" % (self.status, self.headers, self.body[:300])


def has_answer(sock):
    return select.select([sock], [], [], 0)[0] != []


def read_answer(sock, rest=b"", no_body=False):
    """The next answer on a connection, or None when it is closed before."""
    data = rest
    while b"\r\n\r\n" not in data:
        try:
            got = sock.recv(65536)
        except ConnectionResetError:
            return None
        if not got:
            return None
        data += got
    head, data = data.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split(" ")[1])
    headers = {}
    for line in lines[1:]:
        name, value = line.split(":", 1)
        headers[name.strip().lower()] = value.strip()
    if status == 100:
        return read_answer(sock, data)
    length = 0 if no_body else int(headers.get("content-length", "0"))
    while len(data) < length:
        got = sock.recv(65536)
        if not got:
            break
        data += got
    answer = Answer(status, headers, data[:length])
    answer.rest = data[length:]
    return answer


class Window:
    """An interface window that speaks docs/interface-protocol.md."""

    def __init__(self, path, client="test", epoch=None, ack=None, caps=(), proto=1, hello=True):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(path)
        self.data = b""
        self.welcome = None
        if hello:
            line = {"t": "hello", "proto": proto, "client": client, "caps": list(caps)}
            if epoch is not None:
                line.update(epoch=epoch, ack=ack)
            self.send(line)
            self.welcome = self.wait("welcome", "error")

    def send(self, line):
        self.sock.sendall(json.dumps(line).encode() + b"\n")

    def line(self):
        while b"\n" not in self.data:
            got = self.sock.recv(65536)
            if not got:
                return None
            self.data += got
        line, self.data = self.data.split(b"\n", 1)
        return json.loads(line)

    def wait(self, *types):
        while True:
            line = self.line()
            if line is None:
                raise AssertionError("the window was closed")
            if line["t"] in types:
                return line

    def event(self):
        return self.wait("event")

    def quiet(self, seconds=0.3):
        """Nothing comes for a while."""
        self.sock.settimeout(seconds)
        try:
            line = self.line()
            while line is not None and line["t"] == "ping":
                line = self.line()
            raise AssertionError("came unexpectedly: %r" % line)
        except (socket.timeout, TimeoutError):
            pass
        finally:
            self.sock.settimeout(PATIENCE)

    def ack(self, seq):
        self.send({"t": "ack", "seq": seq})

    def close(self):
        self.sock.close()


def own_address():
    """An address of this machine that is not the loopback one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            raise Skip("this machine has no network address") from None
        return probe.getsockname()[0]


class Model:
    """A model on loopback: notes each question, and answers with the next of its messages, the last one again."""

    def __init__(self, *messages):
        self.seen = []
        seen = self.seen

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                seen.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                message = messages[min(len(seen), len(messages)) - 1]
                data = json.dumps({"choices": [{"message": message}]}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d/v1/chat/completions" % self.server.server_port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def executable(folder, name, text):
    """A program. Another process writes it: this one may fork meanwhile in another
    thread, and a child that still holds the file open for writing makes its
    execution fail with "Text file busy"."""
    path = os.path.join(folder, name)
    subprocess.run(["install", "-m", "700", "/dev/stdin", path + ".part"], input=text.encode(), check=True)
    os.rename(path + ".part", path)
    return path


def equal(got, want, what=""):
    if got != want:
        raise AssertionError("%s: got %r, want %r" % (what, got, want))


def run(tests):
    """Runs the functions (or those named on the command line)."""
    passed = failed = skipped = 0
    wanted = sys.argv[1:]
    unknown = set(wanted) - {test.__name__ for test in tests}
    if unknown:
        sys.exit("no test is named " + ", ".join(sorted(unknown)))
    for test in tests:
        if wanted and test.__name__ not in wanted:
            continue
        try:
            test()
            passed += 1
        except Skip as why:
            skipped += 1
            print("skipped: %s: %s" % (test.__name__, why))
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print("not ok: %s" % test.__name__)
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
    print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
    sys.exit(1 if failed else 0)

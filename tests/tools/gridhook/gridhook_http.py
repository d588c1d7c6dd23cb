"""Every rule of the endpoints, on raw sockets: what a library would get wrong."""
import json
import os
import signal
import socket
import time

from gridhook_kit import PATIENCE, SECRET, Hook, Skip, equal, own_address, read_answer, run

BODY_MAX = 2 * 1024 * 1024


def error(answer, status, text):
    if answer is None:
        raise AssertionError("no answer was readable, want %d" % status)
    equal(answer.status, status, "status")
    equal(answer.json(), {"error": text})
    equal(answer.headers["content-type"].split(";")[0], "application/json")


def chunked(*pieces):
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


def head(hook, line, *headers):
    return ("\r\n".join((line, "Host: localhost") + headers) + "\r\n\r\n").encode("latin-1")


def health_needs_no_secret():
    with Hook(secret=SECRET) as hook:
        want = {"ok": True, "app": "assistant", "path": "/assistant/hook", "mcp": "/mcp"}
        for path in ("/health", "/", "/health?x=1", "/?a"):
            answer = hook.ask("GET", path, secret=False)
            equal((answer.status, answer.json()), (200, want), path)
        answer = hook.ask("HEAD", "/health", secret=False)
        equal((answer.status, answer.body), (200, b""), "HEAD")
        assert int(answer.headers["content-length"]) > 0


def other_paths_are_404_before_the_secret():
    with Hook(secret=SECRET) as hook:
        cases = [
            ("GET", "/nothing"), ("POST", "/"), ("POST", "/health"), ("GET", "/health/"),
            ("GET", "/assistant/hook"), ("PUT", "/assistant/hook"), ("DELETE", "/assistant/hook"),
            ("POST", "/assistant/hoo"), ("POST", "/Assistant/hook"), ("POST", "/other/hook"),
            ("POST", "/mcp/"), ("POST", "/mcpx"), ("POST", "/mcp/x"), ("GET", "/%68ealth"),
            ("GET", "/health%00x"), ("GET", "/.well-known/oauth-protected-resource"),
            ("POST", "//mcp"), ("OPTIONS", "/"), ("GET", "/healthx"),
        ]
        for method, path in cases:
            error(hook.ask(method, path, secret=False), 404, "Not Found")


def push_path_is_a_prefix():
    with Hook(secret=SECRET) as hook:
        for path in ("/assistant/hook", "/assistant/hookXYZ", "/assistant/hook/backup?source=x",
                     "/assistant/hook?a=b", "/assistant/hook/"):
            answer = hook.push({"text": "x"}, path)
            equal((answer.status, answer.json()), (200, {"ok": True, "events": 1}), path)


def app_name_makes_the_path():
    with Hook({"server": {"app": "jeeves"}}) as hook:
        equal(hook.ask("GET", "/").json()["path"], "/jeeves/hook")
        equal(hook.push({}, "/jeeves/hook").status, 200)
        equal(hook.push({}, "/assistant/hook").status, 404)


def secret_is_asked_in_two_headers():
    with Hook(secret=SECRET) as hook:
        good = [
            ["X-Service-Secret: s3cret"], ["x-service-secret:   s3cret  "],
            ["Authorization: Bearer s3cret"], ["authorization: bearer s3cret"],
            ["X-Service-Secret: s3cret", "Authorization: Bearer wrong"],
        ]
        bad = [
            [], ["X-Service-Secret: wrong"], ["X-Service-Secret: "], ["Authorization: s3cret"],
            ["Authorization: Basic s3cret"], ["Authorization: Bearer s3cre"],
            ["Authorization: Bearer s3cret2"], ["Authorization: Bearer"],
            ["X-Service-Secret: wrong", "Authorization: Bearer s3cret"],
            ["X-Service-Secret: s3cret", "X-Service-Secret: s3cret"],
            ["X-Service-Secret:", "Authorization: Bearer s3cret"],
        ]
        for path, body in (("/assistant/hook", "{}"), ("/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}')):
            for headers in good:
                answer = hook.ask("POST", path, body, headers, secret=False)
                equal(answer.status, 200, repr(headers))
            for headers in bad:
                answer = hook.ask("POST", path, body, headers, secret=False)
                error(answer, 401, "Unauthorized")
                assert answer.headers["www-authenticate"].startswith("Bearer")
        for method in ("GET", "DELETE", "PUT", "OPTIONS"):
            error(hook.ask(method, "/mcp", secret=False), 401, "Unauthorized")


def refusal_is_logged_with_the_address_and_no_secret():
    with Hook(secret=SECRET) as hook:
        with hook.connect() as sock:
            mine = "127.0.0.1:%d" % sock.getsockname()[1]
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "X-Service-Secret: guessed-it",
                              "Content-Length: 2") + b"{}")
            equal(read_answer(sock).status, 401)
        hook.wait_log("unauthorized: remote=" + mine)
        assert "guessed-it" not in hook.log()
        assert SECRET not in hook.log()


def without_secret_nothing_is_asked():
    with Hook() as hook:
        equal(hook.push({}).status, 200)
        equal(hook.push({}, headers=["X-Service-Secret: whatever"]).status, 200)
        equal(hook.rpc({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status, 200)
        for kind in ("application/x-www-form-urlencoded", "text/plain", "", "application/json"):
            equal(hook.push({}, headers=["Content-Type: " + kind]).status, 200, "a push may be of any type: " + kind)
        assert "listening: host=127.0.0.1" in hook.log()
    with Hook(secret=SECRET) as hook:
        assert "listening: host=0.0.0.0" in hook.log()
        assert "no secret" not in hook.log()
        hook.wait_log("the secret is short enough to be guessed: characters=6 wanted=16 host=0.0.0.0")
    with Hook(secret="0123456789abcdef") as hook:
        assert "short" not in hook.log()
    with Hook({"server": {"host": "0.0.0.0"}}) as hook:
        hook.wait_log("no secret is set: host=0.0.0.0")


def empty_and_blank_bodies_are_one_event():
    with Hook() as hook:
        for body in ("", " ", "\r\n\t ", "\ufeff", "{}", "[]", " {} "):
            answer = hook.push(body.encode())
            equal((answer.status, answer.json()), (200, {"ok": True, "events": 1}), repr(body))
        answer = hook.raw(head(hook, "POST /assistant/hook HTTP/1.1"))
        equal(answer.json(), {"ok": True, "events": 1}, "no length at all")
        answer = hook.raw(head(hook, "POST /assistant/hook HTTP/1.1", "Transfer-Encoding: chunked") + b"0\r\n\r\n")
        equal(answer.json(), {"ok": True, "events": 1}, "empty chunked")


def events_are_counted():
    with Hook() as hook:
        cases = [
            ('"text"', 1), ("5", 1), ("null", 1), ("true", 1), ("[1,2,3]", 3),
            ('[{"text":"a"},{"text":"b"}]', 2), ('{"events":[{"text":"a"},"b",3]}', 3),
            ('{"events":[]}', 1), ('{"events":{}}', 1), ("[[1],[2]]", 2),
            ('{"receiver":"r","alerts":[{"status":"firing"},{"status":"resolved"}]}', 2),
            (json.dumps(list(range(255))), 255), (json.dumps(list(range(256))), 256),
            (json.dumps(list(range(257))), 256), ("[" + "0," * 500000 + "0]", 256),
        ]
        for body, count in cases:
            answer = hook.push(body)
            equal((answer.status, answer.json()), (200, {"ok": True, "events": count}), body[:50])


def what_is_not_json_is_400():
    with Hook() as hook:
        for body in ("{", "}", "{bad}", "{'a':1}", "[1,]", '{"a":1,}', "NaN", "Infinity", "01", "1.", ".5", "+1",
                     "nul", '"', '"\x01"', '"\\x"', '"\\u12"', "{} {}", "{}x", "// c\n{}", '{"a"}', '{"a":}',
                     '{1:2}', "[1 2]", "\u00a0{}", "\x00", "{}\x00", "[" * 3000, "tru", "-", "1e", "0x1"):
            answer = hook.push(body.encode())
            error(answer, 400, "Invalid JSON")
        equal(hook.push("{}").status, 200, "and it goes on")


def strange_but_valid_json_is_taken():
    with Hook() as hook:
        for body in ('{"text":"a\\u0000b"}', '{"a":1,"a":2}', "123456789012345678901234567890", "1e999",
                     '"\\ud800"', "[" * 1000 + "]" * 1000, '{"text":"\\ud83d\\ude00"}', '{"\\u0000":1}',
                     '{"__proto__":{"x":1}}', "-0", "1E+5", '"\\/"'):
            equal(hook.push(body.encode()).status, 200, body[:40])
        equal(hook.push(b'{"text":"\xff\xfe bad \xc3"}').status, 200, "bytes that are not UTF-8")


def multibyte_characters_survive_any_split():
    text = "h\u00e9llo \u4e16\u754c \U0001f600"
    body = json.dumps({"text": text}, ensure_ascii=False).encode()
    with Hook() as hook:
        window = hook.window()
        pieces = [body[i:i + 1] for i in range(len(body))]
        answer = hook.raw(head(hook, "POST /assistant/hook HTTP/1.1", "Transfer-Encoding: chunked") + chunked(*pieces))
        equal(answer.status, 200)
        equal(window.event()["event"]["text"], text, "chunks")
        with hook.connect() as sock:
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: %d" % len(body)))
            for piece in pieces:
                sock.sendall(piece)
                time.sleep(0.001)
            equal(read_answer(sock).status, 200)
        equal(window.event()["event"]["text"], text, "packets")


def body_limit_is_exact():
    with Hook() as hook:
        for over, status in ((0, 200), (1, 413)):
            body = b'"' + b"x" * (BODY_MAX - 2 + over) + b'"'
            answer = hook.push(body)
            equal(answer.status, status, "length %d" % len(body))
            if status == 413:
                error(answer, 413, "Payload too large")
                equal(answer.headers["connection"], "close")
            pieces = [body[i:i + 60000] for i in range(0, len(body), 60000)]
            answer = hook.raw(head(hook, "POST /assistant/hook HTTP/1.1", "Transfer-Encoding: chunked") +
                              chunked(*pieces))
            equal(answer.status, status, "chunked %d" % len(body))
        equal(hook.push("{}").status, 200)


def too_large_is_readable_by_a_sender_who_sends_it_all():
    with Hook() as hook:
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        for headers, data in ((["Transfer-Encoding: chunked"], chunk),
                              (["Content-Length: %d" % (32 << 20)], b"x" * 65536)):
            with hook.connect() as sock:
                sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", *headers))
                for _ in range((32 << 20) // 65536):
                    sock.sendall(data)
                answer = read_answer(sock)
                error(answer, 413, "Payload too large")
                equal(sock.recv(10), b"", "the connection is closed")
        error(hook.ask("POST", "/mcp", b"x" * (BODY_MAX + 1)), 413, "Payload too large")


def expect_continue_is_answered():
    with Hook() as hook:
        with hook.connect() as sock:
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: 2", "Expect: 100-continue"))
            got = sock.recv(1000)
            assert got.startswith(b"HTTP/1.1 100 Continue\r\n\r\n"), got
            sock.sendall(b"{}")
            equal(read_answer(sock).status, 200)
        with hook.connect() as sock:
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: 9999999", "Expect: 100-continue"))
            got = sock.recv(1000)
            assert got.startswith(b"HTTP/1.1 413 "), got
    with Hook(secret=SECRET) as hook:
        with hook.connect() as sock:
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: 2", "Expect: 100-continue"))
            got = sock.recv(1000)
            assert got.startswith(b"HTTP/1.1 401 "), got


def malformed_requests_are_400():
    post = "POST /assistant/hook HTTP/1.1"
    with Hook() as hook:
        cases = [
            head(hook, post, "Content-Length: 2", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
            head(hook, post, "Content-Length: 2", "Content-Length: 3") + b"{}",
            head(hook, post, "Content-Length: 2", "Content-Length: 2") + b"{}",
            head(hook, post, "Content-Length: 2, 2") + b"{}",
            head(hook, post, "Content-Length: 2x") + b"{}",
            head(hook, post, "Content-Length: +2") + b"{}",
            head(hook, post, "Content-Length: -2") + b"{}",
            head(hook, post, "Content-Length:") + b"{}",
            head(hook, post, "Content-Length: 0x2") + b"{}",
            head(hook, post, "Content-Length: 99999999999999999999999") + b"{}",
            head(hook, post, "Content-Length: 18446744073709551618") + b"{}",
            head(hook, post, "Transfer-Encoding: gzip") + b"{}",
            head(hook, post, "Transfer-Encoding: chunked, gzip") + b"0\r\n\r\n",
            head(hook, post, "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n",
            head(hook, post, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
            head(hook, post, "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n0\r\n\r\n",
            head(hook, post, "Transfer-Encoding: chunked") + b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
            head(hook, post, "Transfer-Encoding: chunked") + b"-1\r\n{}\r\n0\r\n\r\n",
            head(hook, post, "Transfer-Encoding: chunked") + b"2\r\n{}0\r\n\r\n",
            head(hook, post, "Bad Header: x") + b"",
            head(hook, post, ": x") + b"",
            head(hook, post, "Host: again"),
            b"POST /assistant/hook HTTP/1.1\r\n\r\n",
            b"GET /health HTTP/1.1\r\nX: 1\r\n\r\n",
            b"GARBAGE\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        ]
        for data in cases:
            answer = hook.raw(data)
            if answer is None or answer.status != 400:
                raise AssertionError("%r gave %r" % (data, answer))
            assert "error" in answer.json()
        answer = hook.raw(b"GET /health HTTP/2.0\r\nHost: x\r\n\r\n")
        assert answer.status in (400, 505), answer
        equal(hook.ask("GET", "/health").status, 200, "and it goes on")


def chunk_extensions_and_trailers_are_read_over():
    with Hook() as hook:
        data = head(hook, "POST /assistant/hook HTTP/1.1", "Transfer-Encoding: chunked")
        answer = hook.raw(data + b'2;name="v"\r\n{}\r\n0\r\nX-Trailer: y\r\n\r\n')
        equal((answer.status, answer.json()), (200, {"ok": True, "events": 1}))


def heads_have_limits():
    with Hook() as hook:
        equal(hook.raw(b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n").status, 414)
        equal(hook.raw(head(hook, "GET /health HTTP/1.1", "X: " + "a" * 17000)).status, 431)
        equal(hook.raw(head(hook, "GET /health HTTP/1.1", *["X%d: y" % i for i in range(120)])).status, 431)
        equal(hook.raw(head(hook, "GET /health HTTP/1.1", *["X%d: y" % i for i in range(90)])).status, 200)


def connections_are_kept_and_pipelines_answered_in_order():
    with Hook() as hook:
        with hook.connect() as sock:
            for i in range(20):
                body = b'{"n":%d}' % i
                sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: %d" % len(body)) + body)
                equal(read_answer(sock).json(), {"ok": True, "events": 1})
        with hook.connect() as sock:
            data = b""
            for i in range(10):
                body = json.dumps(list(range(i + 1))).encode()
                data += head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: %d" % len(body)) + body
                data += head(hook, "GET /health HTTP/1.1")
            sock.sendall(data)
            rest = b""
            for i in range(10):
                answer = read_answer(sock, rest)
                equal(answer.json(), {"ok": True, "events": i + 1})
                answer = read_answer(sock, answer.rest)
                equal(answer.json()["ok"], True)
                rest = answer.rest


def connection_close_and_old_http_are_honoured():
    with Hook() as hook:
        with hook.connect() as sock:
            sock.sendall(head(hook, "GET /health HTTP/1.1", "Connection: close"))
            equal(read_answer(sock).headers["connection"], "close")
            equal(sock.recv(10), b"")
        with hook.connect() as sock:
            sock.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            equal(read_answer(sock).status, 200)
            equal(sock.recv(10), b"")
        with hook.connect() as sock:
            sock.sendall(b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            equal(read_answer(sock).headers["connection"], "keep-alive")
            sock.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            equal(read_answer(sock).status, 200)


def refused_body_is_never_taken_for_a_request():
    with Hook(secret=SECRET) as hook:
        inner = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
        for line, status in (("POST /nothing HTTP/1.1", 404), ("POST /assistant/hook HTTP/1.1", 401)):
            with hook.connect() as sock:
                sock.sendall(head(hook, line, "Content-Length: %d" % len(inner)) + inner)
                answer = read_answer(sock)
                equal(answer.status, status)
                equal((answer.rest, sock.recv(100)), (b"", b""), "nothing follows")


def upgrade_offers_are_declined():
    with Hook() as hook:
        answer = hook.raw(head(hook, "GET /health HTTP/1.1", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
                               "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"))
        equal(answer.status, 200)
        answer = hook.raw(head(hook, "POST /assistant/hook HTTP/1.1", "Connection: Upgrade", "Upgrade: h2c",
                               "Content-Length: 2") + b"{}")
        equal(answer.json(), {"ok": True, "events": 1})
        equal(hook.raw(b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n").status, 404)
        answer = hook.raw(b"GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        equal(answer.status, 200, "absolute form")


def slow_senders_are_cut_off_in_total_time():
    limits = {"first_byte": "1s", "head": "1s", "body": "2s", "idle": "1s"}
    with Hook({"limits": limits}) as hook:
        def drip(prefix, byte):
            began = time.monotonic()
            sock = hook.connect()
            sock.sendall(prefix)
            sock.settimeout(0.1)
            while time.monotonic() - began < PATIENCE:
                try:
                    sock.sendall(byte)
                    got = sock.recv(1000)
                    return time.monotonic() - began, got
                except (socket.timeout, TimeoutError):
                    pass
                except OSError:
                    return time.monotonic() - began, b""
            raise AssertionError("still open after %s s" % PATIENCE)

        took, got = drip(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", b"a")
        assert took > 0.8 and got.startswith(b"HTTP/1.1 408 "), (took, got)
        took, got = drip(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: 100000"), b"a")
        assert took > 1.5 and got.startswith(b"HTTP/1.1 408 "), (took, got)
        began = time.monotonic()
        with hook.connect() as sock:
            equal(sock.recv(10), b"", "no first byte")
            assert time.monotonic() - began > 0.8
        with hook.connect() as sock:
            began = time.monotonic()
            sock.sendall(head(hook, "GET /health HTTP/1.1"))
            equal(read_answer(sock).status, 200)
            equal(sock.recv(10), b"", "idle")
            assert time.monotonic() - began > 0.8


def body_lasts_while_it_comes():
    """Over three times the time that it may stand still."""
    body = b'"' + b"x" * (700 * 1024) + b'"'
    with Hook({"limits": {"body": "2s"}}) as hook:
        with hook.connect() as sock:
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: %d" % len(body)))
            began, sent = time.monotonic(), 0
            while sent < len(body):
                due = min(len(body), int(len(body) * (time.monotonic() - began) / 6) + 1)
                sock.sendall(body[sent:due])
                sent = due
                time.sleep(0.01)
            equal(read_answer(sock).json(), {"ok": True, "events": 1})


def one_stalled_client_does_not_hold_up_the_rest():
    with Hook() as hook:
        stalled = []
        for _ in range(30):
            sock = hook.connect()
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: 100") + b"{")
            stalled.append(sock)
        hook.wait_read(len(stalled))
        equal(hook.ask("GET", "/health").status, 200)
        for sock in stalled:  # none was cut off to make room
            sock.settimeout(0)
            try:
                raise AssertionError("cut off: %r" % sock.recv(100))
            except BlockingIOError:
                sock.close()


def over_the_cap_connections_wait_their_turn():
    with Hook({"limits": {"connections": "8", "first_byte": "600s", "head": "600s"}}) as hook:
        busy = []
        for _ in range(8):
            sock = hook.connect()
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: 9") + b"{")
            busy.append(sock)
        hook.wait_read(8)
        with hook.connect() as sock:
            sock.sendall(head(hook, "GET /health HTTP/1.1"))
            sock.settimeout(0.3)
            try:
                raise AssertionError("was let in: %r" % sock.recv(100))
            except (socket.timeout, TimeoutError):
                pass
            sock.settimeout(PATIENCE)
            busy.pop().close()
            equal(read_answer(sock).status, 200, "once one has left")
            # It is idle now, and gives way to the next one.
            equal(hook.ask("GET", "/health").status, 200)
            equal(sock.recv(10), b"")


def silent_connections_give_way():
    """Many that say nothing hold nobody up; what has been said is heard."""
    with Hook({"limits": {"connections": "8", "first_byte": "600s", "head": "600s"}}) as hook:
        silent = [hook.connect() for _ in range(20)]
        equal(hook.ask("GET", "/health").status, 200)
        for sock in silent:
            sock.close()
        hook.wait_read(0)
        first = hook.connect()
        others = [hook.connect() for _ in range(7)]
        hook.wait_read(8)
        hook.process.send_signal(signal.SIGSTOP)
        first.sendall(head(hook, "GET /health HTTP/1.1"))
        last = hook.connect()
        last.sendall(head(hook, "GET /health HTTP/1.1"))
        hook.process.send_signal(signal.SIGCONT)
        equal(read_answer(first).status, 200, "the oldest had begun")
        equal(read_answer(last).status, 200)
        for sock in others + [first, last]:
            sock.close()


def one_address_has_a_cap():
    address = own_address()
    with Hook({"limits": {"per_address": "6", "head": "600s"}}, secret=SECRET) as hook:
        busy = []
        for _ in range(6):
            sock = socket.create_connection((address, hook.port), PATIENCE)
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "X-Service-Secret: " + SECRET,
                              "Content-Length: 9") + b"{")
            busy.append(sock)
        hook.wait_read(6)
        with socket.create_connection((address, hook.port), PATIENCE) as sock:
            try:
                sock.sendall(head(hook, "GET /health HTTP/1.1"))
                got = sock.recv(100)
            except OSError:
                got = b""
            equal(got, b"", "over the cap")
        equal(hook.ask("GET", "/health").status, 200, "another address")


def foreign_pages_are_refused():
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    listed = "https://desk.example, http://localhost:3000 moz-extension://0a-1b"
    with Hook({"server": {"allowed_origins": listed, "allowed_hosts": "desk.example other.example:81"}}) as hook:
        def ask(path, body, host, origin, *more, target=""):
            lines = ["POST %s%s HTTP/1.1" % (target, path), "Host: " + host, "Content-Length: %d" % len(body),
                     "Content-Type: application/json"] + list(more)
            if origin is not None:
                lines.append("Origin: " + origin)
            return hook.raw(("\r\n".join(lines) + "\r\n\r\n" + body).encode())

        port = ":%d" % hook.port
        good = [("localhost", None), ("localhost" + port, "http://localhost:3000"), ("127.0.0.1" + port, None),
                ("[::1]" + port, None), ("LOCALHOST", "http://127.0.0.1" + port),
                ("desk.example", "https://desk.example"), ("desk.example:80", "https://DESK.example:443"),
                ("localhost", "http://[::1]" + port), ("localhost" + port, "HTTP://LocalHost" + port),
                ("other.example:81", "moz-extension://0a-1b")]
        bad = [("evil.example", None), ("evil.example" + port, "http://evil.example"),
               ("localhost", "http://evil.example"), ("localhost", "null"), ("localhost", ""),
               ("localhost.evil.example", None), ("localhost", "http://localhost.evil.example"),
               ("localhost", "file://"), ("localhost", "http://localhost@evil.example"),
               ("127.0.0.1.evil.example", None), ("localhost", "https://desk.example.evil"),
               # Pages of other ports and schemes of this machine.
               ("localhost", "http://localhost:8000"), ("localhost", "http://localhost"),
               ("localhost", "https://localhost" + port), ("localhost", "https://127.0.0.1"),
               ("localhost", "http://desk.example"), ("localhost", "https://desk.example:444"),
               ("localhost", "http://127.0.0.2" + port), ("localhost", "http://localhost." + port),
               # What is no origin, though it begins like one of ours.
               ("localhost", "http://127.0.0.1%s.evil.example" % port),
               ("localhost", "http://127.0.0.1%s@evil.example" % port),
               ("localhost", "http://localhost:/, http://evil.com"), ("localhost", "http://localhost:+" + port[1:]),
               ("localhost", "http://localhost%s/" % port), ("localhost", "http://localhost%s/x" % port),
               ("localhost", "http://localhost%s#x" % port), ("localhost", "http://localhost%s?x" % port),
               ("localhost", "http://localhost%s, http://localhost%s" % (port, port)),
               ("localhost", "http://localhost%s http://evil" % port), ("localhost", "http:localhost" + port),
               ("localhost", "http://localhost:0" + port[1:]), ("localhost", "localhost" + port),
               ("localhost", "http://x@localhost" + port), ("localhost", "http://[::1" + port),
               # And no host.
               ("localhost%s.evil.com" % port, None), ("localhost%s@evil.com" % port, None), ("localhost:", None),
               ("localhost:x", None), ("localhost:+80", None), ("localhost:99999", None), ("localhost/x", None),
               ("evil.com@localhost", None), ("localhost, evil.com", None), ("localhost.", None), ("[::1", None),
               ("[::1]evil.com", None), ("::1", None), ("", None), ("other.example", None), ("other.example:82", None)]
        for path, body in (("/assistant/hook", "{}"), ("/mcp", ping)):
            for host, origin in good:
                equal(ask(path, body, host, origin).status, 200, "%s %s" % (host, origin))
            for host, origin in bad:
                error(ask(path, body, host, origin), 403, "Forbidden")
            # Two headers, and an older browser that sends none.
            own = "http://localhost" + port
            error(ask(path, body, "localhost", own, "Origin: http://evil.example"), 403, "Forbidden")
            error(ask(path, body, "localhost", own, "Origin: " + own), 403, "Forbidden")
            for site, status in (("cross-site", 403), ("same-site", 403), ("x", 403), ("", 403), ("none", 200),
                                 ("same-origin", 200)):
                equal(ask(path, body, "localhost", None, "Sec-Fetch-Site: " + site).status, status, site)
            # The host of an absolute address counts, and is that of the header.
            for target, host, status in (("localhost" + port, "localhost" + port, 200), ("LOCALHOST", "localhost:80", 200),
                                         ("localhost", "localhost" + port, 403), ("evil.example", "localhost", 403),
                                         ("localhost", "evil.example", 403), ("evil.example", "evil.example", 403),
                                         ("evil@localhost", "localhost", 403), ("localhost:x", "localhost:x", 403),
                                         ("desk.example", "desk.example", 200), ("", "localhost", 403)):
                answer = ask(path, body, host, None, target="http://" + target)
                equal(answer.status, status, "%s %s" % (target, host))
        hook.wait_log("origin=http://evil.example host=localhost\n")
        equal(hook.raw(b"GET /health HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil\r\n\r\n").status, 200)
        equal(hook.raw(b"POST /x HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 404)
    with Hook({"server": {"check_origin": "no"}}) as hook:
        data = b"POST /assistant/hook HTTP/1.1\r\nHost: evil\r\nOrigin: http://evil\r\nContent-Length: 2\r\n\r\n{}"
        equal(hook.raw(data).status, 200)


def lists_of_origins_and_hosts_are_checked():
    for name, value in (("allowed_origins", "https://desk.example/"), ("allowed_origins", "desk.example"),
                        ("allowed_origins", "null"), ("allowed_hosts", "http://desk.example"),
                        ("allowed_hosts", "a, b:x")):
        hook = Hook({"server": {name: value}}, start=False)
        with hook:
            code, _, told = hook.run("--check")
            equal(code, 1, value)
            assert "[server] %s" % name in told and value.split()[-1] in told, told


def a_full_disk_is_told_and_stores_nothing():
    with Hook() as hook:
        equal(hook.push({"text": "before"}).status, 200)
    with Hook({"store": {"data": "/proc/no/such"}}, start=False) as hook:
        hook.start(wait=False)
        equal(hook.process.wait(PATIENCE), 1)
        hook.process.returncode = 0


def many_requests_at_once():
    with Hook() as hook:
        socks = [hook.connect() for _ in range(200)]
        for i, sock in enumerate(socks):
            body = b'{"text":"%d"}' % i
            sock.sendall(head(hook, "POST /assistant/hook HTTP/1.1", "Content-Length: %d" % len(body)) + body)
        for sock in socks:
            equal(read_answer(sock).json(), {"ok": True, "events": 1})
            sock.close()
        equal(hook.tool("get_app_status")["structuredContent"]["stored_events"], 200)


run([value for name, value in list(globals().items())
     if callable(value) and getattr(value, "__module__", "") == "__main__" and value.__code__.co_argcount == 0])

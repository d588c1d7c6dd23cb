"""The tool endpoint on raw sockets: both eras, every status and code."""
import base64
import json
import os
import re
import socket
import tempfile
import time

from gridhook_kit import PATIENCE, SECRET, Hook, Window, equal, executable, read_answer, run, wait_until

MODERN = "2026-07-28"
LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
JSON = "Content-Type: application/json"
CONN_PROGRESS = 65536

TOOLS = ["get_app_status", "get_conversation_history", "capture_screen", "clipboard_get", "clipboard_set",
         "find_files", "notify_user", "show_message", "set_hud_state", "speak_text", "media_key", "open_app",
         "open_url", "lock_session"]

# Answers as the tool's argument file says; "env" shows its surroundings.
HELPER = r'''#!/usr/bin/python3
import json, os, subprocess, sys, time
args = json.load(sys.stdin)
name = sys.argv[1]
def say(value):
    sys.stdout.write(json.dumps(value))
    sys.stdout.flush()
def text(value):
    return {"content": [{"type": "text", "text": value}], "isError": False}
if name == "clipboard_set":
    say(text(json.dumps({"args": args, "argv": sys.argv, "env": dict(os.environ)})))
elif name == "clipboard_get":
    say({"content": [{"type": "text", "text": "{}"}],
         "structuredContent": {"text": "x", "has_text": True, "truncated": False}, "isError": False})
elif name == "find_files":
    if args["query"] == "hang":
        child = subprocess.Popen(["sleep", "1000"])
        with open(os.environ["PIDS"] + "-part", "w") as file:
            file.write("%d %d" % (os.getpid(), child.pid))
        os.rename(os.environ["PIDS"] + "-part", os.environ["PIDS"])
        time.sleep(1000)
    elif args["query"] == "garbage":
        sys.stdout.write("no json")
    elif args["query"] == "huge":
        say(text("x" * (15 << 20)))
    elif args["query"] == "crash":
        os.abort()
    elif args["query"] == "silent":
        pass
    elif args["query"] == "holds":
        if os.fork() == 0:
            # Until the test has its answer, or has ended.
            while os.path.exists(os.environ["PIDS"] + "-hold"):
                time.sleep(0.05)
            os._exit(0)
        say(text("held"))
        os._exit(0)
    elif args["query"] == "failed":
        say({"content": [{"type": "text", "text": "No display is available."}], "isError": True})
    else:
        say({"content": [{"type": "text", "text": "{}"}],
             "structuredContent": {"files": [], "truncated": False}, "isError": False})
elif name == "capture_screen":
    say({"content": [{"type": "image", "data": "A" * 4000000, "mimeType": "image/png"}], "isError": False})
else:
    say(text(name))
'''


def helped(settings=None, limits=None, **more):
    """A gridhook whose helper is a script."""
    hook = Hook({"limits": limits or {}}, start=False, **more)
    path = executable(hook.folder, "helper", HELPER)
    with open(hook.config, "a", encoding="utf-8") as file:
        file.write("[tools]\nhelper = %s\n" % path)
        for name, value in (settings or {}).items():
            file.write("%s = %s\n" % (name, value))
    hook.env["PIDS"] = os.path.join(hook.folder, "pids")
    return hook.start()


def request(method, params=None, ident=1):
    message = {"jsonrpc": "2.0", "id": ident, "method": method}
    if params is not None:
        message["params"] = params
    return message


def modern(method, params=None, ident=1, version=MODERN, meta=None):
    full = dict(params or {})
    full["_meta"] = {VERSION: version, CAPABILITIES: {}} if meta is None else meta
    return request(method, full, ident)


def modern_headers(method, name=None, version=MODERN):
    headers = [JSON, "MCP-Protocol-Version: " + version, "Mcp-Method: " + method]
    if name is not None:
        headers.append("Mcp-Name: " + name)
    return headers


def expect_error(answer, status, code, ident=1):
    equal(answer.status, status, "%r" % answer)
    body = answer.json()
    equal(body["jsonrpc"], "2.0")
    equal(body["error"]["code"], code, "%r" % answer)
    assert isinstance(body["error"]["message"], str) and "result" not in body
    equal(body["id"], ident, "id")
    return body["error"]


def legacy_handshake():
    params = {"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with Hook(secret=SECRET) as hook:
        for asked, given in [(v, v) for v in LEGACY] + [("2026-07-28", "2025-11-25"), ("1999-01-01", "2025-11-25"),
                                                         ("", "2025-11-25")]:
            params["protocolVersion"] = asked
            answer = hook.rpc(request("initialize", params))
            equal(answer.status, 200)
            result = answer.json()["result"]
            equal(result["protocolVersion"], given, asked)
            equal(result["capabilities"], {"tools": {}})
            assert result["serverInfo"]["name"] and result["serverInfo"]["version"] and result["instructions"]
            assert "resultType" not in result and "_meta" not in result
            assert "mcp-session-id" not in answer.headers
        answer = hook.rpc({"jsonrpc": "2.0", "method": "notifications/initialized"})
        equal((answer.status, answer.body, answer.headers["content-length"]), (202, b"", "0"))
        for missing in ("protocolVersion", "capabilities", "clientInfo"):
            expect_error(hook.rpc(request("initialize", {k: v for k, v in params.items() if k != missing})), 200, -32602)


def legacy_methods():
    with Hook() as hook:
        equal(hook.rpc(request("ping")).json(), {"jsonrpc": "2.0", "id": 1, "result": {}})
        tools = hook.rpc(request("tools/list")).json()["result"]
        equal([tool["name"] for tool in tools["tools"]], TOOLS)
        equal(list(tools), ["tools"])
        for tool in tools["tools"]:
            schema = tool["inputSchema"]
            equal((schema["type"], schema["additionalProperties"]), ("object", False))
            assert not set(schema) & {"oneOf", "anyOf", "allOf", "$ref"}
            equal(set(tool["annotations"]), {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
        expect_error(hook.rpc(request("server/discover")), 200, -32601)
        expect_error(hook.rpc(request("resources/list")), 200, -32601)
        expect_error(hook.rpc(request("ping\u0000x")), 200, -32601)
        expect_error(hook.rpc(request("Ping")), 200, -32601)
        expect_error(hook.rpc(request("tools/list", {"cursor": "x"})), 200, -32602)
        equal(hook.rpc(request("tools/list", {"cursor": ""})).status, 200)
        expect_error(hook.rpc(request("tools/list", [1])), 200, -32602)
        for method in ("GET", "DELETE", "PUT", "HEAD", "OPTIONS"):
            answer = hook.ask(method, "/mcp")
            equal((answer.status, answer.headers["allow"]), (405, "POST"), method)
            if method != "HEAD":
                equal((answer.json()["jsonrpc"], answer.json()["error"]["code"]), ("2.0", -32600), method)
        for method in ("PUT", "PATCH", "DELETE", "GET", "REPORT"):
            answer = hook.ask(method, "/mcp", json.dumps(request("ping")), [JSON])
            equal((answer.status, answer.json()), (200, {"jsonrpc": "2.0", "id": 1, "result": {}}), method)
            equal(hook.ask(method, "/mcp", b"x" * (2 * 1024 * 1024 + 1), [JSON]).status, 413, method)
        equal(hook.ask("POST", "/mcp?x=1", json.dumps(request("ping")), [JSON]).status, 200)


def version_header_of_the_legacy_era():
    with Hook() as hook:
        for version in LEGACY:
            equal(hook.rpc(request("ping"), [JSON, "MCP-Protocol-Version: " + version]).status, 200, version)
        for version in ("2025-01-01", "1.0", "", "2025-06-18, 2025-06-18", "2099-13-45x"):
            answer = hook.rpc(request("ping"), [JSON, "MCP-Protocol-Version: " + version])
            equal(answer.status, 400, version)
            equal(answer.json()["id"], 1)
        expect_error(hook.rpc(request("ping"), [JSON, "MCP-Protocol-Version: " + MODERN]), 400, -32602)


def ids_go_back_byte_for_byte():
    with Hook() as hook:
        for ident in ("9007199254740993", "12345678901234567890123", "-5", "0", "-0", '"x"', '""', '"a\\u0041\\/"',
                      '"\\ud800"', '"h\u00e9"', '"' + "x" * 1000 + '"'):
            answer = hook.rpc('{"jsonrpc":"2.0","id":%s,"method":"ping"}' % ident)
            equal(answer.status, 200, ident)
            assert ('"id":%s,' % ident).encode() in answer.body, (ident, answer.body)
            answer = hook.rpc('{"id":%s,"jsonrpc":"2.0","method":"nope"}' % ident)
            assert ('"id":%s,' % ident).encode() in answer.body, (ident, answer.body)


def broken_messages():
    with Hook() as hook:
        for body in ("", "{", "nope", "[1,", '{"jsonrpc":"2.0","id":1,"method":"ping"}x', "[" * 100000,
                     '{"jsonrpc":"2.0","id":1,"method":"pi\x01ng"}', b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
                     '{"jsonrpc":"2.0","id":NaN,"method":"ping"}', '{"jsonrpc":"2.0","id":1,"method":"ping",}'):
            expect_error(hook.rpc(body), 400, -32700, None)
        for body in ("5", '"x"', "null", "{}", '{"id":1}', '{"jsonrpc":"2.0"}'):
            answer = hook.rpc(body)
            equal((answer.status, answer.json()["error"]["code"]), (400, -32600), body)
        for message, ident in (({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 1), ({"id": 7, "method": "ping"}, 7),
                               ({"jsonrpc": 2.0, "id": 1, "method": "ping"}, 1),
                               ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
                               ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
                               ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, None),
                               ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
                               ({"jsonrpc": "2.0", "id": 3, "method": 5}, 3),
                               ({"jsonrpc": "2.0", "id": 4}, 4)):
            expect_error(hook.rpc(message), 400, -32600, ident)
        equal(hook.rpc({"jsonrpc": "2.0", "id": 1, "result": {}}).status, 202, "a response")
        equal(hook.rpc({"jsonrpc": "2.0", "method": "anything/at/all"}).status, 202)
        equal(hook.rpc(b"\xef\xbb\xbf" + json.dumps(request("ping")).encode()).status, 200, "byte order mark")
        for headers in (["Content-Type: text/plain"], ["Content-Type:"], ["Content-Type: application/jsonp"],
                        ["Content-Type: application/x-www-form-urlencoded"], []):
            equal(hook.rpc(request("ping"), headers).status, 415, repr(headers))
        for kind in ("application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"):
            equal(hook.rpc(request("ping"), ["Content-Type: " + kind]).status, 200, kind)
    with Hook(secret=SECRET) as hook:
        equal(hook.rpc(request("ping"), []).status, 200, "no type, but the secret")
        equal(hook.rpc(request("ping"), ["Content-Type: text/plain"]).status, 415)


def batches_are_of_one_old_revision():
    both = [request("ping", None, 1), {"jsonrpc": "2.0", "method": "notifications/x"}, request("nope", None, "b"), 5]
    with Hook() as hook:
        for headers in ([JSON], [JSON, "MCP-Protocol-Version: 2025-03-26"]):
            answer = hook.rpc(both, headers)
            equal(answer.status, 200)
            got = answer.json()
            equal([(m["id"], m.get("error", {}).get("code")) for m in got], [(1, None), ("b", -32601), (None, -32600)])
            equal(hook.rpc([both[1]], headers).status, 202)
            expect_error(hook.rpc([], headers), 400, -32600, None)
            expect_error(hook.rpc([request("ping")] * 101, headers), 400, -32600, None)
            equal(len(hook.rpc([request("ping", None, i) for i in range(100)], headers).json()), 100)
            params = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {}}
            equal(hook.rpc([request("initialize", params)], headers).json()[0]["error"]["code"], -32600)
        for version in ("2025-06-18", "2025-11-25"):
            expect_error(hook.rpc(both, [JSON, "MCP-Protocol-Version: " + version]), 400, -32600, None)
        expect_error(hook.rpc([modern("tools/list")]), 400, -32600, None)


def modern_methods():
    with Hook(secret=SECRET) as hook:
        answer = hook.rpc(modern("server/discover"), modern_headers("server/discover"))
        equal(answer.status, 200)
        result = answer.json()["result"]
        equal((result["supportedVersions"], result["capabilities"]), ([MODERN], {"tools": {}}))
        for key in ("ttlMs", "cacheScope", "instructions"):
            assert key in result, key
        equal(result["resultType"], "complete")
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]
        result = hook.rpc(modern("tools/list"), modern_headers("tools/list")).json()["result"]
        equal([tool["name"] for tool in result["tools"]], TOOLS)
        equal(result["resultType"], "complete")
        assert isinstance(result["ttlMs"], int) and result["cacheScope"] in ("public", "private")
        answer = hook.rpc(modern("tools/call", {"name": "get_app_status"}), modern_headers("tools/call", "get_app_status"))
        result = answer.json()["result"]
        equal((result["resultType"], result["isError"]), ("complete", False))
        for method in ("initialize", "ping", "logging/setLevel", "resources/list", "subscriptions/listen"):
            expect_error(hook.rpc(modern(method), modern_headers(method)), 404, -32601)
        equal(hook.rpc({"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"_meta": {VERSION: MODERN}}}).status, 202)


def modern_headers_must_agree():
    listing = modern("tools/list")
    call = modern("tools/call", {"name": "get_app_status"})
    encoded = "=?base64?%s?=" % base64.b64encode(b"get_app_status").decode()
    with Hook() as hook:
        cases = [
            (listing, [JSON, "Mcp-Method: tools/list"], -32020),
            (listing, [JSON, "MCP-Protocol-Version: 2025-11-25", "Mcp-Method: tools/list"], -32020),
            (listing, [JSON, "MCP-Protocol-Version: " + MODERN], -32020),
            (listing, modern_headers("tools/call"), -32020),
            (listing, modern_headers("Tools/List"), -32020),
            (call, modern_headers("tools/call"), -32020),
            (call, modern_headers("tools/call", "open_url"), -32020),
            (call, modern_headers("tools/call", "=?base64?!!!!?="), -32020),
            (call, modern_headers("tools/call", "=?base64?Z2V0?="), -32020),
            (call, modern_headers("tools/call", "=?base64?Z2V=?="), -32020),
            (modern("tools/list", meta={VERSION: MODERN}), modern_headers("tools/list"), -32602),
            (modern("tools/list", meta={VERSION: MODERN, CAPABILITIES: 5}), modern_headers("tools/list"), -32602),
            (modern("tools/list", meta={CAPABILITIES: {}}), modern_headers("tools/list"), -32602),
            (modern("tools/list", meta={VERSION: 5, CAPABILITIES: {}}), modern_headers("tools/list"), -32602),
            (request("tools/list"), modern_headers("tools/list"), -32602),
            (modern("tools/list", version="2027-01-01"), modern_headers("tools/list", version="2027-01-01"), -32022),
            (modern("initialize", version="x"), modern_headers("initialize", version="x"), -32022),
        ]
        for message, headers, code in cases:
            expect_error(hook.rpc(message, headers), 400, code)
        error = hook.rpc(modern("tools/list", version="2027-01-01"),
                         modern_headers("tools/list", version="2027-01-01")).json()["error"]
        equal(error["data"], {"supported": [MODERN], "requested": "2027-01-01"})
        for name in ("get_app_status", encoded, "  get_app_status "):
            equal(hook.rpc(call, modern_headers("tools/call", name)).status, 200, name)
        equal(hook.rpc(listing, ["content-type: application/json", "mcp-protocol-version:" + MODERN,
                                 "MCP-METHOD: tools/list"]).status, 200)


def unknown_tools_and_bad_params_are_protocol_errors():
    with Hook() as hook:
        for params in ({"name": "nope"}, {"name": 5}, {}, {"name": "get_app_status", "arguments": []},
                       {"name": "get_app_status", "arguments": None}, {"name": "get_app_status\u0000"},
                       {"name": "Get_app_status"}):
            expect_error(hook.rpc(request("tools/call", params)), 200, -32602)
        expect_error(hook.rpc(request("tools/call")), 200, -32602)
        expect_error(hook.rpc(modern("tools/call", {"name": "nope"}), modern_headers("tools/call", "nope")), 200, -32602)


def arguments_are_checked_against_the_schema():
    bad = [
        ("get_app_status", {"x": 1}), ("get_conversation_history", {"limit": 0}),
        ("get_conversation_history", {"limit": 201}), ("get_conversation_history", {"limit": 5.5}),
        ("get_conversation_history", {"limit": "5"}), ("get_conversation_history", {"limit": None}),
        ("get_conversation_history", {"limit": True}), ("get_conversation_history", {"before": "x" * 129}),
        ("capture_screen", {"format": "gif"}), ("capture_screen", {"max_edge": 63}), ("clipboard_set", {}),
        ("clipboard_set", {"text": 5}), ("clipboard_set", {"text": "x" * 1000001}), ("find_files", {"query": ""}),
        ("find_files", {"query": "a", "include_hidden": "yes"}), ("notify_user", {"title": "a"}),
        ("notify_user", {"title": "a", "message": "b", "urgency": "High"}), ("open_app", {"name": "a", "args": "b"}),
        ("open_app", {"name": "a", "args": [1]}), ("open_app", {"name": "a", "args": ["x"] * 33}),
        ("open_app", {"name": "a", "args": ["x" * 4097]}), ("open_url", {"url": "http:/"}), ("open_url", {}),
        ("media_key", {"key": "eject"}), ("media_key", {"key": "next", "repeat": 21}),
        ("set_hud_state", {"state": "dancing"}), ("speak_text", {"text": "a", "rate": 1e9}),
    ]
    with helped({"heavy_burst": 1000, "act_burst": 1000}) as hook:
        for name, arguments in bad:
            result = hook.tool(name, arguments)
            equal(result["isError"], True, name)
            assert result["content"][0]["text"].startswith("Wrong arguments"), result
            assert "structuredContent" not in result
        for name, arguments in (("find_files", {"query": "\u4e16" * 256}), ("clipboard_set", {"text": "\U0001f600" * 9}),
                                ("find_files", {"query": "a", "limit": 5.0}), ("open_app", {"name": "a", "args": []})):
            equal(hook.tool(name, arguments)["isError"], False, name)


def helper_gets_the_arguments_and_no_secret():
    with helped(secret=SECRET) as hook:
        result = hook.tool("clipboard_set", {"text": "h\u00e9 \u0000 \"x\""})
        seen = json.loads(result["content"][0]["text"])
        equal(seen["args"], {"text": "h\u00e9 \u0000 \"x\""})
        equal(seen["argv"][1:], ["clipboard_set"])
        assert SECRET not in json.dumps(seen["env"]), seen["env"]
        settings = json.loads(seen["env"]["GRIDHOOK_TOOL_SETTINGS"])
        equal((settings["app_name"], settings["life_fd"], settings["app_args"]), ("assistant", 3, False))
        equal(hook.tool("clipboard_get")["structuredContent"], {"text": "x", "has_text": True, "truncated": False})
        equal(len(hook.tool("capture_screen")["content"][0]["data"]), 4000000)


def helper_trouble_is_a_tool_error():
    with helped() as hook:
        for query in ("garbage", "crash", "silent"):
            result = hook.tool("find_files", {"query": query})
            equal(result["isError"], True, query)
            assert "gave no answer" in result["content"][0]["text"]
        equal(hook.tool("find_files", {"query": "failed"})["content"][0]["text"], "No display is available.")
        hold = hook.env["PIDS"] + "-hold"
        with open(hold, "wb"):
            pass
        equal(hook.tool("find_files", {"query": "holds"})["content"][0]["text"], "held")
        os.unlink(hold)
    with Hook({"tools": {"helper": "/nonexistent/helper"}}) as hook:
        result = hook.tool("lock_session")
        assert result["isError"] and "not installed" in result["content"][0]["text"]


def gone(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            return file.read().split(") ")[1][0] == "Z"
    except OSError:
        return True


def numbers_in(path):
    """The ids that the helper wrote."""
    wait_until(lambda: os.path.exists(path), "ids in " + path)
    with open(path, encoding="utf-8") as file:
        return [int(n) for n in file.read().split()]


def a_caller_who_leaves_ends_the_work():
    with helped() as hook:
        pids = hook.env["PIDS"]
        body = json.dumps(request("tools/call", {"name": "find_files", "arguments": {"query": "hang"}}))
        sock = hook.connect()
        sock.sendall(("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      "Content-Length: %d\r\n\r\n%s" % (len(body), body)).encode())
        numbers = numbers_in(pids)
        equal(hook.ask("GET", "/health").status, 200, "meanwhile")
        sock.close()
        wait_until(lambda: all(gone(n) for n in numbers), "helper and its child end")
        hook.wait_log("tool call cancelled: name=find_files")


def deadline_kills_the_whole_group():
    with helped() as hook:
        began = time.monotonic()
        result = hook.tool("find_files", {"query": "hang"})
        assert time.monotonic() - began > 9
        assert result["isError"] and "timed out after 10000 ms" in result["content"][0]["text"], result
        numbers = numbers_in(hook.env["PIDS"])
        wait_until(lambda: all(gone(n) for n in numbers), "helper and its child end")


def calls_have_a_pace_by_kind():
    with helped() as hook:
        sock = hook.connect()
        for i in range(400):
            body = json.dumps(request("tools/call", {"name": "get_app_status"}, i)).encode()
            sock.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n" % len(body) + body)
            equal(read_answer(sock).json()["result"]["isError"], False, "burst %d" % i)
        sock.close()
        # At once, and many: one after the other may be slower than the pace.
        locks = [request("tools/call", {"name": "lock_session"}, i) for i in range(40)]
        results = [answer["result"] for answer in hook.rpc(locks).json()]
        refused = [r for r in results if r["isError"]]
        assert 3 <= len(refused) <= 35, results
        assert "Too many calls" in refused[0]["content"][0]["text"]
        time.sleep(0.7)
        equal(hook.tool("lock_session")["isError"], False, "later")


def wrong_arguments_take_nothing_from_the_pace():
    with helped() as hook:
        calls = [request("tools/call", {"name": "capture_screen", "arguments": {"monitor": "x"}}, i)
                 for i in range(30)]
        texts = [a["result"]["content"][0]["text"] for a in hook.rpc(calls).json()]
        assert all(text.startswith("Wrong arguments") for text in texts), texts
        equal(hook.tool("capture_screen")["isError"], False, "a right call")


def many_helpers_take_turns():
    with helped() as hook:
        socks = []
        for i in range(60):
            body = json.dumps(request("tools/call", {"name": "clipboard_get"}, i)).encode()
            sock = hook.connect()
            sock.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n" % len(body) + body)
            socks.append(sock)
        done = 0
        for i, sock in enumerate(socks):
            answer = read_answer(sock).json()
            equal(answer["id"], i)
            # On a slow machine the last ones wait longer than a call may take.
            if answer["result"]["isError"]:
                assert " timed out after " in answer["result"]["content"][0]["text"], answer
            else:
                done += 1
            sock.close()
        assert done > 4, done


def tools_can_be_switched_off():
    with helped({"disabled": "lock_session, open_app"}) as hook:
        names = [t["name"] for t in hook.rpc(request("tools/list")).json()["result"]["tools"]]
        equal(names, [n for n in TOOLS if n not in ("lock_session", "open_app")])
        expect_error(hook.rpc(request("tools/call", {"name": "lock_session"})), 200, -32602)
    with helped({"read_only": "yes"}) as hook:
        names = [t["name"] for t in hook.rpc(request("tools/list")).json()["result"]["tools"]]
        equal(names, TOOLS[:4] + ["find_files"])


def server_answers_without_a_window():
    with Hook() as hook:
        hook.push({"text": "one"})
        status = hook.tool("get_app_status")
        equal(json.loads(status["content"][0]["text"]), status["structuredContent"])
        want = {"app": "assistant", "listening": True, "port": hook.port, "path": "/assistant/hook", "hud_state": "none",
                "secret_configured": False, "window_attached": False, "stored_events": 1, "pending_events": 1,
                "display": False}
        for key, value in want.items():
            equal(status["structuredContent"][key], value, key)
        result = hook.tool("show_message", {"text": "queued **here**"})["structuredContent"]
        equal((result["shown"], result["queued"]), (False, True))
        history = hook.tool("get_conversation_history")["structuredContent"]
        equal([m["text"] for m in history["messages"]], ["one", "queued **here**"])
        equal(history["messages"][1]["id"], result["id"])
        for name, arguments in (("speak_text", {"text": "x"}), ("set_hud_state", {"state": "idle"})):
            result = hook.tool(name, arguments)
            assert result["isError"] and "No interface window" in result["content"][0]["text"]


def status_tells_which_tools_work():
    """What the helper says of its own, and what the server knows of the others; the settings bind both."""
    said = {"tools": [{"name": "open_app", "works": True},
                      {"name": "open_url", "works": False, "why_not": "not found: program xdg-open"}]}
    with tempfile.TemporaryDirectory() as folder:
        helper = executable(folder, "helper", "#!/bin/sh\necho run >>%s/runs\ncat >/dev/null\n[ $1 = what_works ] && "
                            "echo '%s'\n" % (folder, json.dumps({"content": [{"type": "text", "text": "x"}],
                                                                 "structuredContent": said, "isError": False})))
        with Hook({"tools": {"helper": helper, "disabled": "lock_session"}}) as hook:
            status = hook.tool("get_app_status")
            equal(json.loads(status["content"][0]["text"]), status["structuredContent"])
            rows = status["structuredContent"]["tools"]
            equal([row["name"] for row in rows], TOOLS)
            tools = {row["name"]: row for row in rows}
            equal((tools["open_app"]["works"], tools["get_app_status"]["works"], tools["show_message"]["works"]),
                  (True, True, True))
            equal((tools["open_url"]["works"], tools["open_url"]["why_not"]), (False, "not found: program xdg-open"))
            assert "did not say" in tools["find_files"]["why_not"], tools
            assert "settings" in tools["lock_session"]["why_not"], tools
            assert "no interface window" in tools["speak_text"]["why_not"], tools
            hook.tool("get_app_status")
            with open(os.path.join(folder, "runs"), encoding="ascii") as file:
                assert len(file.readlines()) == 1, "what it said a moment ago still holds"
    with Hook({"tools": {"helper": "/nonexistent/helper"}}) as hook:
        tools = {row["name"]: row for row in hook.tool("get_app_status")["structuredContent"]["tools"]}
        assert tools["find_files"]["works"] is False and "gridhook-tool is missing" in tools["find_files"]["why_not"], tools


def a_handler_that_fails_is_a_500_with_its_message():
    with helped() as hook:
        huge = request("tools/call", {"name": "find_files", "arguments": {"query": "huge"}})
        equal(len(hook.rpc([huge, huge]).json()), 2)
        answer = hook.rpc([huge, huge, huge])
        equal(answer.status, 500, "more than an answer may hold")
        equal(list(answer.json()), ["error"])
        assert isinstance(answer.json()["error"], str) and answer.json()["error"], answer
        equal(answer.headers["content-type"], "application/json")
        equal(hook.rpc(request("ping")).json()["result"], {}, "it goes on")


def answer_lasts_while_it_is_taken():
    """31 MB over twice the time that an answer may stand still."""
    with helped(limits={"write": "3s"}) as hook:
        huge = request("tools/call", {"name": "find_files", "arguments": {"query": "huge"}})
        body = json.dumps([huge, huge]).encode()
        head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: %d\r\n\r\n" % (JSON.encode(), len(body))

        def asked():
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            sock.settimeout(PATIENCE)
            sock.connect(("127.0.0.1", hook.port))
            sock.sendall(head + body)
            return sock

        with asked() as slow:
            got = slow.recv(4096)
            want = int(re.search(rb"content-length: (\d+)", got, re.I)[1]) + got.index(b"\r\n\r\n") + 4
            began, size = time.monotonic(), len(got)
            while size < want:
                # As much as is due by now: all of it in 7 seconds.
                due = min(want, int(want * (time.monotonic() - began) / 7) + 1)
                while size < due:
                    piece = slow.recv(min(due - size, 1 << 20))
                    assert piece, "cut after %d of %d bytes, %.1f s" % (size, want, time.monotonic() - began)
                    size += len(piece)
                time.sleep(0.01)
        with asked() as stalled, asked() as dripping:
            stalled.recv(1)
            taken, many = 0, 2 * CONN_PROGRESS
            while hook.connections()[0] > 0:
                # Enough for a while, then a few bytes at a time.
                if taken < many:
                    taken += len(dripping.recv(min(many - taken, 4096)))
                else:
                    dripping.recv(100)
                    time.sleep(0.05)
                assert time.monotonic() - began < 2 * PATIENCE, "who takes nothing is still there"
        hook.wait_log("answer not taken: remote=")
        equal(hook.rpc(request("ping")).json()["result"], {}, "it goes on")


def long_messages_fit_into_the_history():
    with Hook() as hook:
        for i in range(200):
            hook.push({"title": "t\"%d" % i, "text": "\n\\" * 8000})
        messages, before = [], {}
        while True:
            page = hook.tool("get_conversation_history", dict(before, limit=200))["structuredContent"]
            assert len(page["messages"]) < 200 and (len(page["messages"]) > 10 or not page["has_more"])
            messages = page["messages"] + messages
            if not page["has_more"]:
                break
            before = {"before": page["messages"][0]["id"]}
        equal([m["text"] for m in messages], ["t\"%d\n" % i + "\n\\" * 8000 for i in range(200)])
        one = request("tools/call", {"name": "get_conversation_history", "arguments": {"limit": 200}})
        began = time.monotonic()
        answers = hook.rpc([dict(one, id=i) for i in range(100)]).json()
        assert time.monotonic() - began < PATIENCE
        kinds = ["result" in a for a in answers]
        equal(len(kinds), 100)
        assert kinds[0] and kinds == sorted(kinds, reverse=True) and kinds.count(True) < 20, kinds
        equal(answers[-1]["error"]["code"], -32603)


def history_pages_backwards():
    with Hook() as hook:
        for i in range(45):
            hook.push({"text": "m%d" % i})
        page = hook.tool("get_conversation_history", {"limit": 20})["structuredContent"]
        equal([m["text"] for m in page["messages"]], ["m%d" % i for i in range(25, 45)])
        equal(page["has_more"], True)
        page = hook.tool("get_conversation_history", {"limit": 20, "before": page["messages"][0]["id"]})["structuredContent"]
        equal([m["text"] for m in page["messages"]], ["m%d" % i for i in range(5, 25)])
        page = hook.tool("get_conversation_history", {"limit": 20, "before": page["messages"][0]["id"]})["structuredContent"]
        equal([m["text"] for m in page["messages"]], ["m%d" % i for i in range(5)])
        equal(page["has_more"], False)
        equal(hook.tool("get_conversation_history", {"before": "nope"})["isError"], True)


run([value for name, value in list(globals().items())
     if callable(value) and getattr(value, "__module__", "") == "__main__" and value.__code__.co_argcount == 0])

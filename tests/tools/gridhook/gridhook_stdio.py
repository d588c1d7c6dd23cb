"""gridhook mcp: MCP over standard input and output, beside a gridhook and alone."""
import json
import os
import queue
import subprocess
import threading

from gridhook_kit import PATIENCE, PROGRAM, SECRET, Hook, equal, executable, run

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}
SLOW = "#!/bin/sh\ncat >/dev/null\n[ $1 = what_works ] && { echo '{}'; exit; }\n" \
       "echo started >>\"$0.runs\"\nsleep ${SLOW:-30}\n" \
       "echo '{\"content\":[{\"type\":\"text\",\"text\":\"slow\"}]}'\n"


def request(method, params=None, number=1):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    return message


def call(name, arguments=None, number=1, **meta):
    params = {"name": name, "arguments": arguments or {}}
    if meta:
        params["_meta"] = meta
    return request("tools/call", params, number)


class Client:
    """A process of gridhook mcp, as a client starts it."""

    def __init__(self, hook, env=None):
        full = hook.environment()
        full.update(env or {})
        self.process = subprocess.Popen([PROGRAM, "--config", hook.config, "mcp"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=full)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def send(self, *messages):
        for message in messages:
            text = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def next(self):
        return self.lines.get(timeout=PATIENCE)

    def ask(self, message):
        self.send(message)
        return self.next()

    def end(self):
        self.process.stdin.close()
        rest = []
        while True:
            line = self.next()
            if line is None:
                break
            rest.append(line)
        equal(self.process.wait(PATIENCE), 0)
        equal(self.process.stderr.read(), b"")
        return rest

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def both(test):
    """With a gridhook that runs, and without one."""
    def name():
        for alone in (False, True):
            hook = Hook(secret=SECRET, start=not alone)
            with hook, Client(hook) as client:
                test(client, alone)
                equal(client.end(), [])
    name.__name__ = test.__name__
    return name


@both
def both_eras_are_spoken(client, alone):
    equal(client.ask(request("initialize", INITIALIZE))["result"]["protocolVersion"], "2025-06-18")
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    equal(len(client.ask(request("tools/list"))["result"]["tools"]), 14)
    equal(client.ask(request("ping", number="p"))["id"], "p")
    found = client.ask(request("server/discover", {"_meta": MODERN}))
    equal(found["result"]["supportedVersions"], ["2026-07-28"])
    status = client.ask(request("tools/call", {"name": "get_app_status", "arguments": {}, "_meta": MODERN}))
    equal(status["result"]["resultType"], "complete")
    equal("stored_events" in status["result"]["structuredContent"], not alone)


@both
def trouble_is_answered(client, alone):
    equal(client.ask(b"{")["error"]["code"], -32700)
    equal(client.ask(b"[]")["error"]["code"], -32600)
    equal(client.ask(b'{"jsonrpc":"2.0","id":1}')["error"]["code"], -32600)
    equal(client.ask(request("none"))["error"]["code"], -32601)
    equal(client.ask(call("none"))["error"]["code"], -32602)
    equal(client.ask(call("open_url"))["result"]["isError"], True)
    client.send(b"", b"  ", {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}})
    equal(client.ask(b'"' + b"x" * (5 << 20) + b'"')["error"]["code"], -32600)
    client.send(b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]\r')
    equal(len(client.next()), 2)
    result = client.ask(call("show_message", {"text": "hello"}))["result"]
    equal(result["isError"], alone)
    if alone:
        assert "gridhook is not running" in result["content"][0]["text"]


@both
def many_at_once_are_all_answered(client, alone):
    client.send(*[call("get_app_status", number=i) for i in range(300)])
    equal(sorted(client.next()["id"] for _ in range(300)), list(range(300)))
    del alone


def slow(alone):
    hook = Hook({"tools": {"helper": "HELPER"}}, start=False)
    path = executable(hook.folder, "helper", SLOW)
    with open(hook.config, encoding="utf-8") as file:
        text = file.read().replace("HELPER", path)
    with open(hook.config, "w", encoding="utf-8") as file:
        file.write(text)
    hook.env["SLOW"] = "2.5"
    return hook if alone else hook.start()


def progress_is_told_where_a_token_is_given():
    for alone in (False, True):
        with slow(alone) as hook, Client(hook) as client:
            client.send(call("find_files", {"query": "a"}, 7, progressToken="t1"),
                        call("find_files", {"query": "a"}, 8))
            got = [client.next() for _ in range(4)]
            notes = [m["params"] for m in got if m.get("method") == "notifications/progress"]
            equal([(n["progressToken"], n["progress"]) for n in notes], [("t1", 1), ("t1", 2)])
            equal(sorted(m["id"] for m in got if "id" in m), [7, 8])
            equal(client.end(), [])


def calls_are_cancelled():
    for alone in (False, True):
        with slow(alone) as hook, Client(hook, {"SLOW": "30"}) as client:
            hook.env["SLOW"] = "30"
            client.send(call("find_files", {"query": "a"}, 7))
            runs = os.path.join(hook.folder, "helper.runs")
            while not os.path.exists(runs):
                equal(client.ask(request("ping", number=8))["id"], 8)
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
            equal(client.ask(request("ping", number=9))["id"], 9)
            equal(client.end(), [], "no answer to what was cancelled, and no wait for it")


def end_of_input_waits_for_answers():
    for alone in (False, True):
        with slow(alone) as hook, Client(hook) as client:
            client.send(call("find_files", {"query": "a"}, 7))
            equal([m["id"] for m in client.end()], [7])


def files_and_gone_readers():
    with Hook(start=False) as hook:
        path = os.path.join(hook.folder, "messages")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(request("ping", number=1)) + "\n" + json.dumps(request("ping", number=2)))
        with open(path, encoding="utf-8") as file:
            done = subprocess.run([PROGRAM, "--config", hook.config, "mcp"], stdin=file, stdout=subprocess.PIPE,
                                  timeout=PATIENCE, env=hook.environment())
        equal([json.loads(line)["id"] for line in done.stdout.splitlines()], [1, 2])
        with open("/dev/full", "w", encoding="utf-8") as full, open(path, encoding="utf-8") as file:
            equal(subprocess.run([PROGRAM, "--config", hook.config, "mcp"], stdin=file, stdout=full, timeout=PATIENCE,
                                 env=hook.environment()).returncode, 1)


def gridhook_that_ends_is_told():
    with slow(False) as hook, Client(hook) as client:
        client.send(call("find_files", {"query": "a"}, 7))
        runs = os.path.join(hook.folder, "helper.runs")
        while not os.path.exists(runs):
            equal(client.ask(request("ping", number=8))["id"], 8)
        hook.kill()
        answer = client.next()
        equal((answer["id"], answer["error"]["code"]), (7, -32603))
        equal(client.ask(request("ping", number=9))["id"], 9, "it goes on alone")


run([both_eras_are_spoken, trouble_is_answered, many_at_once_are_all_answered,
     progress_is_told_where_a_token_is_given, calls_are_cancelled, end_of_input_waits_for_answers,
     files_and_gone_readers, gridhook_that_ends_is_told])

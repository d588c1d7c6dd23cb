"""States and status as the document's table has them; the commands."""
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile

from gridhook_kit import PATIENCE, PROGRAM, SECRET, Hook, Model, equal, executable, free_port, run, wait_until


def status(hook):
    code, out, error = hook.run("ctl", "status")
    equal(code, 0, error)
    return json.loads(out)


def ctl(hook, *args):
    code, out, error = hook.run("ctl", *args)
    return code, json.loads(out), error


def stop_closes_all_connections_and_start_listens_again():
    with Hook(secret=SECRET) as hook:
        equal(status(hook), {"listening": True, "port": hook.port, "path": "/assistant/hook", "secretConfigured": True})
        with hook.connect() as idle, hook.connect() as busy:
            busy.sendall(b"POST /assist")
            code, state, _ = ctl(hook, "stop")
            equal((code, state["listening"]), (0, False))
            for sock in (idle, busy):
                try:
                    equal(sock.recv(10), b"")
                except ConnectionResetError:
                    pass
        try:
            hook.connect()
            raise AssertionError("it still listens")
        except ConnectionRefusedError:
            pass
        equal(status(hook)["listening"], False)
        equal(ctl(hook, "stop")[0], 0, "stop twice")
        code, state, _ = ctl(hook, "start")
        equal((code, state["listening"], "error" in state), (0, True, False))
        equal(hook.push({}).status, 200)


def start_stops_the_previous_server_first():
    with Hook() as hook:
        other = free_port()
        sock = hook.connect()
        code, state, _ = ctl(hook, "start", "--port", str(other))
        equal((code, state["port"], state["listening"]), (0, other, True))
        equal(sock.recv(10), b"", "old connections are closed")
        try:
            hook.connect()
            raise AssertionError("the old port still listens")
        except ConnectionRefusedError:
            pass
        hook.port = other
        equal(hook.push({}).status, 200)
        equal(ctl(hook, "start", "--port", str(other))[0], 0, "the same port again")


def invalid_ports_are_told():
    with Hook() as hook:
        for port in ("0", "65536", "-1", "70000", "abc", "", "80.5", "1e3", " 80", "99999999999999999999", "0x50"):
            code, state, error = ctl(hook, "start", "--port", port)
            equal((code, state["listening"]), (1, False), port)
            assert "Invalid port" in state["error"] and "Invalid port" in error, state
            equal(state["port"], hook.port)
            try:
                hook.connect()
                raise AssertionError("it listens")
            except ConnectionRefusedError:
                pass
            code, state, _ = ctl(hook, "start")
            equal((code, state["listening"], "error" in state), (0, True, False))


def a_start_without_host_and_port_is_as_the_settings_have_it():
    with Hook() as hook:
        code, state, error = ctl(hook, "start", "--host", "no-such-host.invalid", "--port", str(free_port()))
        equal((code, state["listening"]), (1, False))
        equal(error, "gridhook: " + state["error"] + "\n", "in plain words")
        code, state, _ = ctl(hook, "start")
        equal((code, state), (0, {"listening": True, "port": hook.port, "path": "/assistant/hook",
                                  "secretConfigured": False}))
        equal(hook.push({}).status, 200)


def bind_errors_are_told():
    with socket.socket() as taken, Hook() as hook:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, state, _ = ctl(hook, "start", "--port", str(port))
        equal((code, state["listening"], state["port"]), (1, False, port))
        assert "Address already in use" in state["error"], state
        code, state, _ = ctl(hook, "start", "--host", "203.0.113.7")
        equal((code, state["listening"]), (1, False))
        assert "203.0.113.7" in state["error"], state
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        hook = Hook({"server": {"port": taken.getsockname()[1]}}, start=False)
        with hook:
            hook.start(wait=False)
            equal(hook.process.wait(PATIENCE), 1, "it ends when it cannot listen")
            hook.process.returncode = 0
            hook.args = ["--stay"]
            hook.start(wait=False)
            hook.wait_log("cannot start")
            hook.wait_log("Address already in use")
            wait_until(lambda: hook.run("ctl", "status")[0] == 0, "it stays")
            assert "error" in status(hook)


def autostart_can_be_off():
    with Hook({"server": {"autostart": "no"}}, start=False) as hook:
        hook.start(wait=False)
        wait_until(lambda: hook.run("ctl", "status")[0] == 0, "it runs")
        equal(status(hook)["listening"], False)
        equal(ctl(hook, "start")[0], 0)
        equal(hook.push({}).status, 200)


def initial_port_is_7842():
    hook = Hook(start=False)
    with hook:
        with open(hook.config, "w", encoding="utf-8") as file:
            file.write("[interface]\nsockets = %s/run\n[store]\ndata = memory\n[server]\nautostart = no\n" % hook.folder)
        hook.start(wait=False)
        wait_until(lambda: hook.run("ctl", "status")[0] == 0, "it runs")
        equal(status(hook), {"listening": False, "port": 7842, "path": "/assistant/hook", "secretConfigured": False})


def new_secret_comes_with_start():
    with Hook() as hook:
        path = os.path.join(hook.folder, "secret")
        with open(path, "w", encoding="utf-8") as file:
            file.write("  other  \r\n")
        os.chmod(path, 0o600)
        code, state, _ = ctl(hook, "start", "--secret-file", path, "--host", "127.0.0.1")
        equal((code, state["secretConfigured"]), (0, True))
        equal(hook.push({}).status, 401)
        equal(hook.push({}, headers=["Authorization: Bearer other"]).status, 200)
        code, _, error = ctl(hook, "start", "--secret-file", path + "x")
        equal(code, 1)
        assert "secret" in error, error


def secret_comes_from_file_credential_or_environment():
    hook = Hook(start=False)
    with hook:
        def check(env=None, conf=""):
            with open(hook.config, "w", encoding="utf-8") as file:
                file.write("[server]\n" + conf)
            return hook.run("--check", env=env)

        path = os.path.join(hook.folder, "secret")
        for text, code in (("abc\n", 0), ("", 1), ("\n\n", 1), ("a\nb", 1), ("x" * 2000, 1)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o600)
            got, out, error = check(conf="secret_file = %s\n" % path)
            equal(got, code, repr(text) + error)
            equal("secret set" in out, code == 0)
        with open(path, "w", encoding="utf-8") as file:
            file.write("abc")
        equal("secret set" in check({"CREDENTIALS_DIRECTORY": hook.folder})[1], True)
        equal("secret set" in check({"GRIDHOOK_SECRET": "abc"})[1], True)
        equal("secret not set" in check({"GRIDHOOK_SECRET": ""})[1], True)
        equal("secret not set" in check()[1], True)
        got, _, error = check(conf="secret_file = %s-gone\n" % path)
        equal(got, 1)
        assert path + "-gone" in error, error
        os.chmod(path, 0o644)
        assert "chmod 600" in check(conf="secret_file = %s\n" % path)[2]


def check_warns_of_an_open_door():
    for host, secret, warns in (("0.0.0.0", None, True), ("::", None, True), ("127.0.0.1", None, False),
                                ("", None, False), ("0.0.0.0", "s3cret", False)):
        hook = Hook(start=False)
        with hook:
            with open(hook.config, "w", encoding="utf-8") as file:
                file.write("[server]\nhost = %s\n" % host)
            code, out, error = hook.run("--check", env={"GRIDHOOK_SECRET": secret} if secret else {})
            equal((code, out.startswith("settings are fine: ")), (0, True), error)
            equal("anybody on the network can push" in error, warns, (host, secret, error))


def check_names_what_is_wrong():
    hook = Hook(start=False)
    with hook:
        for conf, words in (("[server]\nport = 0\n", "port"), ("[server]\nport = 70000\n", "port"),
                            ("[server]\nprot = 1\n", "prot"), ("[server]\napp = a/b\n", "app"),
                            ("[server]\napp = mcp\n", "app"), ("[server]\napp = ..\n", "app"),
                            ("[tools]\ndisabled = lock_sesion\n", "lock_sesion"), ("[nope]\nx = 1\n", "section"),
                            ("[limits]\nbody = soon\n", "body")):
            with open(hook.config, "w", encoding="utf-8") as file:
                file.write(conf)
            code, _, error = hook.run("--check")
            equal(code, 1, conf)
            assert words in error, (conf, error)
        equal(hook.run("--config", hook.config + "-gone", "--check")[0], 1)
        code, out, _ = hook.run("--print-config")
        equal(code, 0)
        with open(hook.config, "w", encoding="utf-8") as file:
            file.write(out)
        code, _, error = hook.run("--check")
        equal(code, 0, error)


def usage_errors_are_code_2():
    hook = Hook(start=False)
    with hook:
        for args in (["nope"], ["ctl"], ["ctl", "restart"], ["--nope"], ["tools", "--format", "xml"], ["call"],
                     ["send", "extra"]):
            code, _, error = hook.run(*args)
            equal(code, 2, repr(args))
            assert error, args
        for args in (["--help"], ["ctl", "--help"], ["tools", "--help"], ["call", "--help"], ["send", "--help"],
                     ["--version"]):
            code, out, _ = hook.run(*args)
            equal(code, 0, repr(args))
            assert out
        code, _, error = hook.run("ctl", "status")
        equal(code, 1)
        assert "none is running" in error, error


def definitions_come_from_one_table():
    hook = Hook(start=False)
    with hook:
        mcp = json.loads(hook.run("tools")[1])
        chat = json.loads(hook.run("tools", "--format", "chat-completions")[1])
        equal(len(mcp), 14)
        for one, other in zip(mcp, chat):
            equal(other, {"type": "function", "function": {"name": one["name"], "description": one["description"],
                                                           "parameters": one["inputSchema"]}})
    with Hook() as hook:
        answer = hook.rpc({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        equal(answer.json()["result"]["tools"], mcp)


def call_works_with_and_without_a_server():
    helper = ("#!/bin/sh\nread -r args\n"
              "printf '{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"isError\":false}' \"$1\"\n")
    for running in (True, False):
        hook = Hook(start=False)
        with hook:
            path = executable(hook.folder, "helper", helper)
            with open(hook.config, "a", encoding="utf-8") as file:
                file.write("[tools]\nhelper = %s\n" % path)
            if running:
                hook.start()
            code, out, _ = hook.run("call", "notify_user", '{"title":"a","message":"b"}')
            equal((code, json.loads(out)), (0, {"content": [{"type": "text", "text": "notify_user"}], "isError": False}))
            code, out, _ = hook.run("call", "open_url", "-", stdin=b'{"url":"http://x.example/"}')
            equal(json.loads(out)["content"][0]["text"], "open_url")
            code, out, _ = hook.run("call", "open_url", "{}")
            equal((code, json.loads(out)["isError"]), (1, True))
            code, out, _ = hook.run("call", "speak_text", '{"text":"x"}')
            equal((code, "No interface window" in out), (1, True))
            equal(hook.run("call", "nope")[0], 1)
            equal(hook.run("call", "open_url", "{bad")[0], 1)
            code, out, _ = hook.run("call", "get_app_status")
            equal((code, json.loads(out)["structuredContent"]["app"]), (0, "assistant"))


def send_makes_a_push():
    with Hook(secret=SECRET) as hook:
        window = hook.window()
        code, _, error = hook.run("send", "--source", "backup", "--title", "Done", "--priority", "high", "--tags",
                                  "a,b", "--link", "https://x.example/", stdin="h\u00e9llo \"x\"\n".encode())
        equal(code, 0, error)
        event = window.event()["event"]
        equal((event["source"], event["title"], event["text"], event["priority"], event["tags"], event["url"]),
              ("backup", "Done", "h\u00e9llo \"x\"", "high", ["a", "b"], "https://x.example/"))
        code, _, error = hook.run("send", "--unit", "backup.service", "--result", "exit-code", "--exit-status", "3",
                                  "--source", "systemd", stdin=b"last lines")
        equal(code, 0, error)
        event = window.event()["event"]
        equal((event["kind"], event["status"], event["speak"], event["job"]["exit_code"], event["job"]["name"]),
              ("job", "error", True, 3, "backup.service"))
        code, _, error = hook.run("send", "--text", "x", env={"GRIDHOOK_SECRET": "wrong"})
        equal(code, 1)
        assert "401" in error, error
        code, _, error = hook.run("send", "--text", "x", "--url", "http://127.0.0.1:%d/nope" % hook.port)
        assert "404" in error, error
        code, _, error = hook.run("send", "--text", "x", "--url", "http://127.0.0.1:%d/x" % free_port())
        equal(code, 1)
        assert "nobody answers" in error, error
        equal(hook.run("send", "--text", "x", "--url", "https://x.example/")[0], 1)


def send_refuses_what_no_receiver_understands():
    with Hook() as hook:
        window = hook.window()
        for option, value in (("--priority", "bogus"), ("--priority", "11"), ("--status", "bogus"),
                              ("--exit-status", "x"), ("--exit-status", "1x"), ("--exit-status", "SIG"),
                              ("--exit-status", "\x1b[2Jterm")):
            code, out, error = hook.run("send", "--text", "x", "--job", "b", option, value)
            equal((code, out), (2, ""), (option, value))
            assert error.startswith("gridhook send: %s is " % option) and "--help" in error, error
            assert "\x1b" not in error, error
        for option, value in (("--priority", "HIGH"), ("--priority", ""), ("--priority", "7"), ("--status", "failed"),
                              ("--priority", "urgent"), ("--priority", "medium"), ("--exit-status", "")):
            code, _, error = hook.run("send", "--text", "x", "--job", "b", option, value)
            equal((code, error), (0, ""), (option, value))
            equal(window.event()["event"]["text"], "x", (option, value))


def a_job_that_a_signal_ended_is_read_aloud():
    """Every form of an exit status that gridhook(1) names, and what the window is told."""
    with Hook() as hook:
        window = hook.window()
        for value in ("TERM", "KILL", "SIGKILL", "SIGTERM", "RTMIN+1", "SIGRTMIN+1", "137"):
            code, _, error = hook.run("send", "--text", "x", "--job", "b", "--exit-status", value)
            equal((code, error), (0, ""), value)
            event = window.event()["event"]
            equal((event["kind"], event["status"], event["speak"]), ("job", "error", True), value)


def families_of_the_user_come_before_the_packages():
    with Hook(start=False) as hook:
        folder = os.path.join(hook.folder, "config", "gridhook", "families")
        os.makedirs(folder)
        for name, text in (("gitlab", 'match object_kind present\ntext "mine: {object_kind}"\n'),
                           ("own", 'match celsius number\ntext "{celsius} degrees"\nstatus "error" when state = heat\n'),
                           ("wrong", "match x present\n\ncolour red\n")):
            with open(os.path.join(folder, name + ".family"), "w", encoding="utf-8") as file:
                file.write(text)
        hook.env["XDG_CONFIG_HOME"] = os.path.join(hook.folder, "config")
        hook.start()
        hook.wait_log('wrong.family:3: "colour" is no statement')
        window = hook.window()
        for body, headers, source, text in (
                ({"celsius": 41, "state": "heat"}, (), "own", "41 degrees"),
                ({"object_kind": "push"}, (), "gitlab", "mine: push"),
                ({"zen": "z"}, ("X-GitHub-Event: ping",), "github", "z"),
                ({"zen": "z", "repository": {"full_name": "o/r"}}, ("X-GitHub-Event: push", "X-Gitea-Event: push"),
                 "gitea", None)):
            equal(hook.push(body, headers=headers).status, 200)
            event = window.event()["event"]
            equal(event["source"], source)
            if text is not None:
                equal(event["text"], text)
        code, out, error = hook.run("explain", "-", stdin=b'{"celsius": 41, "state": "heat", "room": "north"}')
        equal(code, 0, error)
        assert "family own (" in out and "text         <- celsius = 41" in out, out
        assert out.split("\ndropped")[1].split("\n")[1:] == ['  state = "heat"', '  room = "north"', ""], out
        equal(hook.run("explain", "-", stdin=b"{")[0], 1)


def folders_of_sockets_are_the_users_alone_where_they_are_made():
    for name, made, mode in (("new", False, 0o700), ("deep/er", False, 0o700), ("there", True, 0o755)):
        with Hook(start=False) as hook:
            folder = os.path.join(hook.folder, name)
            if made:
                os.mkdir(folder)
                os.chmod(folder, mode)
            with open(hook.config, "a", encoding="utf-8") as file:
                file.write("[interface]\nsockets = %s\n" % folder)
            hook.start()
            equal(os.stat(folder).st_mode & 0o777, mode, name)
            equal(os.stat(os.path.join(folder, "interface.sock")).st_mode & 0o777, 0o600, name)


def chat_loop_of_the_documentation_works():
    """docs/chat-loop.py against a model that is a stub on loopback."""
    script = os.path.join(os.environ.get("abs_top_srcdir", "."), "docs", "chat-loop.py")
    calls = [{"id": "c1", "type": "function", "function": {"name": "get_app_status", "arguments": "{}"}},
             {"id": "c2", "type": "function", "function": {"name": "open_url", "arguments": "{\"url\":5}"}},
             {"id": "c3", "type": "function", "function": {"name": "show_message",
                                                           "arguments": "{\"text\":\"from the model\"}"}}]
    with Model({"role": "assistant", "content": None, "tool_calls": calls},
               {"role": "assistant", "content": "All is well."}) as model, Hook() as hook:
        seen = model.seen
        env = hook.environment()
        env.update(GRIDHOOK=PROGRAM, GRIDHOOK_CONFIG=hook.config, MODEL_URL=model.url)
        done = subprocess.run([sys.executable, script, "How are you?"], env=env, timeout=PATIENCE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        equal(done.returncode, 0, done.stderr.decode())
        equal(done.stdout.decode().strip(), "All is well.")
        equal(len(seen), 2)
        equal(len(seen[0][1]["tools"]), 14)
        tools = [m for m in seen[1][1]["messages"] if m["role"] == "tool"]
        equal([m["tool_call_id"] for m in tools], ["c1", "c2", "c3"])
        assert json.loads(json.loads(tools[0]["content"])["content"][0]["text"])["listening"] is True
        assert "Wrong arguments" in tools[1]["content"]
        equal(hook.window().event()["event"]["text"], "from the model")


PICTURE = "iVBORw0KGgo="


def images_go_back_as_models_see_them():
    """chat-loop.py and a helper that captures: the image is a part of a user's message behind all of the tools'."""
    script = os.path.join(os.environ.get("abs_top_srcdir", "."), "docs", "chat-loop.py")
    calls = [{"id": "c1", "type": "function", "function": {"name": "capture_screen", "arguments": "{}"}},
             {"id": "c2", "type": "function", "function": {"name": "get_app_status", "arguments": ""}}]
    with Model({"role": "assistant", "content": None, "tool_calls": calls},
               {"role": "assistant", "content": "A screen."}) as model, tempfile.TemporaryDirectory() as folder:
        helper = executable(folder, "helper", "#!/bin/sh\ncat >/dev/null\n"
                            "echo '{\"content\":[{\"type\":\"text\",\"text\":\"640x480\"},{\"type\":\"image\","
                            "\"data\":\"%s\",\"mimeType\":\"image/png\"}],\"isError\":false}'\n" % PICTURE)
        with Hook({"tools": {"helper": helper}}) as hook:
            env = hook.environment()
            env.update({"MODEL_URL": model.url, "GRIDHOOK": PROGRAM, "GRIDHOOK_CONFIG": hook.config})
            done = subprocess.run([sys.executable, script, "Look."], env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    seen = [body["messages"] for _, body in model.seen]
    equal((done.returncode, done.stdout.decode()), (0, "A screen.\n"), done.stderr.decode())
    equal([message["role"] for message in seen[1]], ["user", "assistant", "tool", "tool", "user"])
    captured, status, shown = seen[1][2:]
    equal((captured["tool_call_id"], status["tool_call_id"]), ("c1", "c2"))
    assert PICTURE not in captured["content"] and "640x480" in captured["content"], captured
    equal(json.loads(captured["content"])["isError"], False)
    equal([part["type"] for part in shown["content"]], ["text", "image_url"])
    assert "c1" in shown["content"][0]["text"], shown
    equal(shown["content"][1]["image_url"]["url"], "data:image/png;base64," + PICTURE)


def manual_names_every_setting_and_option():
    page = os.path.join(os.environ.get("abs_top_srcdir", "."), "docs", "man", "gridhook.1")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    hook = Hook(start=False)
    with hook:
        for line in hook.run("--print-config")[1].splitlines():
            if line.startswith("["):
                assert ".Ss " + line in text, line
            elif " = " in line:
                name, value = line.split(" = ", 1)
                assert ".It Ic %s No = %s\n" % (name, value or "\\&") in text, line
        for command in ([], ["ctl"], ["tools"], ["call"], ["send"], ["explain"]):
            for word in hook.run(*command, "--help")[1].split():
                word = word.rstrip(",")
                if word.startswith("--") and word != "--help":
                    assert "Fl Fl " + word[2:] in text, word


def sigterm_ends_it_cleanly():
    with Hook() as hook:
        hook.window()
        hook.connect()
        equal(hook.stop(), 0)
        assert not os.path.exists(os.path.join(hook.folder, "run", "control.sock"))
        assert not os.path.exists(os.path.join(hook.folder, "run", "interface.sock"))


run([value for name, value in list(globals().items())
     if callable(value) and getattr(value, "__module__", "") == "__main__" and value.__code__.co_argcount == 0])

"""The window's socket: events in order and once, calls, take-over, replay."""
import json
import os
import socket
import stat
import threading

from gridhook_kit import PATIENCE, Hook, Window, equal, run


def texts(lines):
    return [line["event"]["text"] for line in lines]


def greeting_tells_where_things_stand():
    with Hook() as hook:
        hook.push("[1,2,3]")
        window = hook.window()
        welcome = window.welcome
        equal((welcome["proto"], welcome["first"], welcome["next"]), (1, 1, 4))
        equal(welcome["status"], {"listening": True, "port": hook.port, "path": "/assistant/hook",
                                  "secretConfigured": False})
        assert len(welcome["epoch"]) >= 8
        wrong = hook.window(proto=2)
        equal(wrong.welcome["t"], "error")
        equal(wrong.line(), None, "closed")


def sockets_are_for_their_owner_only():
    with Hook() as hook:
        folder = os.path.join(hook.folder, "run")
        for name in ("interface.sock", "control.sock"):
            mode = os.stat(os.path.join(folder, name)).st_mode
            equal((stat.S_ISSOCK(mode), stat.S_IMODE(mode)), (True, 0o600), name)
        equal(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        if os.geteuid() == 0:
            os.chmod(folder, 0o755)
            os.chmod(os.path.join(folder, "interface.sock"), 0o666)
            os.chmod(hook.folder, 0o755)
            child = os.fork()
            if child == 0:
                os.setuid(65534)
                peer = socket.socket(socket.AF_UNIX)
                peer.connect(os.path.join(folder, "interface.sock"))
                try:
                    peer.sendall(b'{"t":"hello","proto":1}\n')
                    got = peer.recv(100)
                except OSError:
                    got = b""
                os._exit(0 if got == b"" else 1)
            equal(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0, "another user was served")
            hook.wait_log("another user was refused: uid=65534")


def live_events_come_at_once_and_in_order():
    with Hook() as hook:
        window = hook.window()
        for i in range(30):
            hook.push({"text": "m%d" % i})
        got = [window.event() for _ in range(30)]
        equal([e["seq"] for e in got], list(range(1, 31)))
        equal(texts(got), ["m%d" % i for i in range(30)])
        equal({e["replay"] for e in got}, {False})
        window.quiet()


def no_more_than_64_are_in_flight():
    with Hook() as hook:
        window = hook.window()
        hook.push(json.dumps(list(range(200))))
        got = [window.event()["seq"] for _ in range(64)]
        window.quiet()
        window.ack(10)
        got += [window.event()["seq"] for _ in range(10)]
        window.quiet()
        window.ack(64)
        window.ack(74)
        while len(got) < 200:
            got.append(window.event()["seq"])
            window.ack(got[-1])
        equal(got, list(range(1, 201)))
        window.quiet()


def lost_window_gets_the_rest_once():
    with Hook() as hook:
        hook.push(json.dumps(["e%d" % i for i in range(102)]))
        window = hook.window()
        epoch = window.welcome["epoch"]
        equal(texts([window.event() for _ in range(4)]), ["e0", "e1", "e2", "e3"])
        window.close()
        window = hook.window(epoch=epoch, ack=4)
        got = []
        while len(got) < 98:
            event = window.event()
            got.append(event)
            window.ack(event["seq"])
        equal(texts(got), ["e%d" % i for i in range(4, 102)])
        equal({e["replay"] for e in got}, {True})
        window.quiet()
        hook.push({"text": "new"})
        equal((window.event()["replay"]), False)


def replay_setting_is_for_new_windows():
    for setting, want in (("unacked", ["c", "d"]), ("all", ["a", "b", "c", "d"]), ("none", [])):
        with Hook({"interface": {"replay": setting}}) as hook:
            hook.push(["a", "b", "c", "d"])
            window = hook.window()
            if setting != "none":
                window.event()
                window.event()
                window.ack(2)
                window.send({"t": "ping"})
                window.wait("pong")
            window.close()
            window = hook.window(client="other", epoch="an older one", ack=99)
            equal(texts([window.event() for _ in want]), want, setting)
            window.quiet()
            window.close()
            window = hook.window(epoch=hook.window().welcome["epoch"], ack=3)
            equal(texts([window.event()]), ["d"], "its own ack counts")


def acknowledgement_survives_a_restart():
    with Hook() as hook:
        hook.push(["a", "b", "c"])
        window = hook.window()
        epoch = window.welcome["epoch"]
        window.event()
        window.ack(1)
        window.send({"t": "ping"})
        window.wait("pong")
        window.close()
        hook.stop()
        hook.start()
        window = hook.window(client="fresh")
        equal(window.welcome["epoch"], epoch)
        equal(texts([window.event(), window.event()]), ["b", "c"])
        hook.push({"text": "later"})
        equal(window.event()["seq"], 4, "the sequence goes on")


def memory_store_has_a_new_epoch():
    with Hook({"store": {"data": "memory"}}) as hook:
        hook.push({"text": "x"})
        window = hook.window()
        equal(window.event()["seq"], 1)
        epoch = window.welcome["epoch"]
        window.close()
        hook.stop()
        hook.start()
        window = hook.window(epoch=epoch, ack=1)
        assert window.welcome["epoch"] != epoch
        hook.push({"text": "y"})
        equal(window.event()["seq"], 1)


def newer_window_takes_over():
    with Hook() as hook:
        first = hook.window(client="one")
        hook.push({"text": "a"})
        equal(texts([first.event()]), ["a"])
        first.ack(1)
        second = hook.window(client="two")
        equal(first.line()["t"], "superseded")
        equal(first.line(), None)
        hook.push({"text": "b"})
        equal(texts([second.event()]), ["b"])


def calls_are_relayed():
    with Hook() as hook:
        window = hook.window()
        done = []

        def answer(line):
            call = window.wait("call")
            line["id"] = call["id"]
            window.send(dict(line, t="result"))
            return call

        def call(name, arguments, line):
            thread = threading.Thread(target=lambda: done.append(hook.tool(name, arguments)))
            thread.start()
            seen = answer(line)
            thread.join(PATIENCE)
            return seen, done.pop()

        content = [{"type": "text", "text": "spoken"}]
        seen, result = call("speak_text", {"text": "h\u00e9", "rate": 200}, {"ok": True, "content": content})
        equal((seen["name"], seen["args"], seen["deadline_ms"]), ("speak_text", {"text": "h\u00e9", "rate": 200}, 120000))
        equal(result, {"content": content, "isError": False})
        seen, result = call("set_hud_state", {"state": "alert"}, {"ok": False, "error": "not now"})
        equal(result, {"content": [{"type": "text", "text": "not now"}], "isError": True})
        seen, result = call("show_message", {"text": "x"}, {"ok": True, "content": content,
                                                            "structuredContent": {"id": "w1", "shown": True}})
        equal(result["structuredContent"], {"id": "w1", "shown": True})
        seen, result = call("show_message", {"text": "x"}, {"ok": True, "content": content})
        assert result["structuredContent"]["id"], result
        seen, result = call("speak_text", {"text": "x"}, {"ok": True, "content": "nonsense"})
        equal(result["isError"], True)
        window.send({"t": "result", "id": 999, "ok": True, "content": []})
        window.send({"t": "unheard of"})
        window.sock.sendall(b"not json\n\n")
        equal(window.line()["t"], "error")
        equal(hook.tool("get_app_status")["structuredContent"]["window_attached"], True)


def window_that_goes_fails_its_calls():
    with Hook() as hook:
        window = hook.window()
        done = []
        thread = threading.Thread(target=lambda: done.append(hook.tool("speak_text", {"text": "x"})))
        thread.start()
        window.wait("call")
        window.close()
        thread.join(PATIENCE)  # and not for the two minutes that it may take
        assert done and done[0]["isError"] and "went away" in done[0]["content"][0]["text"], done


def caller_who_leaves_is_told_to_the_window():
    with Hook() as hook:
        window = hook.window()
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": "speak_text", "arguments": {"text": "x"}}}).encode()
        sock = hook.connect()
        sock.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Content-Length: %d\r\n\r\n" % len(body) + body)
        call = window.wait("call")
        sock.close()
        equal(window.wait("cancel")["id"], call["id"])
        window.send({"t": "result", "id": call["id"], "ok": True, "content": []})
        equal(hook.ask("GET", "/health").status, 200)


def window_tells_its_state_and_what_was_said():
    with Hook() as hook:
        window = hook.window(caps=["speech", "get_conversation_history"])
        window.send({"t": "state", "unread": 3, "hud": "listening", "focused": True, "theme": "night"})
        window.send({"t": "say", "role": "user", "text": "hello there"})
        window.send({"t": "ping"})
        window.wait("pong")
        status = hook.tool("get_app_status")["structuredContent"]
        equal((status["hud_state"], status["unread"]), ("listening", 3))
        done = []
        thread = threading.Thread(target=lambda: done.append(hook.tool("get_conversation_history")))
        thread.start()
        equal(window.wait("call")["name"], "get_conversation_history", "the window said that it answers this")
        window.close()
        thread.join(PATIENCE)
        history = hook.tool("get_conversation_history")["structuredContent"]["messages"]
        equal([(m["role"], m["text"]) for m in history], [("user", "hello there")])


def slow_window_is_cut_off_and_loses_nothing():
    with Hook({"store": {"keep_events": "2000"}}) as hook:
        window = hook.window()
        epoch = window.welcome["epoch"]
        for i in range(40):
            hook.push(json.dumps(["x" * 16000 for _ in range(50)]))
        equal(hook.tool("get_app_status")["structuredContent"]["stored_events"], 2000)
        window.close()
        window = hook.window(epoch=epoch, ack=0)
        seqs = []
        while len(seqs) < 2000:
            seqs.append(window.event()["seq"])
            window.ack(seqs[-1])
        equal(seqs, list(range(1, 2001)))


def oldest_go_and_the_loss_is_told():
    with Hook({"store": {"keep_events": "10"}}) as hook:
        hook.push(["a%d" % i for i in range(30)])
        status = hook.tool("get_app_status")["structuredContent"]
        equal((status["stored_events"], status["pending_events"]), (10, 10))
        window = hook.window()
        got = [window.event() for _ in range(10)]
        equal(got[0]["event"]["source"], "gridhook")
        equal(got[0]["event"]["text"], "21 messages were dropped before they were read.")
        equal(texts(got[1:]), ["a%d" % i for i in range(21, 30)])
        window.ack(got[-1]["seq"])
        window.send({"t": "ping"})
        window.wait("pong")
        hook.push(["b%d" % i for i in range(5)])
        got = [window.event() for _ in range(5)]
        equal(texts(got), ["b%d" % i for i in range(5)], "read ones go without a word")


def status_changes_are_told():
    with Hook() as hook:
        window = hook.window()
        code, out, _ = hook.run("ctl", "stop")
        equal((code, json.loads(out)["listening"]), (0, False))
        equal(window.wait("status")["status"]["listening"], False)
        hook.run("ctl", "start")
        equal(window.wait("status")["status"]["listening"], True)


def second_gridhook_is_refused():
    with Hook() as hook:
        code, _, error = hook.run()
        equal(code, 1)
        assert "another gridhook" in error, error
        equal(hook.push({}).status, 200)
    with Hook() as hook:
        hook.kill()
        hook.start()
        hook.window()
        equal(hook.push({}).status, 200, "a dead one's sockets are replaced")


run([value for name, value in list(globals().items())
     if callable(value) and getattr(value, "__module__", "") == "__main__" and value.__code__.co_argcount == 0])

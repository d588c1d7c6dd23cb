"""The window in a terminal: each behaviour from a push over HTTP to what is
shown, counted and spoken."""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time

from gridhud_kit import PATIENCE, Hook, Hud, Skip, equal, has_screen, run

FAILED = {"job": "backup", "status": "error", "error": "no space left. Sorry.", "source": "cron"}


def push(hook, text, **more):
    equal(hook.push(dict({"source": "chat", "text": text}, **more)).status, 200)


def message_is_shown_counted_and_spoken():
    with Hook() as hook, Hud(hook) as hud:
        push(hook, "It is done. All is well. There is more.", title="Nightly backup")
        hud.wait("It is done. All is well. There is more.")
        hud.wait("1 unread")
        equal(hud.title(), "(1) assistant")
        hud.wait_said("chat: Nightly backup. It is done.")
        push(hook, "second")
        hud.wait("2 unread")
        hud.until(lambda: hook.tool("get_app_status")["structuredContent"]["unread"] == 2, "told to the server")
        hud.keys("Escape")
        hud.wait_gone("unread")
        hud.until(lambda: hud.title() == "assistant", "title")


def quiet_hours_cross_midnight():
    settings = {"quiet": {"hours": "22:00-07:00"}}
    for now, quiet in (("2026-01-31T21:50", False), ("2026-01-31T22:00", True), ("2026-02-01T00:30", True),
                       ("2026-02-01T06:50", True), ("2026-02-01T07:00", False)):
        with Hook() as hook, Hud(hook, settings, now=now) as hud:
            push(hook, "ordinary")
            push(hook, "This is urgent")
            hook.push(FAILED)
            hud.wait("no space left")
            hud.wait("3 unread")
            equal("quiet hours" in hud.screen(), quiet, now)
            urgent = ["chat: This is urgent", "Job backup failed: no space left."]
            hud.wait_said(*(urgent if quiet else ["chat: ordinary"] + urgent))


def resolved_alert_settles_its_firing_one():
    def alertmanager(hook, status):
        equal(hook.push({"version": "4", "receiver": "r", "status": status, "alerts": [{
            "status": status, "fingerprint": "c0ffee", "startsAt": "2026-01-01T00:00:00Z",
            "labels": {"alertname": "DiskFull", "severity": "critical"}}]}).status, 200)

    with Hook() as hook, Hud(hook) as hud:
        alertmanager(hook, "firing")
        hud.wait("not acknowledged")
        push(hook, "own", id="door", severity="critical", status="firing")
        hud.until(lambda: hud.screen().count("not acknowledged") == 2, "both wait")
        alertmanager(hook, "resolved")
        hud.until(lambda: hud.screen().count("not acknowledged") == 1, "the resolved one waits no longer")
        push(hook, "own", id="door", status="resolved")
        hud.wait_gone("not acknowledged")
        hud.wait("settled")
        equal(len(hook.tool("get_conversation_history")["structuredContent"]["messages"]), 4)


def strict_quiet_hours_leave_failures_only():
    with Hook() as hook, Hud(hook, {"quiet": {"hours": "22:00-07:00", "strict": "yes"}}, now="23:00") as hud:
        push(hook, "This is urgent")
        hook.push(FAILED)
        hud.wait_said("Job backup failed: no space left.")
        hud.wait("This is urgent")


def quiet_hours_end_while_it_runs():
    for before in (3, 15, 40):  # seconds; it may take some until it is there
        with Hook() as hook, Hud(hook, {"quiet": {"hours": "22:00-07:00"}}, now="06:59:%d" % (60 - before)) as hud:
            push(hook, "too early")
            hud.wait("too early")
            if "quiet hours" not in hud.screen():
                continue
            hud.wait_gone("quiet hours")
            push(hook, "good morning")
            hud.wait_said("chat: good morning")
            return
    raise AssertionError("it is never quiet")


def priority_words_raise_and_are_highlighted():
    with Hook() as hook, Hud(hook, {"policy": {"priority_words": "disk full, échec"}}) as hud:
        push(hook, "The Disk  Full again")
        push(hook, "un ECHEC")
        push(hook, "discs fuller")
        hud.wait("discs fuller")
        equal(len(re.findall(r"chat  high", hud.screen())), 2)
        coloured = hud.screen("-e")
        assert re.search(r"48;5;\d+mDisk  Full\x1b", coloured), coloured


def muted_source_is_shown_and_silent():
    with Hook() as hook, Hud(hook, {"policy": {"mute_sources": "noise"}}) as hud:
        push(hook, "one", source="noise")
        push(hook, "two")
        hud.wait_said("chat: two")
        hud.wait("noise  muted")
        hud.keys("m")
        hud.wait("chat is muted")
        push(hook, "three")
        hook.push(FAILED)
        hud.wait_said("chat: two", "Job backup failed: no space left.")
        hud.keys("k", "m")
        hud.wait("chat is heard again")
        push(hook, "four")
        hud.wait_said("chat: two", "Job backup failed: no space left.", "chat: four")


def sender_may_ask_for_silence():
    with Hook() as hook, Hud(hook) as hud:
        push(hook, "one", speak=False)
        push(hook, "two", silent=True)
        push(hook, "three", dedupe="x")
        push(hook, "three", dedupe="x")
        hud.wait("again")
        hud.wait_said("chat: three")
        hud.wait("3 unread")
        time.sleep(0.3)
        equal(hud.said(), ["chat: three"])


def speech_off_leaves_failures():
    with Hook() as hook, Hud(hook, {"speech": {"enabled": "no"}}) as hud:
        push(hook, "urgent")
        hook.push(FAILED)
        hud.wait_said("Job backup failed: no space left.")
        hud.wait("speech off")


def burst_is_summed_up():
    with Hook() as hook, Hud(hook, {"speech": {"burst_time": "2"}}) as hud:
        hud.speech_lasts(0.3)
        hook.push([{"source": "s", "text": "m%d" % i} for i in range(9)] + [FAILED])
        hud.wait_said("s: m0", "Job backup failed: no space left.", "and 8 more messages")


def alert_stays_until_acknowledged():
    with Hook() as hook, Hud(hook) as hud:
        hook.push(FAILED)
        hud.wait("● alert")
        hud.wait("not acknowledged")
        hud.wait_said("Job backup failed: no space left.")
        hud.wait("● alert")
        hud.keys("a")
        hud.wait("● idle")
        hud.wait_gone("not acknowledged")


def one_is_acknowledged_or_all_and_taken_back():
    with Hook() as hook, Hud(hook) as hud:
        for name in ("one", "two", "three"):
            hook.push(dict(FAILED, job=name))
            hud.wait(name)
        count = lambda n: hud.until(lambda: hud.screen().count("not acknowledged") == n, "%d wait" % n)
        count(3)
        hud.keys("k", "a")
        count(2)
        hud.wait("acknowledged (u: undo)")
        hud.keys("a")
        hud.wait("this one waits for no acknowledgement")
        hud.keys("u")
        count(3)
        hud.keys("A")
        count(0)
        hud.wait("● idle")
        hud.keys("u")
        count(3)
        hud.wait("● alert")
        hud.keys("G", "a")
        count(2)
        hud.keys("q")
        hud.wait_end()
        hud.start()
        count(2)


def nobody_is_disturbed_for_an_hour():
    with Hook() as hook, Hud(hook, now="2026-01-31T12:00") as hud:
        hud.keys("d")
        hud.wait("quiet until 13:00")
        push(hook, "ordinary")
        hook.push(FAILED)
        hud.wait_said("Job backup failed: no space left.")
        hud.keys("d")
        hud.wait("messages are heard again")
        push(hook, "heard")
        hud.wait_said("Job backup failed: no space left.", "chat: heard")


def footer_has_whole_words():
    for size in ((80, 24), (40, 15), (60, 20), (132, 40)):
        with Hook() as hook, Hud(hook, size=size, start=False) as hud:
            hud.start(wait=False)
            push(hook, "x")
            hud.wait("chat")
            hud.keys("Escape")
            hud.wait("q quit")
            last = hud.screen().rstrip("\n").split("\n")[-1].rstrip()
            assert last.endswith("? keys  q quit"), (size, last)
            assert len(last) <= size[0]
            words = ["\u21b5 open", "a acknowledge", "/ search", "o link", "m mute", "s stop speech", "A all", "u undo",
                     "d do not disturb", "w write", ", settings", "? keys", "q quit"]
            equal([w for w in last.strip().split("  ") if w not in words], [], size)


def gridhook_that_does_not_run_is_told():
    with Hook(start=False) as hook, Hud(hook, start=False, size=(120, 20)) as hud:
        hud.start(wait=False)
        hud.wait("gridhook is not running (start it: gridhook, or systemctl --user start gridhook)")
        hud.wait("Start it: gridhook")


def speech_is_stopped_by_s():
    with Hook() as hook, Hud(hook) as hud:
        hud.speech_lasts("ever")
        push(hook, "long")
        push(hook, "waits")
        hud.wait("● speaking")
        hud.until(lambda: hud.lines_of("played"), "nothing is played")
        hud.keys("s")
        hud.wait("● idle")
        hud.speech_lasts(0)
        push(hook, "next")
        hud.wait_said("chat: long", "chat: next")


def night_theme_follows_the_clock():
    grounds = {}
    for now in ("12:00", "23:00"):
        with Hook() as hook, Hud(hook, now=now, env={"TERM": "xterm-256color"}) as hud:
            push(hook, "text")
            hud.wait("text")
            grounds[now] = re.findall(r"48;5;(\d+)m", hud.screen("-e"))
    assert "255" in grounds["12:00"] and "234" not in grounds["12:00"], grounds
    assert "234" in grounds["23:00"] and "255" not in grounds["23:00"], grounds
    with Hook() as hook, Hud(hook, {"window": {"theme": "day"}}, now="23:00") as hud:
        assert "48;5;255" in hud.screen("-e")
    for before in (3, 15, 40):  # seconds; it may take some until it is there
        with Hook() as hook, Hud(hook, now="19:59:%d" % (60 - before)) as hud:
            if "48;5;255" in hud.screen("-e"):
                hud.until(lambda: "48;5;234" in hud.screen("-e"), "night has not come")
                break
    else:
        raise AssertionError("it is never day")
    with Hook() as hook, Hud(hook, env={"NO_COLOR": "1"}) as hud:
        assert not re.search(r"[34]8;5", hud.screen("-e"))


def history_scrolls_and_opens():
    with Hook() as hook, Hud(hook, {"speech": {"engine": "none"}}) as hud:
        for i in range(0, 100, 50):
            hook.push([{"source": "s", "text": "message number %d." % n} for n in range(i, i + 50)])
        hud.wait("number 99.")
        assert "number 50." not in hud.screen()
        hud.keys("PPage")
        hud.wait_gone("number 99.")
        push(hook, "came meanwhile")
        hud.wait("1 unread")
        assert "came meanwhile" not in hud.screen()
        hud.keys("Home")
        hud.wait("number 0.")
        hud.keys("End")
        hud.wait("came meanwhile")
        long_text = "\n".join("line %d" % i for i in range(100))
        push(hook, long_text)
        hud.wait("Enter shows all of it")
        assert "line 20" not in hud.screen()
        hud.keys("Enter")
        hud.wait("line 20")
        hud.keys("NPage", "NPage", "NPage", "NPage")
        hud.wait("line 99")
        hud.keys("Escape")
        hud.wait_gone("line 99")


def search_finds_without_accents():
    with Hook() as hook, Hud(hook, {"speech": {"engine": "none"}}) as hud:
        push(hook, "la crème brûlée est prête")
        hook.push([{"source": "s", "text": "filler %d" % n} for n in range(60)])
        hud.wait("filler 59")
        hud.type("/CREME brulee")
        hud.wait("search: CREME brulee")
        hud.keys("Enter")
        hud.wait("la crème brûlée")
        hud.keys("n")
        hud.wait("no older message has it")
        hud.keys("G")
        hud.type("/nowhere to be found")
        hud.keys("Enter")
        hud.wait("no older message has it")
        hud.wait("filler 59")


def link_is_opened_and_a_wrong_one_is_not():
    with Hook() as hook, Hud(hook, {"window": {"opener": "opener -x"}}) as hud:
        hud.stub("opener", '#!/bin/sh\necho "$@" >>"%(folder)s/opened"\n')
        push(hook, "see", url="https://example.org/a?b=c&d")
        hud.wait("https://example.org/a?b=c&d")
        hud.keys("o")
        hud.until(lambda: hud.lines_of("opened") == ["-x https://example.org/a?b=c&d"], "not opened")
        push(hook, "no link here", url="file:///etc/passwd")
        hud.wait("no link here")
        hud.keys("o")
        hud.wait("this message has no link")
        equal(len(hud.lines_of("opened")), 1)
        push(hook, "one https://example.org/in.\ntwo <https://example.org/slack|the name>", url="https://example.org/own")
        hud.wait("two the name")
        hud.keys("o")
        hud.wait("3  https://example.org/slack")
        hud.keys("4")
        hud.keys("3")
        hud.until(lambda: hud.lines_of("opened")[1:] == ["-x https://example.org/slack"], "the third is not opened")
        hud.wait_gone("3  https://example.org/slack")


def hidden_window_shows_nothing():
    with Hook() as hook, Hud(hook) as hud:
        push(hook, "what stands here")
        hud.wait("what stands here")
        hook.tool("set_hud_state", {"state": "hidden"})
        hud.wait("hidden (any key shows it)")
        assert "what stands here" not in hud.screen() and "port" not in hud.screen(), hud.screen()
        hud.keys("q")
        hud.wait("what stands here")
        hook.tool("set_hud_state", {"state": "hidden"})
        hud.wait_gone("what stands here")
        push(hook, "", job="backup", status="error", error="disk full")
        hud.wait("what stands here")


def controls_and_overrides_are_not_shown():
    with Hook() as hook, Hud(hook) as hud:
        push(hook, "a\x1b]0;stolen\x07b\u202ec\x9b2Jd", source="e\x1b[2Jvil", title="t\x07t")
        hud.wait("a]0;stolenbc2Jd")
        assert "stolen" not in hud.title(), hud.title()
        hook.tool("show_message", {"text": "x\x1b[2Jy\u2066z"})
        hud.wait("x[2Jyz")
        hook.tool("set_hud_state", {"state": "thinking", "label": "l\x1b[2J\u202em"})
        hud.wait("l[2Jm")


def relayed_tools_are_answered():
    with Hook() as hook, Hud(hook) as hud:
        result = hook.tool("speak_text", {"text": "Hello there", "voice": "fr", "rate": 200, "wait": True})
        equal(result["isError"], False)
        equal([line.split("|")[:2] for line in hud.lines_of("said")], [["fr", "200"]])
        equal(hud.said(), ["Hello there"])
        hud.speech_lasts("ever")
        equal(hook.tool("speak_text", {"text": "long"})["isError"], False)
        hud.wait("● speaking")
        done = []
        thread = threading.Thread(target=lambda: done.append(hook.tool("speak_text", {"text": "x", "wait": True})))
        thread.start()
        while thread.is_alive():  # until it stops what waits, too
            hud.keys("s")
            thread.join(0.3)
        equal(done[0]["isError"], True)
        assert "stopped" in done[0]["content"][0]["text"], done
        equal(hook.tool("set_hud_state", {"state": "thinking", "label": "counting sheep"})["isError"], False)
        hud.wait("● thinking  counting sheep")
        equal(hook.tool("get_app_status")["structuredContent"]["hud_state"], "thinking")
        shown = hook.tool("show_message", {"text": "A **bold** word", "role": "system"})["structuredContent"]
        equal(shown["shown"], True)
        hud.wait("A bold word")
        push(hook, "an event")
        hud.wait("an event")
        answer = hook.tool("get_conversation_history", {"limit": 2})["structuredContent"]
        equal([(m["role"], m["text"]) for m in answer["messages"]],
              [("system", "A **bold** word"), ("assistant", "an event")])
        equal(answer["has_more"], False)
        before = hook.tool("get_conversation_history", {"before": answer["messages"][1]["id"]})["structuredContent"]
        equal([m["id"] for m in before["messages"]], [shown["id"]])
        equal(hook.tool("get_conversation_history", {"before": "nonsense"})["isError"], True)


def own_lines_are_written():
    with Hook() as hook, Hud(hook) as hud:
        hud.type("wthanks, é!")
        hud.wait("write: thanks, é!")
        hud.keys("Enter")
        hud.wait("user")
        hud.wait("thanks, é!")
        hud.stop()
        hook.wait_log("interface window gone")
        messages = hook.tool("get_conversation_history")["structuredContent"]["messages"]
        equal([(m["role"], m["text"]) for m in messages], [("user", "thanks, é!")])


def settings_are_shown_and_reread():
    with Hook() as hook, Hud(hook) as hud:
        hud.keys(",")
        hud.wait("[quiet]")
        hud.keys("Escape", "?")
        hud.wait("forget the search")
        hud.keys("Escape")
        hud.configure({"speech": {"enabled": "no"}})
        hud.wait("speech off")
        hud.wait("settings read again")
        hud.configure({"speech": {"rate": "a lot"}})
        hud.wait("settings not read")
        hud.wait("speech off")


def keys_are_read(hud):
    """All until now: the help that the last one asks for is there."""
    hud.keys("?")
    hud.wait("forget the search")
    hud.keys("Escape")
    hud.wait_gone("forget the search")


def focus_decides_what_is_unread():
    with Hook() as hook, Hud(hook) as hud:
        # As a terminal tells it; tmux hands the bytes on.
        hud.keys("-H", "1b", "5b", "49")
        keys_are_read(hud)
        push(hook, "seen at once")
        hud.wait("seen at once")
        assert "unread" not in hud.screen(), hud.screen()
        hud.keys("-H", "1b", "5b", "4f")
        keys_are_read(hud)
        push(hook, "not seen")
        hud.wait("1 unread")
        hud.keys("-H", "1b", "5b", "49")
        hud.wait_gone("unread")


def resize_and_mouse():
    with Hook() as hook, Hud(hook, {"speech": {"engine": "none"}}) as hud:
        hook.push([{"source": "s", "text": "message number %d." % n} for n in range(60)])
        hud.wait("number 59.")
        for width, height in ((40, 10), (8, 2), (200, 50), (20, 5), (100, 30)):
            hud.tmux("resize-window", "-x", str(width), "-y", str(height))
            time.sleep(0.15)
        hud.wait("number 59.")
        hud.wait("port %d" % hook.port)
        for _ in range(12):  # the wheel, as a terminal sends it
            hud.keys("-H", "1b", "5b", "4d", "60", "25", "25")
        hud.wait_gone("number 59.")


def window_comes_back_to_its_server():
    with Hook() as hook, Hud(hook) as hud:
        push(hook, "before")
        hud.wait_said("chat: before")
        hook.kill()
        hud.wait("gridhook is not running")
        hook.start()
        hud.wait("port %d" % hook.port)
        push(hook, "after")
        hud.wait_said("chat: before", "chat: after")
        equal(hud.screen().count("before"), 1)


def server_that_listens_not_is_told():
    with Hook() as hook, Hud(hook) as hud:
        hook.run("ctl", "stop")
        hud.wait("not listening")
        hook.run("ctl", "start")
        hud.wait_gone("not listening")


def what_came_meanwhile_is_one_sentence():
    with Hook() as hook:
        hook.push([{"source": "s", "text": "m%d" % n} for n in range(6)] + [FAILED])
        with Hud(hook) as hud:
            hud.wait("7 messages while you were away, 1 failure: backup")
            hud.wait("● alert")
            hud.wait("7 unread")
            hud.wait_said("7 messages while you were away, 1 failure: backup")
            push(hook, "live")
            hud.wait_said("7 messages while you were away, 1 failure: backup", "chat: live")


def summary_is_silent_in_quiet_hours_without_failures():
    quiet = {"quiet": {"hours": "00:00-24:00"}}
    with Hook() as hook:
        push(hook, "one")
        with Hud(hook, quiet) as hud:
            hud.wait("1 message while you were away")
            time.sleep(0.5)
            equal(hud.said(), [])


def failure_that_was_not_spoken_is_named_after_a_crash():
    with Hook() as hook, Hud(hook) as hud:
        hud.speech_lasts("ever")
        push(hook, "long one")
        hook.push(FAILED)
        hud.wait("no space left")
        hud.until(lambda: len(hud.said()) == 1 and hud.lines_of("played"), "the first is not spoken")
        hud.kill()
        hud.speech_lasts(0)
        hud.start()
        hud.until(lambda: hud.said()[1:] == ["1 message while you were away, 1 failure: backup"],
                  "not named: %r" % hud.said())
        hud.kill()
        hud.start()
        time.sleep(1)
        equal(len(hud.said()), 2, "named once")


def history_numbers(hud):
    numbers = []
    with open(os.path.join(hud.folder, "history"), encoding="utf-8") as file:
        for line in file:
            message = json.loads(line).get("m") if line.endswith("\n") else None
            if message and message["seq"]:
                numbers.append(int(message["text"]))
    return numbers


def killed_in_a_burst_nothing_is_lost_and_nothing_twice():
    kills, sent, over = 8, [], threading.Event()
    with Hook({"store": {"keep_events": "50000"}}) as hook, Hud(hook, {"speech": {"burst_time": "2"}}) as hud:
        def pushing():
            while not over.is_set():
                first = len(sent)
                sent.extend(range(first, first + 10))
                equal(hook.push([{"source": "s", "text": str(n)} for n in sent[first:]]).status, 200)
                time.sleep(0.005 if first < 3000 else 0.02)

        thread = threading.Thread(target=pushing)
        thread.start()
        for _ in range(kills):
            time.sleep(0.12)
            hud.kill()
            hud.start(wait=False)
            time.sleep(0.1)
        over.set()
        thread.join()
        count = len(sent)
        hud.until(lambda: hud.screen().rstrip() and len(history_numbers(hud)) >= count, "not all came")
        equal(history_numbers(hud), list(range(count)))
        hud.wait(str(count - 1))
        summed = [line for line in hud.said() if "while you were away" in line]
        assert len(summed) <= kills, summed
        # The last start after all is in: nothing is new, so nothing is said.
        before = -1
        while before != len(hud.said()):  # the summary before is still to come
            before = len(hud.said())
            time.sleep(3)
        hud.kill()
        hud.start()
        hud.wait(str(count - 1))
        time.sleep(2.5)
        equal([line for line in hud.said()[before:] if "away" in line], [])


def ten_thousand_messages_scroll_and_search():
    with Hook({"store": {"keep_events": "20000"}}) as hook, Hud(hook, {"speech": {"engine": "none"}}) as hud:
        text = "message number %d. " + "Some words that a job might well have to say, plus accents é à ü. " * 3
        for i in range(0, 10000, 250):
            equal(hook.push([{"source": "job %d" % (n % 20), "title": "Title %d" % n, "text": text % n}
                             for n in range(i, i + 250)]).status, 200)
        hud.wait("number 9999.")
        times, work = {}, {}

        def timed(what, keys, want):
            before = hud.cpu_seconds()
            began = time.monotonic()
            for key in keys:
                hud.keys(*key)
            while want not in hud.screen():
                if time.monotonic() - began > PATIENCE:
                    raise AssertionError("%s: %r is not on\n%s" % (what, want, hud.screen()))
            times[what] = time.monotonic() - began
            work[what] = hud.cpu_seconds() - before

        timed("home", [("Home",)], "number 0.")
        timed("end", [("End",)], "number 9999.")
        timed("100 pages up", [("-N", "100", "PPage")], "number 956")
        timed("search", [("-l", "/title 3 "), ("BSpace",), ("Enter",)], "Title 3")
        timed("search for the oldest", [("End",), ("-l", "/number 0."), ("Enter",)], "number 0.")
        with open("/proc/%d/status" % hud.pid(), encoding="ascii") as file:
            status = file.read()
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1))
        anonymous = int(re.search(r"RssAnon:\s+(\d+) kB", status).group(1))
        print("10,000 messages: peak %.1f MB, anonymous %.1f MB; " % (peak / 1024, anonymous / 1024) +
              ", ".join("%s %.0f ms (%.0f ms of work)" % (k, v * 1000, work[k] * 1000) for k, v in times.items()))
        with open("/proc/%d/exe" % hud.pid(), "rb") as file:
            sanitized = b"__asan_init" in file.read()
        if not sanitized:
            assert peak < 16 * 1024, status
            # What it works, not what it waits for: others may be busy here.
            assert max(work.values()) < 0.5, work
        began = time.monotonic()
        hud.kill()
        hud.start()
        hud.wait("number 9999.")
        print("start with 10,000 messages: %.0f ms (%.0f ms of work)"
              % ((time.monotonic() - began) * 1000, hud.cpu_seconds() * 1000))


def window_ends_with_its_terminal():
    """However it goes: nothing stays behind that waits, or worse, works."""
    def runs(pid):
        try:
            with open("/proc/%d/stat" % pid, encoding="ascii") as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    with Hook() as hook:
        for how in ("pane", "hangup", "server", "terminate"):
            with Hud(hook) as hud:
                pid = hud.pid()
                if how == "pane":
                    hud.tmux("kill-pane")
                elif how == "server":
                    os.kill(int(hud.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
                else:
                    os.kill(pid, signal.SIGHUP if how == "hangup" else signal.SIGTERM)
                end = time.monotonic() + PATIENCE
                while runs(pid) and time.monotonic() < end:
                    time.sleep(0.02)
                still = runs(pid)
                if still:
                    os.kill(pid, signal.SIGKILL)
                assert not still, how
        # A terminal that is closed while the signal for that is ignored.
        for ignored in (False, True):
            with Hud(hook, start=False) as hud:
                outer, inner = pty.openpty()
                fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

                def alone():
                    signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
                    os.setsid()
                    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

                process = subprocess.Popen(hud.arguments(), stdin=inner, stdout=inner, stderr=subprocess.DEVNULL,
                                           env=dict(hud.environment(), TERM="xterm-256color"), preexec_fn=alone)
                os.close(inner)
                seen = b""
                while b"port %d" % hook.port not in seen:
                    seen += os.read(outer, 65536)
                os.close(outer)
                try:
                    equal(process.wait(PATIENCE), 0)
                finally:
                    process.kill()


def waiting_costs_nothing():
    with Hook() as hook, Hud(hook) as hud:
        push(hook, "text")
        hud.wait("text")
        comes_to_rest(hud, "attached")
        hook.kill()
        hud.wait("gridhook is not running")
        comes_to_rest(hud, "alone")


def comes_to_rest(hud, when):
    """What it has begun may last a while, when others are busy here."""
    used = []
    while len(used) < 5:
        before = hud.cpu_seconds()
        time.sleep(2)
        used.append(hud.cpu_seconds() - before)
        if used[-1] < 0.1:
            return
    raise AssertionError("%s: %r s of work in 2 s each" % (when, used))


def narrow_bar_keeps_the_count_of_unread():
    with Hook() as hook, Hud(hook, size=(40, 15), start=False) as hud:
        hud.start(wait=False)
        hook.wait_log("interface window attached")
        hook.push(FAILED)
        hud.wait("backup")
        hud.until(lambda: re.search(r"assistant +● alert +1 unread", hud.screen()), lambda: hud.screen())


def eight_colours_are_read_on_light_and_on_dark():
    with Hook() as hook, Hud(hook, start=False) as hud:
        arguments = hud.arguments()
        hud.arguments = lambda: ["env", "TERM=screen"] + arguments  # of eight colours
        hud.start()
        hook.push(dict(FAILED, url="https://example.org/"))
        hook.push({"source": "chat", "text": "`code` and more", "format": "markdown", "status": "ok"})
        hook.push({"source": "chat", "text": "high", "priority": "high", "status": "warning"})
        hud.wait("high")
        colours = set(re.findall(r"[\[;](3[0-7])(?=[;m])", hud.screen("-e")))
        assert colours <= {"31", "35"}, (colours, hud.screen("-e"))


def terminal_that_cannot_be_drawn_on_is_told():
    with Hook() as hook, Hud(hook, start=False, plain=True) as hud:
        for name, what in (("dumb", b"cannot place text"), ("nonsense", b"is not known here"), ("", b"is not set"),
                           (None, b"is not set")):
            env = {k: v for k, v in hud.environment().items() if k != "TERM"}
            if name is not None:
                env["TERM"] = name
            master, slave = pty.openpty()
            done = subprocess.run(hud.arguments(), stdin=slave, stdout=slave, stderr=subprocess.PIPE, env=env,
                                  timeout=PATIENCE)
            os.close(slave)
            os.close(master)
            assert what in done.stderr and b"gridhud --plain" in done.stderr, (name, done)
            equal(done.returncode, 1)


def newer_window_takes_over_and_gives_back():
    with Hook() as hook, Hud(hook) as one:
        push(hook, "first")
        one.wait("first")
        with Hud(hook, folder=one.folder) as two:
            one.wait("another window took over")
            two.wait("first")
            push(hook, "second")
            two.wait("second")
            assert "second" not in one.screen()
            one.keys("r")
            one.wait("second")
            two.wait("another window took over")
            push(hook, "third")
            one.wait("third")
            equal(one.screen().count("second"), 1)


if not has_screen():
    print("skipped: this build has no ncurses")
    raise SystemExit(77)
if os.system("command -v tmux >/dev/null") != 0:
    print("skipped: tmux is not installed")
    raise SystemExit(77)
run([value for name, value in list(globals().items())
     if callable(value) and getattr(value, "__module__", "") == "__main__" and value.__code__.co_argcount == 0
     ])

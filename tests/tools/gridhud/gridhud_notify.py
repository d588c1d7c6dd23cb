"""The desktop's own notifications, by a real service: dunst under Xvfb, on a bus of the test."""
import os
import subprocess
import sys
import time

from gridhud_desktop import FAILED, Desktop, need
from gridhud_kit import PROGRAM, Hook, Hud, equal, run


def window(hook, desktop, **settings):
    settings.setdefault("window", {"notify": "yes", "opener": os.path.join(desktop.folder, "opener")})
    return Hud(hook, settings, plain=True, env=desktop.env)


def what_matters_is_shown_and_nothing_else():
    with Desktop() as desktop, Hook() as hook, window(hook, desktop) as hud:
        hook.push({"source": "chat", "text": "ordinary"})
        hook.push(FAILED)
        desktop.wait_shown(hud, 1)
        hook.push({"source": "chat", "title": "News", "text": "this is urgent"})
        desktop.wait_shown(hud, 2)
        hook.push({"source": "chat", "text": "urgent", "silent": True})
        hook.push({"source": "chat", "text": "loud", "priority": "high"})
        desktop.wait_shown(hud, 3)
        desktop.dunst("close-all")
        hud.until(lambda: len(desktop.past()) == 3, lambda: repr(desktop.past()))
        equal(sorted(desktop.past()), [("News", "this is urgent"), ("backup", "no &lt;space&gt; left &amp; more."),
                                       ("chat", "loud")])


def acknowledged_there_and_gone_here():
    with Desktop() as desktop, Hook() as hook, window(hook, desktop) as hud:
        hook.push(FAILED)
        desktop.wait_shown(hud, 1)
        hud.until(lambda: hook.tool("get_app_status")["structuredContent"]["hud_state"] == "alert", "alert")
        desktop.dunst("action")
        hud.until(lambda: hook.tool("get_app_status")["structuredContent"]["hud_state"] == "idle", "acknowledged")
        desktop.wait_shown(hud, 0)


def acknowledged_here_and_gone_there():
    with Desktop() as desktop, Hook() as hook, window(hook, desktop) as hud:
        hook.push(FAILED)
        hook.push({"source": "chat", "text": "urgent"})
        desktop.wait_shown(hud, 2)
        hud.process.stdin.write(b"ack\n")
        hud.process.stdin.flush()
        desktop.wait_shown(hud, 1)


def resolved_alert_replaces_its_firing_one():
    def alert(hook, status):
        hook.push({"version": "4", "receiver": "r", "alerts": [{
            "status": status, "fingerprint": "f", "startsAt": "2026-01-01T00:00:00Z",
            "labels": {"alertname": "DiskFull", "severity": "critical"}}]})

    with Desktop() as desktop, Hook() as hook, window(hook, desktop) as hud:
        alert(hook, "firing")
        desktop.wait_shown(hud, 1)
        hook.push({"source": "x", "id": "k", "text": "first", "priority": "high"})
        desktop.wait_shown(hud, 2)
        hook.push({"source": "x", "id": "k", "text": "second", "priority": "high", "status": "warning"})
        alert(hook, "resolved")
        desktop.wait_shown(hud, 1)
        desktop.dunst("close-all")
        hud.until(lambda: ("x", "second") in desktop.past(), lambda: repr(desktop.past()))
        assert ("x", "first") not in desktop.past(), desktop.past()


def link_is_opened():
    with Desktop() as desktop, Hook() as hook, window(hook, desktop) as hud:
        opener = os.path.join(desktop.folder, "opener")
        with open(opener + ".part", "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "$@" >"%s.log"\n' % opener)
        os.chmod(opener + ".part", 0o755)
        subprocess.run(["cp", "-p", opener + ".part", opener], check=True)
        hook.push({"source": "x", "text": "urgent", "url": "https://localhost/a"})
        desktop.wait_shown(hud, 1)
        desktop.dunst("action")
        hud.until(lambda: os.path.exists(opener + ".log"), "not opened")


def off_by_default_and_without_a_service():
    with Desktop() as desktop, Hook() as hook, Hud(hook, plain=True, env=desktop.env) as hud:
        hook.push(FAILED)
        hud.wait("no <space> left")
        time.sleep(0.3)
        equal(desktop.shown(), 0)
    with Desktop(service=False) as desktop, Hook() as hook, window(hook, desktop) as hud:
        hook.push(FAILED)
        hud.wait("does a notification service run")
        hook.push(dict(FAILED, job="other"))
        hook.push({"source": "chat", "text": "urgent"})
        hud.wait("urgent")
        equal(hud.screen().count("does a notification service run"), 1)
    with Hook() as hook, Hud(hook, {"window": {"notify": "yes"}}, plain=True,
                             env={"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"}) as hud:
        hook.push(FAILED)
        hud.wait("no notifications: there is no session bus")


def status(hook):
    return hook.tool("get_app_status")["structuredContent"]


def background_notices_and_is_acknowledged_there():
    with Desktop() as desktop, Hook() as hook, Hud(hook, env=desktop.env, background=True) as hud:
        equal(status(hook)["window_attached"], False)
        hook.push({"source": "chat", "text": "ordinary"})
        hook.push(FAILED)
        desktop.wait_shown(hud, 1)
        hud.until(lambda: "Job backup failed: no space left & more." in hud.said(), lambda: repr(hud.said()))
        hud.until(lambda: status(hook)["unread"] == 2, "unread")
        equal(hook.tool("set_hud_state", {"state": "thinking"})["isError"], True)
        equal(hook.tool("set_hud_state", {"state": "idle", "quiet_minutes": 60})["isError"], False)
        hook.push({"source": "chat", "text": "not heard"})
        hud.until(lambda: status(hook)["unread"] == 3, "unread")
        equal(hook.tool("set_hud_state", {"state": "idle", "quiet_minutes": 0})["isError"], False)
        hook.push({"source": "chat", "text": "heard"})
        hud.until(lambda: "chat: heard" in hud.said() and "chat: not heard" not in hud.said(), lambda: repr(hud.said()))
        equal(hook.tool("set_hud_state", {"state": "idle", "quiet_minutes": -1})["isError"], True)
        shown = hook.tool("show_message", {"text": "for later"})["structuredContent"]
        equal((shown["shown"], shown["queued"]), (False, True))
        desktop.dunst("action")
        hud.until(lambda: status(hook)["hud_state"] == "idle", "acknowledged")
        desktop.wait_shown(hud, 0)
        for line in open(os.path.join(hud.folder, "history"), encoding="utf-8"):
            if '"alert":' in line and '"on":false' in line:
                break
        else:
            raise AssertionError("the history does not hold it")


def background_gives_way_to_a_window_and_comes_back():
    with Desktop() as desktop, Hook() as hook, Hud(hook, env=desktop.env, background=True) as behind:
        hook.push(FAILED)
        desktop.wait_shown(behind, 1)
        with Hud(hook, env=desktop.env, plain=True, folder=behind.folder + "/window", start=False) as hud:
            # One history for both, as two programs of one user have it.
            hud.configure({"history": {"file": os.path.join(behind.folder, "history")}})
            hud.start(wait=False)
            hud.until(lambda: status(hook)["window_attached"], "not attached")
            desktop.wait_shown(behind, 0)
            equal(status(hook)["hud_state"], "alert")
            hook.push(dict(FAILED, job="other"))
            hud.wait("other")
            time.sleep(0.3)
            equal(desktop.shown(), 0)
            hud.process.stdin.write(b"ack\n")
            hud.process.stdin.flush()
            hud.until(lambda: status(hook)["hud_state"] == "idle", "acknowledged")
        behind.until(lambda: status(hook)["hud_state"] == "idle" and not status(hook)["window_attached"], "not back")
        hook.push(dict(FAILED, job="third"))
        desktop.wait_shown(behind, 1)
        with open(os.path.join(behind.folder, "history"), encoding="utf-8") as file:
            text = file.read()
        equal([text.count('"name":"%s"' % job) + text.count('"job":"%s"' % job)
               for job in ("backup", "other", "third")], [1, 1, 1])


def background_tells_what_came_before_it():
    with Desktop() as desktop, Hook() as hook:
        hook.push(FAILED)
        hook.push({"source": "chat", "text": "ordinary"})
        with Hud(hook, env=desktop.env, background=True) as hud:
            desktop.wait_shown(hud, 1)
            desktop.dunst("close-all")
            hud.until(lambda: desktop.past() == [("assistant", "2 messages while you were away, 1 failure: backup")],
                      lambda: repr(desktop.past()))


def background_is_silent_in_quiet_hours():
    with Desktop() as desktop, Hook() as hook, Hud(
            hook, {"quiet": {"hours": "00:00-23:59", "strict": "yes"}}, now="12:00", env=desktop.env,
            background=True) as hud:
        hook.push({"source": "chat", "text": "this is urgent"})
        hook.push(FAILED)
        desktop.wait_shown(hud, 1)
        hud.wait_said("Job backup failed: no space left & more.")
        equal(desktop.shown(), 1)


need("dunst", "dunstctl", "Xvfb", "dbus-daemon")
if b"libsystemd" not in subprocess.run(["ldd", PROGRAM], stdout=subprocess.PIPE, check=True).stdout:
    print("skipped: this build has no sd-bus")
    sys.exit(77)
run([what_matters_is_shown_and_nothing_else, acknowledged_there_and_gone_here, acknowledged_here_and_gone_there,
     resolved_alert_replaces_its_firing_one, link_is_opened, off_by_default_and_without_a_service,
     background_notices_and_is_acknowledged_there, background_gives_way_to_a_window_and_comes_back,
     background_tells_what_came_before_it, background_is_silent_in_quiet_hours])

"""gridhud --plain: lines for pipes, logs and screen readers."""
import os
import signal
import subprocess
import time

from gridhud_kit import PATIENCE, PROGRAM, Hook, Hud, equal, run


def command(hud, line):
    hud.process.stdin.write(line.encode() + b"\n")
    hud.process.stdin.flush()


def messages_are_lines():
    with Hook() as hook, Hud(hook, plain=True, env={"TZ": "UTC"}) as hud:
        hook.push({"source": "backup", "title": "Nightly", "text": "one\ntwo\x1b[2J", "url": "https://example.org/"})
        hook.push({"job": "certs", "status": "error", "error": "no network", "source": "cron"})
        hud.wait("no network")
        lines = hud.screen().splitlines()
        equal(lines[0][5:], " backup: Nightly. one")
        equal(lines[1:3], ["    two[2J", "    https://example.org/"])
        equal("cron [error] [high]: certs" in hud.screen(), True)
        equal("-- state: alert" in hud.screen(), True)
        hud.wait_said("backup: Nightly. one two[2J", "Job certs failed: no network")
        assert "\x1b" not in hud.screen()


def commands_do_what_keys_do():
    with Hook() as hook, Hud(hook, plain=True) as hud:
        hook.push({"job": "certs", "status": "error", "error": "no network", "source": "cron"})
        hud.wait("no network")
        command(hud, "unread")
        hud.wait("-- 1 unread")
        command(hud, "ack")
        hud.wait("-- acknowledged")
        hud.wait("-- state: idle")
        command(hud, "mute")
        hud.wait("-- cron is muted")
        command(hud, "search NETWORK")
        hud.wait("-- 1 found")
        command(hud, "write hello you")
        hud.wait("user: hello you")
        command(hud, "dance")
        hud.wait("-- no such command")
        command(hud, "help")
        hud.wait("-- quit: leave")
        command(hud, "quit")
        equal(hud.process.wait(PATIENCE), 0)


def end_of_input_is_not_the_end():
    with Hook() as hook, Hud(hook, plain=True) as hud:
        hud.process.stdin.close()
        time.sleep(0.3)
        hook.push({"text": "still here"})
        hud.wait("still here")
        time.sleep(0.5)
        with open("/proc/%d/stat" % hud.process.pid, encoding="ascii") as file:
            ticks = sum(int(n) for n in file.read().rsplit(")", 1)[1].split()[11:13])
        assert ticks < 50, "it spins"


def reader_that_goes_ends_it():
    """gridhud --plain | head -1"""
    with Hook() as hook:
        hud = Hud(hook, plain=True, start=False)
        with hud:
            process = subprocess.Popen(hud.arguments() + ["--plain"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, env=hud.environment())
            hook.wait_log("interface window attached")
            hook.push({"text": "one"})
            assert b"one" in process.stdout.readline()
            process.stdout.close()
            try:
                end = time.monotonic() + PATIENCE
                while process.poll() is None and time.monotonic() < end:
                    hook.push({"text": "two"})
                    time.sleep(0.1)
                equal(process.returncode, 0)
            finally:
                process.kill()


def hang_up_rereads_settings_and_term_ends():
    with Hook() as hook, Hud(hook, plain=True) as hud:
        hud.process.send_signal(signal.SIGHUP)
        hud.wait("-- settings read again")
        hud.process.send_signal(signal.SIGTERM)
        equal(hud.process.wait(PATIENCE), 0)


def agents_are_told_of_quiet_and_settings():
    with Hook() as hook, Hud(hook, {"quiet": {"hours": "22:00-07:00"}, "policy": {"mute_sources": "ci, \"chat\""}}, now="12:00",
                             plain=True) as hud:
        def status():
            return hook.tool("get_app_status")["structuredContent"]

        equal(status()["settings"], {"speech": True, "notifications": False, "quiet_hours": "22:00-07:00",
                                     "priority_words": "urgent, urgence", "muted_sources": 'ci, "chat"', "language": "en",
                                     "theme": "auto", "night_hours": "20:00-07:00"})
        equal((status()["quiet"], "quiet_until" in status()), (False, False))
        hud.configure({"quiet": {"hours": "11:00-13:00"}, "speech": {"enabled": "no"}})
        hud.until(lambda: status()["quiet"], "the new hours are not told")
        equal((status()["settings"]["speech"], "quiet_until" in status()), (False, False))
        hook.tool("set_hud_state", {"state": "idle", "quiet_minutes": 60})
        equal((status()["quiet"], status()["quiet_until"][-1]), (True, "Z"))


def wrong_uses_are_told():
    for arguments, code, text in (
            (["--dance"], 2, "--dance"),
            (["--config", "/nonexistent"], 1, "/nonexistent"),
            (["--plain", "--now", "soon"], 1, "is not a time"),
            (["--config", "/dev/null"], 2, "--plain")):
        done = subprocess.run([PROGRAM] + arguments + (["--plain"] if "/nonexistent" in arguments else []),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE,
                              env=dict(os.environ, HOME="/nonexistent"))
        equal(done.returncode, code, str(arguments) + done.stderr.decode())
        assert text in done.stderr.decode(), done.stderr
    for arguments, text in ((["--version"], "gridhud "), (["--print-settings"], "priority_words ="),
                            (["--help"], "--plain"), (["--check", "--config", "/dev/null"], "fine")):
        done = subprocess.run([PROGRAM] + arguments, stdout=subprocess.PIPE, timeout=PATIENCE)
        equal(done.returncode, 0)
        assert text in done.stdout.decode()


def event_that_cannot_be_stored_waits():
    """A full disk: nothing is acknowledged, and it comes later, once."""
    if not os.path.exists("/dev/full"):
        return
    with Hook() as hook, Hud(hook, plain=True) as hud:
        # The screen and the log are files here, too, and stay shorter.
        for number in range(8):
            hook.push({"text": "one %d" % number})
        hud.wait("one 7")
        # The file grows over a limit that the process has.
        size = os.path.getsize(os.path.join(hud.folder, "history"))
        limit(hud.process.pid, size + 20)
        hook.push({"text": "two"})
        hud.wait("messages wait in gridhook")
        equal(hud.screen().count(": two"), 0)
        limit(hud.process.pid, 1 << 30)
        hud.wait(": two")
        time.sleep(0.5)
        equal(hud.screen().count(": two"), 1)


def limit(pid, size):
    import resource
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


TESTS = [messages_are_lines, commands_do_what_keys_do, end_of_input_is_not_the_end,
         reader_that_goes_ends_it, hang_up_rereads_settings_and_term_ends, agents_are_told_of_quiet_and_settings, wrong_uses_are_told, event_that_cannot_be_stored_waits]
run(TESTS)

"""The graphical window under Xvfb, as a screen reader and a keyboard meet it."""
import json
import os
import subprocess
import sys
import time

from gridhud_desktop import FAILED, PATIENCE, TOP, Desktop, need
from gridhud_kit import BUILD, Hook, Hud, equal, run

PROGRAM = os.path.abspath(os.path.join(BUILD, "tools/gridhud/gtk/gridhud-gtk"))
READER = os.path.join(TOP, "tests/tools/gridhud/atspi_peer.py")
PYTHON = "/usr/bin/python3"
LAUNCHER = "/usr/libexec/at-spi-bus-launcher"

# The part of the portal that tells the desktop's choice of colours.
PORTAL = r"""
import sys, dbus, dbus.service, dbus.mainloop.glib
from gi.repository import GLib
NAME, PLACE = "org.freedesktop.portal.Settings", "/org/freedesktop/portal/desktop"
class Portal(dbus.service.Object):
    dark = 0
    @dbus.service.method(NAME, "ss", "v")
    def Read(self, space, name):
        return dbus.UInt32(self.dark, variant_level=1)
    @dbus.service.signal(NAME, "ssv")
    def SettingChanged(self, space, name, value):
        pass
def turn(*_):
    portal.dark = 1 - portal.dark
    portal.SettingChanged("org.freedesktop.appearance", "color-scheme", dbus.UInt32(portal.dark, variant_level=1))
    return True
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName("org.freedesktop.portal.Desktop", bus)
portal = Portal(bus, PLACE)
GLib.io_add_watch(sys.stdin, GLib.IO_IN, lambda *_: (sys.stdin.readline(), turn())[1])
print("ready", flush=True)
GLib.MainLoop().run()
"""


class Screen(Desktop):
    """A desktop with a window manager and what screen readers need."""

    def __init__(self, **more):
        super().__init__(service=False, **more)
        self.env["GDK_BACKEND"] = "x11"
        self.start(["openbox"])
        # A window that comes before its manager would never get the focus.
        end = time.monotonic() + PATIENCE
        while subprocess.run(["xdotool", "get_desktop"], env=dict(os.environ, **self.env), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, timeout=PATIENCE).returncode != 0:
            assert time.monotonic() < end, "openbox has not begun"
            time.sleep(0.05)
        self.start([LAUNCHER, "--launch-immediately"])


class Window(Hud):
    """gridhud-gtk; what is on the screen are the texts that a reader gets."""

    def __init__(self, hook, desktop, settings=None, **more):
        self.reader = None
        env = dict(desktop.env, GSK_RENDERER="cairo", GTK_USE_PORTAL="0",
                   ASAN_OPTIONS="detect_leaks=0")  # those of the toolkit
        self.desktop = desktop
        super().__init__(hook, settings, plain=True, env=env, **more)

    def start(self, wait=True):
        command = [PROGRAM] + self.arguments()[1:]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment())
        self.start_reader()
        self.wait("port %d" % self.hook.port)
        return self

    def start_reader(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.reader = subprocess.Popen([PYTHON, "-W", "ignore", READER, "gridhud-gtk"], stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE, stderr=log, env=self.environment(), text=True)

    def stop_reader(self):
        self.reader.terminate()
        self.reader.wait(PATIENCE)
        self.reader.stdin.close()
        self.reader.stdout.close()

    def stop(self):
        self.stop_reader()
        super().stop()

    def ask(self, *words):
        self.reader.stdin.write("\t".join(words) + "\n")
        self.reader.stdin.flush()
        line = self.reader.stdout.readline()
        if line == "":  # libatspi dies now and then of a widget that goes
            print("the reader ended: %r; it begins again" % self.reader.wait(PATIENCE))
            self.stop_reader()
            self.start_reader()
            return self.tree() if words == ("tree",) else False
        return json.loads(line)

    def tree(self):
        return self.ask("tree")

    def screen(self, *_):
        return "\n".join("%s: %s" % (role, text or name) for role, name, _, text in self.tree())

    def has(self, role, name, *states):
        return any(r == role and n == name and set(states) <= set(s) for r, n, s, _ in self.tree())

    def press(self, name):
        self.until(lambda: self.ask("press", name) is True, "there is no %r to press" % name)

    def enter(self, name, text):
        self.until(lambda: self.ask("type", name, text) is True, "there is no %r to type into" % name)

    def key(self, *keys):
        done = subprocess.run(["xdotool", "key", "--clearmodifiers"] + list(keys), env=self.environment(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=PATIENCE)
        equal(done.returncode, 0, done.stderr.decode())

    def press_until(self, key, condition):
        """A key that does no more the second time: GTK passes over one while it lays out."""
        def pressed():
            self.key(key)
            time.sleep(0.2)
            return condition()

        self.until(pressed, "%s does nothing" % key)

    def begin_line(self):
        """The key w; a second one is the first letter of the line."""
        self.press_until("w", lambda: any(role == "text" and text.startswith("w") for role, _, _, text in self.tree()))

    def wait_focus(self):
        def active():
            done = subprocess.run(["xdotool", "getactivewindow", "getwindowpid"], env=self.environment(),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE)
            return done.stdout.strip() == b"%d" % self.process.pid

        self.until(active, "the window does not have the focus")

    shooter = ["scrot", "-o"]

    def light(self):
        """The mean brightness of the screen's middle, 0 to 255."""
        shot = os.path.join(self.folder, "shot.png")
        subprocess.run(self.shooter + [shot], env=self.environment(), check=True, timeout=PATIENCE)
        done = subprocess.run([PYTHON, "-c", "import sys; from PIL import Image, ImageStat; i = Image.open(sys.argv[1])"
                               ".convert('L').crop((300, 200, 500, 400)); print(ImageStat.Stat(i).mean[0])", shot],
                              stdout=subprocess.PIPE, check=True, timeout=PATIENCE)
        return float(done.stdout)


def status(hook):
    return hook.tool("get_app_status")["structuredContent"]


def message_is_shown_counted_and_named():
    with Screen() as desktop, Hook() as hook, Window(hook, desktop) as hud:
        hud.wait("Nothing yet.")
        hook.push({"source": "chat", "title": "A <title>", "text": "with **bold** & <b>", "format": "markdown"})
        hud.wait("label: with bold & <b>")
        hud.wait("label: A <title>")
        hook.push(FAILED)
        hud.wait("label: no <space> left & more.")
        hud.until(lambda: any(role == "list item" and name.startswith("cron, error, not acknowledged, ")
                              for role, name, _, _ in hud.tree()), "the row has no name")
        hud.wait_said("chat: A title. with bold & b", "Job backup failed: no space left & more.")
        hud.until(lambda: status(hook)["hud_state"] == "alert", "alert")
        hook.tool("set_hud_state", {"state": "thinking", "label": "of sheep"})
        hud.wait("label: alert: of sheep")
        equal(hook.tool("get_conversation_history")["structuredContent"]["messages"][-1]["text"].splitlines()[0],
              "backup")


def alerts_are_acknowledged_by_button_and_key():
    with Screen() as desktop, Hook() as hook, Window(hook, desktop) as hud:
        hook.push(FAILED)
        hud.wait("◆ not acknowledged")
        hud.press("Acknowledge")
        hud.until(lambda: status(hook)["hud_state"] == "idle", "not acknowledged")
        hud.wait_gone("◆ not acknowledged")
        hud.press("Undo")
        hud.wait("◆ not acknowledged")
        equal(status(hook)["hud_state"], "alert")
        hook.push(dict(FAILED, job="other"))
        hud.wait("label: other")
        hud.wait_focus()
        hud.key("A")
        hud.until(lambda: status(hook)["hud_state"] == "idle", "not all acknowledged")
        hud.key("u")
        hud.until(lambda: status(hook)["hud_state"] == "alert", "not taken back")


def unread_ends_by_command_and_filters_hold():
    with Screen() as desktop, Hook() as hook:
        for source in ("one", "two"):
            hook.push({"source": source, "text": "from %s" % source})
        hook.push(FAILED)
        with Window(hook, desktop) as hud:
            hud.wait("from one")
            hud.press("Alerts")
            hud.wait_gone("from one")
            hud.wait("no <space> left & more.")
            hud.press("Unread")
            hud.press("All")
            hud.wait("from one")
            hud.enter("Search messages", "FROM twö")
            hud.wait("No message is like this.")
            hud.enter("Search messages", "FROM twô".replace("ô", "o"))
            hud.wait("label: from two")
            hud.wait_gone("label: from one")
            hook.push({"source": "three", "text": "also from two and three"})
            hud.wait("also from two and three")
            hook.push({"source": "three", "text": "of nobody"})
            hud.until(lambda: status(hook)["stored_events"] == 5, "stored")
            assert "of nobody" not in hud.screen(), hud.screen()
            hud.wait_focus()
            hud.key("Escape")
            hud.enter("Search messages", "")
            hud.wait("of nobody")


def source_is_muted_and_links_are_opened():
    with Screen() as desktop, Hook() as hook, Window(hook, desktop, {"window": {"opener": "opener -x"}}) as hud:
        hud.stub("opener", '#!/bin/sh\necho "$@" >>"%(folder)s/opened"\n')
        hook.push({"source": "loud", "text": "see <https://example.org/slack|the page>"})
        hud.wait("see the page")
        hud.press("Open link")
        hud.until(lambda: hud.lines_of("opened") == ["-x https://example.org/slack"], "not opened")
        hud.press("Mute")
        hud.wait("muted")
        hook.push({"source": "loud", "text": "again", "url": "https://example.org/own"})
        hud.wait("again")
        assert not any("again" in text for text in hud.said()), hud.said()
        hud.until(lambda: hud.has("push button", "End mute"), "the button")


def settings_are_written_and_wrong_ones_told():
    with Screen() as desktop, Hook() as hook, Window(hook, desktop) as hud:
        hud.wait_focus()
        hud.key("comma")
        hud.enter("Quiet hours", "at night")
        hud.press("Save")
        hud.wait("Quiet hours:")
        with open(hud.config, encoding="utf-8") as file:
            assert "at night" not in file.read()
        hud.enter("Quiet hours", "00:00-23:59")
        hud.press("Save")
        hud.wait("· quiet hours")
        with open(hud.config, encoding="utf-8") as file:
            text = file.read()
        assert "[quiet]\nhours = 00:00-23:59\n" in text and "[history]" in text, text
        told = status(hook)
        equal((told["quiet"], told["settings"]["quiet_hours"]), (True, "00:00-23:59"))
        hud.key("comma")
        hud.enter("Voice", "en-gb")
        hud.enter("Messages kept", "500")
        hud.press("Save")
        def saved():
            with open(hud.config, encoding="utf-8") as file:
                return file.read()

        hud.until(lambda: "voice = en-gb\n" in saved() and "keep_messages = 500\n" in saved(), saved)


def person_writes_a_line_of_their_own():
    with Screen() as desktop, Hook() as hook, Window(hook, desktop) as hud:
        hook.push({"source": "chat", "text": "a question"})
        hud.wait("a question")
        hud.wait_focus()
        hud.begin_line()
        hud.key("a", "q", "comma", "space", "slash", "Return")
        hud.wait("waq, /")
        last = hook.tool("get_conversation_history")["structuredContent"]["messages"][-1]
        equal((last["role"], last["text"].lstrip("w")), ("user", "aq, /"))
        hud.key("x", "Escape")
        hud.key("d")
        hud.wait("quiet until")


def night_comes_by_time_and_by_the_desktop():
    with Screen() as desktop, Hook() as hook:
        with Window(hook, desktop, now="12:00") as hud:
            hud.until(lambda: hud.light() > 180, lambda: "by day it is dark: %r" % hud.light())
        with Window(hook, desktop, now="23:00") as hud:
            hud.until(lambda: 1 < hud.light() < 100, lambda: "by night it is light: %r" % hud.light())
        portal = subprocess.Popen([PYTHON, "-c", PORTAL], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env=dict(os.environ, **desktop.env), text=True)
        try:
            equal(portal.stdout.readline(), "ready\n")
            with Window(hook, desktop, now="12:00") as hud:
                hud.until(lambda: hud.light() > 180, lambda: "by day it is dark: %r" % hud.light())
                portal.stdin.write("\n")
                portal.stdin.flush()
                hud.until(lambda: 1 < hud.light() < 100, lambda: "a dark desktop is light: %r" % hud.light())
        finally:
            portal.terminate()
            portal.wait(PATIENCE)
            portal.stdin.close()
            portal.stdout.close()


def hidden_window_is_gone_until_an_alert():
    def seen(hud):
        done = subprocess.run(["xdotool", "search", "--onlyvisible", "--class", "gridhud-gtk"], env=hud.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        return done.stdout.strip() != b""

    with Screen() as desktop, Hook() as hook, Window(hook, desktop) as hud:
        hud.until(lambda: seen(hud), "there is no window")
        hook.tool("set_hud_state", {"state": "hidden"})
        hud.until(lambda: not seen(hud), "the window is still there")
        hook.push(FAILED)
        hud.until(lambda: seen(hud), "an alert does not show it")


def hundred_thousand_messages_scroll_and_are_searched():
    with Screen() as desktop, Hook() as hook:
        with Window(hook, desktop, {"history": {"keep_messages": "200000", "keep_bytes": "200M"}}, start=False) as hud:
            with open(os.path.join(hud.folder, "history"), "w", encoding="utf-8") as file:
                for n in range(100000):
                    file.write('{"m":{"seq":%d,"ms":%d,"source":"job %d","title":"Title %d","text":"message number %d. '
                               'And some words more, as senders write them."}}\n'
                               % (n + 1, 1700000000000 + n * 1000, n % 20, n, n))
            began = time.monotonic()
            hud.start()
            started = time.monotonic() - began
            hud.wait("number 99999.")
            with open("/proc/%d/status" % hud.process.pid, encoding="ascii") as file:
                memory = [line for line in file if line.startswith("VmRSS")][0].split()[1]
            hud.wait_focus()
            hud.press_until("End", lambda: "number 0." in hud.screen())
            hud.press_until("Home", lambda: "number 99999." in hud.screen())
            hud.enter("Search messages", "number 4321.")
            hud.wait("label: message number 4321. ")
            hud.wait_gone("label: message number 43210. ")
            print("100,000 messages: there after %.1f s, %s KiB resident" % (started, memory))


def ends_in_order():
    with Screen() as desktop, Hook() as hook, Window(hook, desktop) as hud:
        hud.wait_focus()
        hud.key("ctrl+q")
        equal(hud.process.wait(PATIENCE), 0)
    done = subprocess.run([PROGRAM], env={"HOME": "/nonexistent", "ASAN_OPTIONS": "detect_leaks=0"},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=PATIENCE)
    equal((done.returncode, b"there is no display" in done.stdout), (1, True))


def need_readers():
    if not os.path.exists(PROGRAM):
        print("skipped: this build has no GTK")
        sys.exit(77)
    if not os.path.exists(LAUNCHER) or subprocess.run(
            [PYTHON, "-c", "import gi, dbus, PIL; gi.require_version('Atspi', '2.0')"], stderr=subprocess.DEVNULL,
            check=False).returncode != 0:
        print("skipped: at-spi2-core, gir1.2-atspi-2.0, python3-dbus or python3-pil is not installed")
        sys.exit(77)


TESTS = [message_is_shown_counted_and_named, alerts_are_acknowledged_by_button_and_key,
         unread_ends_by_command_and_filters_hold, source_is_muted_and_links_are_opened,
         settings_are_written_and_wrong_ones_told, person_writes_a_line_of_their_own, night_comes_by_time_and_by_the_desktop,
         hidden_window_is_gone_until_an_alert, hundred_thousand_messages_scroll_and_are_searched, ends_in_order]
if __name__ == "__main__":
    need_readers()
    need("Xvfb", "dbus-daemon", "openbox", "xdotool", "scrot")
    run([test for test in TESTS if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]])

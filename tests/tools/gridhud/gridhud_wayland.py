"""The graphical window under Wayland: sway without a screen, its keyboard, its pictures."""
import json
import os
import shutil
import subprocess
import sys
import time

from gridhud_desktop import FAILED, PATIENCE, Session, need
from gridhud_gtk import LAUNCHER, Window, need_readers, status
from gridhud_kit import Hook, equal, run

CONFIG = """output HEADLESS-1 resolution %s
output HEADLESS-1 bg #803010 solid_color
xwayland disable
default_border none
"""


class Compositor(Session):
    """sway as an ordinary user, since it refuses to be root's."""

    def __init__(self, size="800x600"):
        super().__init__()
        run_folder = os.path.join(self.folder, "run")
        config = os.path.join(self.folder, "config")
        os.mkdir(run_folder, 0o700)
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG % size)
        as_user = []
        if os.geteuid() == 0:
            as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"]
            os.chmod(self.folder, 0o711)
            os.chmod(config, 0o644)
            shutil.chown(run_folder, "nobody", "nogroup")
        self.env["XDG_RUNTIME_DIR"] = run_folder
        more = {"WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1"}
        sway = self.start(as_user + ["sway", "-c", config], env=dict(self.env, **more))
        end = time.monotonic() + PATIENCE
        while not self.sockets():
            if sway.poll() is not None or time.monotonic() > end:
                print("skipped: sway does not start here")
                sys.exit(77)
            time.sleep(0.05)
        display, self.env["SWAYSOCK"] = self.sockets()
        self.env["WAYLAND_DISPLAY"] = display
        self.env["GDK_BACKEND"] = "wayland"
        self.start([LAUNCHER, "--launch-immediately"])
        # Without a keyboard no window gets the focus: one that waits for an hour.
        self.start(["wtype", "-s", "3600000", "-k", "Escape"])

    def sockets(self):
        folder = self.env["XDG_RUNTIME_DIR"]
        names = os.listdir(folder)
        display = [n for n in names if n.startswith("wayland-") and not n.endswith(".lock")]
        control = [n for n in names if n.startswith("sway-ipc.")]
        return [os.path.join(folder, display[0]), os.path.join(folder, control[0])] if display and control else None

    def windows(self):
        """(application, title, focused) of each."""
        done = subprocess.run(["swaymsg", "-r", "-t", "get_tree"], env=dict(os.environ, **self.env),
                              stdout=subprocess.PIPE, check=True, timeout=PATIENCE)
        found, left = [], [json.loads(done.stdout)]
        while left:
            node = left.pop()
            left += node.get("nodes", []) + node.get("floating_nodes", [])
            if node.get("app_id"):
                found.append((node["app_id"], node["name"], node["focused"]))
        return found


class WaylandWindow(Window):
    shooter = ["grim"]

    def key(self, *keys):
        typed = [word for key in keys for word in (["-k", key] if len(key) > 1 else [key])]
        subprocess.run(["wtype"] + typed, env=self.environment(), check=True, timeout=PATIENCE)

    def wait_focus(self):
        self.until(lambda: any(name == "gridhud-gtk" and focused for name, _, focused in self.desktop.windows()),
                   lambda: "no focus: %r" % self.desktop.windows())


def message_is_shown_and_acknowledged_by_keys():
    with Compositor() as desktop, Hook() as hook, WaylandWindow(hook, desktop) as hud:
        hud.wait("Nothing yet.")
        hook.push(FAILED)
        hud.wait("label: no <space> left & more.")
        hud.until(lambda: status(hook)["hud_state"] == "alert", "no alert")
        hud.wait_focus()
        hud.press_until("A", lambda: status(hook)["hud_state"] == "idle")
        hud.press_until("u", lambda: status(hook)["hud_state"] == "alert")


def title_counts_what_is_unread_and_focus_ends_that():
    with Compositor() as desktop, Hook() as hook:
        for _ in range(3):
            hook.push({"source": "chat", "text": "hello"})
        with WaylandWindow(hook, desktop) as hud:
            hud.wait("hello")
            hud.until(lambda: [name for name, _, _ in desktop.windows()] == ["gridhud-gtk"], "not named for its desktop file")
            hud.wait_focus()
            hud.until(lambda: status(hook)["unread"] == 0, "not read by looking")
            hud.until(lambda: [title for _, title, _ in desktop.windows()] == ["assistant"], "the title")


def person_writes_a_line():
    with Compositor() as desktop, Hook() as hook, WaylandWindow(hook, desktop) as hud:
        hud.wait_focus()
        hud.begin_line()
        hud.key("é", "q", "Return")
        hud.wait("wé q")  # wtype puts a blank between words
        hud.until(lambda: hook.tool("get_conversation_history")["structuredContent"]["messages"], "agents do not see it")


def night_is_dark_and_day_is_light():
    for now, is_so in (("12:00", lambda light: light > 180), ("23:00", lambda light: 1 < light < 100)):
        with Compositor() as desktop, Hook() as hook, WaylandWindow(hook, desktop, now=now) as hud:
            hud.wait_focus()
            hud.until(lambda: is_so(hud.light()), lambda: "at %s the brightness is %r" % (now, hud.light()))


def hidden_window_is_gone_until_an_alert():
    with Compositor() as desktop, Hook() as hook, WaylandWindow(hook, desktop) as hud:
        hud.wait_focus()
        hook.tool("set_hud_state", {"state": "hidden"})
        hud.until(lambda: desktop.windows() == [], "the window is still there")
        hook.push(FAILED)
        hud.wait_focus()


TESTS = [message_is_shown_and_acknowledged_by_keys, title_counts_what_is_unread_and_focus_ends_that,
         person_writes_a_line, night_is_dark_and_day_is_light, hidden_window_is_gone_until_an_alert]
if __name__ == "__main__":
    need_readers()
    need("sway", "swaymsg", "dbus-daemon", "wtype", "grim")
    if os.geteuid() == 0:
        need("setpriv")
    run([test for test in TESTS if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]])

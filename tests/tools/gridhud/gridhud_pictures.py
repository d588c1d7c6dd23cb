"""Makes the pictures of both windows for the documents: gridhud_pictures.py FOLDER, in a build folder."""
import os
import subprocess
import sys

from gridhud_desktop import Desktop
from gridhud_gtk import Screen, Window
from gridhud_kit import Hook, Hud
from gridhud_wayland import Compositor, WaylandWindow

MESSAGES = [
    {"source": "ci", "title": "Build 411", "text": "All **212** tests passed in *4 min*.", "format": "markdown",
     "status": "ok", "url": "https://ci.example.org/411"},
    {"source": "alertmanager", "title": "DiskFull on db-2", "text": "91 % of /var is used.", "priority": "critical",
     "status": "firing", "kind": "alert", "url": "https://alerts.example.org/7"},
    {"source": "chat", "title": "Release", "text": "Notes are at <https://wiki.example.org/release|the wiki>. "
     "Please read them before the urgent meeting at three."},
    {"source": "cron", "job": "backup", "status": "error", "error": "rsync: no space left on device"},
    {"source": "weather", "text": "Rain from four on; 12 degrees."},
    {"source": "ci", "title": "Build 412", "text": "- unit tests\n- `lint`\n- packages", "format": "markdown",
     "status": "ok"},
]
PICTURES = [("gridhud-gtk-day", "480x720", "12:00"), ("gridhud-gtk-night", "480x720", "23:00"), ("gridhud-gtk-small", "360x640", "12:00"),
            ("gridhud-gtk-wide", "1024x768", "23:00")]
WAYLAND = [("gridhud-gtk-wayland", "480x720", "12:00")]
TERMINAL = [("gridhud-day", "80x24", "12:00"), ("gridhud-night", "80x24", "23:00"), ("gridhud-small", "40x15", "23:00")]


def picture(path, size, now, screen, window):
    with screen(size=size) as desktop, Hook() as hook, window(hook, desktop, now=now) as hud:
        for message in MESSAGES:
            hook.push(message)
        hud.wait("Build 412")
        hud.wait_focus()
        if screen is Screen:
            subprocess.run(["xdotool", "getactivewindow", "windowsize", "--sync", "100%", "100%", "windowmove", "0", "0"],
                           env=hud.environment(), check=False)
        hud.key("Home")
        hud.until(lambda: hook.tool("get_app_status")["structuredContent"]["unread"] == 0, "not read")
        subprocess.run(hud.shooter + [path], env=hud.environment(), check=True)


def terminal_picture(path, size, now):
    with Desktop(service=False) as desktop, Hook() as hook, \
            Hud(hook, plain=True, start=False, now=now, env=desktop.env) as hud:
        desktop.start(["xterm", "-tn", "xterm-256color", "-geometry", size + "+0+0", "-fa", "JetBrains Mono", "-fs", "10",
                       "-bw", "0", "-e"] + hud.arguments(), env=hud.environment())
        hook.wait_log("interface window attached")
        for message in MESSAGES:
            hook.push(message)
        hud.until(lambda: hook.tool("get_app_status")["structuredContent"]["unread"] == len(MESSAGES), "not there")
        window = subprocess.run(["xdotool", "search", "--class", "xterm"], env=hud.environment(), stdout=subprocess.PIPE,
                                check=True).stdout.split()[-1].decode()
        shape = subprocess.run(["xdotool", "getwindowgeometry", "--shell", window], env=hud.environment(),
                               stdout=subprocess.PIPE, check=True).stdout.decode()
        shape = dict(line.split("=") for line in shape.split())
        subprocess.run(["scrot", "-o", "-a", "0,0,%s,%s" % (shape["WIDTH"], shape["HEIGHT"]), path],
                       env=hud.environment(), check=True)


for name, picture_size, time_of_day in TERMINAL:
    terminal_picture(os.path.join(sys.argv[1], name + ".png"), picture_size, time_of_day)
for name, picture_size, time_of_day in PICTURES:
    picture(os.path.join(sys.argv[1], name + ".png"), picture_size, time_of_day, Screen, Window)
for name, picture_size, time_of_day in WAYLAND:
    picture(os.path.join(sys.argv[1], name + ".png"), picture_size, time_of_day, Compositor, WaylandWindow)

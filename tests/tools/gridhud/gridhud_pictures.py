"""Makes the pictures of the graphical window for the documents: gridhud_pictures.py FOLDER, in a build folder."""
import os
import subprocess
import sys

from gridhud_gtk import Screen, Window
from gridhud_kit import Hook
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


for name, picture_size, time_of_day in PICTURES:
    picture(os.path.join(sys.argv[1], name + ".png"), picture_size, time_of_day, Screen, Window)
for name, picture_size, time_of_day in WAYLAND:
    picture(os.path.join(sys.argv[1], name + ".png"), picture_size, time_of_day, Compositor, WaylandWindow)

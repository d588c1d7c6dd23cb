"""What locks screens in a session: waits for logind's Lock signal, and tells
logind that the session is locked. Prints "ready" once it listens."""
import sys

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

SESSION = "org.freedesktop.login1.Session"


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SystemBus()
    session = bus.get_object("org.freedesktop.login1", sys.argv[1])
    session.connect_to_signal(
        "Lock", lambda: session.SetLockedHint(True, dbus_interface=SESSION), SESSION)
    print("ready", flush=True)
    GLib.MainLoop().run()


main()

"""A desktop portal: portal_peer.py MODE PICTURE LOG

MODE is ok, deny or silent: how its requests are answered. Screenshot answers
with a copy of PICTURE. Calls are logged. Prints "ready" once it has its name.
"""
import shutil
import sys
import tempfile

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.portal.Desktop"
MODE, PICTURE, LOG = sys.argv[1:4]


class Request(dbus.service.Object):
    @dbus.service.signal("org.freedesktop.portal.Request", signature="ua{sv}")
    def Response(self, response, results):
        pass


class Portal(dbus.service.Object):
    def request(self, sender, options, results):
        path = "/org/freedesktop/portal/desktop/request/%s/%s" % (
            sender[1:].replace(".", "_"), options["handle_token"])
        if MODE != "silent":
            request = Request(self.connection, path)
            # At once, even before the call has its reply, as real ones may.
            if MODE == "ok":
                request.Response(dbus.UInt32(0), results)
            else:
                request.Response(dbus.UInt32(2), dbus.Dictionary({}, signature="sv"))
        return dbus.ObjectPath(path)

    @dbus.service.method("org.freedesktop.portal.Screenshot", "sa{sv}", "o",
                         sender_keyword="sender")
    def Screenshot(self, parent, options, sender=None):
        with tempfile.NamedTemporaryFile(suffix=" shot.png", delete=False) as file:
            copy = file.name
        shutil.copyfile(PICTURE, copy)
        log("Screenshot " + copy)
        return self.request(sender, options, dbus.Dictionary(
            {"other": dbus.UInt32(1), "uri": "file://" + copy.replace(" ", "%20")},
            signature="sv"))

    @dbus.service.method("org.freedesktop.portal.OpenURI", "ssa{sv}", "o",
                         sender_keyword="sender")
    def OpenURI(self, parent, uri, options, sender=None):
        log("OpenURI " + uri)
        return self.request(sender, options, dbus.Dictionary({}, signature="sv"))


def log(line):
    with open(LOG, "a", encoding="utf-8") as file:
        print(line, file=file)


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    name = dbus.service.BusName(NAME, bus)
    portal = Portal(bus, "/org/freedesktop/portal/desktop")
    print("ready", name.get_name(), portal.__dbus_object_path__, flush=True)
    GLib.MainLoop().run()


main()

"""X clients that the tool meets.

x11_peer.py grab LOG        grabs the media keys, as desktops do, and logs them
x11_peer.py hung            owns the clipboard and never answers
x11_peer.py incr FILE       owns it and hands it over in pieces of 4000 bytes
x11_peer.py latin1 FILE     owns it and has no form of it but STRING
x11_peer.py focus [lose]    has a window with the focus; with lose, none has
                            it any more once this one ends
x11_peer.py managed         ends well when a window manager is there
x11_peer.py front           prints the class of the active window
x11_peer.py windows         prints the class of each window
x11_peer.py minimise CLASS  makes the window of that class an icon
The first five print "ready" once they are.
"""
import sys

from Xlib import X, Xatom, display
from Xlib.protocol import event as xevent

KEYS = {
    0x1008FF14: "play", 0x1008FF17: "next", 0x1008FF16: "previous",
    0x1008FF15: "stop", 0x1008FF13: "louder", 0x1008FF11: "quieter",
    0x1008FF12: "mute",
}


def ready():
    print("ready", flush=True)


def grab(server, log):
    root = server.screen().root
    codes = {}
    for symbol, name in KEYS.items():
        code = server.keysym_to_keycode(symbol)
        if code:
            codes[code] = name
            root.grab_key(code, X.AnyModifier, False, X.GrabModeAsync, X.GrabModeAsync)
    server.sync()
    ready()
    while True:
        event = server.next_event()
        if event.type in (X.KeyPress, X.KeyRelease):
            way = "press" if event.type == X.KeyPress else "release"
            with open(log, "a", encoding="utf-8") as file:
                print(way, codes.get(event.detail), file=file)


def focus(server, kept):
    window = server.screen().root.create_window(0, 0, 50, 50, 0, X.CopyFromParent, event_mask=X.StructureNotifyMask)
    window.map()
    while server.next_event().type != X.MapNotify:
        pass
    window.set_input_focus(X.RevertToPointerRoot if kept else X.RevertToNone, X.CurrentTime)
    server.sync()
    ready()
    while True:
        server.next_event()


def of_root(server, name):
    found = server.screen().root.get_full_property(server.intern_atom(name), X.AnyPropertyType)
    return list(found.value) if found else []


def class_of(server, number):
    return (server.create_resource_object("window", number).get_wm_class() or ("", ""))[1]


def look(server, what, name=""):
    if what == "managed":
        wanted = server.intern_atom("_NET_ACTIVE_WINDOW")
        sys.exit(0 if of_root(server, "_NET_SUPPORTING_WM_CHECK") and wanted in of_root(server, "_NET_SUPPORTED")
                 else 1)
    if what == "front":
        print("".join(class_of(server, number) for number in of_root(server, "_NET_ACTIVE_WINDOW") if number))
        return
    for number in of_root(server, "_NET_CLIENT_LIST"):
        if what == "windows":
            print(class_of(server, number))
        elif class_of(server, number) == name:
            root = server.screen().root
            window = server.create_resource_object("window", number)
            root.send_event(xevent.ClientMessage(
                window=window, client_type=server.intern_atom("WM_CHANGE_STATE"), data=(32, [3, 0, 0, 0, 0])),
                event_mask=X.SubstructureNotifyMask | X.SubstructureRedirectMask)
            server.sync()


class Owner:
    def __init__(self, server, mode, text):
        self.server, self.mode, self.text = server, mode, text
        self.atom = server.intern_atom
        self.left = {}

    def run(self):
        window = self.server.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        window.set_selection_owner(self.atom("CLIPBOARD"), X.CurrentTime)
        self.server.sync()
        ready()
        while True:
            event = self.server.next_event()
            if event.type == X.SelectionRequest and self.mode != "hung":
                self.answer(event)
            elif event.type == X.PropertyNotify and event.state == X.PropertyDelete:
                self.piece(event.window, event.atom)
            elif event.type == X.SelectionClear:
                return

    def answer(self, asked):
        prop = asked.property
        if self.mode == "incr" and asked.target == self.atom("UTF8_STRING"):
            asked.requestor.change_attributes(event_mask=X.PropertyChangeMask)
            self.left[asked.requestor.id] = self.text
            asked.requestor.change_property(prop, self.atom("INCR"), 32, [len(self.text)])
        elif self.mode == "latin1" and asked.target == Xatom.STRING:
            asked.requestor.change_property(prop, Xatom.STRING, 8, self.text)
        else:
            prop = X.NONE
        asked.requestor.send_event(xevent.SelectionNotify(
            time=asked.time, requestor=asked.requestor, selection=asked.selection,
            target=asked.target, property=prop))
        self.server.flush()

    def piece(self, window, prop):
        left = self.left.get(window.id)
        if left is None:
            return
        window.change_property(prop, self.atom("UTF8_STRING"), 8, left[:4000])
        self.left[window.id] = left[4000:] if left else None
        self.server.flush()


def main():
    server = display.Display()
    if sys.argv[1] == "grab":
        grab(server, sys.argv[2])
    if sys.argv[1] == "focus":
        focus(server, len(sys.argv) < 3)
    if sys.argv[1] in ("managed", "front", "windows", "minimise"):
        look(server, *sys.argv[1:])
        return
    text = b""
    if len(sys.argv) > 2:
        with open(sys.argv[2], "rb") as file:
            text = file.read()
    Owner(server, sys.argv[1], text).run()


main()

"""What a screen reader knows of a program: commands come as lines, answers go out as lines of JSON.

tree: [role, name, states, text] of each part; press NAME: its first action; type NAME TEXT: into an entry.
"""
import json
import sys

import gi
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

STATES = {"focused": Atspi.StateType.FOCUSED, "sensitive": Atspi.StateType.SENSITIVE,
          "checked": Atspi.StateType.CHECKED, "pressed": Atspi.StateType.PRESSED,
          "selected": Atspi.StateType.SELECTED}


def parts(node):
    try:
        yield node
        for i in range(node.get_child_count()):
            child = node.get_child_at_index(i)
            if child is not None:
                yield from parts(child)
    except GLib.Error:
        return


def everything():
    desktop = Atspi.get_desktop(0)
    for i in range(desktop.get_child_count()):
        program = desktop.get_child_at_index(i)
        if program is not None and program.get_name() == sys.argv[1]:
            program.clear_cache()
            yield from parts(program)


def text_of(node):
    text = node.get_text_iface()
    return Atspi.Text.get_text(text, 0, Atspi.Text.get_character_count(text)) if text else ""


def row(node):
    states = node.get_state_set()
    return [node.get_role_name(), node.get_name(), [name for name, code in STATES.items() if states.contains(code)],
            text_of(node)]


def tree():
    rows = []
    for node in everything():
        try:
            rows.append(row(node))
        except GLib.Error:
            pass
    return rows


def with_name(name, able):
    for node in everything():
        if node.get_name() == name and able(node):
            return node
    return None


def has_action(node):
    return node.get_action_iface() is not None and node.get_n_actions() > 0


for line in sys.stdin:
    words = line.rstrip("\n").split("\t")
    try:
        if words[0] == "tree":
            answer = tree()
        elif words[0] == "press":
            node = with_name(words[1], has_action)
            answer = node is not None and node.do_action(0)
        else:
            node = with_name(words[1], lambda n: n.get_editable_text_iface() is not None)
            answer = node is not None and Atspi.EditableText.set_text_contents(node, words[2])
    except GLib.Error as error:
        answer = str(error)
    print(json.dumps(answer), flush=True)

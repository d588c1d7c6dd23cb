"""A compositor that offers what it is told to offer, and nothing of it works.

wayland_peer.py SOCKET INTERFACE...   answers wl_display.get_registry and sync;
                                      prints "ready"
wayland_peer.py SOCKET --hung         takes connections and never answers
"""
import socket
import struct
import sys


def message(target, opcode, body):
    return struct.pack("=II", target, (8 + len(body)) << 16 | opcode) + body


def globals_of(registry, names):
    out = b""
    for number, name in enumerate(names):
        text = name.encode() + b"\0"
        out += message(registry, 0, struct.pack("=II", number + 1, len(text)) +
                       text + b"\0" * (-len(text) % 4) + struct.pack("=I", 1))
    return out


def serve(peer, names):
    data = b""
    while True:
        got = peer.recv(65536)
        if not got:
            return
        data += got
        while len(data) >= 8:
            target, word = struct.unpack("=II", data[:8])
            if len(data) < word >> 16:
                break
            body, data = data[8:word >> 16], data[word >> 16:]
            if target != 1:
                continue
            made = struct.unpack("=I", body[:4])[0]
            # In two parts, as a busy socket gives it.
            answer = globals_of(made, names) if word & 0xFFFF == 1 else message(made, 0, struct.pack("=I", 1))
            peer.sendall(answer[:13])
            peer.sendall(answer[13:])


def main():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen(8)
    print("ready", flush=True)
    kept = []
    while True:
        peer, _ = listener.accept()
        if sys.argv[2:] == ["--hung"]:
            kept.append(peer)
            continue
        try:
            serve(peer, sys.argv[2:])
        except OSError:
            pass
        peer.close()


main()

#!/bin/sh
# Times gridhook on loopback: the floor (health), durable pushes of 1 KB,
# tools/list, the start, and what it holds in memory after 100,000 pushes.
# GRIDHOOK_BENCH_SECONDS: how long each (5); GRIDHOOK_BENCH_PUSHES: how many
# pushes before the memory is read (100000).
set -u
build=${abs_top_builddir:-.}
seconds=${GRIDHOOK_BENCH_SECONDS:-5}
pushes=${GRIDHOOK_BENCH_PUSHES:-100000}
bench=$build/tests/bench/bench_gridhook
scratch=$(mktemp -d) || exit 1
pid=
finish() {
  [ -n "$pid" ] && kill "$pid" 2>/dev/null
  wait 2>/dev/null
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' INT TERM

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$scratch/conf" <<END
[server]
port = $port
[store]
data = $scratch/data
[interface]
sockets = $scratch/run
[tools]
read_rate = 100000
read_burst = 100000
END

# Start to listening, the middle of nine starts.
python3 - "$build/tools/gridhook/gridhook" "$scratch/conf" "$port" <<'END'
import socket, subprocess, sys, time
times = []
for _ in range(9):
    began = time.monotonic()
    process = subprocess.Popen([sys.argv[1], "--config", sys.argv[2]], stderr=subprocess.DEVNULL)
    while True:
        try:
            socket.create_connection(("127.0.0.1", int(sys.argv[3])), 1).close()
            break
        except OSError:
            time.sleep(0.0005)
    times.append(time.monotonic() - began)
    process.terminate()
    process.wait()
times.sort()
print("start to listening: %.1f ms (of nine: %.1f to %.1f)" % (times[4] * 1e3, times[0] * 1e3, times[-1] * 1e3))
END

"$build/tools/gridhook/gridhook" --config "$scratch/conf" 2>"$scratch/log" &
pid=$!
tries=0
until "$bench" "$port" 1 1 health >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ $tries -lt 50 ] || { cat "$scratch/log"; exit 1; }
  sleep 0.1
done
memory() { awk '/^VmRSS|^RssAnon|^RssFile/ { printf "%s %d KB  ", $1, $2 }' "/proc/$pid/status"; }
echo "memory at the start: $(memory)"
for connections in 1 16; do
  "$bench" "$port" "$seconds" $connections health || exit 1
  "$bench" "$port" "$seconds" $connections push || exit 1
done
"$bench" "$port" "$seconds" 1 list || exit 1

# The rest of the pushes, then what is held.
done_=$(python3 - "$scratch/run/control.sock" "$pushes" "$port" <<'END'
import json, socket, sys
wanted, port = int(sys.argv[2]), int(sys.argv[3])
def last():
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(sys.argv[1].replace("control", "interface"))
        peer.sendall(b'{"t":"hello","proto":1,"client":"bench"}\n')
        return json.loads(peer.makefile().readline())["next"] - 1
body = json.dumps({"source": "bench", "text": "x" * 990}).encode()
one = b"POST /assistant/hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
sock = socket.create_connection(("127.0.0.1", port))
while last() < wanted:
    for _ in range(500):
        sock.sendall(one * 16)
        got = 0
        while got < 16:
            got += sock.recv(65536).count(b"HTTP/1.1 200 ")
print(last())
END
)
echo "memory after $done_ pushes: $(memory)"
if command -v webhook >/dev/null; then
  cat >"$scratch/hooks.json" <<'END'
[{"id": "x", "execute-command": "/bin/true", "response-message": "ok"}]
END
  other=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  webhook -hooks "$scratch/hooks.json" -ip 127.0.0.1 -port "$other" -urlprefix assistant >/dev/null 2>&1 &
  second=$!
  sleep 1
  python3 - "$other" <<'END'
import json, socket, sys, time
body = json.dumps({"source": "bench", "text": "x" * 990}).encode()
one = b"POST /assistant/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
sock = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
end, count = time.monotonic() + 3, 0
while time.monotonic() < end:
    sock.sendall(one)
    data = b""
    while not data.endswith(b"ok"):
        data += sock.recv(65536)
    count += 1
print("adnanh/webhook, which keeps nothing and runs a command each: %d requests/s over 1 connection" % (count / 3))
END
  kill $second
else
  echo "adnanh/webhook is not installed: not compared"
fi

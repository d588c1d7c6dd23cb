#!/bin/sh
# Times gridhook on loopback: the start, the floor (health), durable pushes of
# 1 KB and tools/list, taking turns, and what it holds in memory after 100,000
# pushes. adnanh/webhook takes its turns too where it is installed.
# GRIDHOOK_BENCH_SECONDS: how long a turn lasts (2); GRIDHOOK_BENCH_TURNS: how
# many (5, of which the middle one is printed); GRIDHOOK_BENCH_PUSHES: how many
# pushes before the memory is read (100000).
set -u
build=${abs_top_builddir:-.}
seconds=${GRIDHOOK_BENCH_SECONDS:-2}
turns=${GRIDHOOK_BENCH_TURNS:-5}
pushes=${GRIDHOOK_BENCH_PUSHES:-100000}
bench=$build/tests/bench/bench_gridhook
scratch=$(mktemp -d) || exit 1
pid=
second=
finish() {
  for each in $pid $second; do kill "$each" 2>/dev/null; done
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

# The other one: it keeps nothing, and starts a program for each.
if command -v webhook >/dev/null; then
  echo '[{"id": "x", "execute-command": "/bin/true", "response-message": "ok"}]' \
    >"$scratch/hooks.json"
  other=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  webhook -hooks "$scratch/hooks.json" -ip 127.0.0.1 -port "$other" \
    >/dev/null 2>&1 &
  second=$!
  tries=0
  until "$bench" "$other" 1 1 webhook >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 50 ] || { echo "webhook does not answer: not compared"; kill $second; second=; break; }
    sleep 0.1
  done
else
  echo "adnanh/webhook is not installed: not compared"
fi

turn=0
while [ $turn -lt "$turns" ]; do
  turn=$((turn + 1))
  for connections in 1 16; do
    for what in health push list; do
      "$bench" "$port" "$seconds" $connections $what || exit 1
    done
    [ -z "$second" ] || "$bench" "$other" "$seconds" $connections webhook || exit 1
  done
done >"$scratch/turns"
# "push: 4567 requests/s over 16 connections, p50 12 us, p99 34 us"
sort -t' ' -k1,1 -k5,5n -k2,2n "$scratch/turns" | awk -v turns="$turns" '
  NR % turns == int((turns + 1) / 2) { middle = $0 }
  NR % turns == 1 || turns == 1 { first = $2 }
  NR % turns == 0 { print middle "; of " turns " turns " first " to " $2 }'
[ -z "$second" ] || kill $second
second=

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

#!/bin/sh
# The official suites and clients of the protocol, from npm, against gridhook:
# the conformance scenarios that apply to a server with tools only, the SDK
# clients of both generations, the Inspector with --strict.
set -u
top=${abs_top_srcdir:-.}
build=${abs_top_builddir:-.}
. "$top/tests/support/mcp_suites.sh"

scratch=$(mktemp -d) || exit 1
pids=
finish() {
  for pid in $pids; do kill "$pid" 2>/dev/null; done
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' INT TERM

# start NAME: a gridhook with the environment as it is; its port is in $port.
start() {
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  cat >"$scratch/$1.conf" <<END
[server]
port = $port
host = 127.0.0.1
[store]
data = memory
[interface]
sockets = $scratch/$1
END
  "$build/tools/gridhook/gridhook" --config "$scratch/$1.conf" \
    2>"$scratch/$1.log" &
  pids="$pids $!"
  tries=0
  until curl -s -o /dev/null "http://127.0.0.1:$port/health"; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || { cat "$scratch/$1.log"; exit 1; }
    sleep 0.05
  done
}

passed=0
failed=0
# verdict CODE NAME: counts it; what was printed is shown when it failed.
verdict() {
  if [ "$1" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $2"
    sed 's/^/    /' "$scratch/out"
  fi
}

# scenario VERSION NAME LINE: its result must be this line.
scenario() {
  (cd "$scratch" && timeout 120 "$node" "$suite" server --url \
    "http://127.0.0.1:$port/mcp" --scenario "$2" --spec-version "$1") \
    >"$scratch/out" 2>&1
  grep -qF "$3" "$scratch/out"
  verdict $? "$2, $1: want \"$3\""
}

command -v python3 >/dev/null || skip "python3 is not installed"
command -v curl >/dev/null || skip "curl is not installed"
start open
for version in 2025-06-18 2025-11-25; do
  scenario $version server-initialize 'Passed: 2/2, 0 failed'
  scenario $version ping 'Passed: 2/2, 0 failed'
done
scenario 2025-06-18 tools-list 'Passed: 2/2, 0 failed'
scenario 2025-11-25 tools-list 'Passed: 3/3, 0 failed'
scenario 2025-11-25 dns-rebinding-protection 'Passed: 2/2, 0 failed'
scenario 2025-11-25 server-session-lifecycle 'Server is stateless'
scenario 2026-07-28 tools-list 'Passed: 4/4, 0 failed'
scenario 2026-07-28 dns-rebinding-protection 'Passed: 2/2, 0 failed'
scenario 2026-07-28 http-header-validation 'Passed: 14/14, 0 failed'
scenario 2026-07-28 server-sse-multiple-streams 'Passed: 1/1, 0 failed'
# The rest of these two asks for prompts, resources and tools of the suite's
# own: four and three checks that a server with these 14 tools cannot have.
scenario 2026-07-28 server-stateless 'Passed: 21/25, 4 failed'
scenario 2026-07-28 caching 'Passed: 4/7, 3 failed'

GRIDHOOK_SECRET=only-for-this-test
export GRIDHOOK_SECRET
start closed
for era in legacy modern; do
  (cd "$scratch" && timeout 120 "$node" "$inspector" --cli \
    "http://127.0.0.1:$port/mcp" --transport http --protocol-era $era \
    --header "X-Service-Secret: $GRIDHOOK_SECRET" --stored-auth-only \
    --method tools/list --strict) >"$scratch/out" 2>&1
  verdict $? "Inspector --strict, $era"
done
program=$(cd "$build" && pwd)/tools/gridhook/gridhook
# The Inspector takes --config for its own.
printf '#!/bin/sh\nexec "%s" --config "%s" mcp\n' "$program" \
  "$scratch/closed.conf" >"$scratch/started"
chmod +x "$scratch/started"
for era in legacy modern; do
  (cd "$scratch" && timeout 120 "$node" "$inspector" --cli "$scratch/started" \
    --protocol-era $era --method tools/list --strict) >"$scratch/out" 2>&1
  verdict $? "Inspector --strict, stdio, $era"
done
timeout 120 "$node" "$top/tests/tools/gridhook/mcp-clients.mjs" "$modules" \
  "http://127.0.0.1:$port/mcp" "$GRIDHOOK_SECRET" "$program" \
  "$scratch/closed.conf" >"$scratch/out" 2>&1
verdict $? "SDK clients"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

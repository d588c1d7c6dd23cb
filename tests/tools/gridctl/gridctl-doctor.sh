#!/bin/sh
# gridctl doctor: a line for each thing that is wrong, with what to do, and the
# exit code. A site is played by a program that gives the same status to all.
# Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-doctor-XXXXXX") || exit 1
site=
sender=
trap 'kill $site $sender 2>/dev/null
  rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
unset http_proxy all_proxy ALL_PROXY
passed=0
failed=0

cat >"$work/site.py" <<'EOF'
import http.server, os, sys
class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[1] + "/status") as file:
            status = int(file.read())
        self.send_response(status if self.path == "/readyz" else 500)
        self.end_headers()
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(410 if self.path == "/gone" else 500)
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Site)
with open(sys.argv[1] + "/port.new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
server.serve_forever()
EOF
echo 200 >"$work/status"
python3 "$work/site.py" "$work" &
site=$!
until [ -e "$work/port" ]; do
  kill -0 "$site" 2>/dev/null || { echo "the site did not start"; exit 1; }
  sleep 0.05
done
url=http://127.0.0.1:$(cat "$work/port")

grid() { "$gridctl" --data "$work/data" "$@"; }

# expect NAME CODE PATTERN [OPTION]...: what doctor says has a line that fits.
expect() {
  name=$1 code=$2 pattern=$3
  shift 3
  grid doctor --url "$url" "$@" >"$work/said" 2>&1
  got=$?
  if [ "$got" = "$code" ] && grep -qE "$pattern" "$work/said"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name: exit code $got, want $code and $pattern in:"
    cat "$work/said"
  fi
}

expect "no data directory" 1 "^WRONG +data .*init' makes one"
grid init >"$work/log" || exit 1
expect "nothing imported" 1 '^WRONG +import +nothing was imported yet'
"$gridctl" demo --out "$work/csv" --articles 60 --suppliers 3 --stores 2 \
  --seed 1 >"$work/log" || exit 1
grid import --quiet "$work/csv" || exit 1
expect "to be computed" 0 '^look +snapshots .*computation: [1-9]'
expect "what to do" 0 "^ +-> 'gridctl compute --stale --absent'$"
grid compute --quiet --stale --absent || exit 1
expect "and that is the remedy" 0 '^ok +snapshots +all [1-9]'
sed 's/,[0-9.]*$/,7/' "$work/csv/sales.csv" >"$work/sales" &&
  sed 1q "$work/csv/sales.csv" | cat - "$work/sales" | sed 2d >"$work/new" &&
  mv "$work/new" "$work/csv/sales.csv"
grid import --quiet "$work/csv" || exit 1
expect "out of date" 0 "^ +-> 'gridctl compute --stale';"
grid compute --quiet --all || exit 1
expect "all current" 0 '^ok +snapshots +all [1-9]'
expect "not in the index" 0 "^look +words .*0 of [1-9]"
grid index >"$work/log" || exit 1
expect "no backup" 0 '^look +backup +none was made yet'
grid backup "$work/backup" >"$work/log" || exit 1
expect "a backup" 0 '^ok +backup +0 hours old'
note() { # MADE SENT TESTED, in hours ago; 0 for never
  for age in "$@"; do
    if [ "$age" = 0 ]; then echo null; else
      date -u -d "-$age hours" '+"%Y-%m-%dT%H:%M:%SZ"'
    fi
  done | paste -sd ' ' | while read -r made sent tested; do
    echo "{\"version\":1,\"made\":$made,\"sent\":$sent,\"tested\":$tested}"
  done >"$work/data/backups.json"
}
note 50 0 0
expect "an old backup" 0 '^look +backup +the last one is 50 hours old'
note 1 50 0
expect "one that is only here" 0 '^look +backup +none has reached .* 50 hours'
note 1 1 1000
expect "one that nobody has tried" 0 '^look +backup +none was restored .* 41 days'
echo '{' >"$work/data/backups.json"
expect "a damaged note" 0 '^look +backup +backups.json .*damaged'
note 1 1 1
night() { # ENDED STATE
  echo "{\"version\":1,\"began\":\"2026-11-23T02:00:00Z\",\"ended\":$1," \
    '"steps":[{"step":"prune","delivery":"","began":null,"ended":null,' \
    "\"state\":\"$2\",\"rows\":0,\"tries\":1,\"said\":\"\"}]}" \
    >"$work/data/night.json"
}
night null running
expect "a night that was cut off" 0 '^look +night +.*2026-11-23T02:00 was cut off'
night '"2026-11-23T03:00:00Z"' failed
expect "a night that failed" 0 '^look +night .* has failed'
expect "what to do about it" 0 "^ +-> 'gridctl night status' says why"
echo '{' >"$work/data/night.json"
expect "a damaged night" 0 '^look +night +night.json .*damaged'
night '"2026-11-23T03:00:00Z"' done
expect "a night" 0 '^ok +night +the one of 2026-11-23T02:00 is done'
expect "nothing to look at" 0 '^0 wrong, 0 to look at, [1-9]'
expect "JSON" 0 '"level":"ok","about":"data"' --json
if grid doctor --url "$url" --json | python3 -c '
import json, sys
assert all(one["level"] in ("ok", "look", "wrong") for one in json.load(sys.stdin))
'; then passed=$((passed + 1)); else
  failed=$((failed + 1))
  echo "not ok: --json is no JSON"
fi

# deliver PATTERN OPTION...: a sender, until the hook is as the pattern says. The
# site answers 500 to it, and 410 at /gone.
deliver() {
  pattern=$1
  shift
  "$gridctl" --data "$work/data" hook deliver --first-wait 3600000 "$@" \
    >"$work/sender.log" 2>&1 &
  sender=$!
  until grid hook list --json | grep -q "$pattern"; do
    kill -0 "$sender" 2>/dev/null || { cat "$work/sender.log"; exit 1; }
    sleep 0.1
  done
  kill "$sender"
  wait "$sender"
  sender=
}
grid hook add erp "$url/hook" --events imported >"$work/log" 2>&1 || exit 1
expect "a new hook" 0 '^ok +hooks +fine: 1, events that wait: 0'
grid import --quiet "$work/csv" || exit 1
deliver '"state":"failing"'
expect "a hook that fails" 0 '^look +hooks +failing: 1'
expect "how to try it" 0 "^ +-> .*'gridctl hook test NAME'"
grid hook resend erp >"$work/log" || exit 1
deliver '"givenUp":1' --give-up 1
expect "given up" 0 '^look +hooks +events that were given up: 1'
grid hook remove erp >"$work/log" || exit 1
grid hook add gone "$url/gone" --events imported >"$work/log" 2>&1 || exit 1
grid import --quiet "$work/csv" || exit 1
deliver '"state":"stopped"'
expect "a hook that has stopped" 0 '^look +hooks +stopped: 1'
expect "what lets it go on" 0 "^ +-> .*'gridctl hook resend NAME'"
grid hook remove gone >"$work/log" || exit 1
echo 502 >"$work/status"
expect "gridapi is down" 1 '^WRONG +site +nginx answers 502'
echo 404 >"$work/status"
expect "another site" 1 '^WRONG +site .*has no /readyz'
expect "no such address" 1 'is no address that can be asked' --url ftp://x
expect "nobody listens" 1 'does not answer: Connection refused' \
  --url http://127.0.0.1:1
echo 200 >"$work/status"
if [ "$(id -u)" -eq 0 ]; then
  touch "$work/data/locks/stray"
  chown 1 "$work/data/locks/stray"
  expect "another owner" 1 '^WRONG +owner .*locks/stray belongs to another'
  rm "$work/data/locks/stray"
fi
(ulimit -Sn 256 && ulimit -Hn 256 && grid doctor --url "$url" >"$work/said" 2>&1)
if grep -q '^WRONG *open files *are limited to 256' "$work/said"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "not ok: few open files are not told"
  cat "$work/said"
fi
expect "well again" 0 '^0 wrong'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

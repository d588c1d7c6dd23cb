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
import http.server, os, ssl, sys
class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[1] + "/status") as file:
            status = int(file.read())
        self.send_response(status if self.path == "/readyz" else 500)
        if os.path.exists(sys.argv[1] + "/place"):
            with open(sys.argv[1] + "/place") as file:
                self.send_header("X-Grid-Data", file.read())
        self.end_headers()
        if os.path.exists(sys.argv[1] + "/body"):
            with open(sys.argv[1] + "/body", "rb") as file:
                self.wfile.write(file.read())
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(410 if self.path == "/gone" else 500)
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Site)
if os.path.exists(sys.argv[1] + "/tls.pem"):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(sys.argv[1] + "/tls.pem")
    server.socket = tls.wrap_socket(server.socket, server_side=True)
with open(sys.argv[1] + "/port.new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
server.serve_forever()
EOF
echo 200 >"$work/status"
serve() { # starts the site, by TLS where there is a tls.pem
  rm -f "$work/port"
  python3 "$work/site.py" "$work" 2>"$work/site.log" &
  site=$!
  until [ -e "$work/port" ]; do
    kill -0 "$site" 2>/dev/null || { echo "the site did not start"; exit 1; }
    sleep 0.05
  done
}
serve
url=http://127.0.0.1:$(cat "$work/port")

grid() { "$gridctl" --data "$work/data" "$@"; }

# expect NAME CODE PATTERN [OPTION]...: what doctor says has a line that fits.
expect() {
  name=$1 code=$2 pattern=$3
  shift 3
  grid doctor ${url:+--url "$url"} "$@" >"$work/said" 2>&1
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
# A time server may keep this machine's clock, or not. The line repeats the
# kernel's answer, and is never a fault.
unkept=$(python3 -c 'import ctypes
answer = (ctypes.c_int * 64)()
state = ctypes.CDLL(None).adjtimex(answer)
STA_UNSYNC, status = 0x40, answer[10]
print(int(state >= 0 and status & STA_UNSYNC != 0))') || exit 1
if [ "$unkept" = 1 ]; then clock='^look +clock +no time server keeps it'
else clock='^ok +clock +(a time server keeps it|the kernel does not tell)'; fi
expect "what the kernel says of the clock" 0 "$clock"
printf '[inbox]\nfolder = %s/inbox\n' "$work" >"$work/night.conf"
mkdir -p "$work/inbox/monday" "$work/inbox/.monday.taken"
mkdir "$work/inbox/sunday.refused"
age() { # HOURS: of all in the inbox
  find "$work/inbox" -exec touch -d "$1 hours ago" {} +
}
inbox() { # NAME PATTERN
  expect "$1" 0 "$2" --settings "$work/night.conf"
}
echo codein >"$work/inbox/monday/articles.csv"
inbox "a delivery that arrives" '^ok +inbox +nothing is left in it'
age 5
inbox "one that came to a halt" '^look +inbox +monday came to a halt 5 hours ago'
inbox "what completes it" "^ +-> have it sent again.*touch $work/inbox/monday.done"
touch "$work/inbox/monday/articles.csv"
inbox "and one that goes on" '^ok +inbox'
touch "$work/inbox/monday.done"
age 20
inbox "a complete one waits for the night" '^ok +inbox'
age 30
inbox "no night has come" '^look +inbox +monday is complete, .* for 30 hours'
test -d "$work/inbox/.monday.taken" || exit 1
rm -r "$work/inbox"
inbox "an inbox that is not there" "^look +inbox +$work/inbox is not there"
inbox "what to do about that" '^ +-> make the folder, or mend .inbox. folder'
printf '[inbox]\nfolder =\n' >"$work/without.conf"
expect "no inbox" 0 "^0 wrong, $unkept to look at" --settings "$work/without.conf"
expect "a wrong setting" 1 '^WRONG +night +.*/bad.conf:1' \
  --settings "$(echo nonsense >"$work/bad.conf"; echo "$work/bad.conf")"
printf '[inbox]\nfolder = /x\nfolder = %s/inbox\n' "$work" >"$work/twice.conf"
expect "a setting that is given twice is a note" 0 \
  '^ok +night +\[inbox\] folder is set twice \(lines 2 and 3\): the later' \
  --settings "$work/twice.conf"
expect "nothing to look at" 0 "^0 wrong, $unkept to look at, [1-9]"
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
expect "gridapi is down" 1 \
  '^WRONG +site +/readyz answers 502: gridapi does not answer$'
echo 503 >"$work/status"
printf '{"error":{"code":"internal_error","message":"Other nodes\\u001b may."}}' \
  >"$work/body"
expect "a gridapi that is not ready" 1 \
  '^WRONG +site +/readyz answers 503: Other nodes  may\.$'
expect "what tells of its nodes" 1 "^ +-> .*'gridctl cluster status'"
rm "$work/body"
echo 404 >"$work/status"
expect "another site" 1 '^WRONG +site .*has no /readyz'
echo 200 >"$work/status"
# As gridapi names the data directory that it reads.
printf '%x-%x' $(stat -c '%d %i' "$work/data") >"$work/place"
expect "a gridapi with these data" 0 '^ok +site .*answers through nginx'
printf '%x-%x' $(stat -c '%d %i' "$work/csv") >"$work/place"
expect "one with others" 1 "^WRONG +site .*serves other data than $work/data"
expect "how to find it" 1 "^ +-> .*'ss -ltnp'"
rm "$work/place"
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

# --- what nginx has for the other nodes -------------------------------------------
sed "s|@CLUSTER@|$work/cluster-nginx.con[f]|" \
  "${abs_top_srcdir:-.}/nginx/gridapi.conf.in" >"$work/site"
expect "no word of nodes on a machine of its own" 0 '^0 wrong' --site "$work/site"
grep -qE '^[a-zA-Z]* *(nodes|cluster) ' "$work/said" && {
  failed=$((failed + 1))
  echo "not ok: a machine of its own has a line on nodes"
}
echo 0123456789abcdef0123456789abcdef >"$work/secret"
: >"$work/ca.pem"
node() { # LINE...: the node's cluster.conf
  printf '%s\n' '[cluster]' 'etcd = http://127.0.0.1:1' node=one \
    address=http://192.0.2.11 "secret_file = $work/secret" \
    "ca = $work/ca.pem" "$@" >"$work/data/cluster.conf"
}
chmod 0600 "$work/secret"
printed() { grid cluster nginx >"$work/cluster-nginx.conf"; }
nodes() { # NAME PATTERN: with 1, as the log is out of reach
  expect "$1" 1 "$2" --site "$work/site"
}
node
nodes "the log is out of reach" '^WRONG +cluster +the log is out of reach$'
nodes "what to do about it" '^ +-> bring a majority back'
nodes "which member is" \
  '^look +cluster +etcd http://127.0.0.1:1 is out of reach: .'
nodes "nothing for the other nodes" \
  "^WRONG +nodes +$work/cluster-nginx.conf is not there"
nodes "how it is made" \
  "^ +-> as root: .*gridctl cluster nginx >$work/cluster-nginx.conf"
printed
nodes "all that they need" "^ok +nodes +$work/cluster-nginx.conf is what"
node keep=2
nodes "a share, and nginx passes nothing on" \
  "^WRONG +nodes +$work/cluster-nginx.conf has no \"location @page\""
printed
nodes "and it does" '^ok +nodes'
sed -i 's/location @page2 /location @other /' "$work/cluster-nginx.conf"
nodes "that of an earlier version" \
  '^WRONG +nodes +.* has no "location @page2"'
printed
echo 'listen 8443;' >>"$work/cluster-nginx.conf"
nodes "a line of one's own" '^ok +nodes'
echo fedcba9876543210fedcba9876543210 >"$work/secret"
nodes "another secret" "^look +nodes +.* is not what 'gridctl cluster nginx'"
printed
for name in HTTP_X_GRID_SEEN HTTP_X_GRID_PASSED GRID_ALONE GRID_PART; do
  cp "$work/site" "$work/whole"
  sed -i "/fastcgi_param $name /d" "$work/site"
  nodes "a site without $name" \
    "^WRONG +nodes +$work/site has no \"fastcgi_param $name \""
  mv "$work/whole" "$work/site"
done
sed -i '/include .*cluster-nginx/d' "$work/site"
nodes "a site of before" \
  "^WRONG +nodes +$work/site includes no cluster-nginx.conf"
nodes "whose remedy is the package's" '^ +-> take the site of this version'
node keep=2 keep=3
nodes "a mistake in cluster.conf" \
  "^WRONG +data +$work/data/cluster.conf:8: .*keep is set a second time"
grep -A1 -E '^WRONG +(data|nodes) ' "$work/said" >"$work/told"
count=$(grep -c -- '-> correct that: docs/cluster.md, "cluster.conf"' "$work/told")
[ "$count" = 2 ] && passed=$((passed + 1)) || {
  failed=$((failed + 1))
  echo "not told twice how to mend cluster.conf:"
  cat "$work/told"
}
node
cp "$work/data/state.mdb" "$work/state.kept"
: >"$work/data/state.mdb"
nodes "a node whose state is lost" \
  "^WRONG +data +state.mdb: has lost all .*'gridctl cluster join --anew'"
head -c 12288 /dev/zero | tr '\0' x >"$work/data/state.mdb"
nodes "a node whose state is damaged" \
  "^WRONG +data +state.mdb: is damaged: .*'gridctl cluster join --anew'"
grep -q 'gridctl check' "$work/said" && {
  failed=$((failed + 1))
  echo "a state that cannot be opened is to be checked"
}
mv "$work/state.kept" "$work/data/state.mdb"
rm -f "$work/data/state.mdb-lock"
rm "$work/data/cluster.conf"

# --- as nginx's site says where it listens -----------------------------------------
plain=$url
url=
cat >"$work/nginx.conf" <<END
server {
	#listen 443 ssl;
	listen unix:/nowhere;
	listen ${plain#http://} backlog=4096;
	server_name grid.example www.grid.example;
}
END
expect "another port" 0 "^ok +site +http://grid.example:${plain##*:} answers" \
  --site "$work/nginx.conf"
echo 'listen [::1]:1;' >"$work/nginx.conf"
expect "nginx is stopped" 1 '^WRONG +site +http://\[::1\]:1 does not answer' \
  --site "$work/nginx.conf"
expect "no site" 1 '^WRONG +site +/nowhere is not there: the site is not enabled' \
  --site /nowhere
expect "what enables it" 1 "^ +-> .*(apt install nginx|ln -sf .*sites-enabled/')" \
  --site /nowhere
: >"$work/nginx.conf"
expect "a site that listens nowhere" 1 '^WRONG +site +/.*nginx.conf listens nowhere' \
  --site "$work/nginx.conf"
kill "$site"
wait "$site"
site=
certificate() { # FROM TO: as YYYYMMDD; the site is started with it
  [ -z "$site" ] || { kill "$site"; wait "$site"; }
  rm -rf "$work/ca"
  mkdir "$work/ca"
  : >"$work/ca/index"
  echo 01 >"$work/ca/serial"
  printf '%s\n' '[ca]' 'default_ca=a' '[a]' "new_certs_dir=$work/ca" \
    "database=$work/ca/index" "serial=$work/ca/serial" default_md=sha256 \
    policy=p '[p]' commonName=supplied >"$work/ca/conf"
  openssl req -newkey rsa:2048 -nodes -subj /CN=grid.example \
    -keyout "$work/ca/key" -out "$work/ca/req" 2>"$work/log" &&
    openssl ca -batch -selfsign -config "$work/ca/conf" -keyfile "$work/ca/key" \
      -in "$work/ca/req" -out "$work/ca/crt" -startdate "${1}000000Z" \
      -enddate "${2}000000Z" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  cat "$work/ca/key" "$work/ca/crt" >"$work/tls.pem"
  serve
  printf 'listen 1;\nserver_name grid.example;\n  listen 127.0.0.1:%s ssl http2;\n' \
    "$(cat "$work/port")" >"$work/nginx.conf"
}
if command -v openssl >"$work/log" && command -v curl >"$work/log"; then
  year=$(date +%Y)
  certificate $((year - 1))0101 $((year + 2))0101
  expect "a good certificate" 0 '^ok +certificate +expires in [0-9]{3}' \
    --site "$work/nginx.conf"
  expect "by TLS" 0 '^ok +site +https://grid.example:[0-9]+ answers' \
    --site "$work/nginx.conf"
  printf '%x-%x' $(stat -c '%d %i' "$work/csv") >"$work/place"
  expect "and by TLS one with other data" 1 '^WRONG +site +.*serves other data' \
    --site "$work/nginx.conf"
  rm "$work/place"
  printf '{"error":{"message":"not ready"}}\n' >"$work/body"
  echo 503 >"$work/status"
  expect "and one that is not ready" 1 '^WRONG +site +/readyz answers 503: not ready$' \
    --site "$work/nginx.conf"
  expect "its certificate, too" 1 '^ok +certificate +expires in [0-9]{3}' \
    --site "$work/nginx.conf"
  rm "$work/body"
  echo 200 >"$work/status"
  certificate $((year - 2))0101 $((year - 1))0101
  expect "an expired one" 1 '^WRONG +certificate +has expired [0-9]+ days ago' \
    --site "$work/nginx.conf"
  certificate $((year + 1))0101 $((year + 2))0101
  expect "one of the future" 1 '^WRONG +certificate +counts in [0-9]+ days only' \
    --site "$work/nginx.conf"
  certificate $((year - 1))0101 "$(date -d '+ 5 days' +%Y%m%d)"
  expect "one that ends soon" 0 '^look +certificate +expires in [45] days' \
    --site "$work/nginx.conf"
  kill "$site"
  wait "$site"
  site=
  expect "and nginx stopped" 1 '^WRONG +site +https://.* does not answer' \
    --site "$work/nginx.conf"
fi

# --- what only root can do: another owner, a full disk ------------------------------
if [ "$(id -u)" -eq 0 ]; then
  chmod 0755 "$work"
  chown -R 1 "$work/data"
  chown 0 "$work/data/live.mdb" && chmod 0600 "$work/data/live.mdb"
  expect "a file of root's" 1 '^WRONG +owner +.*/live.mdb belongs to another'
  expect "what gives it back" 1 '^ +-> as root: chown -R --reference='
  chown -R 0 "$work/data"
  mkdir "$work/disk"
  if mount -t tmpfs -o size=4m none "$work/disk" 2>"$work/log"; then
    cp -a "$work/data" "$work/disk/data"
    head -c 8m /dev/zero >"$work/disk/full" 2>"$work/log"
    "$gridctl" --data "$work/disk/data" doctor --url http://127.0.0.1:1 \
      >"$work/said" 2>&1
    umount "$work/disk"
    if grep -q '^WRONG *disk .* proposals may be refused' "$work/said" &&
      grep -q "^ *-> .*prune --grace 0s.*df $work/disk/data" "$work/said"
    then passed=$((passed + 1)); else
      failed=$((failed + 1))
      echo "not ok: a full disk is not told"
      cat "$work/said"
    fi
  fi
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/bash
# Root's gridapi on a data directory of another user: neither --check nor serving
# leaves a file there that the service, which is that user, could not write.
# Needs root. Closes with "N passed, N failed".
set -u
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
id nobody >/dev/null 2>&1 || { echo "skipped: no user nobody"; exit 77; }
command -v setpriv >/dev/null || { echo "skipped: setpriv is missing"; exit 77; }
top=${abs_top_builddir:-.}
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-api-owner-XXXXXX") || exit 1
server=
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null
  wait
  rm -rf "$work"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
chmod 711 "$work"
install -m 755 "$top/tools/gridctl/gridctl" "$work/gridctl"
install -m 755 "$top/fcgi/gridapi" "$work/gridapi"
group=$(id -g nobody)
passed=0
failed=0
is() { # NAME COMMAND...: the command succeeds
  local name=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    sed 's/^/    /' "$work/out" | tail -n 8
  fi
}
cat >"$work/gridapi.conf" <<END
[data]
dir = $work/data
[pages]
socket = $work/run/pages.sock
processes = 1
[slow]
socket = $work/run/slow.sock
[compute]
gridctl = $work/gridctl
END
chmod 600 "$work/gridapi.conf" # root's settings, read before it is nobody
root() { "$work/gridapi" --config "$work/gridapi.conf" "$@"; }
nobody() {
  setpriv --reuid=nobody --regid="$group" --clear-groups \
    "$work/gridapi" --config /dev/null --set data.dir="$work/data" \
    --set compute.gridctl="$work/gridctl" "$@"
}
none_of_roots() {
  local found
  found=$(find "$work/data" "$work/run" ! -user nobody)
  [ -z "$found" ] || { echo "$found"; return 1; }
}

install -d -o nobody -g "$group" -m 750 "$work/data" "$work/run"
"$work/gridctl" --data "$work/data" init >"$work/out" 2>&1
# As after a fresh installation: nothing has served yet.
rm -f "$work/data/locks/attempts"
is "root's --check finds all fine" root --check
is "and nothing in the data directory is root's" none_of_roots
is "so that the owner's gridapi opens it" nobody --check
mkdir "$work/archive"
nobody --check --set trail.archive="$work/archive" >"$work/archive.log" 2>&1
is "an archive that the owner may not write is told" \
  grep -q '\[trail\] archive: may not be written' "$work/archive.log"
chown nobody "$work/archive"
is "and one of the owner's is fine" nobody --check --set trail.archive="$work/archive"

rm -f "$work/data/locks/attempts"
"$work/gridapi" --config "$work/gridapi.conf" >"$work/log" 2>&1 &
server=$!
left=1200
while [ "$left" -gt 0 ] && kill -0 "$server" 2>/dev/null &&
  ! { [ -S "$work/run/slow.sock" ] && [ -e "$work/data/locks/attempts" ]; }; do
  sleep 0.05
  left=$((left - 1))
done
cp "$work/log" "$work/out"
is "root's gridapi serves" [ -S "$work/run/slow.sock" -a \
  -e "$work/data/locks/attempts" ]
is "and nothing of it is root's" none_of_roots
kill "$server"
wait "$server"
is "it ends as it should" [ $? -eq 0 ]
server=

# A folder of root's own for the sockets: refused in words that name the user.
chown root "$work/run"
root >"$work/log" 2>&1
is "a folder for sockets that the owner may not write is refused" [ $? -eq 1 ]
is "with the user named" grep -q "done as nobody" "$work/log"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

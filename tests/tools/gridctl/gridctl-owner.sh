#!/bin/bash
# Root's gridctl on a data directory of another user: what it makes is that
# user's, so that gridapi may write it. Needs root. Closes with
# "N passed, N failed, N skipped".
set -u
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
id nobody >/dev/null 2>&1 || { echo "skipped: no user nobody"; exit 77; }
command -v setpriv >/dev/null || { echo "skipped: setpriv is missing"; exit 77; }
gridctl=${abs_top_builddir:-.}/tools/gridctl/gridctl
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-owner-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
chmod 711 "$work"
# Where only root can look, as a home of root's is.
install -m 755 "$gridctl" "$work/gridctl"
passed=0
failed=0
skipped=0
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
root() { "$work/gridctl" --data "$work/data" "$@"; }
nobody() {
  setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups \
    "$work/gridctl" --data "$work/data" "$@"
}
none_of_roots() { # FOLDER
  local found
  found=$(find "$1" ! -user nobody)
  [ -z "$found" ] || { echo "$found"; return 1; }
}

install -d -o nobody -g "$(id -gn nobody)" -m 750 "$work/data"
root demo --out "$work/csv" --articles 200 --suppliers 4 --stores 2 \
  >"$work/out" 2>&1
is "demo has no data directory, and is root's" [ -O "$work/csv/sales.csv" ]
chmod 755 "$work/csv"
supplier=$(tail -n +2 "$work/csv/suppliers.csv" | head -n 1 | cut -d, -f1)
is "init" root init
is "import" root import "$work/csv"
is "network" root network "$work/csv/network.csv"
is "compute" root compute --quiet "$supplier"
is "key" root key create --name owner --scope propose
is "stat, which opens everything" root stat
is "nothing of it is root's" none_of_roots "$work/data"
chown -R nobody "$work/csv"
is "the owner can go on: import" nobody import "$work/csv"
is "compute" nobody compute --quiet --all
is "key" nobody key create --name owner2 --scope read
is "prune" nobody prune --grace 0s
is "check" nobody check

# A folder that its owner may not use is named in the message itself.
shut() { # FOLDER COMMAND...
  local path=$work/data/$1 code
  shift
  chmod 000 "$path"
  "$@" >"$work/out" 2>&1
  code=$?
  chmod 750 "$path"
  cat "$work/out"
  [ "$code" -eq 1 ]
}
named() { # FOLDER COMMAND...
  shut "$@" && grep -q "^gridctl [a-z]*: $work/data/$1: .*permission denied" "$work/out"
}
explained() { # FOLDER COMMAND...
  shut "$@" && grep -q "^WRONG  data  *$work/data/$1: permission denied$" "$work/out" &&
    grep -q -- "-> as root: chmod u+rwX $work/data/$1$" "$work/out" &&
    ! grep -q 'sudo gridctl doctor' "$work/out"
}
install -d -o nobody -m 750 "$work/data/trail"
for user in root nobody; do
  for folder in facts snapshots "snapshots/$supplier"; do
    is "$user's stat names $folder" named "$folder" $user stat
    is "$user's doctor says what to do about $folder" explained "$folder" $user doctor
  done
  for folder in trail snapshots "snapshots/$supplier"; do
    is "$user's prune names $folder" named "$folder" $user prune
  done
done
# Also where the data directory is named by a link.
ln -s data "$work/link"
linked() {
  shut facts setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups \
    "$work/gridctl" --data "$work/link" stat &&
    grep -q "^gridctl stat: $work/link/facts: .*permission denied" "$work/out"
}
is "a folder is named behind a link, too" linked
rm "$work/link"
rmdir "$work/data/trail"

# Another user, in the data directory's group or not, learns from every command
# that root may use it, and neither that it is none nor a file's name alone.
stranger() { # GROUP COMMAND...
  local group=$1
  shift
  echo "a password of his" | setpriv --reuid=1 --regid="$group" --clear-groups \
    "$work/gridctl" --data "$work/data" "$@" >"$work/told" 2>&1
  [ $? -eq 1 ] && grep 'sudo' "$work/told" && ! grep "' init'" "$work/told" &&
    ! grep 'ermission denied$' "$work/told" | grep -v ' error gridctl'
}
none=1
member=$(id -g nobody)
install -d -o nobody -m 750 "$work/kept"
is "a backup" root backup "$work/kept"
chmod 755 "$work/csv"
while read -r -a words; do
  is "a stranger's ${words[*]} names sudo" stranger $none "${words[@]}"
  is "as does a member's" stranger "$member" "${words[@]}"
done <<END
import $work/csv
import --check $work/csv
network $work/csv/network.csv
gammes export
compute --all
pack --all
index
suppliers
key list
hook list
user add marie --role buyer
proposals list
proposals save $supplier --all
night run
night test-restore
backup $work/strangers
cluster status
check
stat
prune
dump $supplier
END
is "a stranger's night status names sudo" stranger $none night status
is "and cluster join" stranger $none cluster join
is "and init" stranger $none init
is "and doctor" stranger $none doctor --url http://127.0.0.1:1
stranger "$member" doctor --url http://127.0.0.1:1 >"$work/out"
is "and, of a member, doctor" grep -q -- '-> sudo gridctl doctor' "$work/told"
elsewhere() {
  setpriv --reuid=1 --regid=1 --clear-groups "$work/gridctl" --data "$@" \
    >"$work/told" 2>&1
  [ $? -eq 1 ] && grep "^gridctl .*: run this as root (sudo)" "$work/told"
}
is "and init where he may make no folder" elsewhere "$work/his" init
is "and restore of a backup that he may not read" \
  elsewhere /tmp/none restore "$work/kept"
is "but a wrong word is told as such" bash -c "! setpriv --reuid=1 --regid=1 \
  --clear-groups '$work/gridctl' --data '$work/data' check --nothing 2>&1 | grep sudo"
root_doctor() { root doctor --url http://127.0.0.1:1 >"$work/told" 2>&1; }
chown 0 "$work/data/live.mdb" && chmod 600 "$work/data/live.mdb"
root_doctor
chown nobody "$work/data/live.mdb" && chmod 640 "$work/data/live.mdb"
is "root's doctor points at the owner" grep -q -- '-> see the owner' "$work/told"
is "and not at root" [ "$(grep -c 'sudo' "$work/told")" = 0 ]

# What root may read can be taken in; what the owner may not write is told,
# with whose permission it was.
mkdir -m 700 "$work/secret" && cp "$work"/csv/*.csv "$work/secret"
if ((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status) & 4)); then
  is "a folder that only root may read" root import "$work/secret"
  is "a file that only root may read" root network "$work/secret/network.csv"
  is "and ranges" root gammes import "$work/secret/gammes.csv"
else
  echo "skipped: this root may not read everything (CAP_DAC_READ_SEARCH)"
  skipped=3
fi
root backup "$work/secret/backup" >"$work/told" 2>&1
is "one that the owner may not write is refused" [ $? -eq 1 ]
is "in words that name the user" grep -q "done as nobody" "$work/told"

# Where another machine refuses, permissions here have no part in it.
cat >"$work/refuses.py" <<'EOF'
import http.server, os, sys
class Bucket(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(403)
        self.end_headers()
    do_PUT = do_GET
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Bucket)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
EOF
if command -v python3 >/dev/null; then
  python3 "$work/refuses.py" "$work/port" &
  refuses=$!
  until [ -e "$work/port" ]; do
    kill -0 "$refuses" || exit 1
    sleep 0.05
  done
  cat >"$work/data/cluster.conf" <<EOF
[cluster]
etcd = http://127.0.0.1:1
bucket = http://127.0.0.1:$(cat "$work/port")/files
bucket_key = key
bucket_secret_file = $work/bucket-secret
secret_file = $work/bucket-secret
address = http://127.0.0.1:1
EOF
  echo 0123456789abcdef >"$work/bucket-secret"
  chown nobody "$work/data/cluster.conf" "$work/bucket-secret"
  chmod 600 "$work/data/cluster.conf" "$work/bucket-secret"
  root cluster push >"$work/told" 2>&1
  is "a bucket that refuses fails it" [ $? -eq 1 ]
  is "with its answer" grep -q "/files: it answered 403" "$work/told"
  is "and no word of a user" bash -c "! grep -q 'done as' '$work/told'"
  kill "$refuses"
  rm "$work/data/cluster.conf"
fi

# Only those commands that are given files read with root's eyes: what the owner
# leads another one to stays as closed to him as it was.
stored=$(find "$work/data/snapshots" -name '*.mdb' | sort | head -n 1)
folder=$(dirname "$stored")
mkdir -m 700 "$work/closed"
echo "a secret of root" >"$work/closed/$(basename "$stored")"
mv "$folder" "$work/data/aside"
ln -s "$work/closed" "$folder"
install -d -o nobody -m 750 "$work/stolen"
root backup "$work/stolen" >"$work/told" 2>&1
is "a backup holds nothing that only root may read" \
  bash -c "! grep -rq 'a secret of root' '$work/stolen'"
rm "$folder"
mv "$work/data/aside" "$folder"
mv "$stored" "$work/data/aside"
ln -s "$work/closed/$(basename "$stored")" "$stored"
install -d -o nobody -m 750 "$work/linked"
root backup "$work/linked" >"$work/told" 2>&1
is "a link where a snapshot should be is refused" \
  grep -q "^gridctl backup: $stored: is no regular file" "$work/told"
rm "$stored"
mv "$work/data/aside" "$stored"

# A copy into an empty folder of the owner's.
install -d -o nobody -m 750 "$work/backup" "$work/again"
# The folder is his, the one above it is not: what a full disk leaves behind.
(ulimit -f 8; root backup "$work/backup" >"$work/told" 2>&1)
is "one that fails" [ $? -eq 1 ]
is "says what to do" grep -q '^gridctl backup: .* the disk is full.*LimitFSIZE=.*: make room' \
  "$work/told"
is "leaves the folder" [ -d "$work/backup" ]
is "and nothing in it" rmdir "$work/backup"
install -d -o nobody -m 750 "$work/backup"
(ulimit -f 8; root backup "$work/backup" >"$work/told" 2>&1)
is "backup, after one that failed" root backup "$work/backup"
is "is the owner's" none_of_roots "$work/backup"
is "restore" "$work/gridctl" --data "$work/again" restore "$work/backup"
is "is the owner's, too" none_of_roots "$work/again"
is "and whole" "$work/gridctl" --data "$work/again" check
cp -a "$work/backup" "$work/roots"
chown -R 0:0 "$work/roots"
install -d -o nobody -m 750 "$work/third"
third() { "$work/gridctl" --data "$work/third" restore "$work/roots"; }
third >"$work/told" 2>&1
is "a backup of root's own is refused" [ $? -eq 1 ]
is "not as one that was never completed" \
  grep -q "^gridctl restore: $work/roots: may not be read" "$work/told"
is "with whose permission it was" grep -q "done as nobody" "$work/told"
chmod 755 "$work/roots"
third >"$work/told" 2>&1
is "nor when the files alone are closed" \
  grep -q "^gridctl restore: $work/roots: may not be read" "$work/told"
chown -R nobody "$work/roots"
is "once it is his, it is restored" third
is "a folder with something in it is refused" \
  bash -c "! '$work/gridctl' --data '$work/again' restore '$work/backup'"

# A file that cannot be read is named, here or in the backup, and the target is not
# blamed.
denied() { # PATTERN COMMAND...
  local pattern=$1
  shift
  "$work/gridctl" "$@" >"$work/told" 2>&1
  [ $? -eq 1 ] && grep -E "^gridctl [a-z]+: $pattern" "$work/told" &&
    ! grep -q 'could not be written' "$work/told"
}
closed='is to be copied, and cannot be read: permission denied: give it to the user'
for of in data backup; do
  facts=$(find "$work/$of/facts" -type f | sort | head -n 1)
  chown root: "$facts"
  chmod 600 "$facts"
  rm -rf "$work/fourth"
  install -d -o nobody -m 750 "$work/fourth"
  case $of in
  data) set -- --data "$work/data" backup "$work/fourth" ;;
  backup) set -- --data "$work/fourth" restore "$work/backup" ;;
  esac
  is "facts that the owner may not read fail ${*:3:1}" denied "$facts: $closed" "$@"
  is "which leaves nothing" rmdir "$work/fourth"
  chown nobody "$facts"
done
install -d -m 700 "$work/shut"
install -d -o nobody -m 750 "$work/again2"
cp -a "$work/backup" "$work/shut/backup"
is "a backup in a folder that is closed says that of the folder" \
  denied "$work/shut/backup: .*folders above it" --data "$work/again2" restore "$work/shut/backup"

# In a container, root may lack the right to read everything.
lesser() {
  setpriv --bounding-set=-dac_read_search \
    "$work/gridctl" --data "$work/data" "$@"
}
is "root who may not read everything: stat" lesser stat
is "import of what the owner may read" lesser import "$work/csv"
is "still nothing of it is root's" none_of_roots "$work/data"
lesser import "$work/secret" >"$work/told" 2>&1
is "what the owner may not read is refused" [ $? -eq 1 ]

# Root's own folder stays root's.
is "a folder of root's own" "$work/gridctl" --data "$work/mine" init
is "stays root's" [ -O "$work/mine/state.mdb" ]
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

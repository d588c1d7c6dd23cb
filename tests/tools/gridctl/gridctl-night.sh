#!/bin/bash
# The night's chain over many nights: deliveries whole and merged, half a file,
# wrong columns, links, a full disk, kills at each step. Nothing half-made is ever
# seen, the report says what is wrong and what to do. Closes with "N passed, N
# failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-night-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
: >"$work/out"
is() { # NAME COMMAND...: the command succeeds
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    sed 's/^/    /' "$work/out" | head -n 30
  fi
}
isnt() {
  local name=$1
  shift
  is "$name" eval "! $(printf '%q ' "$@")"
}
data=$work/data
inbox=$work/inbox
backups=$work/backups
mkdir "$inbox"
cat >"$work/night.conf" <<END
[inbox]
folder = $inbox
[export]
folder = $work/outbox
[backup]
folder = $backups
keep = 3
[report]
command = cat >$work/report; echo "\$NIGHT_STATE: \$NIGHT_TITLE" >$work/title
END
grid() { "$gridctl" --data "$data" "$@" >"$work/out" 2>&1; }
night() { grid night run --settings "$work/night.conf" "$@"; }
status() { grid night status --settings "$work/night.conf" "$@"; }
told() { grep -qE -e "$1" "$work/out"; }
reported() { grep -qE -e "$1" "$work/report"; }
# What a reader of the grid can see.
seen() {
  for supplier in F1 F2 F3; do
    "$gridctl" --data "$data" dump $supplier 2>/dev/null
  done
  "$gridctl" --data "$data" suppliers --json | grep -o '"articles":[0-9]*'
}

# --- deliveries -------------------------------------------------------------------
head=fournisseur,codein,libelle1,libelle2,marque,gtin,reference,codeCentrale
head=$head,code3,pcb,prixAchat,prixVente,tva,gamme
articles() { # WORD F1-COUNT F2-COUNT
  echo $head
  for at in $(seq "$2"); do echo "F1,A$at,$1 $at,,,,,,,,,,,"; done
  for at in $(seq "$3"); do echo "F2,B$at,$1 $at,,,,,,,,,,,"; done
}
whole() { # NAME WORD
  mkdir "$inbox/$1"
  printf 'code,nom\nF1,One\nF2,Two\n' >"$inbox/$1/suppliers.csv"
  printf 'magasin,nom\nM1,North\n' >"$inbox/$1/stores.csv"
  articles "$2" 6 6 >"$inbox/$1/articles.csv"
  {
    echo fournisseur,codein,magasin,mois,quantite,ca,marge
    for at in 1 2 3 4 5 6; do echo "F1,A$at,M1,202601,1,$at,0.5"; done
  } >"$inbox/$1/sales.csv"
}
manifest() { # NAME MODE: printed
  echo "import $2"
  (cd "$inbox/$1" && for file in *; do
    echo "$(stat -c %s "$file") $(sha256sum <"$file" | cut -d' ' -f1) $file"
  done)
  echo end
}
empty_inbox() { [ -z "$(ls -A "$inbox")" ]; }
tidy() { rm -rf "$inbox" && mkdir "$inbox"; }
# What must hold after any night, whatever has happened in it.
sound() { # NAME
  is "$1: the data is sound" grid check -q
  is "$1: no work is left" test -z "$(ls -A "$data/night" 2>/dev/null)"
  isnt "$1: no half backup is left" test -e "$backups/backup.part"
}

is "init" grid init
is "before any night" status
is "it is said that there was none" told 'no night yet'

# Night 1: a whole delivery.
whole monday old
isnt "a night without data fails" night
is "and says why" reported 'compute: nothing was imported yet'
is "a folder that is not complete is left alone" test -d "$inbox/monday"
touch "$inbox/monday.done"
is "night 1" night
is "the inbox is empty" empty_inbox
is "each step is in the table" eval 'for step in take check import compute index \
  pack export backup prune report; do told "^  $step .*done" || exit 1; done'
is "articles are counted" told '^  import +monday +done +[0-9.]+ +12$'
is "rows are served" eval '[ "$("$gridctl" --data "$data" dump F1 | wc -l)" = 6 ]'
is "the report came" reported '^night of 20.*: done$'
is "with its title" grep -qE '^done: Night of 20[0-9-]+ done$' "$work/title"
is "status prints the same" status
is "the table" told '^  backup +done'
is "as JSON" eval 'status --json && python3 -c "import json, sys
night = json.load(open(sys.argv[1]))
assert night[\"ended\"] and len(night[\"steps\"]) == 10
assert all(step[\"state\"] == \"done\" for step in night[\"steps\"])" "$work/out"'
is "validated ranges are exported" eval 'head -n 1 "$work"/outbox/gammes-*.csv |
  grep -q fournisseur,codein,gamme'
sound "night 1"

# Night 2: a merge, with a manifest.
mkdir "$inbox/tuesday"
printf '%s\nF2,B1,new,,,,,,,,,,,\n' $head >"$inbox/tuesday/articles.csv"
manifest tuesday merge >"$inbox/tuesday.manifest"
is "night 2" night
is "the merge" eval '"$gridctl" --data "$data" dump F2 | grep -q "\"new\""'
is "kept the others" eval '[ "$("$gridctl" --data "$data" dump F2 | wc -l)" = 6 ]'
is "the inbox is empty again" empty_inbox
sound "night 2"
# A marker that says merge, with a line end.
mkdir "$inbox/word"
printf '%s\nF2,B2,word,,,,,,,,,,,\n' $head >"$inbox/word/articles.csv"
echo merge >"$inbox/word.done"
is "night 2b" night
is "a marker may say merge" eval \
  '[ "$("$gridctl" --data "$data" dump F2 | grep -cE "\"(new|word)\"")" = 2 ]'
seen >"$work/before"

# refused NAME STEP: a night that changes nothing, and says why.
refused() { # NAME STEP PATTERN DELIVERY
  isnt "$1 fails the night" night
  is "$1: by the step" told "^  $2 +$4 +failed"
  is "$1: with the reason" reported "$3"
  is "$1: and what to do" reported 'to do: have '
  is "$1: the title says so" grep -q "^failed: .* failed: $2 of $4\$" "$work/title"
  isnt "$1: status fails" status
  is "$1: it is set aside" test -d "$inbox/$4.refused"
  isnt "$1: the import is not done" told "^  import +$4 +done"
  is "$1: the backup is made all the same" told '^  backup +done'
  seen >"$work/after"
  is "$1: readers see what they saw" cmp "$work/before" "$work/after"
  sound "$1"
  tidy
}
# Night 3: half a file, and a manifest that knows better.
whole cut new
manifest cut whole >"$inbox/cut.manifest"
head -c 100 "$inbox/cut/articles.csv" >"$work/half"
cp "$work/half" "$inbox/cut/articles.csv"
refused "half a file" take 'articles.csv: has 100 bytes, and the manifest' cut
# The same size, other bytes.
whole bent new
manifest bent whole >"$inbox/bent.manifest"
sed -i s/new/nwe/ "$inbox/bent/articles.csv"
refused "other bytes" take 'articles.csv: has not the SHA-256' bent
# A file that is missing, one too many, half a manifest.
whole lost new
manifest lost whole >"$inbox/lost.manifest"
rm "$inbox/lost/sales.csv"
refused "a missing file" take 'sales.csv: is in the manifest, and did not' lost
whole more new
manifest more whole >"$inbox/more.manifest"
cp "$inbox/more/sales.csv" "$inbox/more/stock.csv"
refused "a file too many" take 'stock.csv: is not in the manifest' more
whole short new
manifest short whole | sed '$d' >"$inbox/short.manifest"
refused "half a manifest" take 'manifest:[0-9]+: is cut short' short
# Night 4: half a file, without a manifest.
whole few new
articles new 6 0 >"$inbox/few/articles.csv"
touch "$inbox/few.done"
refused "half of the articles" check 'articles: 6 of 12 would go' few
is "it may be meant" reported "rename it to few and run 'gridctl night run --yes'"
# Night 5: wrong columns.
whole odd new
sed -i 1s/codein/code/ "$inbox/odd/articles.csv"
touch "$inbox/odd.done"
refused "wrong columns" check '^ *articles.csv:1: codein: the column is missing' odd
isnt "--yes is no remedy of that" reported '[-]-yes'
# Night 6: what a sender must not do.
whole link new
rm "$inbox/link/sales.csv"
ln -s /etc/passwd "$inbox/link/sales.csv"
touch "$inbox/link.done"
refused "a link" take 'sales.csv: is no regular file' link
whole pipe new
mkfifo "$inbox/pipe/stock.csv"
touch "$inbox/pipe.done"
refused "a pipe" take 'stock.csv: is no regular file' pipe
whole mode new
echo half >"$inbox/mode.done"
refused "another marker" take "must be empty, or say 'whole' or 'merge'" mode
# Night 7: a full disk, as a limit on the size of files.
whole full new
touch "$inbox/full.done"
full_night() (
  ulimit -f 8
  night
)
isnt "a full disk fails the night" full_night
isnt "and imports nothing" told '^  import +full +done'
is "it is said" told 'disk is full|no space left'
seen >"$work/after"
is "readers see what they saw" cmp "$work/before" "$work/after"
is "the data is sound" grid check -q
# The delivery is let in again, once there is room.
mv "$inbox/full.refused" "$inbox/full"
is "night 8, with room" night
is "imports it" eval '"$gridctl" --data "$data" dump F1 | grep -q "\"new 1\""'
is "the inbox is empty once more" empty_inbox
sound "night 8"

# Night 9: two deliveries; the first has a fault, the second one is imported.
whole a-first newer
sed -i 1s/codein/code/ "$inbox/a-first/articles.csv"
touch "$inbox/a-first.done"
whole b-second newest
touch "$inbox/b-second/.done"
isnt "a night with a refused delivery fails" night
is "the second is imported" told '^  import +b-second +done'
is "the first is not" told '^  import +a-first +skipped'
is "its rows are there" eval '"$gridctl" --data "$data" dump F1 | grep -q newest'
sound "night 9"
tidy
# What looks like a mistake, and is meant.
whole meant meant
articles meant 2 1 >"$inbox/meant/articles.csv"
sed -i '4,$d' "$inbox/meant/sales.csv"
touch "$inbox/meant.done"
isnt "half of the articles" night
mv "$inbox/meant.refused" "$inbox/meant"
is "go with --yes" night --yes
is "and only then" eval '[ "$("$gridctl" --data "$data" dump F1 | wc -l)" = 2 ]'
sound "--yes"

# --- rotation, and a backup that is good for something -------------------------------
# A night's name has its second: this one has another name than those before.
await_second() {
  until [ "$(date -u +%Y%m%dT%H%M%SZ)" \> "$(ls "$backups" | tail -n 1)" ]; do
    sleep 0.1
  done
}
later_night() {
  await_second
  night
}
for at in 1 2 3; do
  is "a night without a delivery" later_night
done
is "three backups are kept" eval '[ "$(ls "$backups" | wc -l)" = 3 ]'
newest=$backups/$(ls "$backups" | tail -n 1)
restored() {
  "$gridctl" --data "$work/restored" restore "$newest" >"$work/out" 2>&1 &&
    "$gridctl" --data "$work/restored" check -q >"$work/out" 2>&1 &&
    "$gridctl" --data "$work/restored" dump F1 | grep -q '"meant 1"'
}
is "the newest restores to what is served" restored

# A folder for backups that cannot be made: a file is in its place.
: >"$work/nowhere"
sed "s#^folder = $backups#folder = $work/nowhere/backups#" "$work/night.conf" \
  >"$work/nowhere.conf"
nowhere() {
  grid night run --settings "$work/nowhere.conf"
  [ $? -eq 1 ]
}
is "a folder for backups that cannot be made fails the night" nowhere
is "its backup is told as failed" told '^  backup +failed'
is "with the folder" reported 'nowhere/backups'
is "the rest is done" told '^  prune +done'

# An inbox that is not there: a mistake in night.conf.
sed "s#^folder = $inbox#folder = $work/inbocks#" "$work/night.conf" >"$work/typing.conf"
typing() {
  await_second
  grid night run --settings "$work/typing.conf"
}
isnt "an inbox that is not there fails the night" typing
is "by the step that takes" told '^  take +failed'
is "with the folder" reported "gridctl night: $work/inbocks: not found"
is "and what to do" reported 'to do: make the folder, or mend .inbox. folder'
is "the backup is made" told '^  backup +done'
mkdir "$work/inbocks"
is "once it is made, the night is done" typing

# Folders that a night must not write to.
misplaced() { # SECTION FOLDER PATTERN [SETTING]
  printf '[inbox]\nfolder =\n[%s]\n%s = %s\n' "$1" "${4:-folder}" "$2" >"$work/misplaced.conf"
  isnt "$1 ${4:-} to $2 is refused" grid night run --settings "$work/misplaced.conf"
  is "and why" told "^gridctl night: .$1. ${4:-folder}: .*$3"
}
ln -s "$data/trail" "$work/linked-trail"
mkdir -p "$data/trail"
misplaced backup "$data" "is in the data directory $data: name a folder outside"
misplaced backup "$data/trail/new/er" 'is in the data directory'
misplaced backup "$work/linked-trail/x" 'is in the data directory'
misplaced export "$data/trail" 'is in the data directory'
misplaced backup backups 'is no whole path'
misplaced backup "$data/copies" "is in the data directory $data: name a folder outside" send_to
misplaced backup "$work/linked-trail" 'is in the data directory' send_to
ln -s "$work" "$work/linked-work"
misplaced backup "$work/linked-work" "holds the data directory $data: name" send_to
rm "$work/linked-work"
misplaced backup copies 'is no whole path' send_to
isnt "which makes none" test -e backups
rm "$work/linked-trail"

# A data directory that takes no file, as on a full disk: the backup, elsewhere, is
# as good as ever, and no one is sent to the folder of backups to make room.
rm -f "$data/backups.json"
mkdir -p "$data/backups.json/full"
is "a night that cannot note its backup" later_night
is "has made it" told '^  backup +done'
is "and says where it could not be noted" \
  told "the backup is complete, .* noted in $data: "
rm -r "$data/backups.json"
is "the backup restores" eval 'newest=$backups/$(ls "$backups" | tail -n 1)
  rm -rf "$work/restored" && restored'

# --- what is new is copied, the rest is shared ----------------------------------------
inodes() { find "$1" -name '*.mdb' -path '*/snapshots/*' -printf '%f %i\n' | sort; }
is "two nights without a delivery" eval 'later_night && later_night'
last=$(ls "$backups" | tail -n 1)
before=$(ls "$backups" | tail -n 2 | head -n 1)
is "share their snapshots" eval '[ -n "$(inodes "$backups/$last")" ] &&
  [ "$(inodes "$backups/$last")" = "$(inodes "$backups/$before")" ]'
isnt "the data directory shares none" eval 'inodes "$data" |
  grep -qF "$(inodes "$backups/$last" | head -n 1)"'
# A byte that the disk of the backups has bent must not be in each later one.
bend() { # FILE: other bytes, the same size and time
  local at half
  at=$(stat -c %y "$1")
  half=$(($(stat -c %s "$1") / 2))
  head -c $half /dev/urandom | dd of="$1" bs=$half seek=1 conv=notrunc 2>/dev/null
  touch -d "$at" "$1"
}
snapshot_of() { find "$1" -name '*.mdb' -path '*/snapshots/F1/*'; } # BACKUP
bend "$(snapshot_of "$backups/$last")"
isnt "the bent backup is found by check" grid --data "$backups/$last" check -q
is "the night makes a new one" later_night
newest=$backups/$(ls "$backups" | tail -n 1)
is "which is whole" grid --data "$newest" check -q
is "and does not share the bent file" eval \
  '[ "$(inodes "$newest")" != "$(inodes "$backups/$last")" ]'

# --- to another place by rsync, and back -----------------------------------------------
away=$work/away
mkdir -m 751 "$away"
sed "/^folder = .*backups/a send_to = $away" "$work/night.conf" >"$work/send.conf"
sending() {
  await_second
  grid night run --settings "$work/send.conf"
}
test_restore() { grid night test-restore --settings "$1"; }
if command -v rsync >/dev/null; then
  is "a night that sends" sending
  is "says so" told '^  send +done'
  newest=$(ls "$backups" | tail -n 1)
  is "all backups are there" eval '[ "$(ls "$backups")" = "$(ls "$away")" ]'
  is "byte for byte" diff -r -x "*-lock" "$backups" "$away"
  is "the folder's mode stays as it was" test "$(stat -c %a "$away")" = 751
  is "and share their files there, too" eval \
    '[ "$(find "$away" -name "*.mdb" -path "*/snapshots/F1/*" -links +1 | wc -l)" -ge 2 ]'
  is "the newest is restored from there and checked" test_restore "$work/send.conf"
  is "and it is said" told "^$away/$newest: restored, and every byte"
  is "nothing of it is left" eval '[ "$(ls "$backups")" = "$(ls "$away")" ]'
  is "all three are noted" grep -qE \
    '"made":"2.*","sent":"2.*","tested":"2' "$data/backups.json"
  # What is cut on the way is no backup there.
  mv "$away" "$work/away.kept"
  : >"$away"
  isnt "no room to send to" sending
  is "is told" told '^  send +failed'
  is "with what to do" told 'to do: mend .backup. send_to'
  is "the backup is made" told '^  backup +done'
  rm "$away"
  mv "$work/away.kept" "$away"
  # rsync that lies: what it wrote is compared.
  mkdir "$work/bin"
  cat >"$work/bin/rsync" <<END
#!/bin/sh
$(command -v rsync) "\$@" || exit
case "\$*" in
*--checksum*) ;;
*) find "$away" -name live.mdb -exec sh -c 'printf x | dd of=\$0 bs=1 seek=99 conv=notrunc 2>/dev/null' {} ';' ;;
esac
END
  chmod +x "$work/bin/rsync"
  lying() { PATH=$work/bin:$PATH sending; }
  isnt "a copy that is not the same" lying
  is "is found" told 'is not what was sent'
  is "and named" told 'live.mdb'
  is "the next night mends it" sending
  is "and it restores" test_restore "$work/send.conf"
  no_rsync() {
    mkdir -p "$work/empty"
    ln -sf "$(command -v env)" "$work/empty/env"
    PATH=$work/empty grid night run --settings "$work/send.conf"
  }
  isnt "without rsync" no_rsync
  is "the package is named" told 'apt install rsync'
else
  echo "rsync is missing: nothing was sent"
fi
is "a local backup is restored and checked" test_restore "$work/night.conf"
bend "$(snapshot_of "$backups/$(ls "$backups" | tail -n 1)")"
isnt "a damaged one is found" test_restore "$work/night.conf"
is "with the file" told 'F1'
is "and nothing of it is left" test ! -e "$backups/restore.part"
is "the next night's backup is sound again" later_night
is "and restores" test_restore "$work/night.conf"
isnt "a folder of backups is no backup" \
  grid --data "$work/none" restore "$backups"
is "the newest is named" told "the newest is $backups/$(ls "$backups" | tail -n 1)"

# --- one at a time, and a damaged night.json -------------------------------------------
exec 9>"$data/locks/night"
flock 9
isnt "a second night beside one" night
is "is told" told 'another .gridctl night run. is under way'
is "status sees it run" eval 'status; told "^night of"'
exec 9>&-
echo '{"version":1,"steps":[{' >"$data/night.json"
isnt "a damaged night.json is told" status
is "and the next night begins anew" night
is "status is right again" status

# --- the report to an address ------------------------------------------------------
cat >"$work/listen.py" <<'END'
import http.server, json, sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[1] + "/posted", "wb") as file:
            file.write(self.headers["Authorization"].encode() + b"\n" + body)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + "/port.part", "w") as file:
    file.write(str(server.server_port))
import os
os.rename(sys.argv[1] + "/port.part", sys.argv[1] + "/port")
server.handle_request()
END
python3 "$work/listen.py" "$work" &
listener=$!
for _ in $(seq 600); do [ ! -e "$work/port" ] || break; sleep 0.1; done
echo sesame >"$work/secret"
cat >"$work/url.conf" <<END
[inbox]
folder = $inbox
[report]
url = http://127.0.0.1:$(cat "$work/port")/assistant/hook/night
secret_file = $work/secret
END
is "a night that reports to an address" grid night run --settings "$work/url.conf"
kill $listener 2>/dev/null
wait $listener 2>/dev/null
is "with the secret" eval 'head -n 1 "$work/posted" | grep -qx "Bearer sesame"'
is "and what gridhook reads" eval 'sed 1d "$work/posted" | python3 -c "
import json, sys
body = json.load(sys.stdin)
assert body[\"status\"] == \"done\" and body[\"source\"] == \"night\"
assert \"prune\" in body[\"text\"] and \"Night of\" in body[\"title\"]"'
isnt "nobody listens any more: the night" grid night run \
  --settings "$work/url.conf"
is "fails by its report" told '^  report +failed'
sed -i 's|127.0.0.1:[0-9]*|example.net|' "$work/url.conf"
isnt "a secret in the clear" grid night run --settings "$work/url.conf"
is "is refused" told 'a secret goes over https'

# --- kills ---------------------------------------------------------------------------
# Each rename is a moment at which something becomes visible, or a step begins or
# ends: the n-th of them kills the process that is about to make it.
killed_at() { # N: a night with a delivery, killed there; the exit code
  strace -f -qq -o /dev/null -e trace=rename,renameat,renameat2 \
    -e inject=rename,renameat,renameat2:signal=SIGKILL:when="$1" \
    "$gridctl" --data "$data" night run --settings "$work/night.conf" \
    >"$work/out" 2>&1
}
if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null; then
  nth=0
  cut=0
  while [ $nth -lt 60 ]; do
    nth=$((nth + 1))
    word=$([ $((nth % 2)) = 0 ] && echo even || echo odd)
    seen >"$work/before"
    whole "kill$nth" $word
    touch "$inbox/kill$nth.done"
    killed_at $nth && break
    cut=$((cut + 1))
    # All of the old rows, or all of the new ones of each supplier.
    seen >"$work/after"
    for supplier in F1 F2; do
      words=$("$gridctl" --data "$data" dump $supplier 2>/dev/null |
        grep -oE '"(meant|even|odd) [0-9]"' | cut -d' ' -f1 | sort -u | wc -l)
      is "killed at rename $nth: $supplier is of one import" [ "$words" = 1 ]
    done
    is "killed at rename $nth: the data is sound" grid check -q
    night
    is "after it the night goes on to its end" told '^  prune +done'
    is "and imports the delivery" eval '"$gridctl" --data "$data" dump F1 |
      grep -q "\"$word 6\""'
    is "the inbox is empty after it" empty_inbox
    is "and no night.json is half written" \
      [ -z "$(find "$data" -name 'night.json.*')" ]
    sound "killed at rename $nth"
  done
  is "kills came at many moments: $cut" [ $cut -ge 15 ]
else
  echo "strace cannot be used here: no kills were tried"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

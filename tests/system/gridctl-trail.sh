#!/bin/sh
# Months of the trail are closed on a full disk, under kills, and their files are
# damaged: no entry is lost, none is told wrongly, and the next run goes on. Months
# that are lost or in an archive are told by each command that reads them. The
# clock of what is written before is set back by a library that stands before
# clock_gettime(). Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
skip() { echo "skipped: $*"; exit 77; }
[ -x "$gridctl" ] || skip "$gridctl is not built"
gridapi=${GRIDAPI:-${abs_top_builddir:-.}/fcgi/gridapi}
[ -x "$gridapi" ] || skip "$gridapi is not built"
command -v cc >/dev/null || skip "no C compiler"
! grep -q __asan_init "$gridctl" || skip "sanitizers allow no other library"
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-trail-XXXXXX") || exit 1
server=
trap '[ -z "$server" ] || kill "$server"
  rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
is() { # NAME COMMAND...: the command succeeds
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
  fi
}
grid() { # DATA WORD...
  where=$1
  shift
  "$gridctl" --data "$work/$where" "$@"
}

cc -shared -fPIC -o "$work/back.so" "${abs_top_srcdir:-.}/tests/system/back.c" || skip "cc makes no library"

"$gridctl" --help >"$work/out"
is "the list of commands says which closes months" grep -q "^  prune .* the trail's months" "$work/out"
"$gridctl" prune --help | tr -s '\n ' ' ' >"$work/out"
is "its help says which archives them" \
  grep -q "audit trail that are over into files, which gridapi, .* archive" "$work/out"

# Three months with entries, the last one the present.
grid made init >/dev/null
for days in 70 35 0; do
  for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
    DAYS_BACK=$days LD_PRELOAD=$work/back.so \
      "$gridctl" --data "$work/made" key create --name "k$days-$number" \
      --scope read >/dev/null 2>&1
  done
done
entries() { grid "$1" proposals log --json 2>/dev/null; }
entries made >"$work/all"
is "there are entries" [ "$(grep -o '"number"' "$work/all" | wc -l)" -ge 36 ]
same() { entries "$1" | cmp -s - "$work/all"; }
again() { rm -rf "$work/$1" && cp -r "$work/made" "$work/$1"; }
parts() { find "$work/$1/trail" -name '*.part' 2>/dev/null | wc -l; }
whole() { grid "$1" check --quiet >"$work/out" 2>&1; }
tidy() { [ -z "$(find "$work/$1" -name '*.tmp')" ]; }

# A limit on the size of files is a full disk, of the parts and of state.mdb; what
# is said goes through a pipe, which has no limit.
again full
full() { (ulimit -f 0 && grid full prune 2>&1) | cat >"$work/out"; }
full
is "a full disk closes no month" [ "$(parts full)" = 0 ]
is "and is told" grep -qE "^gridctl prune: $work/full/trail: months .* stay in \
state\.mdb, and the next run moves them here: the disk is full" "$work/out"
is "as is what was removed before" grep -q ' leftovers removed: ' "$work/out"
is "and loses no entry" same full
is "and what is stored is whole" whole full
is "with room again the months are closed" grid full prune >"$work/out"
is "both of them" [ "$(parts full)" = 2 ]
is "with all entries" same full
is "whole" whole full
is "and nothing beside them" tidy full

newest() { # STORE N
  [ "$(grid "$1" proposals log --last "$2")" = \
    "$(grid "$1" proposals log | sed -n "1p;$((37 - $2 + 1)),\$p")" ]
}
is "the newest entries alone are those of the whole log" [ "$(grid made proposals log | wc -l)" = 37 ]
is "of the running month" newest made 5
is "of the months that are closed" newest full 30
is "and more than there are" [ "$(grid full proposals log --last 999)" = "$(grid full proposals log)" ]
is "from an entry on" [ "$(grid full proposals log --from 35 --last 30 | wc -l)" = 3 ]

# Killed, by itself at each of its moments, and then run again.
killed() { # SECONDS
  again kill
  "$gridctl" --data "$work/kill" prune >/dev/null 2>&1 &
  sleep "$1"
  kill -9 $! 2>/dev/null
  wait $! 2>/dev/null
  same kill && whole kill && grid kill prune >/dev/null 2>&1 &&
    [ "$(parts kill)" = 2 ] && same kill && whole kill && tidy kill
}
for after in 0.001 0.004 0.008 0.012 0.016 0.02 0.03 0.05; do
  is "killed after $after s" killed $after 2>/dev/null
done

# A byte of a part that is another one is told, or was not needed.
part=$(find "$work/full/trail" -name '*.part' | sort | head -n 1)
bytes=$(wc -c <"$part")
cp "$part" "$work/sound"
flip() { # PLACE: of one byte all bits
  python3 - "$part" "$1" <<'END'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(int(sys.argv[2]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[2]))
    file.write(bytes([byte ^ 255]))
END
}
right_or_told() {
  if grid full proposals log --json >"$work/out" 2>"$work/err"; then
    cmp -s "$work/out" "$work/all"
  else
    [ -s "$work/err" ] && grep -qF "$part: entries 1 to 12 " "$work/err" &&
      has_others "$work/out"
  fi
}
has_others() { # FILE: an array of JSON with all entries of the sound month
  python3 - "$1" "$work/all" <<'END'
import json, sys
got, whole = (json.load(open(name)) for name in sys.argv[1:])
sys.exit(got[-24:] != whole[12:] or any(entry not in whole for entry in got))
END
}
found() { ! whole full && grep -q 'trail' "$work/out"; }
command -v python3 >/dev/null || skip "no python3"
for at in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  place=$((bytes * at / 16))
  flip $place
  is "byte $place: no entry is told wrongly" right_or_told
  cp "$work/sound" "$part"
done
flip 200
is "check finds a damaged part, and names it" found
head -c $((bytes / 2)) "$work/sound" >"$part"
is "a part that is cut is told" right_or_told
is "and found" found
rm "$part"
is "one that is missing is told" right_or_told
is "and found, too" found

# What the log shows without a month, and what it tells on standard error.
log() { # CODE OPTION...
  code=$1
  shift
  grid full proposals log "$@" >"$work/out" 2>"$work/err"
  [ $? = "$code" ]
}
shown() { awk 'NR > 1 { print $1 }' "$work/out" | paste -sd ' '; }
told() { grep -qE "$1" "$work/err"; }
cp "$work/sound" "$part"
flip 204 # of the first block: entries begin at 192 (trail_part.h)
is "from an entry on in a damaged block" log 1 --from 5
is "the log tells which ones are left out" told "$part: entries 1 to 12 .*: stored data damaged; left out: 5 to 12: copy"
is "and shows the others" [ "$(shown)" = "$(seq -s ' ' 13 36)" ]
rm "$part"
missing='entries 1 to 12 of the audit trail \([0-9-]*\): the file is missing: copy the file back from a backup'
is "without a month the log fails" log 1
is "and shows the others" [ "$(shown)" = "$(seq -s ' ' 13 36)" ]
is "and tells what lacks, why, and what to do" told "$missing"
is "the newest that need the month are shown" log 1 --last 30
is "as far as they are there" [ "$(shown)" = "$(seq -s ' ' 13 36)" ]
is "with what lacks" told "$missing"
is "the newest without the month are as always" log 0 --last 10
is "and nothing is told" [ ! -s "$work/err" ]
is "so are those from a later entry on" log 0 --from 13 --last 30
is "and nothing is told of them, either" [ ! -s "$work/err" ]
is "an article's log tells it, too" log 1 --codein A1
is "in the same words" told "$missing"
doctor() { # PATTERN: of a line; neither a site nor a night is there
  grid full doctor --site "$work/none" --settings "$work/none" 2>&1 | grep -qE "$1"
}
stat() { grid full stat "$@" 2>"$work/err" >"$work/out"; }
trail_of() { # the months that stat --json has, a line each
  stat --json && python3 -c 'import json, sys
for one in json.load(open(sys.argv[1]))["trailMonths"]:
    print(one["place"], one["firstEntry"], one["lastEntry"], one["files"], one["bytes"] > 100)' "$work/out"
}
is "the doctor tells a missing file" doctor "^WRONG +trail +$part: entries 1 to 12 "
is "and what to do" doctor '^ +-> copy the file back from a backup'
is "so does stat" [ "$(trail_of)" = "$(printf 'lost 1 12 1 True\nhere 13 24 1 True')" ]
backup() { # CODE TO
  grid full backup "$work/$2" >"$work/out" 2>"$work/err"
  [ $? = "$1" ]
}
is "a backup without the month fails" backup 1 lacking
is "and names the file" told "^gridctl backup: $part: $missing"
is "and has all else" told "^gridctl backup: $work/lacking has all else"
is "which is a backup" grid lacking proposals list >"$work/out"
is "with the other month" [ "$(parts lacking)" = 1 ]
restored() {
  grid again restore "$work/lacking" >"$work/out" 2>"$work/err"
  [ $? = 1 ]
}
is "so does a restore of it" restored
is "which names where the file belongs" told "^gridctl restore: $work/again/trail/.*: ${missing%:*} in the backup: copy the file"
is "and is restored" [ "$(grid again proposals log 2>"$work/err" | wc -l)" = 25 ]
cp -p "$work/sound" "$part"
is "with the month again, a backup is made" backup 0 good
: >"$part"
onto_good() { # CODE TO
  grid full backup --base "$work/good" "$work/$2" >"$work/out" 2>"$work/err"
  [ $? = "$1" ]
}
damaged='entries 1 to 12 of the audit trail \([0-9-]*\): the file is empty'
good_part=$work/good/trail/$(basename "$part")
is "an empty month fails the backup on top of it" onto_good 1 onto
is "which names the month of the data directory" \
  told "^gridctl backup: $part: $damaged: copy the file back from a backup"
is "and the sound one that it takes" told "^gridctl backup: $good_part is sound"
is "and has all" told "^gridctl backup: $work/onto has all\$"
is "which is whole" whole onto
is "with all entries" same onto
is "without an earlier backup it fails as well" backup 1 alone
is "and has all else" told "^gridctl backup: $work/alone has all else\$"
is "but no file that cannot be read" [ "$(parts alone)" = 1 ]
ln -sf "$work/sound" "$part"
is "a link in place of the month fails the backup" backup 1 instead
is "which says that it is one" told "^gridctl backup: $part: .*a link.*: remove that, and copy the file back"
rm "$part"
cp -p "$work/sound" "$part"
cp -r "$work/good" "$work/bad"
: >"$work/bad/trail/$(basename "$part")"
restored_bad() {
  rm -rf "$work/again"
  grid again restore "$work/bad" >"$work/out" 2>"$work/err"
  [ $? = 1 ]
}
is "a restore of a bad month fails" restored_bad
is "which says where it belongs" told "^gridctl restore: $work/again/trail/.*: $damaged in the backup: copy"
is "and has all else" [ "$(parts again)" = 1 ]
if command -v rsync >/dev/null; then
  # Without a host: this ssh leaves its name out, and runs the rest here.
  printf '#!/bin/sh\nshift\nexec "$@"\n' >"$work/ssh"
  chmod +x "$work/ssh"
  fetched() {
    rm -rf "$work/again"
    grid again restore --ssh "$work/ssh" "host:$work/$1" >"$work/out" 2>"$work/err"
    [ $? = "$2" ]
  }
  is "a restore from another host fails, too" fetched bad 1
  is "in the same words" told "^gridctl restore: $work/again/trail/.*: $damaged in the backup: copy"
  is "where the months are sound, it is done" fetched good 0
fi

# A month that the owner of the data directory may not read.
if [ "$(id -u)" = 0 ]; then
  chmod 711 "$work"
  cp -r "$work/good" "$work/denied"
  chown -R nobody "$work/denied"
  install -d -o nobody -m 750 "$work/of-denied"
  closed=$work/denied/trail/$(basename "$part")
  chown root "$closed"
  chmod 600 "$closed"
  denied() {
    grid denied backup "$work/of-denied" >"$work/out" 2>"$work/err"
    [ $? = 1 ]
  }
  is "a month that may not be read fails the backup" denied
  is "which names it, and why" told "^gridctl backup: $closed: entries .*: permission denied: give it"
  is "and has all else" told "^gridctl backup: $work/of-denied has all else\$"
  is "which is there" [ "$(parts of-denied)" = 1 ]
fi

# The night with a month that is not sound, and again once it is mended.
printf '[inbox]\nfolder =\n[backup]\nfolder = %s\n' "$work/nights" >"$work/night.conf"
mkdir "$work/nights" "$work/csv" # a night without an import fails for itself
printf 'code,nom\nF1,One\n' >"$work/csv/suppliers.csv"
{ echo fournisseur,codein,libelle1,libelle2,marque,gtin,reference,codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme
  echo F1,A1,one,,,,,,,,,,,; } >"$work/csv/articles.csv"
grid full import --quiet "$work/csv" >/dev/null
cp -r "$work/good" "$work/nights/20200101T000000Z"
night() { # CODE STATE: of the night, and of its backup
  before=$(ls "$work/nights" | tail -n 1)
  while [ "$(date -u +%Y%m%dT%H%M%SZ)" = "$before" ]; do sleep 0.05; done
  grid full night run --settings "$work/night.conf" >"$work/out" 2>"$work/err"
  [ $? = "$1" ] || return 1
  cat "$work/err" >>"$work/out"
  grep -q "^  backup .* $2 " "$work/out"
}
newest_night() { ls "$work/nights" | tail -n 1; }
head -c 300 "$work/sound" >"$part"
rm "$work/full/backups.json"
is "a night with a bad month fails" night 1 failed
is "by this alone" [ "$(grep -c '^  [a-z]* .* failed ' "$work/out")" = 1 ]
is "names the month of the data directory" grep -qF "    gridctl backup: $part: entries 1 to 12" "$work/out"
is "and that of the last backup" grep -qF "$work/nights/20200101T000000Z/trail/" "$work/out"
is "and nothing that is gone" eval '! grep -q backup\.part/ "$work/out"'
is "and copies once" eval '! grep -qE "copied anew|test the disk" "$work/out"'
is "it makes the backup with the last one's month" [ "$(ls "$work/nights" | wc -l)" = 2 ]
is "which is whole" whole "nights/$(newest_night)"
is "and has all entries" same "nights/$(newest_night)"
night 1 failed
is "and says that it is, and what mends the data directory" \
  grep -q "    gridctl night: $work/nights/$(newest_night) is made, and whole: 'cp -p' from its folder trail" "$work/out"
is "its time is noted" [ -s "$work/full/backups.json" ]
for one in "$work"/nights/*/trail/"$(basename "$part")"; do
  rm "$one" # each is a link to the same file
  head -c 300 "$work/sound" >"$one"
done
count=$(ls "$work/nights" | wc -l)
is "without a sound month anywhere the night fails, too" night 1 failed
is "and makes no backup" [ "$(ls "$work/nights" | wc -l)" = "$count" ]
is "nor says that it has" eval '! grep -q "is made, and whole" "$work/out"'
for one in "$work"/nights/*/trail/"$(basename "$part")"; do
  cp -p "$work/sound" "$one"
done
cp -p "$work/nights/20200101T000000Z/trail/$(basename "$part")" "$part"
is "as told, the next night makes one" night 0 done
is "beside the earlier ones" [ "$(ls "$work/nights" | wc -l)" = $((count + 1)) ]

# The base's month is bent, and has the size and the time of the one here.
rm -rf "$work/bent" "$work/onto"
grid full backup "$work/bent" >/dev/null
bent=$work/bent/trail/$(basename "$part")
part=$bent flip 204
touch -r "$part" "$bent"
onto_bent() { # CODE
  rm -rf "$work/onto"
  grid full backup --base "$work/bent" "$work/onto" >"$work/out" 2>"$work/err"
  [ $? = "$1" ]
}
is "a backup on top of one with a bent month is made" onto_bent 0
is "which names it" told "^gridctl backup: $bent is not sound: it is copied anew, and not linked; test"
is "and is whole" whole onto
is "with all entries" same onto
cp -p "$work/sound" "$bent"
touch -r "$part" "$bent"
flip 204
touch -r "$bent" "$part"
is "a bent month here fails the backup, though its size and time are the base's" onto_bent 1
is "which names it" told "^gridctl backup: $part: entries 1 to 12 .*: stored data damaged"
is "and the sound one that is linked" told "^gridctl backup: $bent is sound"
is "and is whole" whole onto

cp "$work/sound" "$part"
flip 9 # of the version, and of its checksum
flip 12
is "a file of a later version is unreadable for stat" [ "$(trail_of)" = "$(printf 'unreadable 1 12 1 True\nhere 13 24 1 True')" ]
unreadable() { ! grid full check >"$work/out" 2>&1 && grep -qE "^unreadable: $part: entries 1 to 12 .*or, where none did, copy the file back from a backup" "$work/out"; }
is "and for check, which says both that may be" unreadable
head -c 100 "$work/sound" >"$part"
is "the doctor tells a file that is cut" doctor "^WRONG +trail +$part: .*: stored data damaged"
cp "$work/sound" "$part"
is "put back, all is right" same full
is "and whole" whole full

# gridapi takes the first month to an archive, and leaves the second one.
mkdir "$work/archive" "$work/run"
second=$(find "$work/full/trail" -name '*.part' | sort | tail -n 1)
month=$(basename "$second" | cut -c 1-7)
keep=$(($(date -u +%Y) * 12 + $(date -u +%-m) - ${month%-*} * 12 - $(expr "${month#*-}" + 0)))
"$gridapi" --config /dev/null --set data.dir="$work/full" --set hooks.deliver=no \
  --set pages.socket="$work/run/pages" --set slow.socket="$work/run/slow" \
  --set compute.gridctl="$gridctl" --set trail.keep=$keep \
  --set trail.archive="$work/archive" >"$work/api.log" 2>&1 &
server=$!
while [ -e "$part" ] && kill -0 $server 2>/dev/null; do sleep 0.05; done
kill $server 2>/dev/null
wait $server
server=
is "a month is in the archive" [ "$(ls "$work/archive")" = "$(basename "$part")" ]
is "and the other one is here" [ "$(parts full)" = 1 ]
away="entries 1 to 12 \\(.*\\) are in the archive: copy the file back into $work/full/trail, by 'cp -p', to read them"
is "the log shows what is here" log 0
is "all of it" [ "$(shown)" = "$(seq -s ' ' 13 36)" ]
is "and tells what is in the archive" told "$away"
is "as JSON, too" log 0 --json
is "which has all that is here" has_others "$work/out"
is "and tells the same" told "$away"
is "the newest, too, where the month is needed" log 0 --last 30
is "in the same words" told "$away"
is "not where it is not" log 0 --last 10
is "then nothing is told" [ ! -s "$work/err" ]
is "an article's log tells it" log 0 --codein A1
is "in the same words as well" told "$away"
is "the doctor counts it" doctor '^ok +trail +files of earlier months here: 1, in an archive: 1$'
is "stat lists it" stat
is "in a line" grep -qE '^trail [0-9-]{7} .* bytes  1 file archived, entries 1 to 12$' "$work/out"
is "as JSON, too" [ "$(trail_of)" = "$(printf 'archived 1 12 1 True\nhere 13 24 1 True')" ]
is "a backup does not miss it" backup 0 without
is "check counts it" grid full check >"$work/out"
is "as no fault" grep -q '^1 file of the audit trail is in an archive, and not read$' "$work/out"
cp -p "$work/archive/$(basename "$part")" "$work/full/trail"
is "a month that is copied back is read" log 0
is "and nothing is told of it" [ ! -s "$work/err" ]
is "and all entries are there" same full
rm "$part"
echo "$passed passed, $failed failed"
[ $failed = 0 ]

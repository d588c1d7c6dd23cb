#!/bin/sh
# Kills, full disks, damaged files and leftovers: the old data is still there,
# nothing half-made is ever seen, the damage is told and the next run heals it.
# GRID_LONG=1 kills at least 200 times. Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
kills=6
articles=1500
if [ -n "${GRID_LONG:-}" ]; then
  kills=110
  articles=6000
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-faults-XXXXXX") || exit 1
mounted=
clean() {
  [ -z "$mounted" ] || umount "$mounted"
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
skipped=0
: >"$work/out"

ok() { passed=$((passed + 1)); }
not_ok() {
  failed=$((failed + 1))
  echo "not ok: $1"
  sed 's/^/    /' "$work/out" | cut -c1-300 | head -n 8
}
is() { # NAME COMMAND...: the command succeeds
  name=$1
  shift
  if "$@"; then ok; else not_ok "$name"; fi
}
data=$work/data
grid() { "$gridctl" --data "$data" "$@"; }
quiet() { grid "$@" >"$work/out" 2>&1; }

# Facts, network metrics and server ranges, each by number: one commit switches
# all three, so that a killed import never leaves the one without the others.
counts() {
  grid stat --json | sed 's/.*"suppliers":/"suppliers":/; s/,"snapshots":.*//'
}
# Two sets that nothing can mix up, and what each of them computes.
big=
for set in a b; do
  seed=$([ $set = a ] && echo 1 || echo 2)
  "$gridctl" demo --out "$work/$set" --articles "$articles" --suppliers 6 \
    --stores 4 --seed "$seed" >"$work/out" 2>&1 || not_ok "demo data"
done
quiet init
for set in a b; do
  quiet import "$work/$set" || not_ok "import of $set"
  big=$(grid suppliers | sed 1d | sort -k2 -t' ' | awk '{ gsub(/,/, "", $2)
    if ($2 + 0 > most) { most = $2 + 0; code = $1 } } END { print code }')
  quiet compute -q "$big" || not_ok "compute of $set"
  grid dump "$big" >"$work/rows.$set"
  grid suppliers --json | sed 's/"snapshot":.*//' >"$work/unused"
  counts >"$work/counts.$set"
done
is "the two sets differ" [ "$(cksum <"$work/rows.a")" != \
  "$(cksum <"$work/rows.b")" ]
is "and are counted" [ -s "$work/counts.a" ]
for count in networkProducts serverRanges articles; do
  is "the two sets differ in their $count" [ \
    "$(grep -o "\"$count\":[0-9]*" "$work/counts.a")" != \
    "$(grep -o "\"$count\":[0-9]*" "$work/counts.b")" ]
done
# Which set's facts are current; "neither" is what may never be.
facts_now() {
  counts >"$work/counts"
  for set in a b; do
    cmp -s "$work/counts" "$work/counts.$set" && echo $set && return
  done
  cp "$work/counts" "$work/out"
  echo neither
}
rows_now() {
  grid dump "$big" >"$work/rows" 2>>"$work/out" || { echo none && return; }
  for set in a b; do
    cmp -s "$work/rows" "$work/rows.$set" && echo $set && return
  done
  echo neither
}
whole() { quiet check -q; }

# --- kill -9 -----------------------------------------------------------------
now_ms() { date +%s%N | cut -c1-13; }
# time_of COMMAND...: how long it takes, in ms.
time_of() {
  start=$(now_ms)
  quiet "$@"
  echo $(($(now_ms) - start + 1))
}
random=$(($(date +%N | sed 's/^0*//') % 30000 + 1))
[ -z "${GRID_SEED:-}" ] || random=$GRID_SEED
echo "seed of the moments: $random"
# A moment from 0 to so many ms, as seconds.
moment() {
  random=$(((random * 1103515245 + 12345) % 2147483648))
  ms=$((random / 65536 % ($1 + $1 / 8 + 1)))
  printf '%d.%03d' $((ms / 1000)) $((ms % 1000))
}
# kill_in MS COMMAND...: starts it and kills it at a random moment; fails when it
# had ended before, so that its time is less than was thought.
killed=0
kill_in() {
  most=$1
  shift
  "$gridctl" --data "$data" "$@" >"$work/killed" 2>&1 &
  pid=$!
  sleep "$(moment "$most")"
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
  [ $? -eq 137 ] && killed=$((killed + 1))
}

# The index of words, of this snapshot or of the one before: never half of one.
index_now() {
  grid stat --json | sed 's/.*"snapshotsIndexed":\([0-9]*\).*/\1/'
}
index_whole() { quiet index && quiet check -q && [ "$(index_now)" = 1 ]; }
# What is to be made anew, each time it is tried.
spoil_index() { quiet compute -q "$big"; }

quiet index
is "the index of words" [ "$(index_now)" = 1 ]
quiet index
is "is then up to date" grep -q '^index: up to date: 1 suppliers' "$work/out"
import_ms=$(time_of import -q "$work/a")
compute_ms=$(time_of compute -q "$big")
index_ms=$(time_of index -q)
tries=0
while [ $killed -lt $((kills * 3)) ] && [ $tries -lt $((kills * 5)) ]; do
  tries=$((tries + 1))
  rows_before=$(rows_now)
  facts_before=$(facts_now)
  other=$([ "$facts_before" = a ] && echo b || echo a)
  kill_in "$import_ms" import -q "$work/$other" ||
    import_ms=$((import_ms * 3 / 4 + 1))
  facts=$(facts_now)
  case $facts in a | b) ok ;; *) not_ok "killed import: $facts facts" ;; esac
  is "killed import: the rows served are the same" \
    [ "$(rows_now)" = "$rows_before" ]
  is "killed import: the store is whole" whole
  kill_in "$compute_ms" compute -q "$big" ||
    compute_ms=$((compute_ms * 3 / 4 + 1))
  case $(rows_now) in
  "$rows_before" | "$facts") ok ;;
  *) not_ok "killed compute: rows of $(rows_now), facts $facts" ;;
  esac
  is "killed compute: the store is whole" whole
  spoil_index
  kill_in "$index_ms" index -q || index_ms=$((index_ms * 3 / 4 + 1))
  is "killed index: the store is whole" whole
done
echo "killed $killed times in $tries rounds"
is "enough of them met it running" [ $killed -ge $((kills * 3)) ]
is "an import after all that" quiet import -q "$work/b"
is "a compute after all that" quiet compute -q "$big"
is "has the new rows" [ "$(rows_now)" = b ]
is "an index after all that" index_whole
quiet prune --grace 0s
is "and nothing is left over" \
  [ "$(grid check --json | sed 's/.*"leftovers":\([0-9]*\).*/\1/')" = 0 ]
left=$(find "$data" -name '*.tmp')
is "no temporary file is there: $left" [ -z "$left" ]

# --- merges, which refer to files of imports before ---------------------------
mkdir "$work/m"
# Sales of one supplier again, with other quantities each time.
other_sales() {
  awk -F, -v OFS=, -v code="$big" -v more="$1" 'NR == 1 || $1 == code {
    if (NR > 1) $5 += more
    print }' "$work/b/sales.csv" >"$work/m/sales.csv"
}
files() { find "$data/facts" -name '*.mdb' | wc -l; }
# The files of the newest import: its base file and the shares that it wrote.
newest() {
  base=$(find "$data/facts" -name '*.mdb' ! -name '*-*' | sort | tail -n 1)
  find "$data/facts" -name "$(basename "$base" .mdb)*.mdb" | wc -l
}
is "an import into five shares" quiet import -q --shares 5 "$work/b"
is "makes six files" [ "$(files) $(newest)" = "6 6" ]
is "with the same facts" [ "$(facts_now)" = b ]
quiet compute -q "$big"
is "and the same rows" [ "$(rows_now)" = b ]
is "a backup of them" quiet backup "$work/backup"
other_sales 1
merge_ms=$(time_of import -q --merge "$work/m")
is "a merge writes one of the shares" [ "$(files) $(newest)" = "6 2" ]
is "a backup beside the one before" \
  quiet backup --base "$work/backup" "$work/backup2"
is "copies what is new and links the rest" [ "$(find "$work/backup2/facts" \
  -name '*-*.mdb' -links 2 | wc -l)" = 4 ]
is "it is whole" "$gridctl" --data "$work/backup2" check -q
quiet import -q --shares 2 --merge "$work/m"
is "a merge keeps the shares that there are" [ $? -eq 2 ]
killed=0
tries=0
while [ $killed -lt $kills ] && [ $tries -lt $((kills * 5)) ]; do
  tries=$((tries + 1))
  other_sales $((tries + 1))
  kill_in "$merge_ms" import -q --merge "$work/m" ||
    merge_ms=$((merge_ms * 3 / 4 + 1))
  is "killed merge: as many facts as before" [ "$(facts_now)" = b ]
  is "killed merge: the store is whole" whole
done
is "enough merges were killed" [ $killed -ge $kills ]
for blocks in 1 8 64; do
  (
    ulimit -f $blocks
    "$gridctl" --data "$data" import -q --merge "$work/m"
  ) >"$work/out" 2>&1
  code=$?
  is "merge with $blocks blocks: exit code $code" [ $code -eq 1 ]
  is "merge with $blocks blocks: the store is whole" whole
done
# The n-th rename kills the process that is about to make it: each share, and
# behind them the base file.
killed_at() { # N OPTION... FOLDER
  nth=$1
  shift
  # LeakSanitizer cannot run under strace, and fails what ends.
  ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" \
    strace -f -qq -o /dev/null -e trace=rename,renameat,renameat2 \
    -e inject=rename,renameat,renameat2:signal=SIGKILL:when="$nth" \
    "$gridctl" --data "$data" import -q "$@" >"$work/killed" 2>&1
}
if command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null; then
  cut=0
  for nth in 1 2 3 4 5 6 7 8; do
    killed_at $nth --shares 5 "$work/a" && break
    cut=$((cut + 1))
    is "killed at rename $nth: the facts are the old ones" \
      [ "$(facts_now)" = b ]
    is "killed at rename $nth: the store is whole" whole
  done
  is "each of the files was one" [ $cut -ge 6 ]
  is "then the import ends" [ "$(facts_now)" = a ]
  is "into shares again" quiet import -q --shares 5 "$work/b"
  for nth in 1 2; do
    other_sales 90
    killed_at $nth --merge "$work/m"
    is "merge killed at rename $nth: the store is whole" whole
  done
else
  echo "strace cannot be used here: no kills at renames were tried"
fi
is "a merge after all that" quiet import -q --merge "$work/m"
quiet prune --grace 0s
is "and nothing is left over" \
  [ "$(grid check --json | sed 's/.*"leftovers":\([0-9]*\).*/\1/')" = 0 ]
for file in "$data"/facts/*.mdb; do
  mv "$file" "$work/moved"
  quiet check
  is "without ${file##*/} check tells" [ $? -eq 1 ]
  mv "$work/moved" "$file"
done
is "an import of all needs no file before" quiet import -q "$work/b"
is "and leaves one of few articles" [ "$(files)" = 1 ]
quiet compute -q "$big"
is "with its rows" [ "$(rows_now)" = b ]

# --- a full disk -------------------------------------------------------------
# Files may grow to so many blocks, and no further: of 512 bytes or 1024, as
# the shell has it, so half of what the facts need is too little for sure.
kb=$(du -k "$(find "$data/facts" -name '*.mdb')" | cut -f1)
for blocks in 1 8 64 $((kb / 4)) $((kb / 2)); do
  (
    ulimit -f $blocks
    "$gridctl" --data "$data" import -q "$work/a"
  ) >"$work/out" 2>&1
  code=$?
  is "import with $blocks blocks: exit code $code" [ $code -eq 1 ]
  is "import with $blocks blocks says why" \
    grep -Eq 'disk is full|no space|nothing was changed' "$work/out"
  is "import with $blocks blocks: the facts are the old ones" \
    [ "$(facts_now)" = b ]
  (
    ulimit -f $blocks
    "$gridctl" --data "$data" compute -q "$big"
  ) >"$work/out" 2>&1
  code=$?
  is "compute with $blocks blocks: exit code $code" [ $code -eq 5 ]
  is "compute with $blocks blocks says why" \
    grep -Eq 'the disk is full.*LimitFSIZE=' "$work/out"
  is "compute with $blocks blocks: the rows are the old ones" \
    [ "$(rows_now)" = b ]
  is "the store is whole" whole
done
# The index has a megabyte and more; a limit of one block is in the way of all.
spoil_index
for blocks in 1 8 512; do
  (
    ulimit -f $blocks
    "$gridctl" --data "$data" index
  ) >"$work/out" 2>&1
  code=$?
  is "index with $blocks blocks: exit code $code" [ $code -eq 5 ]
  is "index with $blocks blocks says why" \
    grep -q 'the disk is full.*LimitFSIZE=' "$work/out"
  is "index with $blocks blocks: the store is whole" whole
done
left=$(find "$data" -name '*.tmp')
is "no temporary file is left: $left" [ -z "$left" ]
is "an index when there is room again" index_whole
quiet prune --grace 0s

# A backup may go to another disk.
if [ -w /dev/shm ] && [ "$(stat -c %d /dev/shm)" != "$(stat -c %d "$data")" ]
then
  far=$(mktemp -d /dev/shm/grid-faults-XXXXXX)
  here=$data
  is "a backup onto another disk" quiet backup "$far/data"
  data=$far/data
  is "has the rows" [ "$(rows_now)" = b ]
  is "is whole" whole
  data=$here
  rm -rf "$far"
fi

# A small disk of its own, where that is allowed.
# The index of words is in no backup.
need_kb=$(du -sk --exclude=words.idx "$data" | cut -f1)
mkdir "$work/small"
if mount -t tmpfs -o "size=$((need_kb + 700))k" none "$work/small" \
  2>/dev/null; then
  mounted=$work/small
  here=$data
  is "a backup onto a small disk" quiet backup "$work/small/data"
  data=$work/small/data
  is "is whole" whole
  for try in 1 2; do
    quiet import -q "$work/a"
    code=$?
    is "import on a full disk: exit code $code" [ $code -eq 1 ]
    is "the facts are the old ones" [ "$(facts_now)" = b ]
    quiet compute -q "$big"
    code=$?
    is "compute on a full disk: exit code $code" [ $code -eq 5 ]
    is "says why" grep -q 'the disk is full' "$work/out"
    is "the rows are the old ones" [ "$(rows_now)" = b ]
    quiet index
    code=$?
    is "index on a full disk: exit code $code" [ $code -eq 5 ]
    is "says why and where" grep -qF "$data: the disk is full" "$work/out"
    is "the store is whole" whole
    # The second time there is no room for a single page.
    dd if=/dev/zero of="$work/small/fill" bs=4k >/dev/null 2>&1
  done
  rm "$work/small/fill"
  data=$here
  umount "$mounted" && mounted=
else
  skipped=$((skipped + 1))
  echo "skipped: a tmpfs needs root"
fi

# --- damage ------------------------------------------------------------------
# Finds the snapshot, and how long it is.
take_snapshot() {
  file=$(find "$data/snapshots" -name '*.mdb' | sort | tail -n 1)
  bytes=$(wc -c <"$file")
}
# heals NAME: the damage is told, nothing dies of it, the next compute heals.
heals() {
  quiet check
  code=$?
  is "$1: check tells it, exit code $code" [ $code -eq 1 ]
  is "$1: in words" grep -q '^damaged: ' "$work/out"
  grid dump "$big" >/dev/null 2>"$work/out"
  code=$?
  is "$1: nothing dies of it, exit code $code" [ $code -le 1 ]
  is "$1: compute" quiet compute -q "$big"
  is "$1: the rows are there again" [ "$(rows_now)" = b ]
  quiet prune --grace 0s
  is "$1: the store is whole" whole
}
take_snapshot
: >"$file"
heals "an empty snapshot"
take_snapshot
truncate -s $((bytes / 2)) "$file"
heals "a snapshot cut in half"
take_snapshot
truncate -s $((bytes - 1)) "$file"
heals "a snapshot without its last byte"
take_snapshot
rm "$file"
heals "a snapshot that is gone"
take_snapshot
dd if=/dev/urandom of="$file" bs=512 count=1 seek=$((bytes / 1024)) \
  conv=notrunc 2>/dev/null
heals "a snapshot with noise in its middle"
take_snapshot
dd if=/dev/urandom of="$file" bs=4096 count=2 conv=notrunc 2>/dev/null
heals "a snapshot with noise at its head"

take_snapshot
: >"$file"
is "compute --stale" quiet compute -q --stale
is "heals what cannot be opened" [ "$(rows_now)" = b ]
quiet compute --stale
is "and is then done" grep -q 'nothing to do' "$work/out"
quiet prune --grace 0s

dd if=/dev/urandom of="$data/words.idx" bs=512 count=1 seek=200 \
  conv=notrunc 2>/dev/null
quiet check
is "noise in the index of words is told" [ $? -eq 1 ]
is "and what to do" grep -q "^damaged: words.idx: .*'gridctl index'" "$work/out"
is "which heals it" index_whole
truncate -s 1000 "$data/words.idx"
quiet check
is "a cut index of words is told" [ $? -eq 1 ]
is "and is made anew" index_whole
rm "$data/words.idx"
is "one that is gone is no damage" whole
gone="^words.idx: .*missing.*'gridctl index'"
quiet check
is "but check says so, and what makes it" grep -q "$gone" "$work/out"
is "in JSON, too" eval 'grid check --json | grep -q "\"wordsMissing\":true"'
quiet compute --stale
is "and so does compute --stale" grep -q "$gone" "$work/out"

# A listing, CODE 00 SUPPLIER, whose supplier has become another: the article is
# not there then, and a look-up must not say that it never was.
file=$(find "$data/facts" -name '*.mdb')
code=$(grid dump "$big" | sed -n 's/.*"codein":"\([^"]*\)".*/\1/p' | tail -n 1)
cp "$file" "$work/sound.mdb"
LC_ALL=C grep -abo -P "$code\\x00$big" "$file" | cut -d: -f1 |
  while read -r at; do
    printf '~' |
      dd of="$file" bs=1 seek=$((at + ${#code} + ${#big})) conv=notrunc \
        2>/dev/null
  done
is "a listing is another" eval '! cmp -s "$file" "$work/sound.mdb"'
printf 'fournisseur,codein,gamme\n%s,%s,A\n' "$big" "$code" >"$work/gammes.csv"
quiet gammes import "$work/gammes.csv"
is "ranges are not taken in by it" [ $? -eq 1 ]
is "which tells the damage" grep -q 'import again' "$work/out"
is "and not that the article is unknown" \
  eval '! grep -q "is no article" "$work/out"'
quiet check
is "check tells it, too" grep -q '^damaged: facts: .*import again' "$work/out"
is "the rows are still served, listing or not" [ "$(rows_now)" = b ]
cp "$work/sound.mdb" "$file"
is "and mended, it takes them in" quiet gammes import "$work/gammes.csv"

file=$(find "$data/facts" -name '*.mdb')
dd if=/dev/urandom of="$file" bs=512 count=4 \
  seek=$(($(wc -c <"$file") / 1024)) conv=notrunc 2>/dev/null
quiet check
is "noise in the facts is told" [ $? -eq 1 ]
is "and what to do" grep -q 'import again' "$work/out"
is "the rows are still served" [ "$(rows_now)" = b ]
quiet compute -q "$big"
is "nothing is computed from them" [ $? -eq 1 ]
is "an import heals it" quiet import -q "$work/b"
is "and then it is whole" whole

take_snapshot
cp "$file" "${file%/*}/0000000000000001.mdb.tmp"
head -c 5000 "$file" >"$data/facts/0000000000000002.mdb.tmp"
is "leftovers are no damage" whole
is "and are counted" \
  [ "$(grid check --json | sed 's/.*"leftovers":\([0-9]*\).*/\1/')" = 2 ]
is "the rows are served" [ "$(rows_now)" = b ]
quiet prune
is "prune sweeps them" [ -z "$(find "$data" -name '*.tmp')" ]

# --- two at once -------------------------------------------------------------
# wait_for_a_lock PID...: all of them wait for a lock, as the kernel tells it
wait_for_a_lock() {
  for pid in "$@"; do
    grep -Eq -- "-> FLOCK +ADVISORY +WRITE +$pid " /proc/locks || return 1
  done
}
# We have the lock until both have come as far as that: on one processor the
# first may be done before the second has begun.
exec 9>"$data/locks/compute-$big"
flock 9
"$gridctl" --data "$data" compute "$big" >"$work/one" 2>&1 9>&- &
one=$!
"$gridctl" --data "$data" compute "$big" >"$work/two" 2>&1 9>&- &
two=$!
tries=0
until wait_for_a_lock $one $two || [ $tries -ge 300 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
exec 9>&-
wait $one
first=$?
wait $two
is "two computes at once" [ $first$? = 00 ]
cat "$work/one" "$work/two" >"$work/out"
is "do the work once" \
  [ "$(grep -c 'computed by another process' "$work/out")" = 1 ]
exec 9>"$data/locks/import"
flock 9
quiet import -q "$work/b" 9>&-
code=$?
is "an import beside another is refused, exit code $code" [ $code -eq 1 ]
is "and told why" grep -q 'another import is running' "$work/out"
exec 9>&-
is "and goes on when that has ended" quiet import -q "$work/b"
# Housekeeping has the lock for moments: an import that meets it waits.
exec 9>"$data/locks/import"
flock 9
sleep 0.5 & # it has the lock until it ends
exec 9>&-
is "an import waits for a moment" quiet import -q "$work/b"
wait

if [ $skipped -eq 0 ]; then
  echo "$passed passed, $failed failed"
else
  echo "$passed passed, $failed failed, $skipped skipped"
fi
[ $failed -eq 0 ]

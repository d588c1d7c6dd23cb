#!/bin/sh
# gridctl index within a limit on private memory (ulimit -d) that holds a part of
# the rows and not all; killed at any step; again after a change.
# Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
limit=40000
(ulimit -d $limit && "$gridctl" --version) >/dev/null 2>&1 || {
  echo "skipped: this build does not run under ulimit -d"
  exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-index-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

try() { # NAME COMMAND...
  name=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    head -n 5 "$work/out" | sed 's/^/    /'
  fi
}
grid() { "$gridctl" --data "$work/data" "$@"; }
within() { (ulimit -d $limit && grid "$@"); }
indexed() {
  grid stat --json | sed 's/.*"snapshotsIndexed":\([0-9]*\).*/\1/'
}

try demo "$gridctl" demo --out "$work/csv" --articles 8000 --total 150000 \
  --suppliers 30 --stores 1
try init grid init
try import grid import -q "$work/csv"
try compute grid compute -q --all
rm -r "$work/csv"

# All at once is too much for the limit; in parts it is enough.
within index --memory 4096 >"$work/told" 2>&1
try 'all at once is too much' [ $? -eq 1 ]
try 'the setting is named' grep -q -e '--memory' "$work/told"
try 'nothing is left of it' [ "$(ls "$work/data" | grep -c '^words')" = 0 ]
try 'in parts' within index --memory 8
suppliers=$(indexed)
try 'all are in it' [ "$suppliers" -ge 29 ]
try 'it is sound' grid check -q
size=$(stat -c %s "$work/data/words.idx")

# The same words as in one part.
rm "$work/data/words.idx"
grid index >"$work/one"
words=$(sed 's/.* articles, \([0-9,]*\) words.*/\1/' "$work/one")
rm "$work/data/words.idx"
within index --memory 8 >"$work/parts"
try 'as many words' grep -q " articles, $words words" "$work/parts"

# Killed anywhere, the old one is there.
for after in 0.02 0.1 0.3; do
  grid compute -q 12345
  timeout -s KILL $after "$gridctl" --data "$work/data" index -q \
    --memory 8 2>/dev/null
  try "sound after a kill at $after s" grid check -q
done
ls "$work/data" | grep '^words' | sort >"$work/left"
try 'one file beside it at most' \
  [ -z "$(grep -vx -e words.idx -e words.idx.tmp "$work/left")" ]

# What has not changed is taken over.
grid compute -q 12345
within index --memory 8 >"$work/told"
try 'the others are taken over' grep -q 'articles taken over' "$work/told"
try 'all are in it again' [ "$(indexed)" = "$suppliers" ]
try 'about as large' \
  [ "$(stat -c %s "$work/data/words.idx")" -lt $((size + size / 2)) ]
try 'and sound' grid check -q

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

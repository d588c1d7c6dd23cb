#!/bin/sh
# gridctl under a limit on address space (ulimit -v): 2 GB are enough for all
# commands, and where they are not, the limit and its setting are named.
# Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
(ulimit -v 2000000 && "$gridctl" --version) >/dev/null 2>&1 || {
  echo "skipped: this build does not run under ulimit -v"
  exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-addresses-XXXXXX") || exit 1
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
grid() { (ulimit -v "$limit" && "$gridctl" --data "$work/data" "$@"); }

limit=2000000
try init grid init
try demo grid demo --out "$work/csv" --articles 3000 --suppliers 20
try import grid import "$work/csv"
try compute grid compute --all
try index grid index
try network grid network "$work/csv/network.csv"
try merge grid import --merge "$work/csv"
try stale grid compute --stale
try gzip grid gzip --all
try stat grid stat
try suppliers grid suppliers
try check grid check
mkdir "$work/copy"
try backup grid backup "$work/copy"

# The same facts and rows as without a limit.
"$gridctl" --data "$work/free" init >/dev/null
"$gridctl" --data "$work/free" import -q "$work/csv"
"$gridctl" --data "$work/free" compute -q --all
first=$("$gridctl" --data "$work/free" suppliers --json |
  python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["code"])')
"$gridctl" --data "$work/free" dump "$first" >"$work/wanted"
same_rows() { grid dump "$first" | cmp - "$work/wanted"; }
try 'the same rows' same_rows

names_limit() { # COMMAND...
  grid "$@" >"$work/told" 2>&1 && return 1
  cat "$work/told"
  grep -q 'ulimit -v' "$work/told" && ! grep -q 'disk is full' "$work/told" &&
    ! grep -q 'out of memory' "$work/told"
}
# Room for the program, and for not much of the files.
size=$( ("$gridctl" --version >/dev/null; ulimit -v 2000000;
  for kb in 12000 16000 20000 24000 32000 40000 48000 64000; do
    (ulimit -v $kb && "$gridctl" --version) >/dev/null 2>&1 &&
      { echo $kb; break; }
  done) )
limit=$((size + 1000))
try 'stat names the limit' names_limit stat
try 'import names the limit' names_limit import "$work/csv"

limit=2000000
try 'nothing was lost' grid check

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

#!/bin/sh
# Each value of each row against SQLite's own account of the same CSV files:
# see oracle.sql. No code is shared. Closes with "N passed, N failed".
set -eu
here=${abs_top_srcdir:-.}/tests/system
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
sqlite3=${SQLITE3:-sqlite3}

skip() {
  echo "skipped: $1"
  exit 77
}
[ -x "$gridctl" ] || skip "$gridctl is not built"
command -v "$sqlite3" >/dev/null || skip "sqlite3 is not installed"

work=$(mktemp -d "${TMPDIR:-/tmp}/grid-oracle-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

"$gridctl" demo --out "$work/csv" --articles "${ORACLE_ARTICLES:-2000}" \
  --suppliers 12 --seed "${ORACLE_SEED:-1}" --shuffle >"$work/demo.log"
"$gridctl" --data "$work/data" init >"$work/init.log"
"$gridctl" --data "$work/data" import "$work/csv" >"$work/import.log"
"$gridctl" --data "$work/data" compute --all >"$work/compute.log"

# All suppliers that have an article, with a 0x1f behind what is put in front.
separator=$(printf '\037')
sed -n 's/^\([0-9]\{5\}\),.*/\1/p' "$work/csv/articles.csv" | sort -u \
  >"$work/tested"
: >"$work/rows.txt"
: >"$work/tree.txt"
while read -r supplier; do
  "$gridctl" --data "$work/data" dump "$supplier" >"$work/dump"
  sed "s/^/$supplier$separator/" "$work/dump" >>"$work/rows.txt"
  for level in 1 2 3; do
    "$gridctl" --data "$work/data" dump --nomenclatures "$level" "$supplier" \
      >"$work/dump"
    sed "s/^/$supplier$separator$level$separator/" "$work/dump" \
      >>"$work/tree.txt"
  done
done <"$work/tested"

# SQLite reads numbers as floating point: their texts must be short and plain.
bad=$(sed 's/"[^"]*"//g' "$work/rows.txt" "$work/tree.txt" |
  grep -cE '\.[0-9]*0[],}]|\.[0-9]{7}|[0-9][eE]|-0[],}]' || true)
if [ "$bad" -ne 0 ]; then
  echo "not ok: $bad lines hold a number that is not in its shortest form"
  echo "0 passed, $bad failed"
  exit 1
fi

# The two things that SQL has no word for: a decimal text as millionths, and
# the columns of network.csv that are months as one JSON object.
micro="CAST(CASE instr(\\1, '.') WHEN 0 THEN \\1 || '000000' ELSE \
substr(\\1, 1, instr(\\1, '.') - 1) || \
substr(substr(\\1, instr(\\1, '.') + 1) || '000000', 1, 6) END AS INTEGER)"
months=$(head -n 1 "$work/csv/network.csv" | tr -d '\r' | tr ',' '\n' |
  grep -E '^[0-9]{4}-[0-9]{2}$' | sed "s/.*/'&', \"&\"/" | paste -sd, -)
sed -e "/^--/d" -e "s/@MICRO(\([a-zA-Z.]*\))/$micro/g" \
  -e "s/@NETWORK_JSON/json_object($months)/" \
  "$here/oracle.sql" >"$work/oracle.sql"
cd "$work"
"$sqlite3" -bail oracle.db <oracle.sql >result.txt
cat result.txt
tail -n 1 result.txt | grep -q ' passed, 0 failed$'

#!/bin/sh
# Import, computation and snapshots of the standard set against SQLite doing
# the like with the same files, taking turns in one run, on this machine:
# medians of BENCH_TURNS turns (3). Prints a table. BENCH_QUICK=1 takes a tenth
# of it; BENCH_DIR keeps the files between runs.
set -eu
here=${abs_top_srcdir:-.}/tests/bench
build=${abs_top_builddir:-.}
gridctl=${GRIDCTL:-$build/tools/gridctl/gridctl}
opener=${OPENER:-$build/tests/bench/snapshot_open}
sqlite3=${SQLITE3:-sqlite3}
command -v "$sqlite3" >/dev/null || {
  echo "skipped: sqlite3 is not installed"
  exit 77
}
articles=130000
suppliers=400
many=1000
turns=${BENCH_TURNS:-3}
if [ -n "${BENCH_QUICK:-}" ]; then
  articles=13000
  suppliers=40
  many=100
fi
if [ -n "${BENCH_DIR:-}" ]; then
  work=$BENCH_DIR
  mkdir -p "$work"
else
  work=$(mktemp -d "${TMPDIR:-/tmp}/grid-bench-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
fi
csv=$work/csv
data=$work/data
grid() { "$gridctl" --data "$data" "$@"; }
now() { date +%s%N; }
# seconds COMMAND...: leaves how long it took in $took.
seconds() {
  start=$(now)
  "$@"
  took=$(awk "BEGIN { printf \"%.2f\", ($(now) - $start) / 1e9 }")
}
# What took "a b c" so far, in $1: their median.
median() { echo "$1" | tr ' ' '\n' | sed '/^$/d' | sort -n |
  awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
# cpu: leaves the seconds of processor that finished children used in $used.
cpu() {
  times >"$work/times" # by this shell itself: a subshell has no children yet
  used=$(awk 'NR == 2 { gsub(/[ms]/, " ")
    print $1 * 60 + $2 + $3 * 60 + $4 }' "$work/times")
}
ratio() { awk "BEGIN { printf \"%.1f\", $1 / $2 }"; }
row() { printf '| %s | %s | %s | %s | %s |\n' "$@"; }

[ -s "$csv/articles.csv" ] ||
  "$gridctl" demo --out "$csv" --articles $articles --suppliers $suppliers \
    --stores 6 >/dev/null
cat "$csv"/*.csv >/dev/null # warm, for both
echo "load of the machine at the start: $(cut -d' ' -f1 /proc/loadavg)"
row work gridctl SQLite ratio goal
echo "|---|---|---|---|---|"

# --- import ------------------------------------------------------------------
{
  echo 'PRAGMA journal_mode = OFF;'
  echo 'PRAGMA synchronous = OFF;'
  for file in suppliers stores nomenclature articles sales stock receptions \
    positions network gammes; do
    echo ".import --csv '$csv/$file.csv' $file"
  done
} >"$work/import.sql"
ours=
theirs=
for turn in $(seq "$turns"); do
  rm -rf "$data" "$work/plain.db"
  grid init >/dev/null
  seconds grid import -q "$csv"
  ours="$ours $took"
  seconds "$sqlite3" "$work/plain.db" <"$work/import.sql" >/dev/null
  theirs="$theirs $took"
done
ours=$(median "$ours")
theirs=$(median "$theirs")
row "import of all files, s" "$ours" "$theirs" "$(ratio "$theirs" "$ours")" \
  "2 times as fast"

# One line an article: a label may have line ends, and no code of five digits
# stands behind one.
suppliers() {
  sed -n 's/^\([0-9]\{5\}\),.*/\1/p' "$csv/articles.csv"
}

# --- the largest supplier ----------------------------------------------------
big=$(suppliers | sort | uniq -c | sort -rn |
  awk 'NR == 1 { print $2 }')
last=$(grid stat --json | sed 's/.*"newestMonth":"\([0-9-]*\)".*/\1/')
first=$(date -d "$last-01 -11 months" +%Y%m)
last=$(echo "$last" | tr -d -)
# Types and indexes first: they are given, not measured.
"$sqlite3" "$work/plain.db" >/dev/null <<SQL
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE INDEX IF NOT EXISTS sales_i
  ON sales(fournisseur, codein, magasin, mois, quantite, ca, marge);
CREATE INDEX IF NOT EXISTS stock_i
  ON stock(fournisseur, codein, magasin, mois, stock);
CREATE INDEX IF NOT EXISTS receptions_i
  ON receptions(fournisseur, codein, magasin, mois, quantite);
CREATE INDEX IF NOT EXISTS articles_i ON articles(fournisseur, codein);
ANALYZE;
SQL
sed -e "s/@BIG/$big/g" -e "s/@FIRST/$first/g" -e "s/@LAST/$last/g" \
  "$here/storage.sql" >"$work/compute.sql"
ours=
theirs=
for turn in $(seq "$turns"); do
  seconds grid compute -q "$big"
  ours="$ours $took"
  seconds "$sqlite3" "$work/plain.db" <"$work/compute.sql" >/dev/null
  theirs="$theirs $took"
done
ours=$(median "$ours")
theirs=$(median "$theirs")
row "compute $big, published and synced, s" "$ours" "$theirs" \
  "$(ratio "$theirs" "$ours")" "10 times as fast, 2 s"

# --- its memory: what belongs to no file --------------------------------------
"$gridctl" --data "$data" compute -q "$big" &
pid=$!
most=0
while [ -r /proc/$pid/smaps_rollup ]; do
  kb=$(awk '$1 == "Anonymous:" { print $2 }' /proc/$pid/smaps_rollup \
    2>/dev/null || true)
  [ -z "$kb" ] || [ "$kb" -le $most ] || most=$kb
  sleep 0.02
done
wait $pid
row "its private memory (anonymous), MB" "$((most / 1024))" - - "under 256"

# --- the snapshot ------------------------------------------------------------
small=$(suppliers | sort | uniq -c | sort -n |
  awk 'NR == 1 { print $2 }')
grid compute -q "$small"
"$opener" "$data" "$big" 2000 >"$work/open.big"
"$opener" "$data" "$small" 2000 >"$work/open.small"
read -r rows median p99 bytes json <"$work/open.big"
row "its snapshot, MB (rows' JSON)" "$((bytes / 1000000))" \
  "$((json / 1000000))" \
  "$(awk "BEGIN { printf \"%.2f\", $bytes / $json }")" "under 1.35"
row "open, first row, close: $rows rows, us" "$median" - "p99 $p99" "under 100"
read -r rows median p99 bytes json <"$work/open.small"
row "the same: $rows rows, us" "$median" - "p99 $p99" "under 100"

# --- many --------------------------------------------------------------------
rm -rf "$work/data.many"
[ -s "$work/csv.many/articles.csv" ] ||
  "$gridctl" demo --out "$work/csv.many" --articles 13000 --suppliers $many \
    --stores 6 >/dev/null
data=$work/data.many
grid init >/dev/null
grid import -q "$work/csv.many"
one=
two=
cores=
for turn in $(seq "$turns"); do
  seconds grid compute -q --all -j 1
  one="$one $took"
  cpu
  before=$used
  seconds grid compute -q --all -j 2
  cpu
  two="$two $took"
  cores="$cores $(awk "BEGIN { printf \"%.2f\", ($used - $before) / $took }")"
  grid prune --grace 0s >/dev/null
done
one=$(median "$one")
two=$(median "$two")
row "compute --all of $many, -j 2 (-j 1), s" "$two" "$one" \
  "$(ratio "$one" "$two")" "both cores busy"
row "processors that -j 2 kept busy" "$(median "$cores")" - - "2"
rm -rf "$work/data.many"

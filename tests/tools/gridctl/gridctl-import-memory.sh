#!/bin/sh
# An import with next to no memory, by several threads, sorts in files, and stores
# the same as one thread with enough, byte by byte; so does one of shuffled lines.
# Faults are told by the same lines. Nothing of the files is left behind a kill or on
# a full disk. Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-memory-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
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
    cat "$work"/*.err 2>/dev/null
  fi
}
grid() { # DATA ARGUMENTS...
  where=$1
  shift
  "$gridctl" --data "$work/$where" "$@"
}
demo() { # FOLDER OPTION...
  name=$1
  shift
  "$gridctl" demo --out "$work/$name" --articles 1500 --suppliers 9 \
    --stores 2 "$@" >/dev/null
}
is "made-up data" demo sorted
is "the same in disorder" demo shuffled --shuffle
# Fields may have ends of lines, so lines are not for sort or awk.
rewrite() { # FROM TO STEP: the header, and each STEPth record, in another order
  python3 - "$1" "$2" "$3" <<'END'
import csv, random, sys
with open(sys.argv[1], newline="") as file:
    head, *rows = csv.reader(file)
rows = rows[:: int(sys.argv[3])]
if "shuffled" in sys.argv[2]:
    random.Random(1).shuffle(rows)
with open(sys.argv[2], "w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([head] + rows)
END
}
# The order of sales is a demo's own affair; here that of all files changes.
for file in suppliers articles network gammes; do
  rewrite "$work/sorted/$file.csv" "$work/shuffled/$file.csv" 1
done
mkdir "$work/part" "$work/part.shuffled"
for file in articles sales gammes; do
  rewrite "$work/sorted/$file.csv" "$work/part/$file.csv" 3
  rewrite "$work/part/$file.csv" "$work/part.shuffled/$file.csv" 1
done

# The rows of all that is stored, and the import's own files by their bytes.
facts() { for file in "$work/$1"/facts/*.mdb; do cksum <"$file"; done; }
rows() {
  grid "$1" compute --all >/dev/null 2>&1
  for code in $(grid "$1" suppliers --json | sed 's/},/}\n/g' |
    sed -n 's/.*"code":"\([^"]*\)".*/\1/p'); do
    grid "$1" dump "$code" 2>&1
  done | cksum
}
import() { # DATA MEMORY OPTION... FOLDER
  where=$1
  memory=$2
  shift 2
  grid "$where" import --quiet --memory "$memory" --jobs "$(jobs "$where")" \
    "$@" 2>"$work/$where.err"
}
jobs() { # DATA
  case $1 in much) echo 1 ;; little) echo 4 ;; *) echo 3 ;; esac
}
same() { [ -n "$1" ] && [ "$1" = "$2" ]; }

for data in much little mixed; do grid $data init >/dev/null; done
is "much memory" import much 1024 --shares 4 "$work/sorted"
is "little memory" import little 1 --shares 4 "$work/sorted"
is "little memory, shuffled" import mixed 1 --shares 4 "$work/shuffled"
is "the facts are the same, byte by byte" \
  same "$(facts much)" "$(facts little)"
is "of shuffled lines, too" same "$(facts much)" "$(facts mixed)"
is "and the rows" same "$(rows much)" "$(rows little)"
is "of shuffled lines, too: the rows" same "$(rows much)" "$(rows mixed)"
is "a base file and four shares" [ "$(facts little | wc -l)" = 5 ]
no_jobs() { ! import much 1024 --jobs 0 "$work/sorted"; }
is "no threads are a mistake" no_jobs
threads() { # JOBS OPTION...: the threads that an import begins
  count=$1
  shift
  ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -qq -e trace=clone,clone3 -o "$work/trace" "$gridctl" \
    --data "$work/little" import --quiet --jobs "$count" "$@" && grep -c CLONE_THREAD "$work/trace"
}
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
  whole="--shares 4 $work/sorted"
  # shellcheck disable=SC2086 # two options and a folder
  is "one thread reads, and none helps to write" [ "$(threads 1 $whole)" = 1 ]
  # shellcheck disable=SC2086 # two options and a folder
  is "four read, and three help to write" [ "$(threads 4 $whole)" = 7 ]
  is "as many help to write a merge" \
    [ "$(threads 4 --merge "$work/sorted")" = 7 ]
fi
is "a merge with much memory" import much 1024 --merge "$work/part"
is "with little memory" import little 1 --merge "$work/part"
is "with little memory, shuffled" import mixed 1 --merge "$work/part.shuffled"
is "a merge's rows are the same" same "$(rows much)" "$(rows little)"
is "of a merge of shuffled lines, too" same "$(rows much)" "$(rows mixed)"
for data in much little mixed; do
  is "$data is whole" grid $data check >/dev/null
done

# Faults: what comes twice, in one run or in two; what is not known; bad values.
cp -r "$work/shuffled" "$work/faulty"
again() { # FILE FIELD=VALUE RECORD...: records come again at the end
  python3 - "$work/faulty/$1.csv" "$@" <<'END'
import csv, sys
path, _, change, *numbers = sys.argv[1:]
with open(path, newline="") as file:
    rows = list(csv.reader(file))
for number in numbers:
    row = list(rows[int(number)])
    if change:
        row[int(change.split("=")[0])] = change.split("=")[1]
    rows.append(row)
with open(path, "w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows(rows)
END
}
again articles "" 1 700 1 900
again articles 0=NOBODY 5
again articles 9=much 6
again articles "" 30
faults() { # DATA: none is imported
  ! import much 1024 "$work/faulty" && ! import little 1 "$work/faulty"
}
is "what comes twice is refused" faults
is "by the same lines" cmp -s "$work/much.err" "$work/little.err"
is "which name file, line and column" \
  grep -q '^articles.csv:[0-9]*: codein: comes twice in this file' \
  "$work/little.err"
cp "$work/shuffled/articles.csv" "$work/faulty/articles.csv"
again gammes "" 1 2
again network "" 1
is "of ranges and products, too" faults
is "of ranges and products by the same lines" \
  cmp -s "$work/much.err" "$work/little.err"
is "ranges by their lines" grep -q '^gammes.csv:[0-9]*: codein: comes twice' \
  "$work/little.err"
is "products by their lines" \
  grep -q '^network.csv:[0-9]*: codeCentrale: comes twice' "$work/little.err"
cp "$work/shuffled/gammes.csv" "$work/shuffled/network.csv" "$work/faulty"
again sales "" 1 3000 9000 15000
is "a month that comes twice is refused" faults
is "a month by the same lines" cmp -s "$work/much.err" "$work/little.err"
is "a month by its lines" grep -q '^sales.csv:.*comes twice.*has it too' \
  "$work/little.err"
again sales "1=NO SUCH" 9
is "an unknown article is refused" faults
is "an unknown article by the same lines" \
  cmp -s "$work/much.err" "$work/little.err"

# A limit on the size of files is a full disk for the files that it sorts in.
small_disk() {
  (ulimit -f 300 && ! import little 1 --shares 4 "$work/shuffled")
}
before=$(facts little)
is "a full disk fails the import" small_disk
is "and is told, with what to do" grep -q \
  'import: .*/little: nothing was changed: the disk is full.*make room' \
  "$work/little.err"
is "and with the limit" grep -q \
  'temporary file: dir=.*/little error=.*LimitFSIZE=' "$work/little.err"
few_files() { (ulimit -n 14 && ! import little 1 "$work/shuffled"); }
is "too few open files fail the import" few_files
told_files() { # in lines for a person, not of the log
  grep -v '^20' "$work/little.err" |
    grep -q 'too many open files: raise ulimit -n (LimitNOFILE=)'
}
is "and are told with the limit" told_files
is "and changes nothing" same "$before" "$(facts little)"
left() { # DATA: no file is left that is none of a store
  [ -z "$(find "$work/$1" -name '*.tmp' -o -name 'spool-*')" ]
}
is "and leaves no file" left little

# Killed at some moment: the facts are the old or the new ones, and check is clean.
killed() {
  "$gridctl" --data "$work/little" import --quiet --memory 1 --jobs 4 \
    --shares 4 "$work/shuffled" 2>/dev/null &
  sleep "$1"
  kill -9 $! 2>/dev/null
  wait $! 2>/dev/null
  grid little check >/dev/null && grid little prune >/dev/null && left little
}
for after in 0.02 0.05 0.1 0.2 0.4; do
  is "killed after $after s" killed $after
done
is "the next import is fine" import little 1 --shares 4 "$work/sorted"
is "and much memory has the same" import much 1024 --shares 4 "$work/sorted"
is "row by row" same "$(rows much)" "$(rows little)"
echo "$passed passed, $failed failed"
[ $failed = 0 ]

#!/bin/sh
# Every C file is formatted as clang-format 14 (Debian 12's) does it, with its loop
# variables inside their for (tools/dev/loop-variables.py), and no line of NEWS, the
# source of the package's changelog, is longer than 80 columns.
# Closes with "N passed, N failed". tools/dev/check-format.sh --fix mends the files.
set -u
cd "${abs_top_srcdir:-.}" || exit 1
tool=
for name in clang-format-14 clang-format; do
  if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14'; then
    tool=$name
    break
  fi
done
if [ -z "$tool" ]; then
  echo "skipped: clang-format 14 is not installed"
  exit 77
fi
files=$(find common lmdb-schema fcgi tools tests -name '*.[ch]' | sort)
[ -n "$files" ] || exit 1
if [ "${1:-}" = --fix ]; then
  python3 tools/dev/loop-variables.py --fix $files && "$tool" -i $files
  exit
fi
passed=0
failed=0
# Forty files a run: most of the time of a run for each is the start.
said=$(echo "$files" | xargs -n 40 "$tool" -n --Werror 2>&1)
status=$?
wrong=$(echo "$said" |
  sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: error: .*/\1/p' | sort -u)
if [ "$status" -ne 0 ] && [ -z "$wrong" ]; then
  echo "not ok: $tool: $said"
  failed=1
fi
for file in $wrong; do
  failed=$((failed + 1))
  echo "not ok: $file (tools/dev/check-format.sh --fix mends it)"
done
loops=$(python3 tools/dev/loop-variables.py $files 2>&1)
status=$?
if [ "$status" -ne 0 ]; then
  echo "$loops"
  failed=$((failed + 1))
else
  passed=$((passed + 1))
fi
passed=$((passed + $(echo "$files" | wc -l) - $(echo "$wrong" | wc -w)))
long=$(awk 'length > 80 { print FILENAME ":" FNR ": " length " columns" }' NEWS)
if [ -z "$long" ]; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "not ok: $long"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

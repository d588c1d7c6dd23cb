#!/bin/sh
# tools/dev/check-includes.sh sees an include that points upwards, whatever folder
# it stands in. In a copy of the sources, wherever a file of a folder includes a
# header of another folder, that header is made to include the file's header: each
# must be told. So must a planted include of a test, of an outside library beside
# its door, one without a use, and a file in a folder that is in no layer.
# Closes with "N passed, N failed".
set -u
top=$(cd "${abs_top_srcdir:-.}" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-includes-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

is() { # is WHAT COMMAND...
  what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $what"
  fi
}

cd "$top" || exit 1
find common lmdb-schema fcgi tools tests -name '*.[ch]' -o -name '*.def' |
  tar cf - -T - tools/dev | tar xf - -C "$work" || exit 1
cd "$work" || exit 1
check() {
  abs_top_srcdir=$work sh tools/dev/check-includes.sh >"$work/said" 2>&1
}
is "the tree as it is" check

# "FILE HEADER" for each include across folders.
grep -rE --include='*.[ch]' '^#include "[a-z]' common lmdb-schema fcgi tools |
  sed -nE 's,^([^:]*):#include "(.*/[^"]*)".*,\1 \2,p' >edges
# The header of FILE is then included by HEADER: one for each pair of folders,
# unless the folder of HEADER includes that header already.
awk '
  function folder(path) { sub("/[^/]*$", "", path); return path }
  { file[NR] = $1; header[NR] = $2; has[folder($1), $2] = 1 }
  END {
    for (i = 1; i <= NR; i++) {
      own = file[i]
      sub("[.]c$", ".h", own)
      low = folder(header[i])
      high = folder(own)
      if (low != high && !((low, own) in has) && !((low, high) in done) &&
          (getline line < own) > 0) {
        done[low, high] = 1
        print header[i], own
      }
    }
  }' edges >pairs
: >planted
while read -r header above; do
  echo "#include \"$above\"" >>"$header"
  line=$(wc -l <"$header")
  echo "$header:$line: $above is of" >>planted
done <pairs
is "there are pairs of folders" test "$(wc -l <pairs)" -gt 3
for folder in $(find common lmdb-schema fcgi tools -name '*.[ch]' |
  sed 's,/[^/]*$,,' | sort -u); do
  echo '#include "tests/support/run.h"' >"$folder/planted_test.c"
  echo "$folder/planted_test.c:1: tests/support/run.h" >>planted
done
mkdir -p fcgi/nowhere
echo '#include "common/err.h"' >fcgi/nowhere/planted.c
echo "fcgi/nowhere/planted.c:1: common/err.h" >>planted
echo '#include <zlib.h>' >fcgi/planted_door.c
echo "fcgi/planted_door.c:1:#include <zlib.h>" >>planted
printf '/* --- torn\n * ------ */\n' >fcgi/planted_banner.c
echo "fcgi/planted_banner.c:1:/* --- torn" >>planted
if command -v python3 >/dev/null; then
  echo '#include "common/date.h"' >fcgi/planted_stale.c
  echo 'fcgi/planted_stale.c: #include "common/date.h" is stale' >>planted
fi
refuses() {
  ! check
}
is "a tree with planted includes fails" refuses
while IFS= read -r line; do
  is "told: $line" grep -qF "$line" said
done <planted

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

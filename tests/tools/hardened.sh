#!/bin/bash
# The programs of a plain build have what a distribution hardens its own with,
# as far as this compiler knows it.
cd "${abs_top_builddir:-.}" || exit 1
passed=0 failed=0

command -v readelf >/dev/null || {
  echo "skipped: readelf is not installed"
  exit 77
}
flags=$(sed -n 's/^GRID_CFLAGS = //p' Makefile)
case $flags in
*-fsanitize=*)
  echo "skipped: a build with sanitizers has none of it"
  exit 77
  ;;
esac
optimised=$(sed -n 's/^CFLAGS = //p' Makefile)

is() { # is WHAT COMMAND...
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $what: $*"
  fi
}

has() { # has PATTERN FILE OPTION...
  local pattern=$1 file=$2
  shift 2
  readelf -W "$@" "$file" | grep -qE "$pattern"
}
hasnt() { ! has "$@"; }

flagged() { # flagged FLAG: configure found that the compiler takes it
  [[ " $flags $(sed -n 's/^GRID_LDFLAGS = //p' Makefile) " == *" $1"* ]]
}

for program in fcgi/gridapi tools/gridctl/gridctl tools/gridhook/gridhook \
  tools/gridhud/gridhud; do
  [ -x "$program" ] || continue
  is "$program is position-independent" has 'Type: +DYN' "$program" -h
  is "$program: relocations are read-only" has GNU_RELRO "$program" -l
  is "$program: all are done at the start" has 'BIND_NOW|FLAGS_1.*NOW' \
    "$program" -d
  is "$program: no stack is executed" hasnt 'GNU_STACK.*E' "$program" -l
  is "$program: stacks are guarded" has __stack_chk_fail "$program" --dyn-syms
  if [[ $optimised == *-O[123s]* ]] && [[ $optimised != *-U_FORTIFY* ]]; then
    is "$program: calls of libc are checked" has '__[a-z]+_chk' "$program" \
      --dyn-syms
  fi
done
# OpenSSL would be a third of gridhook's memory.
for program in tools/gridhook/gridhook tools/gridhook/gridhook-tool; do
  is "$program loads no OpenSSL" hasnt 'NEEDED.*libcrypto' "$program" -d
done
# libcurl brings some thirty libraries, 3 ms of each start: most never send. Half of
# gridctl's start would be libcrypto.
for program in tools/gridctl/gridctl fcgi/gridapi; do
  is "$program loads no libcurl or libcrypto at its start" \
    hasnt 'NEEDED.*lib(curl|crypto)' "$program" -d
done
# A program has the note only where the C library's own start files have it.
noted() { # noted LIBRARY: each of its parts
  [ "$(ar t "$1" | wc -l)" -eq \
    "$(readelf -Wn "$1" | grep -c 'x86 feature.*IBT, SHSTK')" ]
}
if flagged -fcf-protection; then
  for library in common/libcommon.a lmdb-schema/libschema.a fcgi/libapi.a \
    fcgi/libpool.a; do
    is "$library: jumps land where they may (IBT, SHSTK)" noted "$library"
  done
fi
is "there were programs" [ "$passed" -gt 6 ]

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

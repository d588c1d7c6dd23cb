#!/bin/sh
# The programs' version: in a clone with the commit that they are built from, in a
# tree that was unpacked without. Closes with "N passed, N failed".
set -u
top=${abs_top_srcdir:-.}
built=${abs_top_builddir:-.}
passed=0
failed=0
for program in tools/gridctl/gridctl fcgi/gridapi; do
  [ -x "$built/$program" ] || { echo "skipped: $program is not built"; exit 77; }
  version=$("$built/$program" --version)
  case $version in
    *+*) commit=${version#*+} ;;
    *) commit= ;;
  esac
  if [ -e "$top/.git" ] && git -C "$top" rev-parse HEAD >/dev/null 2>&1; then
    [ -n "$commit" ] && git -C "$top" cat-file -e "$commit^{commit}" 2>/dev/null
  else
    [ -z "$commit" ]
  fi
  ok=$?
  if [ "$ok" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $version"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

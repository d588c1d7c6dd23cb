#!/bin/sh
# tools/dev/check-format.sh fails for a planted fault of each kind: a line that
# clang-format would write otherwise, braces around a single loop, a loop variable at
# the head of its block, a long line of NEWS. Its --fix mends those in C.
# Closes with "N passed, N failed".
set -u
top=$(cd "${abs_top_srcdir:-.}" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-format-XXXXXX") || exit 1
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
    cat "$work/said"
  fi
}
check() {
  abs_top_srcdir=$work sh "$top/tools/dev/check-format.sh" "$@" >"$work/said" 2>&1
}
refused() { ! check; }
told() { grep -q "$1" "$work/said"; }

mkdir -p "$work/tools/dev"
cp "$top/tools/dev/loop-variables.py" "$work/tools/dev"
cp "$top/.clang-format" "$work"
for folder in common lmdb-schema fcgi tests; do
  mkdir "$work/$folder"
done
echo "a line" >"$work/NEWS"
printf 'int\nsum(const int *of, int count)\n{\n\tint sum = 0;\n\n\tfor (int i = 0; i < count; i++)\n\t\tif (of[i] > 0)\n\t\t\tsum += of[i];\n\treturn sum;\n}\n' >"$work/good"
plant() { # plant SED-EXPRESSION
  sed "$1" "$work/good" >"$work/common/sum.c"
}

plant ''
check
case $(cat "$work/said") in
skipped*)
  cat "$work/said"
  exit 77
  ;;
esac
is "a file as it should be passes" check
plant 's/int sum = 0;/int sum=0;/'
is "a line that stands otherwise is refused" refused
is "with its file" told 'common/sum.c'
is "and mended" check --fix
is "to what it should be" cmp -s "$work/good" "$work/common/sum.c"
plant 's/i++)/i++) {/; s/^\treturn/\t}\n\treturn/'
is "braces around one statement are refused" refused
is "braces around one statement are mended" check --fix
is "to what they should be" cmp -s "$work/good" "$work/common/sum.c"
plant 's/int sum = 0;/int sum = 0, i;/; s/for (int i/for (i/'
is "a loop variable at the head of its block is refused" refused
is "with its name and line" told 'common/sum.c:4: i belongs inside its for'
is "a loop variable is moved" check --fix
is "into its loop" cmp -s "$work/good" "$work/common/sum.c"
plant 's/int sum = 0;/int sum = 0, i;/; s/for (int i/for (i/; s/return sum/return sum + i/'
is "a variable that is read after its loop stays" check
plant ''
printf '%081d\n' 0 >"$work/NEWS"
is "a long line of NEWS is refused" refused
is "a long line is told" told 'NEWS:1: 81 columns'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

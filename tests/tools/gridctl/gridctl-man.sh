#!/bin/sh
# Each command that `gridctl --help` lists has its part in gridctl(1), and each
# option of its own help stands there with the most that it takes, and no other.
# Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
page=${abs_top_srcdir:-.}/docs/man/gridctl.1
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
passed=0
failed=0

# The options in a part of the page, one a line.
in_page() {
  awk -v part="$1" '/^\.S[sh] / { on = $0 == ".Ss " part } on' "$page" |
    grep -E '^\.It Fl' | grep -oE 'Fl -[a-z][a-z-]*' | sed 's/^Fl /-/' | sort
}
in_help() {
  # shellcheck disable=SC2086
  "$gridctl" $1 --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z][a-z-]*' |
    grep -oE -- '--[a-z-]*' | grep -v '^--help$' | sort
}
# The commands of a table: their names are what stands in by two blanks.
commands() {
  # shellcheck disable=SC2086
  "$gridctl" $1 --help | grep -oE '^  [a-z][a-z-]*' | tr -d ' '
}
# Each option that takes a number, and the most that its help has.
most_in_help() {
  # shellcheck disable=SC2086
  "$gridctl" $1 --help | tr '\n' ' ' | sed 's/  -/\n  -/g; s/  --/\n--/g' |
    sed -nE 's/ +/ /g; s/.*(--[a-z-]+) [A-Z].*\[[0-9]+[a-z]? to ([0-9]+[a-z]?)\].*/\1 \2/p'
}
# The text of an option in a part of the page, digits without commas.
option_in_page() { # PART OPTION
  awk -v part="$1" -v option="Fl ${2#-}" '
    /^\.S[sh] / { in_part = $0 == ".Ss " part }
    /^\.It / { on = in_part && index($0 " ", option " ") }
    /^\.El/ { on = 0 }
    on' "$page" | sed -E ':again; s/([0-9]),([0-9]{3})/\1\2/; t again'
}
most_in_page() {
  most_in_help "$1" | while read -r option most; do
    option_in_page "$1" "$option" | grep -qE "(^|[^0-9])$most([^0-9a-z]|\$)" ||
      echo "not ok: $1 $option: the page lacks its most, $most"
  done | grep . && return 1
  return 0
}
compare() {
  if ! grep -q "^\.Ss $1\$" "$page"; then
    echo "not ok: $1 is not in $page"
  elif [ "$(in_page "$1")" != "$(in_help "$1")" ]; then
    echo "not ok: $1 has in the page: $(in_page "$1" | tr '\n' ' ')"
    echo "                  in its help: $(in_help "$1" | tr '\n' ' ')"
  elif most_in_page "$1"; then
    passed=$((passed + 1))
    return
  fi
  failed=$((failed + 1))
}

for command in $(commands '') dump; do
  # A table of further commands says so in its usage line.
  # shellcheck disable=SC2086
  if "$gridctl" $command --help | grep -q "^Usage: gridctl $command COMMAND"
  then
    for sub in $(commands "$command"); do compare "$command $sub"; done
  else
    compare "$command"
  fi
done
# The short form is the long one, for gridctl, its tables and its commands.
for command in '' gammes key import '--data /nowhere'; do
  # shellcheck disable=SC2086
  if [ "$("$gridctl" $command -h)" = "$("$gridctl" $command --help)" ] &&
    "$gridctl" $command -h | grep -qi '^usage: gridctl'; then
    passed=$((passed + 1))
  else
    echo "not ok: gridctl $command -h is not gridctl $command --help"
    failed=$((failed + 1))
  fi
done
# Each exit code that cmd.h names stands under EXIT STATUS.
for code in $(sed -n 's/^#define CMD_[A-Z]* \([0-9]\).*/\1/p' \
  "${abs_top_srcdir:-.}/tools/gridctl/cmd.h"); do
  if sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EXAMPLES/p' "$page" |
    grep -q "^$code when"; then
    passed=$((passed + 1))
  else
    echo "not ok: exit code $code is not under EXIT STATUS"
    failed=$((failed + 1))
  fi
done
if [ $passed -lt 10 ]; then
  echo "not ok: only $passed commands were found"
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

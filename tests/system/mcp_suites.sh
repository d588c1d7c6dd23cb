#!/bin/sh
# The official suites and clients of the Model Context Protocol against /mcp
# behind nginx: mcp_suites.py; then the questions of tests/flow by the official
# clients. Closes with "N passed, N failed" for both together.
top=${abs_top_srcdir:-.}
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
. "$top/tests/support/mcp_suites.sh"
passed=0
failed=0
# count COMMAND...: runs it, and adds its count.
count() {
  log=$("$@")
  code=$?
  echo "$log"
  [ "$code" -eq 77 ] && exit 77
  last=$(echo "$log" | tail -n 1)
  case $last in
  *' passed, '*' failed')
    passed=$((passed + ${last%% *}))
    last=${last#* passed, }
    failed=$((failed + ${last%% *}))
    ;;
  *) failed=$((failed + 1)) ;;
  esac
}
count python3 "$top/tests/system/mcp_suites.py" "$node" "$modules" "$suite" \
  "$inspector"
count python3 "$top/tests/flow/mcp_questions.py" --sdk "$node" "$modules"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

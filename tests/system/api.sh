#!/bin/sh
# The table of cases, the hostile requests and the tools of agents of tests/flow
# through real nginx and gridapi. Closes with "N passed, N failed" for both together.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
flow=${abs_top_srcdir:-.}/tests/flow
passed=0
failed=0
for name in cases hostile mcp; do
  log=$(python3 "$flow/$name.py" --http)
  code=$?
  echo "$name: $log"
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
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/sh
# tools/watch: alerts and the dashboard name metrics, endpoints and states that
# gridapi has, operations.md says what to do about each alert and no other, and
# each alert fires on its fact (by promtool of Debian's prometheus, where it is
# installed, or PROMTOOL). Closes with "N passed, N failed".
set -u
cd "${abs_top_srcdir:-.}" || exit 1
rules=tools/watch/product-grid.rules.yml
board=tools/watch/product-grid.dashboard.json
passed=0
failed=0
ok() { passed=$((passed + 1)); }
not_ok() {
  failed=$((failed + 1))
  echo "not ok: $1"
}
in_code() {
  if grep -qF -- "$1" "$2"; then ok; else not_ok "$2 has no $1"; fi
}

for name in $(cat "$rules" "$board" | grep -ohE 'gridapi_[a-z_]+' |
  sed -E 's/_bucket$//' | sort -u); do
  in_code "$name" fcgi/metrics_text.c
done
for endpoint in $(grep -ohE 'endpoint=~?\\?"[A-Za-z|]+' "$rules" "$board" |
  sed -E 's/.*"//' | tr '|' '\n' | sort -u); do
  in_code "\"$endpoint\"" fcgi/route.c
done
for label in $(grep -ohE '(state|kind)=~?\\?"[a-z_|]+' "$rules" "$board" |
  sed -E 's/.*"//' | tr '|' '\n' | sort -u); do
  in_code "\\\"$label\\\"" fcgi/metrics_text.c
done

named=$(sed -nE 's/^ *- alert: ([A-Za-z]+)$/\1/p' "$rules" | sort)
told=$(sed -nE 's/^\| `(Grid[A-Za-z]+)` \|.*/\1/p' docs/operations.md | sort)
tried=$(grep -oE 'alertname="Grid[A-Za-z]+"' tests/tools/watch/alerts_test.yml |
  cut -d'"' -f2 | sort)
if [ -n "$named" ] && [ "$named" = "$told" ]; then ok; else
  not_ok "operations.md tells of other alerts than $rules"
fi
if [ "$named" = "$tried" ]; then ok; else
  not_ok "alerts_test.yml tries other alerts than $rules"
fi

promtool=${PROMTOOL:-$(command -v promtool)}
if [ -n "$promtool" ]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/grid-watch-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  cp "$rules" tests/tools/watch/alerts_test.yml "$work"
  if "$promtool" check rules "$work/product-grid.rules.yml" >"$work/log" 2>&1 &&
    "$promtool" test rules "$work/alerts_test.yml" >>"$work/log" 2>&1; then
    ok
  else
    not_ok "promtool: $(cat "$work/log")"
  fi
else
  echo "promtool is not installed: no alert was tried"
fi
if python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$board"; then
  ok
else
  not_ok "$board is no JSON"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/sh
# tools/watch: alerts and the dashboard name metrics, endpoints and states that
# gridapi has, operations.md says what to do about each alert and no other, and
# each alert fires on its fact (by promtool of Debian's prometheus, where it is
# installed, or PROMTOOL); the dashboard fits Grafana's own types (@grafana/schema,
# from npm). Closes with "N passed, N failed".
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

work=$(mktemp -d "${TMPDIR:-/tmp}/grid-watch-XXXXXX")
trap 'rm -rf "$work"' EXIT
promtool=${PROMTOOL:-$(command -v promtool)}
if [ -n "$promtool" ]; then
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
# fits DASHBOARD: what tsc says is in $work/said
fits() {
  node "$modules/types.mjs" "$1" >"$modules/dashboard.ts" &&
    (cd "$modules" && node_modules/.bin/tsc --noEmit --strict --skipLibCheck \
      --target es2022 --module nodenext --moduleResolution nodenext dashboard.ts) \
      >"$work/said"
}
npm=${NPM:-npm}
skipped=
. tests/support/npm.sh
if ! command -v "$npm" >"$work/log" || ! command -v node >"$work/log"; then
  skipped=", 1 skipped (npm is not installed: Grafana's types)"
elif ! npm_ready tests/tools/watch/grafana grafana >"$work/log" 2>&1; then
  tail -n 3 "$work/log"
  skipped=", 1 skipped (npm ci failed: no network?)"
else
  cp tests/tools/watch/grafana/types.mjs "$modules"
  if fits "$board"; then ok; else
    not_ok "Grafana's types refuse $board: $(cat "$work/said")"
  fi
  # A value of no enumeration, a name that Grafana does not know, in one run.
  sed 's/"displayMode": *"list"/"displayMode":"lists"/; s/"colorMode"/"colourMode"/' \
    "$board" >"$work/bent.json"
  if ! fits "$work/bent.json" && grep -q '"lists"' "$work/said" &&
    grep -q colourMode "$work/said"; then ok; else
    not_ok "a bent dashboard fits Grafana's types: $(cat "$work/said")"
  fi
fi
echo "$passed passed, $failed failed$skipped"
[ "$failed" -eq 0 ]

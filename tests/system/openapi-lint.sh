#!/bin/sh
# The interface description: it is docs/openapi.json, it passes the recommended
# rules of Redocly and Spectral and the official meta-schema without a warning,
# and ajv finds that every answer of the table of cases fits it. The rules hold
# for the description of the screen's endpoints as well.
# Closes with "N passed, N failed".
set -u
here=${abs_top_srcdir:-.}/tests/system
build=${abs_top_builddir:-.}
npm=${NPM:-npm}
document=${abs_top_srcdir:-.}/docs/openapi.json

skip() {
  echo "skipped: $1"
  exit 77
}
command -v python3 >/dev/null || skip "python3 is not installed"
[ -x "$build/tests/fcgi/once" ] || skip "tests/fcgi/once is not built"

work=$(mktemp -d "${TMPDIR:-/tmp}/grid-lint-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

note() { # NAME COMMAND...
  name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    cat "$work/log"
  fi
}

finish() {
  echo "$passed passed, $failed failed$1"
  [ "$failed" -eq 0 ]
  exit
}

"${abs_top_srcdir:-.}/tools/dev/openapi.sh" "$build" >"$work/now.json"
note "docs/openapi.json is what gridapi gives (tools/dev/openapi.sh)" \
  cmp "$work/now.json" "$document"

command -v "$npm" >/dev/null || finish ", 7 skipped (npm is not installed)"
. "${abs_top_srcdir:-.}/tests/support/npm.sh"
npm_ready "$here/npm" openapi >"$work/npm" 2>&1 || {
  tail -n 3 "$work/npm"
  finish ", 7 skipped (npm ci failed: no network?)"
}
bin=$modules/node_modules/.bin
cp "$here/npm/redocly.yaml" "$here/npm/spectral.yaml" "$here/npm/answers.mjs" \
  "$modules"

quiet() { # COMMAND...: it may not warn either
  "$@" >"$work/said" 2>&1
  code=$?
  cat "$work/said"
  [ "$code" -eq 0 ] && ! grep -qiE '[1-9][0-9]* (warning|problem)' "$work/said"
}
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true CI=1
for one in "$document" "${document%/*}/app-openapi.json"; do
  note "${one##*/}: Redocly's recommended rules" \
    quiet "$bin/redocly" lint --config "$modules/redocly.yaml" "$one"
  note "${one##*/}: Spectral's recommended rules" \
    quiet "$bin/spectral" lint --fail-severity hint \
    -r "$modules/spectral.yaml" "$one"
  note "${one##*/}: the official meta-schema" "$bin/validate-api" "$one"
done
python3 "${abs_top_srcdir:-.}/tests/flow/cases.py" --record "$work/answers" \
  >"$work/cases" 2>&1
note "every answer of the cases, by ajv" \
  node "$modules/answers.mjs" "$document" "$work/answers"
finish ""

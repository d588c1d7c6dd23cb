#!/bin/sh
# Clients made from the interface description compile, and their types hold what
# clients/use.ts says of them: openapi-typescript with openapi-fetch, and hey-api.
# Closes with "N passed, N failed".
set -u
here=${abs_top_srcdir:-.}/tests/system/clients
npm=${NPM:-npm}

skip() {
  echo "skipped: $1"
  exit 77
}
[ "$npm" != no ] && command -v "$npm" >/dev/null || skip "npm is not installed"
command -v node >/dev/null || skip "node is not installed"
. "${abs_top_srcdir:-.}/tests/support/npm.sh"
npm_ready "$here" clients || skip "npm could not install the generators"

passed=0
failed=0
note() { # NAME COMMAND...
  name=$1
  shift
  if (cd "$modules" && "$@") >"$modules/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    tail -n 30 "$modules/log"
  fi
}

rm -rf "$modules/made" "$modules/schema.d.ts"
cp "$here/use.ts" "$here/tsconfig.json" "$modules"
cp "${abs_top_srcdir:-.}/docs/openapi.json" "$modules/openapi.json"
bin=node_modules/.bin
note "openapi-typescript makes types" \
  node "$bin/openapi-typescript" openapi.json -o schema.d.ts
note "hey-api makes a client" \
  node "$bin/openapi-ts" -i openapi.json -o made -c @hey-api/client-fetch -s
note "both compile, and use.ts with them" node "$bin/tsc" -p .
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

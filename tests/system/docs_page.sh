#!/bin/sh
# The page of the interface description in headless Chromium: screen/docs.mjs.
# Closes with "N passed, N failed".
set -u
here=${abs_top_srcdir:-.}/tests/system
build=${abs_top_builddir:-.}
npm=${NPM:-npm}

skip() {
  echo "skipped: $1"
  exit 77
}
command -v python3 >/dev/null || skip "python3 is not installed"
command -v chromium >/dev/null || skip "chromium is not installed"
[ "$npm" != no ] && command -v "$npm" >/dev/null || skip "npm is not installed"
[ -f "${GRID_HTML:-$build/nginx/html}/docs/swagger-ui-bundle.js" ] ||
  skip "the page of the description is not built"

. "${abs_top_srcdir:-.}/tests/support/npm.sh"
npm_ready "$here/screen" screen ||
  skip "npm could not install what drives the browser"
GRID_MODULES=$modules/node_modules exec python3 "$here/screen.py" \
  "$here/screen/docs.mjs"

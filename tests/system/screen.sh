#!/bin/sh
# The Grid screen in headless Chromium, against nginx and gridapi with demo
# data. Closes with "N passed, N failed". Screenshots, for a person to look at,
# go to $GRID_SCREENSHOTS, or to tests/screenshots in the build's folder.
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
[ -f "${GRID_HTML:-$build/nginx/html}/app.js" ] ||
  skip "the Grid screen is not built (configure --without-screen)"

. "${abs_top_srcdir:-.}/tests/support/npm.sh"
npm_ready "$here/screen" screen ||
  skip "npm could not install what drives the browser"
GRID_MODULES=$modules/node_modules exec python3 "$here/screen.py" "$@"

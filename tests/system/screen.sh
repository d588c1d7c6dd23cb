#!/bin/sh
# The Grid screen in headless Chromium, against nginx and gridapi with demo
# data. Closes with "N passed, N failed". Screenshots, for a person to look at,
# go to $GRID_SCREENSHOTS, or to tests/system/screenshots in the build's folder.
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

# Installed once in the build's folder, as locked.
modules=$build/tests/system/screen
mkdir -p "$modules"
if ! cmp -s "$here/screen/package-lock.json" "$modules/installed.json"; then
  cp -f "$here/screen/package.json" "$here/screen/package-lock.json" "$modules/"
  (cd "$modules" &&
    "$npm" ci --ignore-scripts --no-audit --no-fund --silent) ||
    skip "npm could not install what drives the browser"
  cp "$here/screen/package-lock.json" "$modules/installed.json"
fi
GRID_MODULES=$modules/node_modules exec python3 "$here/screen.py" "$@"

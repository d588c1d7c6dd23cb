#!/bin/sh
# The figures of the Grid screen beside those of the page of a commit:
# screen_beside.sh [COMMIT], by default the last one before HEAD that changed
# the page. Run in a build folder. Without git, this page's figures alone.
set -u
top=${abs_top_srcdir:-.}
build=${abs_top_builddir:-.}
commit=${1:-$(git -C "$top" log --format=%h -2 -- nginx/html 2>/dev/null |
  sed -n 2p)}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

run() {
  GRID_LONG=1 GRID_FIGURES=$1 GRID_HTML=$2 \
    sh "$top/tests/system/screen.sh" "$top/tests/bench/screen.mjs"
}

run "$work/now.json" "$build/nginx/html"
status=$?
[ "$status" -eq 77 ] && exit 77
[ -n "$commit" ] || exit "$status"

# The packages that the build has; npm fetches others where these differ.
mkdir -p "$work/page"
git -C "$top" archive "$commit" nginx | tar -x -C "$work" &&
  cp -r "$build/nginx/screen" "$work/page/screen" &&
  sh "$work/nginx/build-screen.sh" "$work/nginx" "$work/page" "${NPM:-npm}" ||
  exit 1
run "$work/before.json" "$work/page/html" >"$work/before.log" 2>&1
[ -s "$work/before.json" ] || {
  cat "$work/before.log"
  exit 1
}
python3 - "$work/before.json" "$work/now.json" "$commit" <<'PYTHON'
import json
import sys

before = {one["name"]: one for one in json.load(open(sys.argv[1]))}
print("%-58s %10s %10s" % ("", sys.argv[3], "now"))
for one in json.load(open(sys.argv[2])):
    old = before.get(one["name"])
    print("%-58s %10s %10.1f %s" % (
        one["name"], "-" if old is None else "%.1f" % old["value"],
        one["value"], one["unit"]))
PYTHON
exit "$status"

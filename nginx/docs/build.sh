#!/bin/sh
# build.sh SOURCES OUT NPM: puts the page of the interface description into
# OUT/html/docs, with its viewer from npm, and touches OUT/docs.stamp. Without
# a network it says so and leaves the page out; the next make tries again.
set -eu
sources=$1
out=$2
npm=$3
page=$out/html/docs
made=$out/docs-npm

mkdir -p "$page" "$made"
cp "$sources/package.json" "$sources/package-lock.json" "$made"
if ! (cd "$made" && "$npm" ci --ignore-scripts --no-audit --no-fund \
  >npm.log 2>&1); then
  tail -n 3 "$made/npm.log" >&2
  echo "nginx/docs: npm could not fetch the viewer: no page at /docs" \
    "(make tries again)" >&2
  rm -rf "$page"
  exit 0
fi
viewer=$made/node_modules/swagger-ui-dist
cp "$sources/index.html" "$sources/docs.js" "$viewer/swagger-ui.css" \
  "$viewer/swagger-ui-bundle.js" "$viewer/favicon-32x32.png" \
  "$viewer/LICENSE" "$viewer/NOTICE" "$page"
# No source maps are served: leave out the lines that ask for them.
sed -i '/^\/[/*][#@] sourceMappingURL=/d' "$page/swagger-ui.css" \
  "$page/swagger-ui-bundle.js"
chmod -R u+w,go+r "$page"
touch "$out/docs.stamp"

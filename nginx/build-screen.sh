#!/bin/sh
# Builds the Grid screen: nginx/build-screen.sh SOURCE OUT [NPM]
#
# SOURCE is this folder. OUT/screen gets the npm packages that the lock file
# names, OUT/html the page: own modules and components as a few files that
# load nothing from elsewhere.
set -eu
[ $# -ge 2 ] || {
  echo "usage: $0 SOURCE OUT [NPM]" >&2
  exit 2
}
mkdir -p "$2/screen" "$2/html"
source=$(cd "$1" && pwd) out=$(cd "$2" && pwd) npm=${3:-npm}
packages=$out/screen

# --- the packages, as locked ---------------------------------------------------

if ! cmp -s "$source/package-lock.json" "$packages/installed.json"; then
  cp "$source/package.json" "$source/package-lock.json" "$packages/"
  chmod u+w "$packages/package.json" "$packages/package-lock.json"
  (cd "$packages" &&
    "$npm" ci --ignore-scripts --no-audit --no-fund --loglevel=error) || {
    echo "$0: npm could not install the packages of the Grid screen, and says" >&2
    echo "$0: why before this. Without it: configure --without-screen" >&2
    exit 1
  }
  cp "$source/package-lock.json" "$packages/installed.json"
fi

# --- the page -------------------------------------------------------------------

esbuild() {
  NODE_PATH=$packages/node_modules "$packages/node_modules/.bin/esbuild" \
    --bundle --minify --target=chrome109,firefox115,safari16.4 \
    --legal-comments=eof --log-level=warning --outdir="$out/html" "$@"
}
rm -f "$out/html"/*.js "$out/html"/*.css
esbuild "$source/html/js/main.js" --format=esm --splitting \
  --entry-names=app '--chunk-names=[name]-[hash]'
esbuild "$source/html/css/app.css"
for file in index.html icon.svg; do
  [ "$source/html/$file" -ef "$out/html/$file" ] ||
    cp -f "$source/html/$file" "$out/html/$file"
done

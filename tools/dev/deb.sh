#!/bin/sh
# Builds the Debian packages: a distribution of this tree, tools/debian put into
# its place, dpkg-buildpackage, lintian. usage: tools/dev/deb.sh [FOLDER]
# The packages are left in FOLDER (default: build-deb). Needs debhelper; lintian is
# asked when it is there. Closes with "N passed, N failed".
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
out=${1:-build-deb}
for program in dpkg-buildpackage dh; do
  command -v "$program" >/dev/null || {
    echo "skipped: $program is missing: apt install debhelper dpkg-dev"
    exit 77
  }
done
rm -rf "$out"
mkdir -p "$out/tree" && out=$(cd "$out" && pwd) || exit 1
fail() {
  echo "not ok: $1"
  [ -z "${2:-}" ] || tail -n 40 "$out/$2"
  echo "0 passed, 1 failed"
  exit 1
}

# --- a distribution ------------------------------------------------------------
[ -x "$top/configure" ] || (cd "$top" && ./autogen.sh) >"$out/autogen.log" 2>&1 ||
  fail autogen autogen.log
(cd "$out/tree" && "$top/configure" && make -s -j2 all dist) \
  >"$out/dist.log" 2>&1 || fail "make dist" dist.log
version=$(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$out/tree/config.log")
tar xf "$out/tree/product-grid-$version.tar.xz" -C "$out" || fail unpack
source=$out/product-grid-$version

# --- debian/ --------------------------------------------------------------------
cp -r "$top/tools/debian" "$source/debian"
# The Grid screen, where this build had npm to make it.
if [ -f "$out/tree/nginx/screen.stamp" ]; then
  mkdir "$source/screen"
  cp "$out/tree"/nginx/html/*.js "$out/tree"/nginx/html/*.css \
    "$top/nginx/html/index.html" "$top/nginx/html/icon.svg" "$source/screen/"
  [ ! -d "$out/tree/nginx/html/docs" ] ||
    cp -r "$out/tree/nginx/html/docs" "$source/screen/"
fi
year=$(sed -n 's/^Copyright (c) \([0-9]*\) .*/\1/p' "$top/LICENSE")
{
  sed "s/@YEAR@/$year/" "$top/tools/debian/copyright"
  sed -n '/^Permission/,$p' "$top/LICENSE" | sed 's/^$/./; s/^/ /'
} >"$source/debian/copyright"
{
  echo "product-grid ($version) unstable; urgency=medium"
  echo
  sed -n '/^  \* /,$p' "$top/NEWS"
  echo
  echo " -- Product Grid maintainers <product-grid@packages.example.org>  $(date -R -u -r "$top/NEWS")"
} >"$source/debian/changelog"

# --- the package -----------------------------------------------------------------
(cd "$source" && dpkg-buildpackage -b -us -uc -j2) >"$out/build.log" 2>&1 ||
  fail dpkg-buildpackage build.log
passed=0
for package in product-grid gridhook gridhud gridhud-gtk product-grid-doc; do
  file=$(ls "$out/${package}_${version}_"*.deb) || fail "no $package" build.log
  passed=$((passed + 1))
  echo "ok: ${file##*/}, $(stat -c %s "$file") bytes"
done
# Libraries that are loaded while a program runs (common/library.h) are in no list of
# dpkg-shlibdeps: tools/debian/control names them.
for library in $(grep -rhoE --include=*.c 'library = \{names, "[a-z0-9-]+"' \
  "$top/common" "$top/lmdb-schema" "$top/fcgi" "$top/tools" | sed 's/.*"\(.*\)"/\1/'); do
  dpkg-deb -f "$out/product-grid_${version}_"*.deb Depends Recommends Suggests |
    grep -qE "(: |, )$library( |,|$)" || fail "product-grid names no $library"
  passed=$((passed + 1))
  echo "ok: product-grid names $library, which it loads"
done
if command -v lintian >/dev/null; then
  # No bug of Debian's asked for these packages.
  if lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs \
    "$out"/*_"$version"_*.deb >"$out/lintian.log" 2>&1; then
    passed=$((passed + 1))
    echo "ok: lintian"
  else
    cat "$out/lintian.log"
    echo "$passed passed, 1 failed"
    exit 1
  fi
fi
echo "$passed passed, 0 failed"

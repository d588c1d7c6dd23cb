#!/bin/sh
# Where there is no npm, configure says so, and nothing but the pages that come
# by npm is left out. With GRID_LONG all else is built and installed, too.
set -u
top=$(cd "${abs_top_srcdir:-.}" && pwd)
passed=0 failed=0

skip() {
  echo "skipped: $1"
  exit 77
}
[ -x "$top/configure" ] || skip "there is no configure script"
[ ! -f "$top/config.status" ] || skip "the sources were configured in place"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

# All programs of the PATH but those of npm.
mkdir "$scratch/bin" "$scratch/build"
for folder in $(echo "$PATH" | tr : ' ') /usr/sbin /sbin; do
  ln -s "$folder"/* "$scratch/bin/" 2>/dev/null
done
rm -f "$scratch/bin/npm" "$scratch/bin/npx" "$scratch/bin/node" \
  "$scratch/bin/nodejs"
PATH=$scratch/bin
export PATH
unset NPM NODE MAKEFLAGS MFLAGS MAKELEVEL

check() { # NAME LOG COMMAND...
  name=$1 log=$2
  shift 2
  if "$@"; then
    passed=$((passed + 1))
    echo "ok: $name"
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    tail -n 5 "$scratch/$log.log"
  fi
}
cd "$scratch/build" || exit 1

configures() {
  "$top/configure" --prefix=/usr --cache-file=../configure.cache "$@" \
    >../configure.log 2>&1
}
says_so() {
  grep -q "Grid screen  no (npm or node is missing" ../configure.log
}
leaves_out() { # what make would do for all and install
  make -n all install DESTDIR="$scratch/root" >../make-n.log 2>&1 &&
    ! grep -q -E "build-screen\.sh|npm.* ci " ../make-n.log
}
insists() {
  ! configures --with-screen && grep -q "needs npm" ../configure.log
}
builds() {
  make -j2 >../make.log 2>&1 &&
    make install DESTDIR="$scratch/root" >../install.log 2>&1
}
installed() {
  for file in bin/gridctl share/product-grid/nginx/gridapi.conf; do
    [ -f "$scratch/root/usr/$file" ] || return 1
  done
  [ ! -e "$scratch/root/usr/share/product-grid/html" ]
}

check "configure goes on without npm" configure configures
check "it says that the Grid screen is left out" configure says_so
check "make and make install never call npm" make-n leaves_out
if [ -n "${GRID_LONG:-}" ]; then
  check "all else is built and installed" make builds
  check "what is installed has all but the page" install installed
fi
check "--with-screen is refused, and why is said" configure insists
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

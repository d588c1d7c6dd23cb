#!/bin/sh
# What a build leaves out is said by configure, with the packages that bring it,
# and the group that the README names for a build brings all of them.
# Closes with "N passed, N failed".
set -u
top=$(cd "${abs_top_srcdir:-.}" && pwd)
packages=$top/tools/dev/install-packages.sh
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-left-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
passed=0
failed=0
check() { # check NAME COMMAND...
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok: $name"
  else
    failed=$((failed + 1))
    echo "not ok: $name"
  fi
}
has() { grep -qF -- "$1" "$work/said"; }


# --- the groups ---------------------------------------------------------------

in_group() { sh "$packages" --list "$1" | grep -qx -- "$2"; }
for package in libxcb1-dev libxcb-xtest0-dev libxcb-randr0-dev libsystemd-dev \
  libpng-dev libjpeg62-turbo-dev libncurses-dev; do
  check "the group build has $package" in_group build "$package"
  check "so has the Debian package" grep -q "$package" "$top/tools/debian/control"
done
for package in espeak-ng xdg-utils grim wl-clipboard wtype; do
  check "the group assistant has $package" in_group assistant "$package"
  check "the Debian package recommends $package" sh -c \
    "sed -n '/^Recommends:/,/^[A-Z]/p' '$top/tools/debian/control' | grep -qw -- $package"
done
for group in build assistant; do
  check "quickstart installs $group" \
    grep -q "install-packages.sh\" $group" "$top/tools/quickstart"
done
check "the README names the group" \
  grep -q 'install-packages.sh build ' "$top/README.md"

# --- configure ----------------------------------------------------------------

# Not from a source folder that is configured itself.
if [ ! -x "$top/configure" ] || [ -e "$top/config.status" ]; then
  echo "$passed passed, $failed failed"
  [ $failed -eq 0 ]
  exit
fi
# As on a machine without the headers of the desktop.
real=$(command -v pkg-config)
cat >"$work/pkg-config" <<END
#!/bin/sh
case "\$*" in
*xcb* | *libsystemd* | *libpng* | *libjpeg* | *ncursesw*) exit 1 ;;
esac
exec $real "\$@"
END
chmod +x "$work/pkg-config"
mkdir "$work/build"
configured() {
  (cd "$work/build" && "$top/configure" -q PKG_CONFIG="$work/pkg-config" \
    >"$work/said" 2>&1) || { cat "$work/said"; false; }
}
check "configure goes on without the headers of the desktop" configured
check "and says so" has "LEFT OUT of this build"
for tool in capture_screen clipboard_get clipboard_set media_key lock_session \
  notify_user "gridhud's screen"; do
  check "it names $tool" has "$tool"
done
for package in libxcb1-dev libxcb-xtest0-dev libxcb-randr0-dev libsystemd-dev \
  libpng-dev libjpeg62-turbo-dev libncurses-dev; do
  check "it names $package" has "$package"
done

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

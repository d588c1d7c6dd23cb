#!/bin/sh
# Installs the Debian packages of one or more groups; what is there already is
# left alone. usage: tools/dev/install-packages.sh [--list] GROUP...
set -u

# The one place where packages are named.
groups="build gtk test readers office serve nodes page assistant screen desktop bench release watch acme"
packages_of() {
  case $1 in
  build)
    echo gcc make autoconf automake pkg-config libfcgi-dev libjansson-dev \
      liblmdb-dev libssl-dev libinih-dev libcsv-dev libutf8proc-dev \
      zlib1g-dev libdeflate-dev libisal-dev libzstd-dev libcurl4-openssl-dev node-llhttp libncurses-dev xz-utils \
      libxcb1-dev libxcb-xtest0-dev libxcb-randr0-dev libsystemd-dev libpq-dev \
      libpng-dev libjpeg62-turbo-dev
    ;;
  # gridhud-gtk, the graphical window; configure leaves it out without.
  gtk) echo libgtk-4-dev ;;
  test)
    echo check clang libclang-rt-14-dev clang-format-14 clang-tidy cppcheck \
      valgrind strace mandoc sqlite3 curl jq python3 nginx-light openssl tmux \
      espeak-ng desktop-file-utils python3-openpyxl etcd-server \
      wget python3-requests python3-httpx rsync openssh-server \
      python3-markdown iproute2 faketime postgresql-15 zstd
    ;;
  # What examples of docs/api.md read answers with.
  readers) echo python3-pandas r-base-core ;;
  # Opens workbooks for tests/flow/office.sh; 80 MB to fetch.
  office) echo libreoffice-calc-nogui ;;
  # The log of several nodes: tools/quickstart --nodes 3.
  nodes) echo etcd-server ;;
  serve) echo nginx-light curl openssl ca-certificates ;;
  page)
    # A node from elsewhere brings its npm along; Debian's would clash.
    command -v npm >/dev/null || echo nodejs npm
    ;;
  # Programs that gridhud speaks by, and those that gridhook-tool starts.
  assistant)
    echo espeak-ng alsa-utils xdg-utils grim wl-clipboard wtype
    ;;
  screen) packages_of page && echo chromium chromium-headless-shell firefox-esr ;;
  desktop)
    # The peers that gridhook-tool's test meets.
    packages_of assistant
    packages_of gtk
    echo at-spi2-core gir1.2-atspi-2.0 xdotool
    echo xvfb openbox x11-xserver-utils xclip scrot sway swaybg \
      dunst dbus dbus-bin dbus-daemon python3-dbusmock python3-dbus \
      python3-gi python3-xlib python3-pil pulseaudio pulseaudio-utils \
      util-linux jq xterm fonts-jetbrains-mono librsvg2-bin
    ;;
  # Reads /metrics for tests/system/dashboard.sh, and tries alerts.
  watch) echo prometheus ;;
  # Asks for a certificate, and gives one, for tests/tools/access.sh.
  acme) echo certbot pebble ;;
  # A Debian package, and a bare Debian, in a folder or booted, to try it in.
  release)
    packages_of gtk
    echo debhelper dpkg-dev lintian debootstrap systemd-container \
      qemu-system-x86 e2fsprogs \
      mandoc python3-markdown
    ;;
  bench)
    # The client, then what is measured beside the programs.
    echo python3 wrk webhook nginx-light postgresql-15 sqlite3 \
      libsqlite3-dev strace
    ;;
  *) return 1 ;;
  esac
}

say() { echo "install-packages.sh: $*" >&2; }

usage() {
  say "usage: $0 [--list] GROUP...   (groups: $groups)"
  exit 2
}

only_list=
if [ "${1:-}" = --list ]; then
  only_list=yes
  shift
fi
[ $# -gt 0 ] || usage
wanted=
for group in "$@"; do
  packages=$(packages_of "$group") || {
    say "there is no group \"$group\""
    usage
  }
  wanted="$wanted $packages"
done
if [ -n "$only_list" ]; then
  for package in $wanted; do echo "$package"; done | sort -u
  exit 0
fi

command -v dpkg >/dev/null && command -v apt-get >/dev/null || {
  say "this is not a Debian system; by hand, under your system's names:$wanted"
  exit 1
}
missing_of() {
  for package in "$@"; do
    dpkg -s "$package" 2>/dev/null | grep -q '^Status: .* ok installed$' ||
      echo "$package"
  done | sort -u
}
# shellcheck disable=SC2086
missing=$(missing_of $wanted | tr '\n' ' ')
if [ -z "$missing" ]; then
  echo "all there: $*"
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    say "needs root, and there is no sudo; as root run:"
    say "  apt-get update && apt-get install --no-install-recommends $missing"
    exit 1
  }
  as_root=sudo
fi
echo "missing: $missing"
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"; }
apt update ||
  say "the package lists could not be refreshed; trying those that are here"
# shellcheck disable=SC2086
if ! apt install -y --no-install-recommends $missing; then
  say "apt-get could not install: $missing"
  say "see its message above; the network, a held lock (another apt is at"
  say "work) or a name this Debian does not have are the usual reasons"
  exit 1
fi
# shellcheck disable=SC2086
left=$(missing_of $missing | tr '\n' ' ')
if [ -n "$left" ]; then
  say "apt-get said yes, but these are still missing: $left"
  exit 1
fi
echo "installed: $missing"

#!/bin/bash
# A bare Debian 12 in a folder, made by debootstrap, and this tree in it: both
# commands of the README. Long: only with GRID_LONG=1, as root, and with a
# mirror within reach. GRID_MIRROR names another one, GRID_FRESH=quickstart
# leaves tools/check out, GRID_KEEP is a folder for the log of what failed.
# Closes with "N passed, N failed".
set -u
top=$(cd "${abs_top_srcdir:-$(dirname "$0")/../..}" && pwd)
[ -n "${GRID_LONG:-}" ] || { echo "skipped: only with GRID_LONG=1"; exit 77; }
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
command -v debootstrap >/dev/null ||
  { echo "skipped: debootstrap is not installed"; exit 77; }
mirror=${GRID_MIRROR:-$(grep -hoE 'https?://[^ ]*/debian/?$' \
  /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v snapshot |
  head -n 1)}
[ -n "$mirror" ] ||
  { echo "skipped: apt has no mirror written down: name one in GRID_MIRROR"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/var/tmp}/grid-fresh-XXXXXX") || exit 1
root=$work/root
clean() {
  chroot "$root" /src/tools/quickstart --dir /srv/grid --stop >/dev/null 2>&1
  umount "$root/proc" "$root/sys" 2>/dev/null
  umount -R "$root/dev" 2>/dev/null
  # Never through a mount that stayed.
  mountpoint -q "$root/dev" || rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
step() { # step NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok: $name"
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    grep -nE 'not ok|^ *FAIL|[^0-9][1-9][0-9]* failed' "$work/log" | head -n 100
    tail -n 40 "$work/log"
    [ -z "${GRID_KEEP:-}" ] || cp "$work/log" "$GRID_KEEP/fresh.log"
  fi
}
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}
inside() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  TERM=dumb ${http_proxy:+http_proxy="$http_proxy"} "$@"; }

step "a bare Debian 12" debootstrap --variant=minbase bookworm "$root" "$mirror"
[ $failed -eq 0 ] || finish
# With all that is mounted below /dev: terminals, and memory that is shared.
mount -t proc proc "$root/proc" && mount -t sysfs sysfs "$root/sys" &&
  mount --rbind /dev "$root/dev" &&
  mount --make-rslave "$root/dev" ||
  { echo "skipped: mounts are not allowed here"; exit 77; }
# What this machine needs to reach the network: names, certificates, settings.
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
mkdir -p "$root/usr/local/share/ca-certificates"
cp /usr/local/share/ca-certificates/* "$root/usr/local/share/ca-certificates" \
  2>/dev/null
for file in /etc/npmrc /root/.npmrc; do
  [ ! -e "$file" ] || cp "$file" "$root$file"
done
# As a clone has it: what is built here stays behind.
mkdir "$root/src"
copy() {
  if git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$top" archive HEAD | tar x -C "$root/src"
  else
    tar c -C "$top" --exclude=./build* --exclude='*.o' . | tar x -C "$root/src"
  fi
}
step "the tree in it" copy

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
step "tools/quickstart" inside /src/tools/quickstart --dir /srv/grid \
  --port "$port" --push-port $((port + 1 > 65535 ? 50000 : port + 1)) \
  --articles 3000 --detach
answers() {
  local key
  key=$(sed -n 's/^GRID_KEY=//p' "$root/srv/grid/quickstart.env" | tr -d "'\"")
  curl -sf -H "X-API-Key: $key" \
    "http://127.0.0.1:$port/api/v1/fournisseurs?withData=1&limit=1" |
    grep -q '"data"'
}
step "it answers" answers
step "and ends" inside /src/tools/quickstart --dir /srv/grid --stop
[ "${GRID_FRESH:-}" = quickstart ] || {
  step "tools/check" inside /src/tools/check
  tail -n 1 "$work/log"
}
finish

#!/bin/bash
# The Debian package under a real systemd: a bare Debian 12, booted by qemu, in
# which the words of docs/operations.md install it, start it and take it away;
# tests/system/systemd_inside.sh is what happens there. Long: only with
# GRID_LONG=1, as root, with a mirror within reach. Closes with "N passed, N failed".
set -u
top=$(cd "${abs_top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top/tests/system/machine.sh"
machine_needed
machine_begin systemd

# --- a package that is newer ----------------------------------------------------
newer() {
  local next
  dpkg-deb -R "$deb" "$work/newer" || return
  next=$(sed -n 's/^Version: //p' "$work/newer/DEBIAN/control")+1
  sed -i "s/^Version: .*/Version: $next/" "$work/newer/DEBIAN/control"
  mkdir "$work/next" && dpkg-deb -b "$work/newer" "$work/next"
}
newer >"$work/log" 2>&1 || machine_give_up "a newer package" "$work/log"

# --- the machine --------------------------------------------------------------------
machine_tree "$work/root" "$deb" "$hook_deb" >"$work/log" 2>&1 ||
  machine_give_up "a bare Debian 12" "$work/log"
machine_unit "$work/root" "$top/tests/system/systemd_inside.sh"
cp "$work"/next/*.deb "$work/root/test/"
# The first block of commands of the manual, as it stands there.
awk '/^## Install/ { on = 1 } on && /^    / { print; in_it = 1; next }
  in_it { exit }' "$top/docs/operations.md" >"$work/root/test/documented.sh"
machine_image "$work/root" "$work/disk" 4G >"$work/log" 2>&1 ||
  machine_give_up "an image of it" "$work/log"
rm -rf --one-file-system "$work/root"

# --- two boots -----------------------------------------------------------------------
passed=0
failed=0
for boot in first second; do
  machine_boot 3600 "$work/$boot" "$work/disk" >"$work/log" 2>&1
  tr -d '\r' <"$work/$boot" | grep -aE '^(ok|not ok|figure|    )' || true
  passed=$((passed + $(grep -ac '^ok: ' "$work/$boot")))
  failed=$((failed + $(grep -ac '^not ok: ' "$work/$boot")))
  if ! grep -aq '^done' "$work/$boot"; then
    failed=$((failed + 1))
    echo "not ok: the $boot boot came to its end"
    tail -n 20 "$work/$boot" "$work/$boot.console" "$work/log"
    break
  fi
done
[ -z "${GRID_KEEP:-}" ] || cp "$work"/first* "$work"/second* "$GRID_KEEP"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/bash
# The Debian package under a real systemd: a bare Debian 12, booted twice in a
# container, in which the words of docs/operations.md install it, start it, run the
# night by its path and its timer, and take it away; tests/system/systemd_inside.sh
# is what happens there. Long: only with GRID_LONG=1, as root, with a mirror within
# reach. GRID_KERNEL=1 boots by qemu, with a kernel of its own. Closes with
# "N passed, N failed".
set -u
top=$(cd "${abs_top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top/tests/system/machine.sh"
if [ -n "${GRID_KERNEL:-}" ]; then
  machine_needed qemu-system-x86_64 mkfs.ext4
  where=/dev/ttyS1
else
  machine_needed systemd-nspawn
  where=/test/told
fi
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
machine_tree "$work/root" "$deb" "$hook_deb" rsync openssh-server \
  msmtp exim4-daemon-light \
  >"$work/log" 2>&1 ||
  machine_give_up "a bare Debian 12" "$work/log"
machine_unit "$work/root" "$top/tests/system/systemd_inside.sh" $where
cp "$work"/next/*.deb "$work/root/test/"
# The first block of commands of the manual, as it stands there.
awk '/^## Install/ { on = 1 } on && /^    / { print; in_it = 1; next }
  in_it { exit }' "$top/docs/operations.md" >"$work/root/test/documented.sh"
# The night's units, and what its report needs, from the same page.
block() { # HEADING N: the N-th block of commands below it
  awk -v head="$1" -v want="$2" '$0 == head { on = 1; next } on && /^##/ { exit }
    on && /^    / { if (!in_it) count++; in_it = 1
      if (count == want) print substr($0, 5); next }
    { in_it = 0 }' "$top/docs/operations.md"
}
block '## The night' 1 >"$work/root/test/night.sh"
block '## The night' 2 >"$work/root/test/sender.sh"
block '## The night' 5 >"$work/root/test/report.sh"
block '### Restore' 1 >"$work/root/test/restore.sh"
block '### Restore' 2 >>"$work/root/test/restore.sh"
awk '/^## The night/ { on = 1 } on && /^```/ { lines = !lines && $0 == "```ini"; next }
  lines' "$top/docs/operations.md" >"$work/root/test/report.conf"
[ -z "${GRID_KERNEL:-}" ] || {
  machine_image "$work/root" "$work/disk" 4G >"$work/log" 2>&1 ||
    machine_give_up "an image of it" "$work/log"
  rm -rf --one-file-system "$work/root"
}
boot() { # NAME
  if [ -n "${GRID_KERNEL:-}" ]; then
    machine_boot 3600 "$work/$1" "$work/disk"
  else
    rm -f "$work/root$where"
    machine_contain 1800 "$work/root" "$work/$1.console"
    cp "$work/root$where" "$work/$1"
  fi
}

# --- two boots -----------------------------------------------------------------------
passed=0
failed=0
for boot in first second; do
  boot $boot >"$work/log" 2>&1
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

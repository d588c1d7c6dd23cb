#!/bin/bash
# The power goes. A machine (machine.sh) takes in proposals, pushes, imports and
# computations on a disk whose writes and flushes qemu logs in their order; then
# tests/system/powercut.py makes the disk as a cut at some place of that log
# would have left it, many times, and looks for what was acknowledged. Long: only
# with GRID_LONG=1, as root, with a mirror within reach. GRID_CUTS is
# how many cuts (100), GRID_SEED where.
set -u
top=$(cd "${abs_top_srcdir:-$(dirname "$0")/../..}" && pwd)
build=$(cd "${abs_top_builddir:-$top}" && pwd)
. "$top/tests/system/machine.sh"
machine_needed qemu-system-x86_64 mkfs.ext4 debugfs
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
machine_begin powercut

install_all() {
  machine_tree "$work/root" "$deb" "$hook_deb" &&
    machine_inside "$work/root" apt-get -q install "/root/${deb##*/}" \
      "/root/${hook_deb##*/}" &&
    machine_unit "$work/root" "$top/tests/system/powercut_inside.sh" /dev/ttyS1 &&
    machine_image "$work/root" "$work/disk" 4G
}
install_all >"$work/log" 2>&1 || machine_give_up "a bare Debian 12" "$work/log"
rm -rf --one-file-system "$work/root"

# The file system has the first part; what lies behind it takes the marks.
truncate -s 512M "$work/data" && mkfs.ext4 -q -E lazy_itable_init=0 \
  "$work/data" 384M && cp --sparse=always "$work/data" "$work/before" ||
  machine_give_up "a disk" "$work/log"
: >"$work/writes"
machine_boot 3600 "$work/told" "$work/disk" \
  -blockdev "driver=file,node-name=below,filename=$work/data" \
  -blockdev "driver=file,node-name=log,filename=$work/writes" \
  -blockdev driver=blklogwrites,node-name=logged,file=below,log=log \
  -device virtio-blk-pci,drive=logged,write-cache=on,addr=9 >"$work/log" 2>&1
grep -aq '^done' "$work/told" ||
  { cat "$work/told.console" >>"$work/told"; machine_give_up "the load" "$work/told"; }
rm -f "$work/disk"
[ -z "${GRID_KEEP:-}" ] || cp --sparse=always "$work"/{before,writes,told} "$GRID_KEEP"
abs_top_builddir=$build python3 "$top/tests/system/powercut.py" \
  "$work/before" "$work/writes" "$work"

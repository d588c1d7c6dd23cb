# A machine of a test's own, for scripts to include: a bare Debian 12 without a
# network, booted by systemd-nspawn (its own systemd, the kernel of this machine) or,
# from an image, by qemu without the processor's help (a kernel of its own, and hours
# on a busy machine).
#
#	machine_needed PROGRAM...
#	                         ends with 77 where that cannot be done
#	machine_begin NAME       makes the folder $work and the packages $deb and
#	                         $hook_deb, gridhook's; GRID_DEB may name the first
#	                         of those that are built already, in one folder
#	machine_give_up WHAT LOG ends with 1
#	machine_tree FOLDER [PACKAGE.deb | NAME...]
#	                         a bare Debian, with all that the packages need
#	                         laid ready for apt, and none of it installed
#	machine_unit FOLDER SCRIPT WHERE
#	                         has it run the script once it is up, whose output
#	                         goes to the file or the line WHERE
#	machine_contain SECONDS FOLDER CONSOLE
#	                         runs the folder by systemd-nspawn to its end
#	machine_image FOLDER IMAGE SIZE
#	machine_boot SECONDS TOLD IMAGE [OPTION...]
#	                         runs the image by qemu to its end; what its second
#	                         serial line said is in TOLD, the kernel's in
#	                         TOLD.console
#
# GRID_MIRROR names a mirror. GRID_MACHINE names a folder where the bare Debian
# stays from one run to the next: making it takes three minutes.

machine_needed() {
  local program
  [ -n "${GRID_LONG:-}" ] || { echo "skipped: only with GRID_LONG=1"; exit 77; }
  [ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
  for program in debootstrap "$@"; do
    command -v $program >/dev/null || {
      echo "skipped: $program is missing: tools/dev/install-packages.sh release"
      exit 77
    }
  done
  machine_mirror=${GRID_MIRROR:-$(grep -hoE 'https?://[^ ]*/debian/?$' \
    /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -v snapshot | head -n 1)}
  [ -n "$machine_mirror" ] || {
    echo "skipped: apt has no mirror written down: name one in GRID_MIRROR"
    exit 77
  }
}

machine_give_up() { # WHAT LOG
  echo "not ok: $1"
  tail -n 40 "$2"
  echo "0 passed, 1 failed"
  exit 1
}

machine_begin() { # NAME
  work=$(mktemp -d "${TMPDIR:-/var/tmp}/grid-$1-XXXXXX") || exit 1
  trap 'rm -rf --one-file-system "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  deb=${GRID_DEB:-}
  [ -n "$deb" ] || "$top/tools/dev/deb.sh" "$work/deb" >"$work/log" 2>&1 || {
    [ $? -ne 77 ] || { cat "$work/log"; exit 77; }
    machine_give_up "the package" "$work/log"
  }
  deb=${deb:-$(echo "$work"/deb/product-grid_*.deb)}
  [ -s "$deb" ] || { echo "not ok: there is no package $deb"; exit 1; }
  hook_deb=$(echo "${deb%/*}"/gridhook_*.deb)
}

machine_inside() { # FOLDER COMMAND...
  local root=$1
  shift
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    TERM=dumb DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+http_proxy="$http_proxy"} "$@"
}

machine_tree() { # FOLDER [PACKAGE.deb | NAME...]
  local root=$1 base=${GRID_MACHINE:-} package
  shift
  [ -n "$base" ] || base=$root.base
  if [ ! -e "$base/whole" ]; then
    rm -rf --one-file-system "$base"
    mkdir -p "$base" || return
    debootstrap --variant=minbase \
      --include=linux-image-cloud-amd64,systemd-sysv,dbus,curl,sudo \
      bookworm "$base/root" "$machine_mirror" || return
    touch "$base/whole"
  fi
  cp -a --reflink=auto "$base/root" "$root" || return
  rm -f "$root"/var/cache/apt/archives/*.deb
  cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
  echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/90test"
  echo 'Dpkg::Options { "--force-confdef"; "--force-confold"; };' \
    >>"$root/etc/apt/apt.conf.d/90test"
  [ $# -eq 0 ] || machine_inside "$root" apt-get -q update || return
  for package in "$@"; do
    case $package in
    *.deb)
      cp "$package" "$root/root/" || return
      package=/root/${package##*/}
      ;;
    esac
    machine_inside "$root" apt-get -q install --download-only "$package" || return
  done
  rm -f "$root/etc/resolv.conf"
  echo machine >"$root/etc/hostname"
  echo '127.0.0.1 localhost machine' >"$root/etc/hosts"
}

# The script runs once all is up.
machine_unit() { # FOLDER SCRIPT WHERE
  local etc=$1/etc/systemd/system
  mkdir -p "$1/test" "$etc/graphical.target.wants" &&
    cp "$2" "$1/test/inside.sh" || return
  cat >"$etc/grid-test.service" <<END
[Unit]
After=multi-user.target
[Service]
Type=idle
Environment=DEBIAN_FRONTEND=noninteractive HOME=/root
ExecStart=/bin/bash /test/inside.sh
StandardOutput=append:$3
StandardError=inherit
END
  ln -s ../grid-test.service "$etc/graphical.target.wants/"
}

# A network of its own, with loopback alone: no port of this machine is taken. This
# machine may have no systemd that a container could be registered with.
machine_contain() { # SECONDS FOLDER CONSOLE
  timeout --foreground "$1" systemd-nspawn -q -b -D "$2" -M "grid-$$" \
    --private-network --resolv-conf=off --timezone=off --link-journal=no \
    --register=no --keep-unit --console=pipe >"$3" 2>&1 </dev/null
}

machine_image() { # FOLDER IMAGE SIZE
  rm -f "$2" && truncate -s "$3" "$2" && mkfs.ext4 -q -d "$1" "$2" || return
  cp "$1"/boot/vmlinuz-* "$2.kernel" && cp "$1"/boot/initrd.img-* "$2.initrd"
}

machine_boot() { # SECONDS TOLD IMAGE [OPTION...]
  local seconds=$1 told=$2 image=$3
  shift 3
  : >"$told"
  timeout "$seconds" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi \
    -cpu max -smp 2 -m 2048 -display none -monitor none -nic none -no-reboot \
    -kernel "$image.kernel" -initrd "$image.initrd" \
    -append "root=/dev/vda rw console=ttyS0 panic=-1 quiet" \
    -drive "file=$image,if=none,id=root,format=raw,cache=unsafe" \
    -device virtio-blk-pci,drive=root,addr=8 \
    -serial "file:$told.console" -serial "file:$told" "$@" </dev/null
}

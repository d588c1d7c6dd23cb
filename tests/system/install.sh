#!/bin/bash
# make install puts everything at its place and make uninstall takes all of it
# away; units, users, folders and completions are what their readers take, and
# the manual has each setting and each column. Closes with "N passed, N failed".
set -u
build=${abs_top_builddir:-.}
top=${abs_top_srcdir:-.}
[ -f "$build/Makefile" ] || { echo "skipped: $build is not configured"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-install-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
skipped=0
: >"$work/out"

is() { # NAME COMMAND...: the command succeeds
  local name=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    sed 's/^/    /' "$work/out" | head -n 12
  fi
}
skip() {
  skipped=$((skipped + 1))
  echo "skipped: $1"
}

unset MAKEFLAGS MFLAGS MAKELEVEL
root=$work/root
# As a distribution has it; what make built knows other folders, but the names
# are the same.
folders=(prefix=/usr sysconfdir=/etc localstatedir=/var runstatedir=/run
  mandir=/usr/share/man)
install_all() {
  make -C "$build" -s install DESTDIR="$root" "${folders[@]}"
}
is "make install" install_all

# --- what is there -----------------------------------------------------------
for file in sbin/gridapi bin/gridctl bin/gridhook bin/gridhud \
  libexec/gridhook-tool; do
  is "$file runs" "$root/usr/$file" --help
done
for file in lib/systemd/system/{gridapi.service,gridapi-pages.socket} \
  lib/systemd/system/{gridapi-slow.socket,gridhook.service} \
  lib/systemd/system/gridctl-{stale,prune}.{service,timer} \
  lib/systemd/system/gridctl-hooks.service \
  lib/systemd/system/product-grid-night.{service,timer,path} \
  lib/systemd/system/product-grid-restore-test.{service,timer} \
  lib/systemd/system/product-grid.target \
  lib/systemd/user/{gridhook.service,gridhook-failed@.service,gridhud.service} \
  lib/sysusers.d/{product-grid,gridhook}.conf lib/tmpfiles.d/product-grid.conf \
  share/bash-completion/completions/{gridctl,gridapi,gridhook,gridhud} \
  share/man/man1/{gridctl,gridhook,gridhook-tool,gridhud}.1 \
  share/man/man5/{gridapi.conf,gridhook-families,product-grid-csv}.5 \
  share/product-grid/families/github.family share/man/man8/gridapi.8 \
  share/product-grid/nginx/gridapi.conf share/applications/gridhud.desktop; do
  is "$file is installed" test -s "$root/usr/$file"
done
is "no word is left unfilled" sh -c \
  "! grep -rlE '@[A-Za-z_]+@' '$root/usr/lib/systemd' '$root/usr/lib/sysusers.d' \
    '$root/usr/lib/tmpfiles.d' '$root/usr/share/product-grid/nginx'"
writable=$(find "$root" -type f -perm /022)
is "nobody else may write to them: $writable" test -z "$writable"

# --- units, users, folders ---------------------------------------------------
system=$root/usr/lib/systemd/system
verify() { # the words of systemd-analyze, nothing told is good
  systemd-analyze verify --man=no "$@" 2>&1 |
    grep -E "$(printf '%s|' "${@##*/}")cluster.conf" >"$work/told"
  [ ! -s "$work/told" ] || { cat "$work/told"; return 1; }
}
if command -v systemd-analyze >/dev/null; then
  # verify needs the programs where the units say, so true stands in for them.
  mkdir "$work/units"
  for unit in "$system"/*; do
    sed -E 's|^(Exec[A-Za-z]*=)/[^ ]*/(grid[a-z]*)|\1/bin/true|' "$unit" \
      >"$work/units/${unit##*/}"
  done
  for unit in "$work"/units/*; do
    is "systemd takes ${unit##*/}" verify "$unit"
  done
  # What docs/cluster.md adds to them.
  for unit in gridapi gridctl-stale gridctl-prune gridctl-checkpoint; do
    mkdir -p "$work/units/$unit.service.d"
    awk '/^## / { on = /Three hosts/ } on && /^    \[Service\]/ { in_it = 1 }
      !/^    / { in_it = 0 } in_it { sub(/^    /, ""); print }' \
      "$top/docs/cluster.md" >"$work/units/$unit.service.d/cluster.conf"
    is "it has the words of docs/cluster.md" grep -q "^LoadCredential=" \
      "$work/units/$unit.service.d/cluster.conf"
    is "systemd takes $unit of a cluster" verify "$work/units/$unit.service"
  done
  sed 's|^ExecStart=gridhook|ExecStart=/bin/true|' \
    "$root/usr/lib/systemd/user/gridhook.service" >"$work/gridhook-user.service"
  is "systemd takes the user's gridhook.service" \
    env XDG_RUNTIME_DIR="$work" systemd-analyze --user verify --man=no "$work/gridhook-user.service"
  sed 's|^ExecStart=gridhud|ExecStart=/bin/true|' \
    "$root/usr/lib/systemd/user/gridhud.service" >"$work/gridhud-user.service"
  is "systemd takes the user's gridhud.service" \
    env XDG_RUNTIME_DIR="$work" systemd-analyze --user verify --man=no "$work/gridhud-user.service"
  # Exposure in tenths: 0 is sealed, 100 is open.
  for unit in gridapi gridctl-stale gridctl-prune; do
    is "$unit is sealed" systemd-analyze security --offline=true \
      --threshold=12 "$system/$unit.service"
  done
  is "gridhook, which must speak HTTP, is sealed" systemd-analyze security \
    --offline=true --threshold=25 "$system/gridhook.service"
  is "the checkpoint, which speaks with etcd, is sealed" systemd-analyze \
    security --offline=true --threshold=25 "$system/gridctl-checkpoint.service"
  is "the checkpoint has a network" \
    grep -qx 'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6' \
    "$system/gridctl-checkpoint.service"
  is "the night, which may report over HTTP, is sealed" systemd-analyze security \
    --offline=true --threshold=25 "$system/product-grid-night.service"
  for timer in gridctl-stale gridctl-prune gridctl-checkpoint product-grid-night \
    product-grid-restore-test; do
    is "systemd understands when $timer runs" systemd-analyze calendar \
      "$(sed -n 's/^OnCalendar=//p' "$system/$timer.timer")"
  done
else
  skip "systemd-analyze is not installed"
fi
for word in 'User=product-grid' 'ProtectSystem=strict' 'NoNewPrivileges=yes' \
  'PrivateTmp=yes' 'RestrictAddressFamilies=AF_UNIX' 'SystemCallFilter=~@privileged' \
  'UMask=0027'; do
  is "gridapi.service has $word" grep -qx -- "$word" "$system/gridapi.service"
done
for socket in pages slow; do
  is "the $socket socket is nginx's group's only" \
    grep -qx 'SocketMode=0660' "$system/gridapi-$socket.socket"
done
if command -v systemd-sysusers >/dev/null && [ "$(id -u)" -eq 0 ]; then
  mkdir -p "$root/etc" && : >"$root/etc/passwd" && : >"$root/etc/group"
  is "systemd-sysusers takes the users" systemd-sysusers --root="$root" \
    "$root"/usr/lib/sysusers.d/{product-grid,gridhook}.conf
  is "gridapi has a user of its own" grep -q '^product-grid:' "$root/etc/passwd"
  is "gridhook too" grep -q '^gridhook:' "$root/etc/passwd"
  if command -v systemd-tmpfiles >/dev/null; then
    is "systemd-tmpfiles makes the folders" systemd-tmpfiles --root="$root" \
      --create "$root/usr/lib/tmpfiles.d/product-grid.conf"
    data=$(sed -n 's/^d \([^ ]*\) 0750 .*/\1/p' \
      "$root/usr/lib/tmpfiles.d/product-grid.conf")
    is "and nobody else may look into the data" \
      [ "$(stat -c %a "$root$data")" = 750 ]
  fi
else
  skip "systemd-sysusers is not here, or not root"
fi

# --- completion --------------------------------------------------------------
# complete WORD...: what is offered for the last word.
complete_words() {
  PATH=$root/usr/bin:$root/usr/sbin:$PATH bash -c '
    . "$0/share/bash-completion/completions/$1" || exit 1
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _product_grid "$1"
    printf "%s\n" "${COMPREPLY[@]}"' "$root/usr" "$@" | sort
}
offers() { # offers WANTED WORD...
  local wanted=$1
  shift
  complete_words "$@" | grep -qx -- "$wanted"
}
cd "$work" || exit 1
commands=$("$root/usr/bin/gridctl" --help | grep -oE '^  [a-z][a-z-]*' | tr -d ' ')
for command in $commands; do
  is "gridctl $command is offered" offers "$command" gridctl ''
  for option in $("$root/usr/bin/gridctl" "$command" --help |
    grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    is "gridctl $command $option is offered" \
      offers "$option" gridctl --data /x "$command" --
  done
done
is "a command below a command" offers create gridctl key cr
is "its options" offers --scope gridctl key create --
for program in gridapi gridhook gridhud; do
  is "$program completes" offers --version "$program" --
done
mkdir "$work/folder" && : >"$work/file"
is "a folder where a folder belongs" offers folder gridctl --data fo
if complete_words gridctl --data fi | grep -qx file; then
  is "a file is no data directory" false
else
  is "a file is no data directory" true
fi

# --- the manual --------------------------------------------------------------
"$root/usr/sbin/gridapi" --print-settings >"$work/settings"
for name in $(grep -oE '^#?[a-z_]+ *=' "$work/settings" | tr -d '#= ' | sort -u); do
  is "gridapi.conf(5) has $name" grep -qE "^\.It Cm $name No = " \
    "$top/docs/man/gridapi.conf.5"
done
"$root/usr/bin/gridctl" night run --print-settings >"$work/settings"
for name in $(grep -oE '^#?[a-z_]+ *=' "$work/settings" | tr -d '#= ' | sort -u); do
  is "gridctl(1) has $name of night.conf" grep -qE "^\.It Cm $name No =( |\$)" \
    "$top/docs/man/gridctl.1"
done
"$root/usr/bin/gridctl" demo --out "$work/csv" --articles 200 --suppliers 2 \
  --stores 2 >"$work/out" 2>&1
for file in "$work"/csv/*.csv; do
  name=${file##*/}
  columns=$(head -n 1 "$file" | tr -d '\r' | tr ',' '\n' | grep -vE '^[0-9]{4}-' |
    tr '\n' ' ')
  in_page=$(awk -v part="$name" '/^\.S[sh] / { on = $2 == part }
    on && /^\.It Cm / { print $3 }' "$top/docs/man/product-grid-csv.5" | tr '\n' ' ')
  is "product-grid-csv(5) has the columns of $name: $columns" \
    [ "$columns" = "$in_page" ]
done

# --- away again --------------------------------------------------------------
find "$root" -type l -delete
rm -rf "$root/etc" "$root/var" "$root/run"
make -C "$build" -s uninstall DESTDIR="$root" "${folders[@]}" >"$work/out" 2>&1
left=$(find "$root" -type f)
is "make uninstall takes all of it away: $left" test -z "$left"

if [ $skipped -eq 0 ]; then
  echo "$passed passed, $failed failed"
else
  echo "$passed passed, $failed failed, $skipped skipped"
fi
[ $failed -eq 0 ]

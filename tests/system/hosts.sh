#!/bin/bash
# Three hosts with one state, by the words of docs/cluster.md: three Debian 12, each
# booted by systemd-nspawn with the package, nginx and Debian's etcd-server, on a
# bridge in a network namespace of their own, at the addresses that the page has.
# The commands are the page's own blocks. Then a day: an import, a checkpoint, a
# share of the suppliers each, a reboot, a newer package, a lost host, a lost etcd,
# a restore; gridctl doctor at each stage. Long: only with GRID_LONG=1, as root, with
# a mirror within reach. GRID_DEB names the package, GRID_BARE a folder in which all is
# laid ready. Closes with "N passed, N failed".
set -u
top=$(cd "${abs_top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top/tests/system/machine.sh"
machine_needed systemd-nspawn ip nsenter
machine_begin hosts
net=grid-hosts-$$
addresses="192.0.2.11 192.0.2.12 192.0.2.13"
first=192.0.2.11
declare -A nspawn init
stop_host() { # ADDRESS: as by its power button; what hangs is killed
  local host=$1 try
  [ -n "${nspawn[$host]:-}" ] || return 0
  # SIGRTMIN+4 is systemd's poweroff.
  [ -z "${init[$host]:-}" ] || kill -s RTMIN+4 "${init[$host]}" 2>/dev/null
  for ((try = 0; try < 1200; try++)); do
    kill -0 "${nspawn[$host]}" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 "${nspawn[$host]}" 2>/dev/null
  wait "${nspawn[$host]}" 2>/dev/null
  nspawn[$host]=
  init[$host]=
}
clean() {
  local host group
  exec 2>/dev/null # bash tells of each job that ends by a signal
  for host in $addresses; do
    [ -z "${nspawn[$host]:-}" ] || kill -9 "${init[$host]:-0}" "${nspawn[$host]}"
  done
  wait
  for host in $addresses; do
    for group in $(cgroups "$host"); do
      find "$group" -depth -type d -exec rmdir {} +
    done
  done
  ip netns del "$net"
  [ -n "${GRID_KEEP:-}" ] || rm -rf --one-file-system "$work"
}
trap clean EXIT
passed=0
failed=0
commands=0
began=$SECONDS
is() { # NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
    echo "ok: $name, $((SECONDS - began)) s"
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    tail -n 20 "$work/out" | sed 's/^/    /'
  fi
}
soon() { # COMMAND...: within some minutes
  local try
  for ((try = 0; try < 600; try++)); do
    "$@" && return
    sleep 0.5
  done
  return 1
}
# The N-th block of commands below a heading of the page.
block() { # HEADING N
  awk -v head="$1" -v want="$2" '$0 == head { on = 1; next } on && /^##/ { exit }
    on && /^    / { if (!in_it) count++; in_it = 1
      if (count == want) print substr($0, 5); next }
    { in_it = 0 }' "$top/docs/${page:-cluster.md}"
}
nothing='## Three hosts, from nothing'
# The one block below the heading that has the words; fails where there is none.
block_with() { # HEADING WORDS
  local n text
  for n in $(seq 30); do
    text=$(block "$1" "$n")
    [ -n "$text" ] || break
    [[ $text != *"$2"* ]] || { echo "$text"; return; }
  done
  echo "echo docs/cluster.md has no such block: \"$2\"; false"
}
at() { # ADDRESS COMMAND...
  local host=$1
  shift
  nsenter -t "${init[$host]}" -a env -i HOME=/root TERM=dumb \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    DEBIAN_FRONTEND=noninteractive "$@"
}
typed() { # ADDRESS FOLDER TEXT: the commands, up to the first that fails
  commands=$((commands + $(grep -cE '^[^ ]' <<<"$3")))
  at "$1" bash -c 'cd "$1" && set -e && eval "$2"' - "$2" "$3"
}
# Commands that are typed at each host have the host's own address.
own() { # ADDRESS TEXT
  sed "s/^host=.*/host=$1/" <<<"$2"
}
# The cgroups that systemd uses, of a host: where this process is, and below. One
# for all would have the services of all: a stopped etcd took the others' along.
cgroups() { # HOST
  local names path root
  while IFS=: read -r _ names path; do
    case $names in
      name=systemd) root=/sys/fs/cgroup/systemd ;;
      "") root=/sys/fs/cgroup/unified
        [ -d $root ] || root=/sys/fs/cgroup ;;
      *) continue ;;
    esac
    echo "$root${path%/}/grid-${1##*.}-$$"
  done </proc/$$/cgroup
}
begin_host() { # ADDRESS
  local host=$1 process
  # Not by ip netns exec, whose own /sys has no cgroups.
  (
    for group in $(cgroups "$host"); do
      mkdir -p "$group" && echo "$BASHPID" >"$group/cgroup.procs" || exit
    done
    exec nsenter --net="/run/netns/$net" systemd-nspawn -q -b \
      -D "$work/$host" -M "grid-${host##*.}-$$" --network-bridge=grid0 \
      --resolv-conf=off --timezone=off --link-journal=no --register=no \
      --keep-unit --console=pipe
  ) >>"$work/$host.console" 2>&1 </dev/null &
  nspawn[$host]=$!
  found() {
    for process in /proc/[0-9]*; do
      [ "$process/root" -ef "$work/$host" ] &&
        grep -qE '^NSpid:.*[[:space:]]1$' "$process/status" &&
        init[$host]=${process#/proc/} && return
    done 2>/dev/null
    return 1
  }
  soon found && soon up "$host"
}
# Whether the boot is over, and the network there.
up() {
  at "$1" systemctl is-system-running 2>/dev/null |
    grep -qE 'running|degraded' && at "$1" ip addr | grep -q "inet $1/"
}
ready() { at "$1" curl -fsS http://127.0.0.1:8080/readyz; }
doctor() { # ADDRESS: nothing is wrong
  at "$1" gridctl doctor >"$work/told" 2>&1
  local code=$?
  cat "$work/told"
  [ $code -eq 0 ]
}
doctors() { # STAGE
  local host
  for host in $addresses; do
    is "$1: the doctor at $host finds nothing wrong" soon doctor "$host"
    sed -n 's/^\(look .*\)/    \1/p' "$work/told"
  done
}
key=
page_of() { # ADDRESS SUPPLIER
  at "$1" curl -fsS -H "X-API-Key: $key" -H 'Accept: text/csv' \
    "http://127.0.0.1:8080/api/v1/grid?fournisseur=$2&limit=100"
}
pages() { # STAGE: the same suppliers' pages at all three
  local host
  for host in $addresses; do
    is "$1: pages at $host" soon all_pages "$host"
  done
}
all_pages() {
  local code
  for code in $suppliers; do
    page_of "$1" "$code" >"$work/page" || return
    [ "$(wc -l <"$work/page")" -gt 1 ] || return
  done
}
status() { at "$1" gridctl cluster status; }

lay_tree() { # with what any server has
  local package
  machine_tree "$work/root" "$deb" nginx-light etcd-server etcd-client openssl \
    iproute2 ca-certificates || return
  for package in openssl iproute2 ca-certificates; do
    machine_inside "$work/root" apt-get -q install --no-download $package || return
  done
}

# --- three bare hosts ------------------------------------------------------------
newer() {
  local next
  dpkg-deb -R "$deb" "$work/newer" || return
  next=$(sed -n 's/^Version: //p' "$work/newer/DEBIAN/control")+1
  sed -i "s/^Version: .*/Version: $next/" "$work/newer/DEBIAN/control"
  mkdir "$work/next" && dpkg-deb -b "$work/newer" "$work/next"
}
newer >"$work/log" 2>&1 || machine_give_up "a newer package" "$work/log"
if [ -n "${GRID_BARE:-}" ]; then
  cp -a --reflink=auto "$GRID_BARE" "$work/root" || exit 1
else
  lay_tree >"$work/log" 2>&1 || machine_give_up "a bare Debian 12" "$work/log"
fi
ip netns add "$net" && ip -n "$net" link add grid0 type bridge &&
  ip -n "$net" link set grid0 up && ip -n "$net" link set lo up ||
  { echo "skipped: network namespaces are not allowed here"; exit 77; }
lay_host() { # ADDRESS
  local root=$work/$1
  cp -a --reflink=auto "$work/root" "$root" || return
  echo "host${1##*.}" >"$root/etc/hostname"
  echo "127.0.0.1 localhost host${1##*.}" >"$root/etc/hosts"
  rm -f "$root/etc/machine-id"
  mkdir -p "$root/root/build-deb"
  cp "$deb" "$root/root/build-deb/"
  printf '[Match]\nName=host0\n[Network]\nAddress=%s/24\n' "$1" \
    >"$root/etc/systemd/network/10-host0.network"
  ln -sf /lib/systemd/system/systemd-networkd.service \
    "$root/etc/systemd/system/multi-user.target.wants/"
}
for host in $addresses; do
  lay_host "$host" || machine_give_up "a host" /dev/null
  is "$host boots" begin_host "$host"
done
is "they reach each other" at $first bash -c \
  'echo >/dev/tcp/192.0.2.12/9 || [ $? -eq 1 ]'

# --- what operations.md says of each -------------------------------------------------
install_line=$(page=operations.md block '## Install' 1 | sed 's/sudo //' | head -n 2)
began=$SECONDS
for host in $addresses; do
  is "$host: nginx" at "$host" apt-get -q -y install --no-install-recommends \
    nginx-light curl sudo
  is "$host: the package" typed "$host" /root "$install_line"
done

# --- from nothing ----------------------------------------------------------------------
is "secrets and certificates" typed $first /root \
  "$(block_with "$nothing" 'openssl rand')"
for host in $addresses; do
  [ "$host" = $first ] || cp -a "$work/$first/root/secrets" "$work/$host/root/"
done
# What needs the others' members is begun at all three at once.
members() {
  local host result=0 pids=
  for host in $addresses; do
    typed "$host" /root/secrets "$(own "$host" "$1")" \
      >"$work/$host.typed" 2>&1 &
    pids="$pids $!"
  done
  for host in $pids; do
    wait "$host" || result=1
  done
  tail -n 12 "$work"/*.typed
  return $result
}
etcd_block=$(block_with "$nothing" 'apt install etcd-server')
commands=$((commands + 3 * $(grep -cE '^[^ ]' <<<"$etcd_block")))
is "etcd and cluster.conf at all three" members "$etcd_block"
users=$(block_with "$nothing" 'etcdctl auth enable')
is "etcd's users" typed $first /root/secrets "host=$first
$users"
network() { # ADDRESS: the drop-ins of the page
  local unit
  for unit in gridapi gridctl-stale gridctl-prune; do
    mkdir -p "$work/$1/etc/systemd/system/$unit.service.d"
    block_with "$nothing" PrivateNetwork=no \
      >"$work/$1/etc/systemd/system/$unit.service.d/override.conf"
  done
  at "$1" systemctl daemon-reload
}
site_block=$(block_with "$nothing" 'sites-available/product-grid')
nginx_block=$(block_with "$nothing" 'systemd-tmpfiles --create')
for host in $addresses; do
  is "$host: the units have a network" network "$host"
  is "$host: nginx for the others" typed "$host" /root/secrets "host=$host
$site_block
$nginx_block"
done
is "the first host begins the cluster" typed $first /root \
  "$(block_with "$nothing" 'gridctl cluster init')"
is "it is ready" soon ready $first
join_block=$(block_with "$nothing" 'gridctl cluster pull')
for host in 192.0.2.12 192.0.2.13; do
  is "$host joins" typed "$host" /root "$join_block"
done
for host in $addresses; do
  is "$host is ready" soon ready "$host"
done
is "all three are alive" soon at $first gridctl cluster status --nodes 3
echo "figure: $((SECONDS - began)) s, $commands commands for three hosts"

# --- data ------------------------------------------------------------------------------
is "demo data" at $first gridctl demo --out /srv/csv --articles 3000 --suppliers 20
is "an import at the first" at $first gridctl import /srv/csv
is "computed at the second" soon at 192.0.2.12 gridctl compute --all
key=$(at 192.0.2.13 gridctl key create --name scripts --scope propose)
suppliers=$(at $first gridctl suppliers --json | tr ",{" "\n\n" |
  sed -n 's/^ *"\(code\|fournisseur\|supplier\)": *"\([^"]*\)".*/\2/p' | head -n 12)
is "there are suppliers" test -n "$suppliers"
pages "imported"
doctors "imported"
IFS=, read -r supplier article _ \
  <<<"$(at $first sed -n 2p /srv/csv/articles.csv)"
propose() { # ADDRESS RANGE MOTIF
  at "$1" curl -fsS -X PUT -H "X-API-Key: $key" \
    -H 'Content-Type: application/json' \
    -d "{\"gamme\":\"$2\",\"fournisseur\":\"$supplier\",\"motif\":\"$3\"}" \
    "http://127.0.0.1:8080/api/v1/products/$article/gamme"
}
sees() { # ADDRESS MOTIF: the article's history has it
  at "$1" curl -fsS -H "X-API-Key: $key" \
    "http://127.0.0.1:8080/api/v1/products/$article/gammes?fournisseur=$supplier" \
    >"$work/seen" && grep -q "\"$2\"" "$work/seen"
}
writes() { # STAGE ADDRESS...: a write at each is seen at all of these
  local stage=$1 host other
  shift
  for host in "$@"; do
    is "$stage: a proposal at $host" propose "$host" Z "$stage at ${host##*.}"
    for other in "$@"; do
      is "$stage: $other shows it" soon sees "$other" "$stage at ${host##*.}"
    done
  done
}
writes "imported" $addresses

# --- the night's checkpoint -----------------------------------------------------------
is "the checkpoint's timer waits" at $first systemctl is-active \
  gridctl-checkpoint.timer
is "its unit makes one" at $first systemctl start gridctl-checkpoint.service
for timer in gridctl-stale gridctl-prune; do
  is "and $timer runs" at 192.0.2.12 systemctl start $timer.service
done

# --- a share of the suppliers each ---------------------------------------------------
share='## A part of the suppliers'
share_block=$(block_with "$share" 'systemctl restart gridapi')
for host in $addresses; do
  echo 'keep = 2' >>"$work/$host/var/lib/product-grid/cluster.conf"
  is "$host keeps a part" typed "$host" /root "$share_block"
  is "$host is ready again" soon ready "$host"
done
pages "keep = 2"
doctors "keep = 2"
part_is_there() {
  at "$1" gridctl cluster status --json >"$work/status"
  at "$1" gridctl prune --grace 0s
  cat "$work/status"
  grep -q '"snapshotsKept"' "$work/status"
}
is "a node says what it keeps" part_is_there $first

# --- a reboot -------------------------------------------------------------------------
stop_host 192.0.2.12
is "192.0.2.12 boots again" begin_host 192.0.2.12
is "and is ready by itself" soon ready 192.0.2.12
pages "rebooted"

# --- a host loses its power, while the others write --------------------------------------
kill -9 "${init[192.0.2.12]}"
stop_host 192.0.2.12
writes "one down" $first 192.0.2.13
is "192.0.2.12 boots after the loss of power" begin_host 192.0.2.12
is "it is ready by itself" soon ready 192.0.2.12
for host in $first 192.0.2.13; do
  is "it has what was written at $host meanwhile" soon sees 192.0.2.12 \
    "one down at ${host##*.}"
done
writes "back" $addresses

# --- a newer package, host after host -----------------------------------------------------
for host in $addresses; do
  cp "$work"/next/*.deb "$work/$host/root/build-deb/newer.deb"
  is "$host has a newer package" at "$host" apt-get -q -y install \
    /root/build-deb/newer.deb
  is "$host is ready with it" soon ready "$host"
done
pages "upgraded"
doctors "upgraded"

# --- a lost host ------------------------------------------------------------------------
is "192.0.2.13 is lost" at 192.0.2.13 bash -ec 'systemctl stop product-grid.target gridapi gridctl-hooks
  cd /var/lib/product-grid
  find . -mindepth 1 -maxdepth 1 ! -name cluster.conf -exec rm -r {} +'
is "and joins again" typed 192.0.2.13 /root "${join_block/ --anew/}"
is "and is ready" soon ready 192.0.2.13
pages "joined again"

# --- etcd is lost totally ----------------------------------------------------------------
is "a proposal before" propose 192.0.2.12 Z "before the loss"
for host in $addresses; do
  is "$host: etcd's data are lost" at "$host" bash -c \
    'systemctl stop product-grid.target gridapi gridctl-hooks etcd && rm -rf /var/lib/etcd/default'
done
lose() { members 'systemctl start etcd'; }
is "etcd begins anew" lose
rm -f "$work/$first/root/secrets/etcd-root-password"
is "its users, again" typed $first /root/secrets "host=$first
$users"
begin_anew() { # the refusal has the right number
  local number
  at $first gridctl cluster init --from 1 >"$work/told" 2>&1
  cat "$work/told"
  number=$(grep -oE -- '--from [0-9]+' "$work/told" | tail -n 1 | grep -oE '[0-9]+')
  [ -n "$number" ] && at $first gridctl cluster init --from "$number" &&
    at $first systemctl start product-grid.target
}
is "the first begins again" begin_anew
again() { # ADDRESS
  at "$1" gridctl cluster join || at "$1" gridctl cluster join --anew || return
  at "$1" systemctl start product-grid.target
}
for host in 192.0.2.12 192.0.2.13; do
  is "$host goes on" again $host
done
for host in $addresses; do
  is "$host is ready after the loss" soon ready "$host"
done
for host in $addresses; do
  is "$host has the proposal from before the loss" soon sees "$host" \
    "before the loss"
done
pages "after the loss"
writes "after the loss" $addresses
# etcd answers nobody without a password, and the nodes' user below its prefix alone.
guarded() {
  typed $first /root/secrets "host=$first
$(grep '^export' <<<"$users")
if etcdctl get --prefix product-grid; then exit 1; fi
etcdctl --user grid:\$(cat etcd-password) get --prefix product-grid --keys-only |
  grep ^product-grid\\.2/
if etcdctl --user grid:\$(cat etcd-password) get another; then exit 1; fi"
}
is "etcd has its users after the loss" guarded
doctors "after the loss"

# --- a backup, restored on one host -------------------------------------------------------
backup_block=$(page=operations.md block_with '## Back up' 'gridctl backup')
is "a backup" typed 192.0.2.12 /root "$backup_block"
is "is whole" at 192.0.2.12 bash -ec \
  'install -d -o product-grid -g product-grid -m 0750 /srv/restored
   gridctl --data /srv/restored restore /backup/grid-*
   gridctl --data /srv/restored check'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

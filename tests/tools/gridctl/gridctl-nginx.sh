#!/bin/bash
# gridctl cluster nginx: by which servers nginx looks up the nodes' names. Needs
# root, for an /etc/resolv.conf of its own. Closes with "N passed, N failed".
set -u
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root"; exit 77; }
unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces"; exit 77; }
[ -e /etc/resolv.conf ] || { echo "skipped: no /etc/resolv.conf"; exit 77; }
gridctl=${abs_top_builddir:-.}/tools/gridctl/gridctl
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-nginx-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
is() { # NAME COMMAND...: the command succeeds
  local name=$1
  shift
  if "$@" >"$work/said" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    sed 's/^/    /' "$work/said" "$work/out" | tail -n 8
  fi
}
mkdir -m 700 "$work/data"
(umask 077; echo 0123456789abcdef0123456789abcdef >"$work/secret")
ca=$work/ca.pem
: >"$ca"
printed() { # ADDRESS RESOLV: what it prints for a node of that address
  printf '[cluster]\netcd = http://127.0.0.1:1\nname = grid\nnode = one\n%s\n' \
    "address = $1
secret_file = $work/secret
ca = $ca
keep = 2" >"$work/data/cluster.conf"
  printf '%b' "$2" >"$work/resolv.conf"
  # shellcheck disable=SC2016
  unshare -m bash -c 'mount --bind "$1" /etc/resolv.conf &&
    exec "$2" --data "$3" cluster nginx' - "$work/resolv.conf" "$gridctl" \
    "$work/data" >"$work/out" 2>&1
}
has() { grep -qF -- "$1" "$work/out"; }
hasnt() { ! has "$1"; }

servers='search example.org\nnameserver 192.0.2.53\nnameserver\t2001:db8::53\n'
is "a node with a name" printed https://one.example.org "$servers"
is "asks each server" has "resolver 192.0.2.53 [2001:db8::53] valid=60s;"
is "and waits no longer than for a connection" has "resolver_timeout 2s;"
is "a node with a number" printed https://192.0.2.11 "$servers"
is "looks up the others' names" has "resolver 192.0.2.53 [2001:db8::53]"
is "a server that nginx cannot read" printed https://one.example.org \
  "nameserver fe80::1%eth0\n$servers"
is "is left out" has "resolver 192.0.2.53 [2001:db8::53] valid=60s;"
is "no server and a number" printed https://192.0.2.11 'search example.org\n'
is "needs none" hasnt resolver
no_server() { ! printed https://one.example.org 'search example.org\n'; }
is "no server and a name" no_server
is "says so" has "names no server"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

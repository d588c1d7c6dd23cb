#!/bin/sh
# tests/system/cluster.py, for make: in network namespaces of its own, and with
# a table of processes and of mounts of its own, so that all of it is gone when
# the test has ended, however it ends.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
PATH=$PATH:/usr/sbin:/sbin
for program in unshare nsenter setsid ip etcd mount; do
  command -v $program >/dev/null || {
    echo "skipped: $program is not installed"
    exit 77
  }
done
own="unshare --mount --net --pid --fork --kill-child --mount-proc"
$own sh -c 'mkdir -p /run/netns && mount -t tmpfs netns /run/netns &&
  ip netns add one && ip link add name bridge1 type bridge &&
  ip link add name veth1 type veth peer name veth2 netns one' 2>/dev/null || {
  echo "skipped: namespaces cannot be made here (network, mounts, processes)"
  exit 77
}
exec $own sh -c 'mount -t tmpfs netns /run/netns && exec python3 "$0" "$@"' \
  "${abs_top_srcdir:-.}/tests/system/cluster.py" "$@"

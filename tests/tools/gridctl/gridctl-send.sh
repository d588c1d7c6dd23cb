#!/bin/bash
# Backups to another host and back, as docs/operations.md has it: rsync through a
# real sshd on loopback, with a key that may do nothing but write below one folder
# (rrsync). Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
PATH=$PATH:/usr/sbin
for program in sshd ssh-keygen rsync rrsync python3; do
  command -v "$program" >/dev/null || {
    echo "skipped: $program is missing: apt install openssh-server rsync python3"
    exit 77
  }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-send-XXXXXX") || exit 1
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null
  rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
: >"$work/out"
is() { # NAME COMMAND...: the command succeeds
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    sed 's/^/    /' "$work/out" | head -n 30
  fi
}
isnt() {
  local name=$1
  shift
  is "$name" eval "! $(printf '%q ' "$@")"
}
told() { grep -qE -e "$1" "$work/out"; }

# --- the other host ---------------------------------------------------------------
mkdir "$work/there" "$work/keys" || exit 1
chmod 700 "$work/keys"
ssh-keygen -q -t ed25519 -N '' -f "$work/keys/host" &&
  ssh-keygen -q -t ed25519 -N '' -f "$work/keys/backup" &&
  ssh-keygen -q -t ed25519 -N '' -f "$work/keys/stranger" || exit 1
echo "command=\"$(command -v rrsync) $work/there\",restrict $(cat "$work/keys/backup.pub")" \
  >"$work/keys/authorized"
# sshd has a folder for its own use, which its service makes.
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
start() { # PORT
  cat >"$work/sshd_config" <<END
ListenAddress 127.0.0.1:$1
HostKey $work/keys/host
AuthorizedKeysFile $work/keys/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
END
  : >"$work/sshd.log"
  "$(command -v sshd)" -D -e -f "$work/sshd_config" 2>"$work/sshd.log" &
  server=$!
  until grep -q '^Server listening' "$work/sshd.log"; do
    kill -0 "$server" 2>/dev/null || return 1
    sleep 0.1
  done
}
for _ in 1 2 3 4 5; do
  port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  start "$port" && break
  server=
done
[ -n "$server" ] || { echo "sshd did not start"; cat "$work/sshd.log"; exit 1; }
echo "[127.0.0.1]:$port $(cat "$work/keys/host.pub")" >"$work/keys/known_hosts"
ssh_by() { # KEY: the setting
  echo "ssh -p $port -i $work/keys/$1 -o UserKnownHostsFile=$work/keys/known_hosts \
-o IdentitiesOnly=yes -o BatchMode=yes"
}
there=$(id -un)@127.0.0.1:grid

# --- this one ---------------------------------------------------------------------
data=$work/data
grid() { "$gridctl" --data "$data" "$@" >"$work/out" 2>&1; }
conf() { # FILE SSH
  cat >"$1" <<END
[inbox]
folder = $work/inbox
[backup]
folder = $work/backups
keep = 2
send_to = $there
ssh = $2
END
}
# A night's name has its second: this one has another name than those before.
night() { # CONF
  until [ "$(date -u +%Y%m%dT%H%M%SZ)" \> \
    "$(ls "$work/backups" 2>/dev/null | tail -n 1)" ]; do
    sleep 0.1
  done
  grid night run --settings "$1"
}
newest() { ls "$work/backups" | tail -n 1; }
mkdir "$work/inbox"
conf "$work/night.conf" "$(ssh_by backup)"
{
  "$gridctl" demo --out "$work/csv" --articles 200 --suppliers 3 --stores 2 --seed 1 &&
    grid init && grid import --quiet --shares 2 "$work/csv" &&
    grid compute --quiet --all
} >"$work/log" || exit 1

rsync -e "$(ssh_by backup)" "$(id -un)@127.0.0.1:" >"$work/out" 2>&1 ||
  ! grep -q 'account is locked' "$work/sshd.log" ||
  { echo "skipped: this user's account is locked, which sshd refuses"; exit 77; }
is "a night that sends" night "$work/night.conf"
is "says so" told '^  send +done'
is "the backup is there, byte for byte" diff -r -x "*-lock" "$work/backups" "$work/there/grid"
is "three nights" eval 'night "$work/night.conf" && night "$work/night.conf"'
is "two are kept here" eval '[ "$(ls "$work/backups" | wc -l)" = 2 ]'
is "and all of them there" eval '[ "$(ls "$work/there/grid" | wc -l)" = 3 ]'
is "what did not change is there once" eval '[ -z "$(find "$work/there/grid" \
  -path "*/facts/*" -name "*.mdb" -links -3)" ]'
is "the restore test reads it from there" \
  grid night test-restore --settings "$work/night.conf"
is "and says so" told "^$there/$(newest): restored"
restored() { # FROM
  rm -rf "$work/new"
  "$gridctl" --data "$work/new" restore --ssh "$(ssh_by backup)" "$1" \
    >"$work/out" 2>&1
}
is "one command restores from there" restored "$there/$(newest)"
is "what it restored is sound" grid --data "$work/new" check -q
for supplier in 00001 00002 00003; do
  is "and has the same rows of $supplier" eval 'cmp -s \
    <("$gridctl" --data "$data" dump '$supplier' 2>/dev/null | sort) \
    <("$gridctl" --data "$work/new" dump '$supplier' 2>/dev/null | sort)'
done
isnt "nothing that is there is written over" "$gridctl" --data "$data" \
  restore --ssh "$(ssh_by backup)" "$there/$(newest)" 2>"$work/out"
is "and it is said" told 'exists already'
isnt "what is not there cannot be restored" restored "$there/20200101T000000Z"
isnt "and leaves nothing" test -e "$work/new"

# --- what goes wrong --------------------------------------------------------------
conf "$work/stranger.conf" "$(ssh_by stranger)"
isnt "a key that the host does not know" night "$work/stranger.conf"
is "fails the step" told '^  send +failed'
is "with ssh's words" told 'Permission denied'
is "and what to do" told 'to do: mend .backup. send_to or ssh'
is "the backup itself is made" told '^  backup +done'
# The line is cut behind some bytes.
cat >"$work/cut" <<END
#!/usr/bin/python3
import os, subprocess, sys
ssh = subprocess.Popen("$(ssh_by backup)".split() + sys.argv[1:], stdin=subprocess.PIPE)
left = 30000
while left > 0:
    part = os.read(0, left)
    if not part:
        break
    os.write(ssh.stdin.fileno(), part)
    left -= len(part)
if left == 0:
    ssh.kill()
else:
    ssh.stdin.close()
sys.exit(ssh.wait())
END
chmod +x "$work/cut"
conf "$work/cut.conf" "$work/cut"
# Everything is new, so that it takes more than these bytes.
grid compute --quiet --all
isnt "a line that is cut" night "$work/cut.conf"
is "fails the step, too" told '^  send +failed'
isnt "half a backup is none" restored "$there/$(newest)"
isnt "the restore test says so" grid night test-restore --settings "$work/night.conf"
is "the next night sends all of it" night "$work/night.conf"
is "also what was cut" eval 'for at in "$work"/backups/*; do
  diff -r -x "*-lock" "$at" "$work/there/grid/${at##*/}" || exit 1; done'
is "and the newest restores" grid night test-restore --settings "$work/night.conf"
# The key may do nothing else.
isnt "a shell" eval "$(ssh_by backup) $(id -un)@127.0.0.1 id >'$work/out' 2>&1"
isnt "says no" told uid=
isnt "another folder" eval "rsync -e '$(ssh_by backup)' \
  '$(id -un)@127.0.0.1:../keys/host' '$work/stolen' 2>'$work/out'"
isnt "stays shut" test -e "$work/stolen"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

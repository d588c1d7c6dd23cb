#!/bin/bash
# The package on a bare Debian 12 in a folder, without systemd: what operations.md
# says of install, data, the night, backups and the doctor, with the seconds from
# nothing to the first page, to a page of one's own CSV, and to a night. Long: only
# with GRID_LONG=1, as root, with a mirror within reach. GRID_DEB names the package,
# GRID_BARE a folder that debootstrap has filled. Closes with "N passed, N failed".
set -u
top=$(cd "${abs_top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top/tests/system/machine.sh"
machine_needed
machine_begin bare
root=$work/root
clean() {
  [ ! -s "$root/run/nginx.pid" ] || kill "$(cat "$root/run/nginx.pid")" 2>/dev/null
  [ ! -s "$root/run/gridapi.pid" ] || kill "$(cat "$root/run/gridapi.pid")"
  wait
  umount "$root/proc" 2>/dev/null
  umount "$root/dev/shm" 2>/dev/null
  # Never through a mount that stayed.
  rm -rf --one-file-system "$work"
}
trap clean EXIT
passed=0
failed=0
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
inside() { machine_inside "$root" "$@"; }
# The n-th block of commands below a heading of operations.md.
block() { # HEADING [N]
  awk -v head="$1" -v want="${2:-1}" '$0 == head { on = 1; next }
    on && /^##/ { exit }
    on && /^    / { if (!in_it) count++; in_it = 1
      if (count == want) print substr($0, 5); next }
    { in_it = 0 }' "$top/docs/operations.md"
}
kept() { # FILE COMMAND...: what it prints stays in the file
  local file=$1
  shift
  "$@" >"$file"
}

if [ -n "${GRID_BARE:-}" ]; then
  cp -a --reflink=auto "$GRID_BARE" "$root" || exit 1
else
  debootstrap --variant=minbase bookworm "$root" "$machine_mirror" \
    >"$work/log" 2>&1 || machine_give_up "a bare Debian 12" "$work/log"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
mount -t proc proc "$root/proc" && mkdir -p "$root/dev/shm" &&
  mount -t tmpfs tmpfs "$root/dev/shm" ||
  { echo "skipped: mounts are not allowed here"; exit 77; }
mkdir "$root/root/build-deb"
cp "$deb" "$root/root/build-deb/"
inside apt-get -q update >"$work/log" 2>&1
began=$SECONDS
is "nginx, sudo and curl" inside apt-get -q -y install --no-install-recommends \
  nginx-light sudo curl rsync
install_line=$(block '## Install' | head -n 1)
is "installed by: $install_line" inside sh -c \
  "cd /root && $(echo "$install_line" | sed 's/apt install/apt-get -y install/')"
# --- without systemd, as operations.md has it ------------------------------------
commands=$(block '### Without systemd')
is "operations.md says how without systemd" test -n "$commands"
echo "$commands" | grep install >"$root/root/folder"
is "its folder" inside sh -e /root/folder
: >"$work/gridapi"
inside sh -c 'echo $$ >/run/gridapi.pid; exec gridapi' \
  >"$work/gridapi" 2>&1 </dev/null &
gridapi=$!
until grep -q 'serving:' "$work/gridapi"; do
  kill -0 $gridapi 2>/dev/null || break
  sleep 0.1
done
is "gridapi serves" grep -q 'serving:' "$work/gridapi"
is "nginx takes the site" inside nginx
is "a probe" inside curl -fsS http://127.0.0.1:8080/readyz
# --- data ----------------------------------------------------------------------------
is "demo data" inside gridctl demo --out /srv/csv --articles 3000 --suppliers 20
is "import" inside sudo gridctl import /srv/csv
is "compute" inside sudo gridctl compute --all
inside sudo gridctl key create --name scripts --scope propose >"$work/key"
key=$(cat "$work/key")
page() { # SUPPLIER
  inside curl -fsS -H "X-API-Key: $key" -H 'Accept: text/csv' \
    "http://127.0.0.1:8080/api/v1/grid?fournisseur=$1&limit=100"
}
is "the first page" kept "$work/page" page 12345
is "has its rows" eval '[ "$(wc -l <"$work/page")" -gt 100 ]'
# The reader's own CSV, merged: two files.
mkdir "$root/srv/own"
printf 'code,nom\nACME,Acme Ltd\n' >"$root/srv/own/suppliers.csv"
head=$(head -n 1 "$root/srv/csv/articles.csv")
printf '%s\nACME,1001,Soap,,,,,,,,1.2,2.5,,\n' "$head" >"$root/srv/own/articles.csv"
is "what it would change" inside sudo gridctl import --merge --check /srv/own
is "own data" inside sudo gridctl import --merge /srv/own
is "the first page of one's own" kept "$work/page" page ACME
is "has the article" grep -q Soap "$work/page"
# --- a night --------------------------------------------------------------------------
printf '[backup]\nfolder = /var/backups/product-grid\n' \
  >>"$root/etc/product-grid/night.conf"
is "a sender" inside useradd -m -G product-grid-inbox erp
inbox=/var/spool/product-grid/inbox
cat >"$root/tmp/send" <<END
cp -r /srv/own /tmp/monday && rsync -rp --chmod=D2770,F660 /tmp/monday/ $inbox/monday/
echo merge >$inbox/monday.done
END
sed -i 's/Soap/Towel/' "$root/srv/own/articles.csv"
is "delivers" inside su erp -c 'sh -e /tmp/send'
is "the night" inside sudo gridctl night run
is "its table" kept "$work/table" inside sudo gridctl night status
is "says the backup" grep -qE '^  backup +done' "$work/table"
is "the night's page" kept "$work/page" page ACME
is "has the new article" grep -q Towel "$work/page"
is "the backup restores" inside sudo gridctl night test-restore
is "every file is product-grid's" eval '[ -z "$(inside find /var/lib/product-grid \
  ! -user product-grid -print)" ]'
is "the doctor finds nothing wrong" inside sudo gridctl doctor \
  --url http://127.0.0.1:8080
echo "figure: $((SECONDS - began)) s from a bare Debian to a night"
is "purged" inside apt-get -q -y purge product-grid
is "but for the data" test -e "$root/var/lib/product-grid/store"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

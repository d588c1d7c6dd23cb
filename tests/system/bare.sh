#!/bin/bash
# The package on a bare Debian 12 in a folder, without systemd: what operations.md
# says of install, data, the night, backups and the doctor, with the seconds from
# nothing to the first page, to a page of one's own CSV, and to a night; the site by
# TLS, and five faults that are mended by what the doctor says. Long: only
# with GRID_LONG=1, as root, with a mirror within reach. GRID_DEB names the package,
# GRID_BARE a folder that debootstrap has filled. Closes with "N passed, N failed".
set -u
top=$(cd "${abs_top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top/tests/system/machine.sh"
machine_needed
machine_begin bare
root=$work/root
# Also those that no file names any more: they would keep their ports.
clean() {
  for process in /proc/[0-9]*; do
    [ ! "$process/root" -ef "$root" ] || kill "${process#/proc/}"
  done 2>/dev/null
  wait
  umount "$root/var/lib/product-grid" 2>/dev/null
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
# Else sudo complains of it in each answer.
echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"
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
start_gridapi() {
  : >"$work/gridapi"
  inside sh -c 'echo $$ >/run/gridapi.pid; exec gridapi' \
    >"$work/gridapi" 2>&1 </dev/null &
  gridapi=$!
  until grep -q 'serving:' "$work/gridapi"; do
    kill -0 $gridapi 2>/dev/null || break
    sleep 0.1
  done
}
stop_gridapi() {
  kill "$(cat "$root/run/gridapi.pid")" && wait $gridapi
}
start_gridapi
is "gridapi serves" grep -q 'serving:' "$work/gridapi"
is "nginx takes the site" inside nginx
is "a probe" inside curl -fsS http://127.0.0.1:8080/readyz
is "its log is read by www-data and adm alone" eval \
  '[ "$(inside stat -c %a:%U:%G /var/log/nginx/product-grid.log)" = 640:www-data:adm ]'
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
# --- the doctor, whose every word is obeyed ---------------------------------------------
# doctor CODE PATTERN: it ends so, and a line of it fits.
doctor() {
  inside sudo gridctl doctor >"$work/told" 2>&1
  local code=$?
  cat "$work/told"
  [ $code -eq "$1" ] && grep -qE "$2" "$work/told"
}
todo() { # ABOUT: what the doctor says to do of it
  grep -A 1 "^[a-zA-Z]*  *$1 " "$work/told" | sed -n 's/^ *-> //p'
}
# once COMMAND...: a reload of nginx, which nginx -s only begins, has come to it.
once() {
  local try
  for try in $(seq 100); do
    "$@" && return
    sleep 0.1
  done
  return 1
}
is "nothing is wrong on a quiet day" doctor 0 '^0 wrong, [01] to look at'
is "and nothing but the clock deserves a look" eval \
  '! grep "^look" "$work/told" | grep -v "^look  *clock"'
# The lines of access.md, on a port of our own; the certificate is not certbot's.
live=/etc/letsencrypt/live/grid.example.org
certify() { # DAYS
  mkdir -p "$root$live" &&
    openssl req -x509 -newkey rsa:2048 -nodes -days "$1" \
      -subj /CN=grid.example.org -keyout "$root$live/privkey.pem" \
      -out "$root$live/fullchain.pem"
}
is "a certificate" certify 90
awk '/^## TLS/ { on = 1 } on && /^```nginx/ { n++; lines = n == 2; next }
  /^```/ { lines = 0 } lines' "$top/docs/access.md" |
  sed 's/listen 443 /listen 8443 /' >"$work/tls"
awk -v lines="$work/tls" '/^\tlisten / {
    while ((getline line < lines) > 0) print line
    next
  } /^\tserver_name / { next } { print }' \
  "$root/etc/nginx/sites-available/product-grid" >"$work/site"
cp "$work/site" "$root/etc/nginx/sites-available/product-grid"
printf '[api]\npublic_url = %s\n[session]\nsecure_cookie = yes\n' \
  https://grid.example.org:8443 >>"$root/etc/product-grid/gridapi.conf"
is "nginx takes its lines" inside nginx -t
is "and reads them" inside nginx -s reload
is "gridapi ends" stop_gridapi
start_gridapi
is "the doctor asks by TLS" once doctor 0 \
  '^ok +site +https://grid.example.org:8443 answers'
is "and reads the certificate" grep -qE '^ok +certificate +expires in (89|90) days' \
  "$work/told"
is "a certificate that ends soon" certify 3
inside nginx -s reload
is "is a look, which exit code 0 has" once doctor 0 \
  '^look +certificate +expires in [23] days'
certify 90 2>"$work/log"
is "nginx stops" inside nginx -s quit
is "which is wrong, and exit code 1" once doctor 1 \
  '^WRONG +site +https://.* does not answer'
# Else it takes the pid file of the next one with it.
is "it has come to its end" once test ! -e "$root/run/nginx.pid"
is "it starts again" inside nginx
is "and all is well" once doctor 0 '^0 wrong'

# --- the site is not enabled --------------------------------------------------------------
rm "$root/etc/nginx/sites-enabled/product-grid"
inside nginx -s reload
is "a site that is not enabled" doctor 1 '^WRONG +site +.* is not enabled'
link=$(todo site | sed "s/^'\\([^']*\\)'.*/\\1/")
is "is enabled by: $link" inside sh -c "$link && nginx -t && nginx -s reload"
is "which mends it" once doctor 0 '^0 wrong'

# --- wrong owners, after a command of root's ------------------------------------------------
data=$root/var/lib/product-grid
cp "$data/live.mdb" "$work/live"
install -m 600 "$work/live" "$data/live.mdb"
is "a file of root's" doctor 1 '^WRONG +owner +.*/live.mdb belongs to another'
is "and no word of being root" eval '! grep -q sudo "$work/told"'
give=$(todo owner | sed 's/^as root: //')
is "is given back by: $give" inside sh -c "$give"
is "which mends it" doctor 0 '^0 wrong'
inside chown -R root: /var/lib/product-grid
is "all of it root's" doctor 1 '^WRONG +owner +.*gridapi runs as product-grid'
give=$(todo owner | sed 's/^as root: //; s/, then .*//')
is "is given back by: $give" inside sh -c "$give"
is "gridapi ends" stop_gridapi
start_gridapi
is "which mends it" once doctor 0 '^0 wrong'

# --- a damaged byte ---------------------------------------------------------------------------
snapshot=$(ls -S "$data"/snapshots/*/*.mdb | head -n 1)
half=$(($(stat -c %s "$snapshot") / 2))
byte=$(od -An -tu1 -j $half -N 1 "$snapshot")
printf "\\$(printf %o $((byte ^ 1)))" |
  dd of="$snapshot" bs=1 seek=$half conv=notrunc 2>"$work/log"
checked() { # CODE
  inside sudo gridctl check >"$work/told" 2>&1
  local code=$?
  cat "$work/told"
  [ $code -eq "$1" ]
}
is "check finds a bit" checked 1
advice() { sed -n "s/^damaged: .*'\\(gridctl [^']*\\)'.*/\\1/p" "$work/told"; }
is "its supplier is made again by: $(advice)" inside sh -c "sudo $(advice)"
is "the damaged file is kept for its grace time" checked 1
is "and forgotten by: $(advice)" inside sh -c "sudo $(advice)"
is "which mends it" checked 0

# --- half a delivery ----------------------------------------------------------------------------
cat >"$root/tmp/part" <<END
set -e
mkdir -m 2770 $inbox/part
head -c 300 /srv/own/articles.csv >$inbox/part/articles.csv
head -n 1 /srv/csv/sales.csv >$inbox/part/sales.csv
echo ACME,1001 >>$inbox/part/sales.csv
chmod 660 $inbox/part/*
touch -d '3 hours ago' $inbox/part/* $inbox/part
END
chmod a+rx "$root/srv/csv" && chmod a+r "$root"/srv/csv/*
is "a sender that stops" inside su erp -c 'sh /tmp/part'
is "fails no night" inside sudo gridctl night run
is "but has a line" doctor 0 '^look +inbox +part came to a halt 3 hours ago'
is "is there all of it? no" inside su erp -c "echo merge >$inbox/part.done"
is "the night refuses it" eval '! inside sudo gridctl night run >"$work/told" 2>&1'
is "and says where" grep -q '^ *sales.csv:2: .*the line has 2 fields' "$work/told"
is "the doctor points at the night" doctor 0 '^look +night +a step .* has failed'
sed -i 's/monday/again/g' "$root/tmp/send"
is "sent again" inside su erp -c 'sh -e /tmp/send'
is "the night takes it" inside sudo gridctl night run
is "and all is well" doctor 0 '^ok +night .* is done'

# --- a full disk ------------------------------------------------------------------------------------
is "gridapi ends" stop_gridapi
cp -a "$data" "$work/data"
mount -t tmpfs -o size=256m,mode=0750 tmpfs "$data" && cp -a "$work/data/." "$data/"
start_gridapi
is "a disk of its own" once doctor 0 '^0 wrong'
inside sudo -u product-grid sh -c 'cat /dev/zero >/var/lib/product-grid/full' \
  2>"$work/log"
is "that is full" doctor 1 '^WRONG +disk +.* proposals may be refused'
propose() { # RANGE: the status of the answer
  inside curl -ks -X PUT -H "X-API-Key: $key" -H 'Content-Type: application/json' \
    -d "{\"gamme\":\"$1\",\"fournisseur\":\"ACME\"}" \
    -w '%{http_code}' https://127.0.0.1:8443/api/v1/products/1001/gamme
}
is "a proposal is refused, in words" eval \
  'propose A | grep -q "disk is full.*500$"'
is "a page is not" eval 'inside curl -kfsS -H "X-API-Key: $key" \
  "https://127.0.0.1:8443/api/v1/grid?fournisseur=ACME" | grep -q Towel'
inside sudo gridctl night run >"$work/night" 2>&1
is "the backup is made, on another disk" grep -qE '^  backup +done' "$work/night"
is "its prune" inside sh -c "sudo $(todo disk | sed "s/^'\\([^']*\\)'.*/\\1/")"
rm "$data/full"
is "with room, all is well" doctor 0 '^0 wrong'
is "the proposal is taken" eval 'propose A | grep -q "200$"'
is "gridapi ends" stop_gridapi
umount "$data"
start_gridapi
is "purged" inside apt-get -q -y purge product-grid
is "but for the data" test -e "$root/var/lib/product-grid/store"
is "gridapi ends" stop_gridapi
is "installed again" inside sh -c \
  "cd /root && $(echo "$install_line" | sed 's/apt install/apt-get -y install/')"
is "with the keys of before" eval 'inside gridctl key list | grep -q " scripts$"'
is "the folder of the sockets" inside sh -e /root/folder
start_gridapi
is "nginx reads the new site" inside nginx -s reload
is "and its rows" once eval 'page ACME | grep -q Towel'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

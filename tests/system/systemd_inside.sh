# What systemd.sh does in its machine, as a unit; told on the second serial line.
# The first boot installs, starts and strains; the second has it all come up by
# itself, and takes the package away.
cd /test || exit 1
url=http://127.0.0.1:8080
data=/var/lib/product-grid

ok() { echo "ok: $1"; }
not_ok() { # NAME [FILE with what was said]
  echo "not ok: $1"
  [ ! -s "${2:-/dev/null}" ] || tail -n 15 "$2" | sed 's/^/    /'
}
is() { # NAME COMMAND...: the command succeeds
  local name=$1
  shift
  if timeout 900 "$@" >/test/out 2>&1; then ok "$name"; else
    not_ok "$name" /test/out
  fi
}
say() { # NAME COMMAND...: the same for a function
  local name=$1
  shift
  if "$@" >/test/out 2>&1; then ok "$name"; else not_ok "$name" /test/out; fi
}
soon() { # COMMAND...: within minutes, as this machine is slow
  local i
  for ((i = 0; i < 600; i++)); do
    "$@" && return
    sleep 0.5
  done
  return 1
}
page() { # PATH [MORE]: the body, when it is a 200
  local path=$1
  shift
  curl -sS --fail-with-body --max-time 240 -H "X-API-Key: $key" "$@" "$url/api/v1$path"
}
# A bare Debian has neither ps nor pgrep.
pids_of() { # PROGRAM...
  local program comm
  for program in "$@"; do
    for comm in /proc/[0-9]*/comm; do
      read -r name 2>/dev/null <"$comm" && [ "$name" = "$program" ] &&
        comm=${comm%/comm} && echo "${comm#/proc/}"
    done
  done
}
children_of() { cat "/proc/$1/task/$1/children"; }
nobody_is_root() { # PROGRAM...: they run, and none of them as root
  local pid
  [ -n "$(pids_of "$1")" ] || { echo "no $1 runs"; return 1; }
  for pid in $(pids_of "$@"); do
    [ "$(stat -c %U "/proc/$pid")" != root ] ||
      { echo "$pid is root"; return 1; }
  done
}
main_pid() { systemctl show -p MainPID --value "$1"; }
has() { [[ $(systemctl show -p "$2" --value "$1") == "$3" ]]; }
no_file() { # what find prints is wrong
  local found
  found=$(find "$@")
  [ -z "$found" ] || { ls -ld $found; return 1; }
}
nothing_failed() {
  [ -z "$(systemctl --failed --no-legend --plain)" ] ||
    { systemctl --failed --no-pager; journalctl -b -p warning --no-pager -n 30; return 1; }
}
# A denied system call kills where strict() has said so; else it is an EPERM,
# which is told by whoever met it.
nothing_denied() {
  journalctl -b --no-pager -o cat -u 'grid*' -k |
    grep -aiE 'SIGSYS|seccomp|status=31/|not permitted|permission denied|read-only file' >/test/denied
  [ ! -s /test/denied ] || { cat /test/denied; return 1; }
}

# --- load -----------------------------------------------------------------------
load_begin() { # NAME
  local i
  rm -f /test/load.*
  for i in 1 2 3 4; do
    while [ ! -e /test/load.end ]; do
      curl -s -o /dev/null -w '%{http_code}\n' --max-time 240 -H "X-API-Key: $key" \
        "$url/api/v1/grid?fournisseur=$supplier&limit=20&page=$i"
      sleep 0.3 # apt is to come to its end, too
    done >/test/load.$i &
  done
  sleep 2
}
load_end() { # every answer was a 200, and there were some
  local asked good
  sleep 2
  touch /test/load.end
  wait
  asked=$(cat /test/load.? | wc -l)
  good=$(cat /test/load.? | grep -c '^200$')
  echo "$good of $asked: $(cat /test/load.? | sort | uniq -c | paste -sd' ')"
  [ "$asked" -gt 20 ] && [ "$good" -eq "$asked" ]
}
restart_thrice() {
  local i before
  load_begin
  for i in 1 2 3; do
    before=$(main_pid gridapi)
    systemctl restart gridapi || return
    [ "$(main_pid gridapi)" != "$before" ] || { echo "the same process"; return 1; }
    sleep 4
  done
  load_end
}
reload_thrice() {
  local i
  load_begin
  for i in 1 2 3; do
    systemctl reload gridapi || return
    sleep 2
  done
  load_end
}

# --- faults ----------------------------------------------------------------------
workers() { children_of "$(main_pid gridapi)" | tr ' ' '\n' | grep . | sort; }
worker_comes_back() {
  local before victim
  before=$(workers)
  victim=$(echo "$before" | head -n 1)
  kill -9 "$victim"
  again() { [ "$(workers | wc -l)" -ge "$(echo "$before" | wc -l)" ] &&
    ! workers | grep -qx "$victim"; }
  soon again && page "/grid?fournisseur=$supplier&limit=1"
}
supervisor_comes_back() {
  local before
  before=$(main_pid gridapi)
  kill -9 "$before"
  # Nothing is refused meanwhile: systemd has the sockets.
  page "/grid?fournisseur=$supplier&limit=1" || return
  [ "$(main_pid gridapi)" != "$before" ] && systemctl is-active gridapi
}
# Denied system calls end the program instead of being an error.
strict() {
  local unit
  for unit in gridapi gridctl-stale gridctl-prune gridhook; do
    mkdir -p "/run/systemd/system/$unit.service.d"
    printf '[Service]\nSystemCallErrorNumber=kill\n' \
      >"/run/systemd/system/$unit.service.d/strict.conf"
  done
  systemctl daemon-reload && systemctl restart gridapi gridhook
}
lenient() {
  rm -rf /run/systemd/system/*.service.d/strict.conf
  systemctl daemon-reload && systemctl restart gridapi gridhook
}
everything_once() { # each thing that a service does
  local codein
  page "/grid?fournisseur=$supplier&limit=5&sort=libelle1&search=a" >/dev/null &&
    page "/grid?fournisseur=$supplier" --compressed >/dev/null &&
    page "/fournisseurs?withData=1" >/dev/null &&
    page "/nomenclatures?fournisseur=$supplier" >/dev/null || return
  codein=$(page "/grid?fournisseur=$supplier&limit=1&fields=codein" |
    sed 's/.*"codein":"\([^"]*\)".*/\1/')
  page "/products/$codein" >/dev/null &&
    page "/products/$codein/gamme" -X PUT -H 'Content-Type: application/json' \
      -d "{\"gamme\":\"$1\",\"fournisseur\":\"$supplier\"}" || return
  curl -sS --fail-with-body --max-time 240 -d '{"source":"t","title":"'"$1"'"}' \
    -H "X-Service-Secret: $(cat /etc/gridhook.secret 2>/test/none)" \
    http://127.0.0.1:7842/assistant/hook &&
    curl -sS --fail-with-body "http://127.0.0.1:8080/metrics" >/dev/null &&
    curl -sS --fail-with-body "http://127.0.0.1:8080/readyz" >/dev/null
}
on_demand() { # of a supplier that was not computed yet
  page "/grid?fournisseur=$1&limit=1" >/test/on_demand || return
  grep -q '"computedOnDemand":true' /test/on_demand || { cat /test/on_demand; return 1; }
}
as_its_user() { # COMMAND...: what was made belongs to whom it should
  "$@" && no_file $data ! -user product-grid
}

# --- the night, by its path, its timers and its reports ---------------------------
inbox=/var/spool/product-grid/inbox
night_is() { # STATE: the newest night's, which has ended
  gridctl night status --json >/test/night.json
  grep -q '"ended":"' /test/night.json &&
    case $1 in
    done) ! grep -q '"state":"failed"' /test/night.json ;;
    *) grep -q '"state":"failed"' /test/night.json ;;
    esac
}
began() { grep -o '"began":"[^"]*"' /test/night.json; }
deliver() { # NAME ARTICLE: an article of ACME's, sent as documented but for the host
  local head
  head=$(head -n 1 /srv/csv/articles.csv)
  rm -rf "/tmp/$1" && mkdir "/tmp/$1" || return
  printf 'code,nom\nACME,Acme Ltd\n' >"/tmp/$1/suppliers.csv"
  printf '%s\nACME,1001,%s,,,,,,,,1.2,2.5,,\n' "$head" "$2" >"/tmp/$1/articles.csv"
  [ "$2" != broken ] || sed -i 1s/codein/code/ "/tmp/$1/articles.csv"
  chmod -R a+rX "/tmp/$1"
  su erp -c "rsync -rp --chmod=D2770,F660 /tmp/$1/ $inbox/$1/ &&
    echo merge >$inbox/$1.done"
}
has_article() { page "/grid?fournisseur=ACME&fields=libelle1" | grep -q "\"$1\""; }
taken() { # NAME: the delivery has left the inbox, and the night is over
  [ -z "$(find $inbox -name "$1*")" ] && has product-grid-night ActiveState inactive
}
set_aside() { [ -d "$inbox/$1.refused" ] && has product-grid-night ActiveState failed; }
mailed() { grep -q "^Subject: .*$1" /var/mail/ops; }
pushed() { grep -rqE "Night of [0-9-]+ $1" /var/lib/gridhook; }
tested() { grep -q '"tested":"2' $data/backups.json; }
# The shipped timer fires for a time that it has missed; it only must not wait.
missed() { # TIMER
  local unit=$1 was
  was=$(systemctl show -p ExecMainStartTimestampMonotonic --value "$unit.service")
  mkdir -p "/run/systemd/system/$unit.timer.d"
  printf '[Timer]\nRandomizedDelaySec=0\n' >"/run/systemd/system/$unit.timer.d/now.conf"
  systemctl daemon-reload && systemctl stop "$unit.timer" || return
  touch -d '40 days ago' "/var/lib/systemd/timers/stamp-$unit.timer" &&
    systemctl start "$unit.timer" || return
  again() { [ "$(systemctl show -p ExecMainStartTimestampMonotonic --value \
    "$unit.service")" != "$was" ] && has "$unit" ActiveState inactive; }
  soon again && has "$unit" Result success
}
killed_night() {
  local name=killed
  mkdir -p /run/systemd/system/product-grid-night.service.d
  printf '[Service]\nRestartSec=1\n' \
    >/run/systemd/system/product-grid-night.service.d/soon.conf
  systemctl daemon-reload
  deliver $name Killed || return
  under_way() { has product-grid-night ActiveState activating; }
  soon under_way && systemctl kill -s KILL product-grid-night || return
  soon taken $name && night_is done && has_article Killed
}
many_nights() { # one delivery after the other, each its own night
  local i
  for i in 1 2 3 4 5 6 7 8; do
    deliver "many$i" "Many $i" && soon taken "many$i" ||
      { systemctl status product-grid-night.path product-grid-night; return 1; }
  done
  has_article 'Many 8'
}
bent_state() { # a letter of a name, wherever the file has it
  local at
  for at in $(grep -abo kept-by-the-backup $data/state.mdb | cut -d: -f1); do
    printf K | dd of=$data/state.mdb bs=1 seek="$at" conv=notrunc || return
  done
  [ -n "$at" ]
}
nights() {
  is "documented: the night's units" sh -ec "$(cat night.sh)"
  is "documented: a sender" sh -ec "$(cat sender.sh)"
  is "the documented report by mail" sh -ec "$(cat report.sh)"
  printf '[backup]\nfolder = /var/backups/product-grid\n' >>/etc/product-grid/night.conf
  sed 's/ops@example.net/ops@localhost/' report.conf >>/etc/product-grid/night.conf
  is "a mail server" apt-get install exim4-daemon-light
  useradd -m ops
  printf 'account default\nhost 127.0.0.1\nfrom grid@localhost\n' >/etc/msmtprc
  say "a delivery" deliver good Towel
  say "starts the night by itself" soon taken good
  say "which is done" night_is done
  say "and its article is served" has_article Towel
  say "the unit ended well" has product-grid-night Result success
  say "the mail came" soon mailed done
  say "and the push" soon pushed done
  say "the night's files are its user's" no_file $data ! -user product-grid
  say "backups are, too" no_file /var/backups/product-grid -mindepth 1 ! -user product-grid
  say "a delivery with a fault" deliver bad broken
  say "is set aside" soon set_aside bad
  say "the mail says so" soon mailed failed
  say "with the column" grep -q 'articles.csv:1: codein: the column is missing' /var/mail/ops
  say "and the push" soon pushed failed
  say "readers see what they saw" has_article Towel
  say "a good one after it" deliver better Soap
  say "is taken" soon taken better
  say "and served" has_article Soap
  rm -rf $inbox/bad.refused
  say "eight deliveries, one after the other" many_nights
  say "a night that is killed goes on by itself" killed_night
  say "the timer of the night fires" missed product-grid-night
  say "the timer of the restore test fires" missed product-grid-restore-test
  say "and a backup was restored" tested
  say "the timer of compute --stale fires" missed gridctl-stale
  say "the timer of prune fires" missed gridctl-prune
  is "a key that the backup has" gridctl key create \
    --name kept-by-the-backup --scope read
  is "a backup of it" systemctl start product-grid-night
  say "bytes of state.mdb are bent" bent_state
  is "check finds them" sh -c '! gridctl check'
  is "documented: a restore" sh -ec "$(cat restore.sh)"
  is "check finds nothing" gridctl check
  is "the key is there" sh -c 'gridctl key list | grep -q kept-by-the-backup'
  say "and rows" soon has_article Killed
  is "the doctor finds nothing wrong" gridctl doctor
  for unit in product-grid-night.service product-grid-night.path \
    product-grid-night.timer product-grid-restore-test.service \
    product-grid-restore-test.timer; do
    say "systemd-analyze verify $unit" verify "$unit"
  done
  is "the night is sealed" systemd-analyze security --threshold=25 product-grid-night
  say "nothing was denied" nothing_denied
  say "nothing failed" nothing_failed
}

first_boot() {
  local i unit
  mkdir build-deb && cp /root/product-grid_*.deb /root/gridhook_*.deb build-deb/ || return
  mv product-grid_*+1_*.deb /root/newer.deb
  cat documented.sh | sed 's/^/    /'
  for i in 1 2; do
    is "documented: $(sed -n "${i}s/^ *//p" documented.sh)" \
      sh -ec "$(sed -n "${i}p" documented.sh)"
  done
  is "there are no more lines than that" [ "$(wc -l <documented.sh)" -eq 2 ]
  for unit in product-grid.target gridapi.service gridapi-pages.socket \
    gridapi-slow.socket gridctl-stale.timer gridctl-prune.timer nginx.service; do
    is "$unit is active" systemctl is-active "$unit"
  done
  is "gridhook is a package of its own" apt-get install \
    --no-install-recommends ./build-deb/gridhook_*.deb
  is "gridhook is not, before it is asked for" \
    sh -c '! systemctl is-active gridhook'
  is "nginx answers for it, without a key: 401" sh -c \
    "curl -s -o /dev/null -w '%{http_code}' $url/api/v1/fournisseurs | grep -qx 401"

  # --- data, by root's gridctl -----------------------------------------------
  is "demo data" gridctl demo --out /srv/csv --articles 2000 --suppliers 6 --stores 3
  listed=$(sed -n 's/^\([0-9]\{5\}\),.*/\1/p' /srv/csv/articles.csv)
  supplier=$(echo "$listed" | sort | uniq -c | sort -rn |
    awk 'NR == 1 { print $2 }')
  others=$(echo "$listed" | sort -u | grep -vx "$supplier")
  is "import" gridctl import /srv/csv
  is "network" gridctl network /srv/csv/network.csv
  is "compute" gridctl compute "$supplier"
  gridctl key create --name test --scope propose >/test/key 2>&1
  key=$(grep -oE 'grid_[A-Za-z0-9_-]+' /test/key | head -n 1)
  is "a key" test -n "$key"
  printf 'key=%s\nsupplier=%s\n' "$key" "$supplier" >/test/known
  say "a page through nginx" page "/grid?fournisseur=$supplier&limit=5"
  # A package that was built without npm has none.
  [ ! -e /usr/share/product-grid/html/screen ] || not_ok "the screen's place"
  [ ! -e /usr/share/product-grid/html/index.html ] ||
    is "the Grid screen" sh -c "curl -sf $url/ | grep -q '<html'"

  # --- the units as systemd sees them -----------------------------------------
  for unit in gridapi.service gridapi-pages.socket gridapi-slow.socket \
    gridctl-stale.service gridctl-prune.service gridctl-stale.timer \
    gridctl-hooks.service \
    gridctl-prune.timer gridhook.service product-grid.target; do
    say "systemd-analyze verify $unit" verify "$unit"
  done
  for unit in gridapi gridctl-stale gridctl-prune gridhook; do
    systemctl start "$unit" 2>/dev/null
    echo "figure: $(systemd-analyze security "$unit" 2>/dev/null | tail -n 1 | tr -d '→' | iconv -c -t ascii)"
  done
  is "gridapi is sealed" systemd-analyze security --threshold=12 gridapi
  is "gridctl-stale is sealed" systemd-analyze security --threshold=12 gridctl-stale
  is "gridhook is sealed" systemd-analyze security --threshold=25 gridhook
  # A secret of root's, as docs/cluster.md has it.
  mkdir /test/node && install -m 0600 /dev/null /test/cluster-secret
  echo 0123456789abcdef >/test/cluster-secret
  printf '[cluster]\nsecret_file = /test/cluster-secret\n' \
    >/test/node/cluster.conf
  is "a credential is the nodes' secret" sh -c "systemd-run -Pq --wait \
    -p User=product-grid -p LoadCredential=cluster-secret:/test/cluster-secret \
    gridctl --data /test/node cluster nginx | grep -q 'Bearer 0123456789abcdef'"
  say "gridapi is not root" nobody_is_root gridapi
  say "gridhook is not root" nobody_is_root gridhook

  # --- everything it does, with denied system calls deadly ----------------------
  is "gridhook starts" systemctl enable --now gridhook
  say "denied system calls are deadly now" strict
  say "everything once" everything_once A
  set -- $others
  say "a supplier is computed on demand" on_demand "$1"
  is "a sync" gridctl import --merge /srv/csv
  say "compute --stale as its user" as_its_user systemctl start gridctl-stale.service
  say "prune as its user" as_its_user systemctl start gridctl-prune.service
  say "compute --stale ended well" has gridctl-stale Result success
  say "prune ended well" has gridctl-prune Result success
  is "the timers wait for their time" sh -c \
    '[ $(systemctl list-timers --no-legend gridctl-stale.timer gridctl-prune.timer | grep -vc "^n/a\|^-") -eq 2 ]'
  say "no system call was denied" nothing_denied
  say "and lenient again" lenient
  say "everything once more" everything_once B

  # --- modes ----------------------------------------------------------------------
  say "files of the data are 0640" no_file $data -type f ! -perm 0640
  say "its folders are 0750" no_file $data -type d ! -perm 0750
  say "gridhook's are its own" no_file /var/lib/gridhook ! -user gridhook
  say "and closed to others" no_file /var/lib/gridhook -perm /007
  is "the sockets are nginx's group's, 0660" sh -c \
    "stat -c '%a %U %G' /run/product-grid/*.sock | sort -u | grep -qx '660 product-grid www-data'"
  is "and nobody else reaches them" sh -c \
    "! setpriv --reuid=nobody --regid=nogroup --clear-groups curl -s --unix-socket /run/product-grid/pages.sock http://x/"
  is "gridctl check" gridctl check

  # --- deaths, restarts, reloads ------------------------------------------------
  say "a killed worker comes back" worker_comes_back
  say "a killed supervisor comes back, and nothing is refused" supervisor_comes_back
  say "three restarts under load lose nothing" restart_thrice
  echo "figure: restarts: $(tail -n 1 /test/out)"
  say "three reloads under load lose nothing" reload_thrice
  echo "figure: reloads: $(tail -n 1 /test/out)"

  # --- upgrade ----------------------------------------------------------------------
  sed -i 's/^#processes = .*/processes = 3/' /etc/product-grid/gridapi.conf
  echo '# mine' >>/etc/nginx/sites-available/product-grid
  say "an upgrade under load loses nothing" upgrade
  echo "figure: upgrade: $(tail -n 1 /test/out)"
  is "the new version is there" sh -c \
    "dpkg-query -W -f '\${Version}' product-grid | grep -q '+1$'"
  is "and runs" sh -c "! readlink /proc/$(main_pid gridapi)/exe | grep deleted"
  is "gridhook too" sh -c "! readlink /proc/$(main_pid gridhook)/exe | grep deleted"
  is "settings that were edited stay" grep -q '^processes = 3' /etc/product-grid/gridapi.conf
  is "and hold" [ "$(workers | wc -l)" -ge 4 ]
  is "the site that was edited stays" grep -q '^# mine' /etc/nginx/sites-available/product-grid
  say "everything once, upgraded" everything_once C
  is "and back to the older one" apt-get install --allow-downgrades ./build-deb/product-grid_*.deb
  say "everything once, downgraded" everything_once A

  # --- the night --------------------------------------------------------------------
  nights

  # --- stopping ---------------------------------------------------------------------
  say "one command stops it all, soon" stops
  is "and starts it again" systemctl start product-grid.target
  say "a page" soon page "/grid?fournisseur=$supplier&limit=1"
  say "nothing failed" nothing_failed
  say "nothing was denied" nothing_denied
}
verify() {
  systemd-analyze verify --man=no "$1" 2>&1 | tee /test/verify
  [ ! -s /test/verify ]
}
upgrade() {
  local before socket
  socket=$(stat -c %i /run/product-grid/pages.sock)
  before=$(main_pid gridapi)
  load_begin
  apt-get install /root/newer.deb >/test/apt 2>&1 || { cat /test/apt; return 1; }
  [ "$(main_pid gridapi)" != "$before" ] || { echo "gridapi was not restarted"; cat /test/apt; touch /test/load.end; wait; return 1; }
  [ "$(stat -c %i /run/product-grid/pages.sock)" = "$socket" ] || echo "the socket is another"
  load_end
}
stops() {
  local begun=$SECONDS unit
  systemctl stop product-grid.target || return
  for unit in gridapi.service gridapi-pages.socket gridapi-slow.socket \
    gridctl-stale.timer gridctl-prune.timer; do
    soon has "$unit" ActiveState inactive || { systemctl status "$unit"; return 1; }
    has "$unit" Result success || { systemctl status "$unit"; return 1; }
  done
  [ -z "$(pids_of gridapi)" ] || { echo "gridapi runs"; return 1; }
  echo "$((SECONDS - begun)) s"
  [ $((SECONDS - begun)) -lt 45 ] # TimeoutStopSec
}

# Of the boot before, from its shutdown on: supervisors were killed in it, too.
ended_in_time() {
  journalctl -b -1 --no-pager -o cat --since "@$left" >/test/shutdown
  grep -q 'Stopped gridapi\.service' /test/shutdown ||
    { echo "it was not stopped"; tail -n 20 /test/shutdown; return 1; }
  ! grep -E 'grid.*(timed out|SIGKILL|Failed with result)' /test/shutdown
}

second_boot() {
  . /test/known
  say "after a boot it serves by itself" soon page "/grid?fournisseur=$supplier&limit=5"
  is "gridhook too" systemctl is-active gridhook
  say "everything once" everything_once B
  is "gridctl check" gridctl check
  say "the last shutdown ended it in time" ended_in_time

  # --- away -----------------------------------------------------------------------
  is "apt remove" apt-get remove product-grid gridhook
  is "nothing of it runs" [ -z "$(pids_of gridapi gridhook)" ]
  is "the data stays" test -s $data/state.mdb
  is "settings stay" test -s /etc/product-grid/gridapi.conf
  is "nginx is content" nginx -t
  is "it can be installed again" apt-get install ./build-deb/product-grid_*.deb
  is "and started by the same command" sh -ec "$(sed -n 2p documented.sh)"
  say "with all that was there" soon page "/grid?fournisseur=$supplier&limit=5"
  # Of the operator, for the night's report: no package takes it away.
  rm -r /etc/systemd/system/gridhook.service.d /etc/product-grid/gridhook.secret
  is "apt purge" apt-get purge product-grid gridhook
  say "settings and site are gone" no_file /etc -name '*product-grid*' -o -name 'gridapi*'
  say "and the units' links" no_file /etc/systemd /var/lib/systemd/deb-systemd-helper-enabled -name '*grid*' ! -name 'grid-test*'
  is "the data stays still" test -s $data/state.mdb
  is "nginx is content" nginx -t
  is "and serves the others" sh -c "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1/ | grep -qx 200"
  systemctl reset-failed 'nginx*' 2>/dev/null
  say "nothing failed" nothing_failed
  say "nothing was denied" nothing_denied
}

if [ ! -e /test/known ]; then first_boot; else second_boot; fi
echo "left=$(date +%s)" >>/test/known
echo "done"
sync
systemctl poweroff

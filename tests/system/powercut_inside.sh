# What powercut.sh does in its machine, as a unit: two minutes of everything that is
# acknowledged, on /dev/vdb: the facts in shares, and months of the trail that end, as
# the clock is set forward. Each acknowledgement is marked behind the file system of
# that disk, past all caches, so that it stands in the log of its writes behind what
# it speaks of.
url=http://127.0.0.1:8080/api/v1
marks=$(((400 << 20) / 4096))
mark() { # PLACE WORD...: "try" before, the rest after the acknowledgement
  local place=$1
  shift
  printf '%s\n' "$*" | dd of=/dev/vdb bs=4096 conv=sync,notrunc oflag=direct \
    seek=$((marks + place)) status=none || echo "a mark failed"
}

facts() { # FOLDER NUMBER [SUPPLIER...]: 400 articles of S1, called after the number
  local i folder=$1 number=$2 supplier
  shift 2
  mkdir -p "$folder"
  {
    printf 'code,nom\nS1,Un\n'
    for supplier in "$@"; do echo "$supplier,Autre"; done
  } >"$folder/suppliers.csv"
  {
    echo "fournisseur,codein,libelle1,libelle2,marque,gtin,reference,codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme"
    for ((i = 10000; i < 10400; i++)); do
      echo "S1,$i,import-$number,,,,,,101010,1,1,2,20,A"
    done
    for supplier in "$@"; do
      for ((i = 10000; i < 10010; i++)); do
        echo "$supplier,$i,import-$number,,,,,,101010,1,1,2,20,A"
      done
    done
  } >"$folder/articles.csv"
}
others="S2 S3 S4 S5 S6 S7 S8"
import_all() { # NUMBER
  # shellcheck disable=SC2086 # they are several
  facts /run/all "$1" $others
  gridctl import --shares 4 --quiet /run/all
}

# The clock is set forward meanwhile: SECONDS would count that.
goes_on() {
  local up
  read -r up _ </proc/uptime
  [ "${up%.*}" -lt "$end" ]
}
set_end() { # SECONDS
  local up
  read -r up _ </proc/uptime
  end=$((${up%.*} + $1))
}

proposing() {
  local n=0 codein gamme
  while goes_on; do
    n=$((n + 1))
    codein=$((10000 + n % 12))
    gamme=BCYZ
    gamme=${gamme:n / 12 % 4:1}
    mark 0 try put $codein $gamme
    curl -sf -o /dev/null --max-time 240 -X PUT -H "X-API-Key: $key" \
      -H 'Content-Type: application/json' \
      -d "{\"gamme\":\"$gamme\",\"fournisseur\":\"S1\"}" \
      "$url/products/$codein/gamme" && mark 0 put $codein $gamme
  done
}
pushing() {
  local n=0
  while goes_on; do
    n=$((n + 1))
    curl -sf -o /dev/null --max-time 240 -d "{\"source\":\"t\",\"title\":\"push-$n.\"}" \
      http://127.0.0.1:7842/assistant/hook && mark 1 push $n
  done
}
# An import of everything writes each share, a merge that of S1 alone. Behind a step
# of the clock come a proposal, which ends the month, and prune, which closes it.
working() {
  local n=0
  while goes_on; do
    n=$((n + 1))
    facts /run/facts $n
    mark 2 try import $n
    if [ $((n % 3)) -eq 0 ]; then import_all $n; else
      gridctl import --merge --quiet /run/facts
    fi && mark 2 import $n
    mark 2 try compute $n
    gridctl compute --quiet S1 && mark 2 compute $n
    [ $((n % 3)) -ne 0 ] ||
      { gridctl key create --name k-$n --scope read >/dev/null 2>&1 && mark 2 key $n; }
    [ $((n % 2)) -ne 0 ] || gridctl prune --grace 0s >/dev/null
    [ $((n % 4)) -ne 1 ] || date -s "+32 days" >/dev/null
  done
}

work() {
  mount /dev/vdb /srv && mkdir -p /srv/grid /srv/hook || return
  chown product-grid:product-grid /srv/grid && chmod 750 /srv/grid
  chown gridhook:gridhook /srv/hook && chmod 700 /srv/hook
  mkdir -p /var/lib/product-grid /var/lib/gridhook
  mount --bind /srv/grid /var/lib/product-grid &&
    mount --bind /srv/hook /var/lib/gridhook || return
  gridctl init && import_all 0 && gridctl compute --quiet S1 || return
  key=$(gridctl key create --name test --scope propose 2>/dev/null)
  # What nobody reads is kept for two weeks otherwise: the clock passes them.
  printf '[store]\nkeep_age = 365d\n' >/etc/gridhook.conf
  systemctl start product-grid.target gridhook nginx || return
  curl -sf -o /dev/null -H "X-API-Key: $key" "$url/grid?fournisseur=S1&limit=1" ||
    return
  sync
  mark 3 begin
  set_end 120
  proposing &
  pushing &
  working &
  wait
  mark 3 end
}

if work; then echo "done"; fi
sync
systemctl poweroff

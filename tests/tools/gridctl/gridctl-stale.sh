#!/bin/sh
# Which suppliers an import, a network file or server ranges leave to compute:
# those whose data changed, and no other. Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
gridctl=$(realpath "$gridctl")
tables=$(realpath "${abs_top_builddir:-.}/tests/system/tables")
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-stale-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

grid() { "$gridctl" --data "$work/data" "$@"; }

articles='fournisseur,codein,libelle1,libelle2,marque,gtin,reference,codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme'
sales='fournisseur,codein,magasin,mois,quantite,ca,marge'
networks='codeCentrale,caReseau,qteReseau,nbMagasinsReseau,margePctReseau,fetchedAt,2025-11,2025-12'

# Four suppliers: F1 and F2 list product 1000077, F3 lists 1000078, F4 none.
plain() {
  rm -rf "$work/csv"
  mkdir "$work/csv"
  cd "$work/csv" || exit 1
  printf 'code,nom\nF1,Un\nF2,Deux\nF3,Trois\nF4,Quatre\n' >suppliers.csv
  printf 'magasin,nom\n001,Un\n002,Deux\n' >stores.csv
  printf 'code,libelle\n12,Epicerie\n120305,Thon\n120306,Mais\n' \
    >nomenclature.csv
  printf '%s\n' "$articles" 'F1,A1,Thon,,M,34,R1,1000077,120305,6,1.25,2.5,5.5,A' \
    'F2,A1,Thon,,M,34,R2,1000077,120305,,,,,' 'F2,A2,Eau,,,,,,,,,,,B' \
    'F3,A3,Mais,,M,35,R3,1000078,120306,6,1.25,2.5,5.5,C' \
    'F4,A4,Sel,,,,,,,,,,,' >articles.csv
  printf '%s\n' "$sales" 'F1,A1,001,202511,3,7.5,1.5' \
    'F2,A1,002,202512,4,10,2' 'F3,A3,002,202512,4,10,2' \
    'F4,A4,001,202512,1,1,0' >sales.csv
  printf '%s\n' "$networks" '1000077,1000,200,50,0.25,2025-12-31T08:00:00Z,1,2' \
    '1000078,5,1,1,,,,' '1000079,5,1,1,,,,' >network.csv
}

# A folder of its own with one CSV file.
only() { # FILE LINE...
  rm -rf "$work/one"
  mkdir "$work/one"
  file=$1
  shift
  printf '%s\n' "$@" >"$work/one/$file"
}

# Computes what is stale, and compares who that was.
expect() { # SUPPLIERS CASE
  got=$(grid suppliers --json | python3 -c '
import json, sys
rows = json.load(sys.stdin)
print(" ".join(r["code"] for r in rows if r["snapshot"] == "stale"))')
  made=$(grid compute --stale 2>&1)
  left=$(grid suppliers --json | grep -c '"stale"')
  case $1 in
    '') said='every snapshot is current and usable' ;;
    *) said="$(echo "$1" | wc -w) suppliers computed" ;;
  esac
  if [ "$got" = "$1" ] && [ "$left" = 0 ] && echo "$made" | grep -q "$said"
  then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $2: stale: '$got', wanted: '$1', left: $left"
    echo "$made" | sed 's/^/    /'
  fi
}

take() { "$@" >"$work/out" 2>&1 || { cat "$work/out"; failed=$((failed + 1)); }; }

plain
take grid init
says() { # CODE TEXT COMMAND...
  code=$1 text=$2
  shift 2
  "$@" >"$work/out" 2>&1
  if [ $? = "$code" ] && grep -qE "$text" "$work/out"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $*: is not $code with '$text'"
  fi
}
nothing="nothing was imported yet: 'gridctl import FOLDER' does it\$"
says 0 "^$nothing" grid compute --stale
take grid compute --stale --quiet # as the timer of each hour
says 1 "^gridctl compute: $nothing" grid compute --all
says 1 "^gridctl compute: $nothing" grid compute --stale --absent --quiet
take grid import "$work/csv"
take grid compute --all
expect '' 'a new store'

take grid import "$work/csv"
expect '' 'all once more, unchanged'
{ head -n 1 sales.csv; tail -n +2 sales.csv | tac; } >back && mv back sales.csv
take grid import "$work/csv"
expect '' 'the same lines in another order'

only sales.csv "$sales" 'F3,A3,001,202512,9,9,1'
take grid import --merge "$work/one"
expect F3 'sales of one supplier merged'
take grid import --merge "$work/one"
expect '' 'the same sales merged again'
only sales.csv "$sales" 'F4,A4,001,202601,1,1,0'
take grid import --merge "$work/one"
expect 'F1 F2 F3 F4' 'a new newest month moves the year of all'

plain
take grid import "$work/csv"
take grid compute --stale
sed -i 's/^120306,Mais/120306,Maïs/' nomenclature.csv
take grid import "$work/csv"
expect F3 'a label of one supplier'"'"'s articles'
echo '99,Divers' >>nomenclature.csv
take grid import "$work/csv"
expect '' 'a label without articles'
sed -i 's/^F2,Deux/F2,Second/' suppliers.csv
take grid import "$work/csv"
expect F2 'a name'
sed -i '/^F2,A2/d' articles.csv
take grid import "$work/csv"
expect F2 'an article that is gone'
echo '000,Neuf' >>stores.csv
take grid import "$work/csv"
expect 'F1 F2 F3 F4' 'a new store is one of every row'"'"'s'
sed -i 's/^000,Neuf/000,Autre/' stores.csv
take grid import "$work/csv"
expect '' 'a name of a store, which no row has'

only network.csv "$networks" '1000078,6,1,1,,,,'
take grid network "$work/one/network.csv"
expect F3 'a product that one supplier lists'
take grid network "$work/one/network.csv"
expect '' 'the same product again'
only network.csv "$networks" '1000077,1001,200,50,0.25,2025-12-31T08:00:00Z,1,2'
take grid network "$work/one/network.csv"
expect 'F1 F2' 'a product that two suppliers list'
only network.csv "$networks" '1000079,7,1,1,,,,' '1000080,7,1,1,,,,'
take grid network "$work/one/network.csv"
expect '' 'products that nobody lists'
take grid network --replace "$work/one/network.csv"
expect 'F1 F2 F3' 'products that are forgotten'
only articles.csv "$articles" 'F4,A4,Sel,,,,,1000080,,,,,,'
take grid import --merge "$work/one"
expect F4 'a product is listed'
only network.csv "$networks" '1000080,8,1,1,,,,'
take grid network "$work/one/network.csv"
expect F4 'its figures change'

only gammes.csv 'fournisseur,codein,gamme' 'F1,A1,B'
take grid gammes import "$work/one/gammes.csv"
expect F1 'a range'
plain
take grid import "$work/csv"
take grid compute --stale
sed -i 's/^\(F2,A2.*\)B$/\1/' articles.csv
take grid import "$work/csv"
expect F2 'a range that is gone'
take grid import "$work/csv"
expect '' 'it stays gone'

# One supplier, if it is stale, absent or gone wrong.
one() { # SAID CASE WORD...
  said=$1
  case=$2
  shift 2
  made=$(grid compute "$@" 2>&1)
  if echo "$made" | grep -q "$said"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $case: $made"
  fi
}
one 'F3: its snapshot is current and usable' 'a current one' --stale F3
only gammes.csv 'fournisseur,codein,gamme' 'F3,A3,B'
take grid gammes import "$work/one/gammes.csv"
one 'F1: its snapshot is current' 'beside a stale one' --stale F1
one 'F3: 1 rows.*, computed in' 'a stale one' --stale F3
snapshot=$(find "$work/data/snapshots/F3" -name '*.mdb' | sort | tail -n 1)
mv "$snapshot" "$work/moved"
one 'F3: 1 rows.*, computed in' 'one whose file is gone' --stale F3
mv "$work/moved" "$snapshot"
one 'F3: its snapshot is current' 'one that was computed' --stale --absent F3
one 'no such supplier' 'one that there is not' --stale F9
one 'give a SUPPLIER, or --all, or --stale' 'all and one' --all F3

# Snapshots of another version of Product Grid are stale, and no damage.
age() { # SUPPLIER: makes its snapshot one of the version before
  python3 - "$(find "$work/data/snapshots/$1" -name '*.mdb' | sort | tail -n 1)" <<'EOF'
import struct, sys, zlib
with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
at = data.index(b"GRIDSNAP")
version, was, _, _, sections, name = struct.unpack_from("<6I", data, at + 8)
size = 160 + name + 16 * sections  # struct snap_head, and its table
def crc():
    struct.pack_into("<I", data, at + 12, 0)
    struct.pack_into("<I", data, at + 12, zlib.crc32(data[at:at + size]))
crc()
assert struct.unpack_from("<I", data, at + 12)[0] == was, "the head's size"
struct.pack_into("<I", data, at + 8, version - 1)
crc()
with open(sys.argv[1], "wb") as file:
    file.write(data)
EOF
}
take grid compute --stale --absent
age F1
age F4
says 0 "^  of these, another version's +0$" grid stat # no file is opened
"$tables" "$work/data" unnote
says 0 '^snapshots +4$' grid stat
says 0 "^  of these, another version's +2$" grid stat
says 0 '"snapshotsStale":2,"snapshotsOtherVersion":2' grid stat --json
foreign='2 snapshots of another version of Product Grid, not read'
says 0 "^$foreign: 'gridctl compute --stale'" grid check
says 0 '^all is whole$' grid check
says 0 '"otherVersion":2.*"whole":true' grid check --json
waiting='computation: 2, 0 of them for their first, 2 as their snapshot is of'
says 1 "^look +snapshots .*$waiting another version" grid doctor
expect 'F1 F4' 'snapshots of another version'
says 0 "^  of these, another version's +0$" grid stat
says 0 "^$foreign" grid check # the replaced ones, until they are pruned
take grid prune --grace 0s
says 0 '"otherVersion":0' grid check --json

# The rows of a supplier that was left alone are those that computing it makes.
take grid network network.csv
take grid compute --stale
for supplier in F1 F2 F3 F4; do
  grid dump "$supplier" >"$work/kept"
  take grid compute -q "$supplier"
  grid dump "$supplier" >"$work/made"
  if cmp "$work/kept" "$work/made"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $supplier is as it would be computed now"
  fi
done
if grid check >"$work/out" 2>&1; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  cat "$work/out"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

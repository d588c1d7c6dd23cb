#!/bin/sh
# For each of the ten CSV files: what is wrong is told with its file, line,
# column and reason, and changes nothing; what is only unusual is taken in.
# Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-bad-input-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

ok() { passed=$((passed + 1)); }
not_ok() {
  failed=$((failed + 1))
  echo "not ok: $1"
  sed 's/^/    /' "$work/out" | cut -c1-300 | head -n 8
}
files="suppliers stores nomenclature articles sales stock receptions positions
network gammes"

mkdir "$work/csv" || exit 1

# The plainest folder that is whole.
plain() {
  cd "$work/csv" || exit 1
  rm -rf ./*
  printf 'code,nom\nF1,Premier\nF2,Second\n' >suppliers.csv
  printf 'magasin,nom\n001,Un\n002,Deux\n' >stores.csv
  printf 'code,libelle\n12,Epicerie\n120305,Thon\n' >nomenclature.csv
  printf '%s\n%s\n%s\n' \
    'fournisseur,codein,libelle1,libelle2,marque,gtin,reference,codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme' \
    'F1,A1,Thon,,M,34,R1,1000077,120305,6,1.25,2.50,5.5,A' \
    'F2,A1,Thon,,M,34,R2,,,,,,,' >articles.csv
  printf 'fournisseur,codein,magasin,mois,quantite,ca,marge\nF1,A1,001,202511,3,7.5,1.5\nF1,A1,002,202512,4,10,2\n' >sales.csv
  printf 'fournisseur,codein,magasin,mois,stock\nF1,A1,001,202511,30\nF1,A1,002,202512,40\n' >stock.csv
  printf 'fournisseur,codein,magasin,mois,quantite\nF1,A1,001,202511,12\nF1,A1,002,202512,6\n' >receptions.csv
  printf 'fournisseur,codein,magasin,stock,premiereVente,derniereVente,derniereReception\nF1,A1,001,5,2024-01-02,2025-12-30,2025-12-01\nF1,A1,002,6,,,\n' >positions.csv
  printf 'codeCentrale,caReseau,qteReseau,nbMagasinsReseau,margePctReseau,fetchedAt,2025-11,2025-12\n1000077,1000,200,50,0.25,2025-12-31T08:00:00Z,100,120\n1000078,5,1,1,,,,\n' >network.csv
  printf 'fournisseur,codein,gamme\nF1,A1,B\nF2,A1,\n' >gammes.csv
}

head -c 1100000 /dev/zero | tr '\000' x >"$work/long"

grid() { "$gridctl" --data "$work/data" "$@"; }

# Each folder and file of the store, and the files' bytes: but LMDB's lock files
# have the processes that read it.
seen() {
  find "$work/data" \( -type d -o -name '*.mdb-lock' \) -print -o \
    -exec md5sum {} +
}

plain
grid init >"$work/out" && grid import -q "$work/csv" >"$work/out" 2>&1 &&
  grid compute -q --all >"$work/out" 2>&1 || {
  not_ok "the plain folder is taken in"
  echo "$passed passed, $failed failed"
  exit 1
}
before=$(seen)

# refused NAME PATTERN: the folder as it stands now is refused with that line.
refused() {
  grid import "$work/csv" >"$work/out" 2>&1
  code=$?
  if [ "$code" -ne 1 ]; then
    not_ok "$1: exit code $code, not 1"
  elif ! grep -Eq "$2" "$work/out"; then
    not_ok "$1: no line like $2"
  elif [ "$before" != "$(seen)" ]; then
    seen >"$work/out"
    not_ok "$1: the store has changed"
  else
    ok
  fi
}

# taken NAME: it is taken in, and the rows stay what they were.
taken() {
  if ! grid import -q "$work/csv" >"$work/out" 2>&1; then
    not_ok "$1: refused"
  elif ! grid compute -q --all >"$work/out" 2>&1; then
    not_ok "$1: not computed"
  else
    grid dump F1 >"$work/rows"
    grid dump F2 >>"$work/rows"
    if cmp -s "$work/rows" "$work/rows.before"; then
      ok
    else
      diff "$work/rows.before" "$work/rows" >"$work/out"
      not_ok "$1: the rows differ"
    fi
  fi
  before=$(seen)
}
grid dump F1 >"$work/rows.before"
grid dump F2 >>"$work/rows.before"

last_line() { wc -l <"$work/csv/$1.csv" | tr -d ' '; }
edit() { # FILE SED-SCRIPT
  sed "$2" "$work/csv/$1.csv" >"$work/new" && mv "$work/new" "$work/csv/$1.csv"
}
first_column() { head -n 1 "$work/csv/$1.csv" | cut -d, -f1; }
last_fixed_column() {
  head -n 1 "$work/csv/$1.csv" | tr , '\n' | grep -v '^2025-' | tail -n 1
}
# A column of text, where any text will do, and its number.
text_column() {
  case $1 in
  suppliers | stores) echo 'nom 2' ;;
  nomenclature) echo 'libelle 2' ;;
  articles) echo 'libelle1 3' ;;
  network) echo 'codeCentrale 1' ;;
  *) echo 'codein 2' ;;
  esac
}
# set_field FILE LINE COLUMN TEXT
set_field() {
  awk -F, -v OFS=, -v l="$2" -v c="$3" -v t="$4" \
    'NR == l { $c = t } { print }' "$work/csv/$1.csv" >"$work/new" &&
    mv "$work/new" "$work/csv/$1.csv"
}

for file in $files; do
  csv=$work/csv/$file.csv
  set -- $(text_column "$file")
  column=$1
  number=$2

  plain
  set_field "$file" 3 "$number" "$(printf 'x\303(y')"
  refused "$file: bad UTF-8" "^$file\.csv:3: $column: is not UTF-8"

  plain
  awk -F, -v OFS=, '{ $1 = ""; print substr($0, 2) }' "$csv" >"$work/new"
  name=$(first_column "$file")
  mv "$work/new" "$csv"
  refused "$file: missing column" \
    "^$file\.csv:1: $name: the column is missing"

  plain
  edit "$file" '1s/$/,farbe/; 2,$s/$/,rot/'
  refused "$file: unknown column" \
    "^$file\.csv:1: farbe: there is no such column"

  plain
  edit "$file" "1s/$/,$(first_column "$file")/; 2,\$s/\$/,x/"
  refused "$file: a column twice" \
    "^$file\.csv:1: $(first_column "$file"): the column is there twice"

  plain
  edit "$file" '3s/,[^,]*$//'
  refused "$file: a field too few" "^$file\.csv:3: .*: is missing: the line has"

  plain
  edit "$file" '3s/$/,1/'
  refused "$file: a field too many" "^$file\.csv:3: .*: is followed by more"

  plain
  {
    sed -n '1,2p' "$csv"
    sed -n '3p' "$csv" | cut -d, -f1-"$number" | tr -d '\n'
    cat "$work/long"
    printf ',\n'
  } >"$work/new"
  mv "$work/new" "$csv"
  refused "$file: a line of 1 MB" \
    "^$file\.csv:3: .*(the line is longer than|is longer than)"

  plain
  awk -F, -v OFS=, -v c="$number" 'NR == 3 { $c = "a@b" } { print }' "$csv" |
    tr '@' '\000' >"$work/new"
  mv "$work/new" "$csv"
  refused "$file: a NUL byte" "^$file\.csv:3: $column: holds a NUL byte"

  plain
  set_field "$file" 3 "$number" 'a"b'
  refused "$file: a stray quote" "^$file\.csv:3: .*a quote stands where none"

  plain
  printf '"open' >>"$csv"
  refused "$file: a quote that does not end" \
    "^$file\.csv:4: .*(does not end|is missing)"

  plain
  printf '\n' >>"$csv"
  refused "$file: an empty line" "^$file\.csv:4: .*: the line is empty"

  plain
  : >"$csv"
  refused "$file: an empty file" "^$file\.csv:1: .*: the file is empty"

  plain
  sed -n '2p' "$csv" >>"$csv"
  refused "$file: the same twice" \
    "^$file\.csv:4: .*comes twice .*|^$file\.csv:4: .*line 2 has it too"

  plain
  edit "$file" 's/,/;/g'
  refused "$file: semicolons" \
    "^$file\.csv:1: the fields are separated by semicolons"
  [ "$(grep -c "^$file\.csv:" "$work/out")" -eq 1 ] && ok ||
    not_ok "$file: semicolons in one sentence"

  plain
  gzip "$csv"
  head -c -9 "$csv.gz" >"$work/new" && mv "$work/new" "$csv.gz"
  refused "$file: packed, without its end" "^$file\.csv\.gz: is cut short"

  plain
  set_field "$file" 3 "$number" 'a"b'
  gzip "$csv"
  refused "$file: packed, a stray quote" \
    "^$file\.csv\.gz:3: .*a quote stands where none"

  plain
  sed -n '2p' "$csv" >>"$csv"
  gzip "$csv"
  refused "$file: packed, the same twice" \
    "^$file\.csv\.gz:4: .*comes twice .*|^$file\.csv\.gz:4: .*line 2 has it too"

  plain
  gzip "$csv"
  taken "$file: packed by gzip"

  plain
  gzip -k "$csv"
  refused "$file: packed, and as it is" \
    "^$file\.csv\.gz: is there, and so is $file\.csv: one of them must go"

  plain
  zstd -q --rm "$csv"
  taken "$file: packed by zstd"

  plain
  zstd -q "$csv" && mv "$csv" "$work/plain.csv" && gzip -c "$work/plain.csv" >"$csv.gz"
  refused "$file: packed in two ways" \
    "^$file\.csv\.zst: is there, and so is $file\.csv\.gz: one of them must go"

  plain
  mv "$csv" "$csv.xz"
  refused "$file: a packing that is not read" \
    "^$file\.csv\.xz: is packed in a way that is not read: unpack it"

  plain
  edit "$file" 's/$/\r/'
  taken "$file: CRLF"

  plain
  printf '\357\273\277' | cat - "$csv" >"$work/new"
  mv "$work/new" "$csv"
  taken "$file: a byte order mark"

  plain
  awk -F, '{ for (i = 1; i <= NF; i++)
    printf "%s\"%s\"", (i > 1 ? "," : ""), $i; print "" }' "$csv" >"$work/new"
  mv "$work/new" "$csv"
  taken "$file: all in quotes"

  plain
  printf '%s' "$(cat "$csv")" >"$work/new"
  mv "$work/new" "$csv"
  taken "$file: no newline at the end"

  plain
  awk -F, -v OFS=, '{ t = $1; $1 = $NF; $NF = t; print }' "$csv" >"$work/new"
  mv "$work/new" "$csv"
  taken "$file: columns in another order"
done

# --- files that are not known --------------------------------------------------
plain
echo text >notes.txt
echo text >article.csv
cp articles.csv Articles.CSV
refused "a file that is not known" '^notes\.txt: is no file of an import: take'
grep -q '^article\.csv: is no file of an import: take it out, or give --ignore-' \
  "$work/out" && ok || not_ok "each of them is named"
grep -q '^Articles\.CSV: .*is articles\.csv meant' "$work/out" &&
  grep -q ': 3 faults$' "$work/out" && ok || not_ok "and what may be meant"
if grid import --merge "$work/csv" >"$work/out" 2>&1 ||
  ! grep -q '^notes\.txt: ' "$work/out"; then
  not_ok "nor does a merge pass over them"
else
  ok
fi
if grid import --ignore-unknown "$work/csv" >"$work/out" 2>&1 &&
  grep -q 'gridctl import: ignored: notes\.txt$' "$work/out" &&
  grep -q 'gridctl import: ignored: article\.csv$' "$work/out"; then
  ok
else
  not_ok "--ignore-unknown names them and goes on"
fi
grid compute -q --all >"$work/out" 2>&1 # as it was before
grid dump F1 >"$work/rows"
grid dump F2 >>"$work/rows"
cmp -s "$work/rows" "$work/rows.before" && ok || not_ok "with the same rows"
before=$(seen)
plain
mkdir archive
echo text >.hidden
taken "a folder and a hidden file"
plain
cp sales.csv sales.csv.xz
grid import --ignore-unknown "$work/csv" >"$work/out" 2>&1 &&
  not_ok "--ignore-unknown passes over a packed file" || ok

# wrong FILE COLUMN-NUMBER TEXT PATTERN
wrong() {
  plain
  name=$(head -n 1 "$work/csv/$1.csv" | cut -d, -f"$2")
  set_field "$1" 2 "$2" "$3"
  refused "$1: $name \"$3\"" "^$1\.csv:2: $name: $4"
}
code65=$(printf '%065d' 1)
wrong suppliers 1 '' 'is empty, but is needed'
wrong suppliers 1 "$code65" 'is no code'
wrong stores 1 '' 'is empty, but is needed'
wrong nomenclature 1 '123' 'is no classification code'
wrong nomenclature 1 '1x' 'is no classification code'
wrong articles 1 'F9' 'is a supplier that suppliers.csv does not have'
wrong articles 2 '' 'is empty, but is needed'
wrong articles 8 '77' 'is no central code'
wrong articles 9 '12030' 'is no classification code of 6 digits'
for column in 10 11 12 13; do
  wrong articles $column '1e3' 'is not a number'
  wrong articles $column '99999999999999999' 'is too large a number'
done
wrong articles 14 'D' 'is no range code'
for file in sales stock receptions positions gammes; do
  wrong $file 1 'F9' 'is an unknown supplier'
  wrong $file 2 'A9' 'is no article of supplier F1'
done
for file in sales stock receptions positions; do
  wrong $file 3 '009' 'is a store that stores.csv does not have'
done
for file in sales stock receptions; do
  wrong $file 4 '2025-11' 'is not a month'
  wrong $file 4 '202513' 'is not a month'
  wrong $file 4 '' 'is not a month'
  wrong $file 4 '198901' 'is not a month of'
  wrong $file 5 '3 ' 'is not a number'
done
# The columns of which product-grid-csv(5) says that they cannot be empty, and no other.
needed=$(sed -n '/these cannot be empty/,/^of network/p' \
  "${abs_top_srcdir:-.}/docs/man/product-grid-csv.5" | sed -n 's/^\.Cm//p' | tr -d ,)
[ -n "$needed" ] || not_ok "product-grid-csv(5) does not say what cannot be empty"
for file in $files; do
  plain
  number=0
  for name in $(head -n 1 "$work/csv/$file.csv" | tr , ' '); do
    number=$((number + 1))
    plain
    set_field "$file" 2 $number ''
    grid import --check "$work/csv" >"$work/out" 2>&1
    told=$(grep -c "^$file\.csv:2: $name: is \(empty, but is needed\|no \|not a month\)" "$work/out")
    case "$file.$name" in
    articles.codeCentrale) want=0 ;;
    *) case " $needed " in *" $name "*) want=1 ;; *) want=0 ;; esac ;;
    esac
    if [ "$told" -eq "$want" ]; then
      ok
    else
      not_ok "$file.csv: $name empty: $told faults, and the manual page says $want"
    fi
  done
done
for text in abc 1e3 0x1 '+1' 1. .5 -- 1.0000001 NaN; do
  wrong sales 6 "$text" 'is not a number'
done
wrong sales 7 '99999999999999' 'is too large a number'
for text in -576460752304 123456789012345678901234567890.5; do
  wrong sales 7 "$text" 'is too large a number'
done
for text in 99999999999999x 99999999999999.1234567 99999999999999. -; do
  wrong sales 7 "$text" 'is not a number'
done
wrong positions 4 'x' 'is not a number'
for column in 5 6 7; do
  wrong positions $column '2025-02-29' 'is not a date'
  wrong positions $column '31/12/2025' 'is not a date'
done
wrong network 1 '77' 'is no central code'
wrong network 1 '' 'is empty, but is needed'
wrong network 2 'x' 'is not a number'
wrong network 3 'x' 'is not a number'
wrong network 4 '1.5' 'is not a whole number'
wrong network 4 '-1' 'is not a whole number'
wrong network 5 'x' 'is not a number'
wrong network 6 'yesterday' 'is not an instant'
wrong network 7 'x' 'is not a number'
wrong gammes 3 'a' 'is no range code'

# Newlines, commas and quotes in quotes are text.
plain
printf 'code,nom\nF1,"Premier,\n""le"" vrai"\nF2,Second\n' \
  >"$work/csv/suppliers.csv"
grid import -q "$work/csv" >"$work/out" 2>&1 && grid compute -q F1 \
  >"$work/out" 2>&1
grid dump F1 >"$work/out"
if grep -Fq '"nomFournisseur":"Premier,\n\"le\" vrai"' "$work/out"; then
  ok
else
  not_ok "a newline in quotes is text"
fi
printf 'code,nom\nF1,"Premier,\n\n""le"" vrai"\nF1,Second\n' \
  >"$work/csv/suppliers.csv"
before=$(seen)
refused "lines are counted through quotes" \
  '^suppliers\.csv:5: code: comes twice'

# Many faults, in several files: the first 100 of each and how many more.
plain
i=0
while [ $i -lt 110 ]; do
  printf 'F1,A1,001,20251%d,x,1,1\n' $((i % 2))
  i=$((i + 1))
done >>"$work/csv/sales.csv"
printf 'F1,A1,009,202511,1\n' >>"$work/csv/stock.csv"
refused "111 faults" '^\.\.\. and 10 more$'
if [ "$(grep -c '^[a-z]*\.csv:' "$work/out")" -eq 101 ] &&
  grep -q '^stock\.csv:4: ' "$work/out" &&
  grep -q 'refused, nothing was changed: 111 faults' "$work/out"; then
  ok
else
  not_ok "101 of 111 faults are told, and their count"
fi

# all NAME PATTERN...: the folder is refused with just these faults, in one run.
all() {
  name=$1
  shift
  refused "$name" "$1"
  for pattern in "$@"; do
    grep -Eq "$pattern" "$work/out" || not_ok "$name: no line like $pattern"
  done
  [ "$(grep -cE '^[^ ]+: ' "$work/out")" -eq $# ] && ok ||
    not_ok "$name: not $# faults"
}
plain
echo x >notes.txt
set_field suppliers 3 2 "$(printf 'Caf\351')"
set_field articles 2 12 '"2,50"'
set_field articles 2 11 x
edit articles '1s/,tva,/,taxe,/'
set_field sales 2 4 202513
set_field sales 2 6 abc
set_field sales 3 2 A9
edit stock 's/,[^,]*$//'
set_field positions 2 5 01/02/2024
set_field network 2 2 x
printf 'F1,A1,D\n' >>gammes.csv
all "all faults of a delivery" '^notes\.txt: ' \
  '^suppliers\.csv:3: nom: is not UTF-8 .Excel' \
  '^articles\.csv:1: taxe: there is no such column' \
  '^articles\.csv:1: tva: the column is missing' \
  '^articles\.csv:2: prixAchat: is not a number' \
  '^articles\.csv:2: prixVente: has a comma before its decimals.*"2,50"' \
  '^sales\.csv:2: mois: ' '^sales\.csv:2: ca: ' \
  '^sales\.csv:3: codein: is no article' \
  '^stock\.csv:1: stock: the column is missing' \
  '^positions\.csv:2: premiereVente: ' '^network\.csv:2: caReseau: ' \
  '^gammes\.csv:4: gamme: '
# What refers to a line that is left out is no fault of its own.
plain
set_field suppliers 2 1 ''
set_field stores 2 1 ''
all "a line that others refer to" '^suppliers\.csv:2: code: is empty' \
  '^stores\.csv:2: magasin: is empty'
# As Excel writes it in French: semicolons, decimal commas, Windows-1252 or a mark.
plain
sed 's/,/;/g; s/2\.50/2,50/; s/1\.25/1,25/; s/Thon/Th\xf4n/' articles.csv >new
mv new articles.csv
all "Excel's CSV" '^articles\.csv:1: the fields are separated by semicolons' \
  '^articles\.csv:2: libelle1: is not UTF-8' \
  '^articles\.csv:2: prixAchat: has a comma .*"1,25"' \
  '^articles\.csv:2: prixVente: has a comma .*"2,50"' \
  '^articles\.csv:3: libelle1: is not UTF-8'
plain
printf '\357\273\277' | cat - sales.csv | sed 's/,/;/g; s/7\.5/7,5/; s/$/\r/' >new
mv new sales.csv
all "Excel's CSV UTF-8" '^sales\.csv:1: the fields are separated by semicolons' \
  '^sales\.csv:2: ca: has a comma .*"7,5"'
plain
iconv -f UTF-8 -t UTF-16 articles.csv >new && mv new articles.csv
all "Excel's Unicode text" '^articles\.csv:1: the file is UTF-16: UTF-8 is needed'

# Files that are not there.
plain
rm "$work/csv/articles.csv"
refused "no articles.csv" '^articles\.csv: is not in '
rm -rf "$work/csv"
all "no folder" 'csv: no such folder$'
echo x >"$work/csv"
all "a file in place of the folder" 'csv: is no folder: name the folder'
rm "$work/csv"
mkdir "$work/csv"
all "an empty folder" \
  "has none of the CSV files of an import: 'gridctl import --help' lists them"
plain
rm "$work/csv/sales.csv"
mkdir "$work/csv/sales.csv"
refused "a folder in place of a file" '^sales\.csv: |sales\.csv.*cannot'
plain
for file in stores nomenclature sales stock receptions positions network \
  gammes; do
  rm "$work/csv/$file.csv"
done
if grid import "$work/csv" >"$work/out" 2>&1 &&
  grep -Eq 'sales\.csv +not there, counts as empty' "$work/out" &&
  grep -Eq 'network\.csv +not there, left as it was' "$work/out" &&
  grid compute -q F1 2>>"$work/out" && grid dump F1 >"$work/rows" &&
  grep -q '"totalCa":0,' "$work/rows" &&
  grep -q '"caReseau":1000,' "$work/rows"; then
  ok
else
  not_ok "suppliers and articles alone are an import"
fi

# --- merging --------------------------------------------------------------
plain
grid import -q "$work/csv" && grid compute -q F1
has() { # NAME PATTERN
  grid dump F1 >"$work/out" 2>&1
  if grep -Eq "$2" "$work/out"; then ok; else not_ok "$1"; fi
}
merge() {
  grid import -q --merge "$work/csv" >"$work/out" 2>&1 &&
    grid compute -q F1 >"$work/out" 2>&1 || not_ok "the merge is taken in"
}
rm "$work/csv"/*
printf 'magasin,nom\n000,Zero\n' >"$work/csv/stores.csv"
printf 'fournisseur,codein,magasin,mois,quantite,ca,marge\nF1,A1,000,202601,9,90,9\nF1,A1,002,202512,5,11,2\n' \
  >"$work/csv/sales.csv"
merge
has "a merge adds a store, a month, and replaces" \
  '"sales12mByStore":\{"000":\{"202601":9\},"001":\{"202511":3\},"002":\{"202512":5\}\}'
has "what a merge does not name stays" \
  '"stock12mByStore":\{"001":\{"202511":30\},"002":\{"202512":40\}\}'
has "and so do live values" '"codeGamme":"B".*"caReseau":1000,'
rm "$work/csv"/*
printf 'fournisseur,codein,magasin,mois,quantite,ca,marge\nF1,A1,001,202511,,,\n' \
  >"$work/csv/sales.csv"
merge
has "an empty fact takes one away" '"sales12mByStore":\{"000":\{"202601":9\},"002"'
rm "$work/csv"/*
printf 'fournisseur,codein,gamme\nF1,A1,\n' >"$work/csv/gammes.csv"
merge
has "an empty range takes it away" '"codeGammeServeur":null'
if [ "$(grid stat --json | sed 's/.*"sales":\([0-9]*\).*/\1/')" = 3 ] &&
  grid check -q >"$work/out" 2>&1; then
  ok
else
  grid stat >>"$work/out"
  not_ok "a merged store counts right and is whole"
fi

# --- the period ------------------------------------------------------------
grid compute -q --as-of 2025-11-30 F1 >"$work/out" 2>&1
has "--as-of ends the period" '"sales12m":\{\}.*"stock12m":\{"202511":30\}'
# A month that lies ahead is taken in, and told; the present one is none.
this=$(date -u +%Y%m)
next=$(date -u -d "$(date -u +%Y-%m-15) +1 month" +%Y%m)
ahead() { # NAME LINES PATTERN OPTION...: LINES of the import say PATTERN
  name=$1
  lines=$2
  pattern=$3
  shift 3
  if grid import -q "$@" "$work/csv" >"$work/out" 2>&1 &&
    [ "$(wc -l <"$work/out")" -eq "$lines" ] &&
    [ "$(grep -Ec "$pattern" "$work/out")" -eq "$lines" ]; then
    ok
  else
    not_ok "$name"
  fi
}
plain
echo "F1,A1,001,$this,1,1,1" >>"$work/csv/sales.csv"
ahead "the present month is no month ahead" 0 none
if grid compute -q F1 >"$work/out" 2>&1 && [ ! -s "$work/out" ]; then
  ok
else
  not_ok "compute says nothing of the present month"
fi
echo "F1,A1,001,210012,1,1,1" >>"$work/csv/sales.csv"
echo "F1,A1,002,$next,1" >>"$work/csv/stock.csv"
ahead "each file with a month ahead is told" 2 \
  "^gridctl import: warning: (sales\.csv: month 210012|stock\.csv: month $next) lies ahead, and the 12 months of all rows end"
for what in F1 --all --stale; do
  if grid compute -q $what >"$work/out" 2>&1 &&
    [ "$(grep -c 'warn.*the newest month of the facts lies ahead.*month=210012 today=' "$work/out")" -eq 1 ]; then
    ok
  else
    not_ok "compute $what logs one line of a month ahead"
  fi
done
if grid compute -q --as-of 2025-12-31 F1 >"$work/out" 2>&1 &&
  [ ! -s "$work/out" ]; then
  ok
else
  not_ok "with --as-of no month lies ahead"
fi
plain
rm "$work/csv/sales.csv"
ahead "a merge tells the month that was there" 1 \
  '^gridctl import: warning: facts of an earlier import: month 210012 lies' \
  --merge
plain
ahead "a whole import without it mends it" 0 none
usage() { # NAME COMMAND...
  name=$1
  shift
  "$@" >"$work/out" 2>&1
  code=$?
  if [ $code -eq 2 ] && [ -s "$work/out" ]; then
    ok
  else
    not_ok "$name: exit code $code, not 2"
  fi
}
usage "--as-of no date" grid compute --as-of 2025-13-01 F1
usage "no command" grid
usage "an unknown command" grid improt
usage "no folder given" grid import
usage "an unknown option" grid import --all "$work/csv"
usage "nothing to compute" grid compute
usage "too much to compute" grid compute --all F1
usage "no number of jobs" grid compute --all -j 0

grid import >"$work/out" 2>&1
if grep -Fq "gridctl import: an operand is missing" "$work/out" &&
  grep -Fq "try 'gridctl import --help'" "$work/out"; then
  ok
else
  not_ok "a wrong command line names its command"
fi

fails() { # NAME PATTERN COMMAND...
  name=$1
  pattern=$2
  shift 2
  "$@" >"$work/out" 2>&1
  code=$?
  if [ $code -eq 1 ] && grep -Eq "$pattern" "$work/out"; then
    ok
  else
    not_ok "$name: exit code $code"
  fi
}
fails "an unknown supplier" 'there is no such supplier' grid compute F9
fails "no store" "init" "$gridctl" --data "$work/none" stat
fails "a store that is there" 'is a data directory already' grid init
"$gridctl" --data "$work/empty" init >"$work/out" 2>&1
fails "nothing imported" 'nothing was imported yet' \
  "$gridctl" --data "$work/empty" compute F1
fails "a file that is not there" "^$work/none.csv: cannot be opened" \
  grid network "$work/none.csv"
fails "no snapshot" 'has no snapshot' grid dump F9
fails "a folder for a file" "^$work/csv: cannot be read: it is a folder" \
  grid network "$work/csv"
fails "a restore from nowhere" \
  '^gridctl restore: /nonexistent: is no backup.*gridctl backup' \
  "$gridctl" --data "$work/restored" restore /nonexistent
fails "an export to nowhere" \
  "^gridctl gammes export: $work/none/x.csv: cannot be written .*folder" \
  grid gammes export -o "$work/none/x.csv"
for command in 'proposals list' 'proposals list --json' 'proposals log'; do
  fails "$command of an unknown supplier" \
    "^gridctl ${command% --json}: F9: there is no such supplier" grid $command F9
  [ "$(wc -l <"$work/out")" -eq 1 ] || not_ok "$command prints more than that"
  fails "$command of an empty name" 'there is no such supplier' \
    grid $command ''
  fails "$command with nothing imported" 'there is no such supplier' \
    "$gridctl" --data "$work/empty" $command F1
  if grid $command F1 >"$work/out" 2>&1 && [ -s "$work/out" ]; then
    ok
  else
    not_ok "$command of a supplier without proposals"
  fi
done
printf 'codeCentrale,caReseau,qteReseau,nbMagasinsReseau,margePctReseau,fetchedAt\n77,,,,,\n' \
  >"$work/network.csv"
fails "a bad network file" '^network\.csv:2: codeCentrale: is no central' \
  grid network "$work/network.csv"
printf 'fournisseur,codein,gamme\nF1,A9,A\n' >"$work/gammes.csv"
fails "a bad file of ranges" '^gammes\.csv:2: codein: ' \
  grid gammes import "$work/gammes.csv"

# --- a damaged byte ---------------------------------------------------------------
plain
grid import -q "$work/csv"
grid compute -q --all
grid prune --grace 0s >"$work/out" 2>&1
snapshot=$(ls "$work"/data/snapshots/F2/*.mdb)
half=$(($(stat -c %s "$snapshot") / 2))
byte=$(od -An -tu1 -j $half -N 1 "$snapshot")
printf "\\$(printf %o $((byte ^ 1)))" |
  dd of="$snapshot" bs=1 seek=$half conv=notrunc 2>"$work/out"
fails "a damaged snapshot" \
  "^damaged: .* F2: .*: 'gridctl compute F2' makes it again" grid check
grid compute -q F2
fails "the damaged one is replaced, and kept for its grace time" \
  "^damaged: .* F2: of a replaced .*prune --grace 0s' forgets it" grid check
if grid prune --grace 0s >"$work/out" 2>&1 && grid check -q >"$work/out" 2>&1
then
  ok
else
  not_ok "what check says to do leaves nothing damaged"
fi

# --- folders that are lost ----------------------------------------------------
plain
grid import -q "$work/csv"
grid compute -q --all
grid compute -q F1
rm -r "$work/data/snapshots"
fails "a lost folder of snapshots" \
  "supplier F2: its file is missing: 'gridctl compute F2' makes" grid check
if grep -Eq '^[0-9]+ damages' "$work/out" && ! grep -q 'check: ' "$work/out" &&
  grep -q 'F1: of a replaced snapshot, .*prune --grace 0s' "$work/out"; then
  ok
else
  not_ok "check goes on to its end without a folder of snapshots"
fi
if grid compute -q --stale >"$work/out" 2>&1 &&
  grid prune --grace 0s >"$work/out" 2>&1 && grid check -q >"$work/out" 2>&1
then
  ok
else
  not_ok "what check says to do makes the snapshots whole again"
fi
rm -r "$work/data/facts"
fails "a lost folder of facts" 'the facts file cannot be read.*import again' \
  grid check
if ! grep -q 'check: ' "$work/out" && grid import -q "$work/csv" 2>"$work/out" &&
  grid check -q >"$work/out" 2>&1; then
  ok
else
  not_ok "an import makes the folder of facts again"
fi

# An empty --data is a variable that nobody has set: never the directory that
# is meant where there is no --data.
for command in stat suppliers; do
  GRID_DATA=$work/data "$gridctl" --data '' $command >"$work/out" 2>&1
  code=$?
  if [ $code -eq 2 ] && grep -q -e '--data needs a folder' "$work/out"; then
    ok
  else
    not_ok "an empty --data for $command: exit code $code"
  fi
done

# A library that only some commands need: the rest work without it.
mkdir "$work/lib"
echo 'no library' >"$work/lib/libcurl.so.4"
LD_LIBRARY_PATH=$work/lib
export LD_LIBRARY_PATH
if ! grid hook add erp https://192.0.2.7/hook --events saved >"$work/out" 2>&1 &&
  grep -q 'libcurl\.so\.4 cannot be loaded .*: install the package libcurl4$' \
    "$work/out" && grid stat >>"$work/out" 2>&1; then
  ok
else
  not_ok "a hook without libcurl"
fi
echo 'no library' >"$work/lib/libcrypto.so.3"
grid key create --name without --scope read >"$work/out" 2>&1
code=$?
if [ $code -eq 1 ] &&
  grep -q 'libcrypto\.so\.3 cannot be loaded .*: install the package libssl3$' \
    "$work/out" && grid proposals log >>"$work/out" 2>&1; then
  ok
else
  not_ok "a key without libcrypto: exit code $code"
fi
unset LD_LIBRARY_PATH

# What cannot be printed in full is no success.
if [ -c /dev/full ]; then
  for command in stat 'stat --json' suppliers 'suppliers --json' check \
    'check --json' 'dump F1' 'gammes export' 'key list' 'key list --json' \
    'user list' 'user list --json' 'hook list --json' 'proposals list' \
    'proposals list --json' 'proposals log' 'proposals log --json' \
    'proposals log --codein A1' doctor 'doctor --json' 'night run --print-settings' \
    'compute F1' prune '--help' 'import --help' --version; do
    grid $command >/dev/full 2>"$work/out"
    code=$?
    if [ $code -eq 1 ] && [ "$(cat "$work/out")" = "gridctl: what was \
printed could not be written in full: the disk is full: make room" ]; then
      ok
    else
      not_ok "$command onto a full disk: exit code $code"
    fi
  done
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/sh
# import --check counts what an import would change, and changes nothing; what
# looks like a mistake fails it, unless --yes is given. Closes with "N passed, N
# failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-check-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
: >"$work/out"
is() { # NAME COMMAND...: the command succeeds
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    sed 's/^/    /' "$work/out" | head -n 14
  fi
}
data=$work/data
csv=$work/csv
grid() { "$gridctl" --data "$data" "$@" >"$work/out" 2>&1; }
told() { grep -qE -e "$1" "$work/out"; }
line() { # WHAT NOW THEN NEW GONE CHANGED: a line of the table
  told "^ +$1 +$2 +$3 +$4 +$5 +$6\$"
}
# All that a reader could see of the data directory, and each file in it.
seen() {
  (cd "$data" && find . -type f ! -path './locks/*' ! -name '*-lock' |
    sort | xargs cksum)
}
fresh() {
  rm -rf "$csv"
  mkdir "$csv"
  printf 'code,nom\nF1,One\nF2,Two\nF3,Three\n' >"$csv/suppliers.csv"
  printf 'magasin,nom\nM1,North\n' >"$csv/stores.csv"
  {
    echo fournisseur,codein,libelle1
    for at in 1 2 3 4; do echo "F1,A$at,label $at"; done
    for at in 1 2 3 4; do echo "F2,B$at,label $at"; done
  } >"$csv/articles.csv"
  widen
  {
    echo fournisseur,codein,magasin,mois,quantite,ca,marge
    for at in 1 2 3 4; do echo "F1,A$at,M1,202601,1,10,2"; done
  } >"$csv/sales.csv"
}
# All columns, of a file that has only the first three.
widen() {
  sed '1s/.*/fournisseur,codein,libelle1,libelle2,marque,gtin,reference,codeCentrale,code3,pcb,prixAchat,prixVente,tva,gamme/
    2,$s/$/,,,,,,,,,,,/' "$csv/articles.csv" >"$work/edited" &&
    mv "$work/edited" "$csv/articles.csv"
}
edit() { # FILE SED...: the file is edited
  file=$csv/$1
  shift
  sed "$@" "$file" >"$work/edited" && mv "$work/edited" "$file"
}
# The check ends as said, and not a byte is other than before.
checked() { # OUTCOME OPTION...
  outcome=$1
  shift
  seen >"$work/before"
  grid import --check "$@" "$csv"
  [ $? -eq "$outcome" ] && seen >"$work/after" &&
    cmp "$work/before" "$work/after" >>"$work/out"
}

fresh
is "init" grid init
is "a first import is checked, too" checked 0
is "all is new" line articles 0 8 8 0 0
is "suppliers, too" line suppliers 0 3 3 0 0
is "and it is said that nothing was changed" told 'nothing was changed'
is "the import itself" grid import "$csv"
is "the same again" checked 0
is "changes no article" line articles 8 8 0 0 0
is "and no supplier" line suppliers 3 3 0 0 0
is "whose rows all stay" told 'rows of 3 of the suppliers are as before'

edit articles.csv -e 's/^F1,A1,label 1/F1,A1,other/' \
  -e '/^F1,A2/d'
echo F2,B5,new,,,,,,,,,,, >>"$csv/articles.csv"
edit sales.csv -e '/A2/d' -e 's/A3,M1,202601,1/A3,M1,202601,2/'
is "changes are counted" checked 0
is "by article" line articles 8 8 1 1 2
is "and by supplier" line suppliers 3 3 0 0 2

fresh
echo F4,Four >>"$csv/suppliers.csv"
edit suppliers.csv -e '/^F3/d' -e 's/Two/Deux/'
is "new and lost suppliers" checked 0
is "are counted, and a new name is a change" line suppliers 3 3 1 1 1
is "its articles are as they were" line articles 8 8 0 0 0

# --- a merge -----------------------------------------------------------------
rm -rf "$csv" && mkdir "$csv"
printf 'fournisseur,codein,libelle1\nF1,A1,other\nF3,C1,new\n' \
  >"$csv/articles.csv"
widen
is "a merge is checked" checked 0 --merge
is "and takes nothing away" line articles 8 9 1 0 1
printf 'fournisseur,codein,gamme\nF1,A1,B\nF1,A2,A\n' >"$csv/gammes.csv"
is "with server ranges" checked 0 --merge
is "which are counted" told '^ +server ranges: 2 changed$'

# --- what looks like a mistake -------------------------------------------------
fresh
edit articles.csv -e '/^F1/d'
rm "$csv/sales.csv"
is "half of the articles gone fails the check" checked 1
is "by name" told 'articles: 4 of 8 would go'
is "the sales, too" told 'sales.csv: 4 of 4 would go'
is "and says what to do" told '--yes'
is "unless --yes is given" checked 0 --yes
is "which still counts" line articles 8 4 0 4 0
fresh
edit articles.csv -e '/^F1,A[123]/d'
edit sales.csv -e '/,A[123],/d'
edit articles.csv -e '/^F2,B4/d'
for at in 1 2 3 4; do echo "F2,N$at,new,,,,,,,,,,,"; done >>"$csv/articles.csv"
is "it counts what goes, not how many are left" checked 1
is "which others may hide" line articles 8 8 4 4 0

# --- what an import would refuse, the check refuses ---------------------------
fresh
edit articles.csv -e 's/,A4,/,A3,/'
is "an article twice" checked 1
is "is named by its lines" told '^articles.csv:[0-9]+: '
fresh
edit sales.csv -e 's/202601,1/202613,1/'
is "a bad month" checked 1
is "is named by file, line and column" told '^sales.csv:[0-9]+: mois: '
is "as of a check" told 'would be refused'
is "--yes without --check" eval '! grid import --yes "$csv"'
is "is a wrong command line" told '--yes goes with --check'
is "what is stored is sound" grid check -q
# --- one of a kind, as check counts it --------------------------------------------
fresh
data=$work/single
printf 'code,nom\nF1,One\n' >"$csv/suppliers.csv"
sed -i '3,$d' "$csv/articles.csv"
find "$csv" -type f ! -name suppliers.csv ! -name articles.csv -delete
is "a data directory" grid init
is "of one article" grid import "$csv"
is "and its rows" grid compute --all
is "are checked" grid check
is "one article is no articles" told '^1 article, 0 network products, 0 server ranges read$'
is "and one snapshot no snapshots" told '^1 snapshot: [0-9]+ parts, '
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/sh
# The script of docs/operations.md, with files as a spreadsheet and a merchandise
# system write them: other names, semicolons, a byte order mark, Windows-1252,
# decimal commas. They are imported and served. Closes with "N passed, N failed".
set -u
gridctl=${GRIDCTL:-${abs_top_builddir:-.}/tools/gridctl/gridctl}
[ -x "$gridctl" ] || { echo "skipped: $gridctl is not built"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-convert-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
is() { # NAME COMMAND...: the command succeeds
  name=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    sed 's/^/    /' "$work/out"
  fi
}
isnt() {
  name=$1
  shift
  is "$name" sh -c '! "$@"' sh "$@"
}
awk '/^```/ { on = 0 } /^# convert.py FROM TO$/ { on = 1 } on' \
  "${abs_top_srcdir:-.}/docs/operations.md" >"$work/convert.py"
is "the page has the script" grep -q 'csv.writer' "$work/convert.py"
theirs=$work/theirs
mkdir "$theirs"
printf '\357\273\277Code;Nom\r\nACME;Caf\303\251 du Commerce\r\n' \
  >"$theirs/Fournisseurs_2026.CSV"
{
  printf 'Article;No fournisseur;D\351signation;PA HT;PV TTC;Colisage\r\n'
  # A blank without a break between thousands.
  printf '01001;ACME;"Cr\350me ""15 %%""; fra\356che";1,20;1\240050,90;6\r\n'
} >"$theirs/Artikel.txt"
isnt "as they are, an import refuses them" \
  "$gridctl" --data "$work/data" import "$theirs"
is "they are converted" python3 "$work/convert.py" "$theirs" "$work/ours"
is "init" "$gridctl" --data "$work/data" init
is "what an import would do" "$gridctl" --data "$work/data" import --check "$work/ours"
is "import" "$gridctl" --data "$work/data" import "$work/ours"
is "compute" "$gridctl" --data "$work/data" compute --all
"$gridctl" --data "$work/data" dump ACME >"$work/rows"
cp "$work/rows" "$work/out"
for text in '"codein":"01001"' '"nomFournisseur":"Café du Commerce"' \
  '"libelle1":"Crème \"15 %\"; fraîche"' '"prixAchat":1.2,' '"prixVente":1050.9,' \
  '"pcb":6,' '"marque":null'; do
  is "the row has $text" grep -qF "$text" "$work/rows"
done
printf '01002;ACME;cut\r\n' >>"$theirs/Artikel.txt"
isnt "half a line ends it" python3 "$work/convert.py" "$theirs" "$work/more"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

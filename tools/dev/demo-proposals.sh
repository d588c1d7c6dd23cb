#!/bin/bash
# What a demo shows at first sight: proposals that wait, with reasons, ranges
# that were decided, and edits of the buyer that are not saved yet.
#
#   demo-proposals.sh SUPPLIER...
#
# GRID_URL, GRID_KEY, GRID_USER and GRID_PASSWORD are those of quickstart.env.
# The first supplier also gets decisions and edits.
set -eu -o pipefail
[ $# -ge 1 ] || {
  echo "usage: $0 SUPPLIER..." >&2
  exit 2
}
cookies=$(mktemp)
trap 'rm -f "$cookies"' EXIT

ask() { # ask METHOD PATH BODY: as the script of the key
  curl -fsS -m 120 -o /dev/null -X "$1" -H "X-API-Key: $GRID_KEY" \
    -H "Content-Type: application/json" -d "$3" "$GRID_URL$2"
}

buyer() { # buyer METHOD PATH BODY: as the user
  curl -fsS -m 120 -X "$1" -b "$cookies" -c "$cookies" \
    -H "Origin: $GRID_URL" -H "Content-Type: application/json" -d "$3" \
    "$GRID_URL$2"
}

# "codein,codeGamme" of articles that have a range; a condition of the API each.
articles() { # articles SUPPLIER LIMIT SORT CONDITION...
  local of=$1 limit=$2 sort=$3
  shift 3
  for condition; do
    set -- "$@" --data-urlencode "$condition"
    shift
  done
  curl -fsS -m 300 -G -H "X-API-Key: $GRID_KEY" "$GRID_URL/api/v1/grid" \
    --data-urlencode "fournisseur=$of" -d "limit=$limit" -d "sort=$sort" \
    -d order=desc -d format=csv -d fields=codein,codeGamme \
    -d codeGamme=is.not_null "$@" | tr -d '\r"' | sed 1d
}

# Proposes a range for those of the lines that have another.
propose() { # propose SUPPLIER RANGE REASON <LINES
  local changes
  changes=$(awk -F , -v gamme="$2" -v motif="$3" '$2 != gamme {
    printf "%s{\"codein\":\"%s\",\"gamme\":\"%s\",\"motif\":\"%s\"}",
      count++ ? "," : "", $1, gamme, motif
  }')
  [ -z "$changes" ] ||
    ask POST /api/v1/gammes "{\"fournisseur\":\"$1\",\"changes\":[$changes]}"
}

suggest() { # suggest SUPPLIER COUNT: by three rules, as a script would
  articles "$1" "$2" stockValeur stockActuel=gt.0 nbJoursDerniereVente=gte.45 |
    propose "$1" Z "en stock, sans vente depuis 45 jours"
  articles "$1" "$2" totalCa "trend=in.(up)" stockActuel=lte.0 |
    propose "$1" A "demande du r\\u00e9seau en hausse, en rupture chez nous"
  articles "$1" "$2" totalCa tauxMarge=lt.0.15 totalCa=gt.0 |
    propose "$1" C "moins de 15 % de marge"
}

# The buyer accepts some that came first, and rejects one.
decide() { # decide SUPPLIER
  local seen items
  articles "$1" 3 totalCa tauxMarge=gte.0.4 |
    propose "$1" A "plus de 40 % de marge, parmi les plus vendus"
  articles "$1" 4 rangCa derniereVente=is.not_null |
    propose "$1" Y "parmi les moins vendus de l'ann\\u00e9e"
  seen=$(buyer GET "/app/pending?fournisseur=$1" "" | tr '{' '\n' | sed -n \
    's/^\("codein":"[^"]*","gamme":"[A-Z]","codeGamme":\("[A-Z]"\|null\)\).*/{\1}/p')
  items=$(printf '%s\n' "$seen" | sed 1d | paste -sd , -)
  [ -z "$items" ] || buyer POST /app/save \
    "{\"fournisseur\":\"$1\",\"proposals\":[$items]}" >/dev/null
  items=$(printf '%s\n' "$seen" | sed -n 1p)
  [ -z "$items" ] || buyer POST /app/cancel \
    "{\"fournisseur\":\"$1\",\"proposals\":[$items]}" >/dev/null
}

# Edits as the Grid screen keeps them: nginx/html/js/drafts.js.
edit() { # edit SUPPLIER
  local lines
  lines=$(articles "$1" 6 totalCa | sed -n '2p;4p;5p' | awk -F , '{
    printf "%s%s\\t%s\\t%s\\t", count++ ? "\\n" : "", $1,
      $2 == "A" ? "B" : "A", $2
  }')
  [ -z "$lines" ] || buyer PUT "/app/kept/mine/drafts.$1" \
    "{\"value\":\"$lines\"}" >/dev/null
}

if [ -n "${GRID_USER:-}" ]; then
  buyer POST /app/session \
    "{\"user\":\"$GRID_USER\",\"password\":\"$GRID_PASSWORD\"}" >/dev/null
  decide "$1"
  edit "$1"
fi
for supplier; do
  suggest "$supplier" 5
done

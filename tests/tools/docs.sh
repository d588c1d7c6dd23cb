#!/bin/sh
# What the documents name is there: tests in SECURITY.md, operations.md and
# testing.md, metrics and log lines in operations.md, files, settings, and the
# options of gridhook, gridhud and gridhook-tool in their manual pages. Closes
# with "N passed, N failed".
set -u
cd "${abs_top_srcdir:-.}" || exit 1
passed=0
failed=0
ok() { passed=$((passed + 1)); }
not_ok() {
  failed=$((failed + 1))
  echo "not ok: $1"
}

# `tests/FILE: NAME` in the documents, and plain `tests/FILE`.
for named in $(grep -ohE '`tests/[^` ]+(: [a-z_0-9]+)?`' docs/SECURITY.md \
  docs/operations.md docs/testing.md | tr -d '`' | tr ' ' '#' | sort -u); do
  file=${named%%:*}
  name=${named#*:#}
  if [ ! -e "$file" ]; then
    not_ok "$file is named, and is not there"
  elif [ "$name" != "$named" ] && ! grep -q "\b$name\b" "$file"; then
    not_ok "$file has no $name"
  else
    ok
  fi
done

# Each request and each column of the API's description, and no other, in the guide.
in_code=$(jq -r '(.paths | to_entries[] | .key as $path | .value | keys[] |
    ascii_upcase + " " + $path),
  (.components.schemas.Product.properties | to_entries[] |
    "\(.key)|\(.value.description)")' docs/openapi.json | LC_ALL=C sort)
in_page=$({
  sed -n '/^These are all requests/,/^How a program/p' docs/api.md |
    grep -oE '`(GET|POST|PUT|DELETE) [^`]+`' | tr -d '`'
  sed -n '/^## The columns/,/^## A client/p' docs/api.md | grep '^| `' |
    sed -E 's/^\| `([^`]+)` \| [^|]+ \| (.*) \|$/\1|\2/'
} | LC_ALL=C sort)
if [ -n "$in_code" ] && [ "$in_code" = "$in_page" ]; then
  ok
else
  not_ok "api.md has other requests or columns than openapi.json:
$(printf '%s\n%s\n' "$in_code" "$in_page" | LC_ALL=C sort | uniq -u)"
fi

# The members of pagination.
in_code=$(jq -r '.components.schemas.Pagination.properties | keys[]' docs/openapi.json |
  sort)
in_page=$(sed -n '/^## Pages/,/^## All rows/p' docs/api.md | grep '^| `' |
  cut -d'`' -f2 | sort)
if [ -n "$in_code" ] && [ "$in_code" = "$in_page" ]; then
  ok
else
  not_ok "api.md has other members of pagination: $in_page"
fi

# A variable of make with the name of a benchmark's setting hides the setting.
for name in $(grep -ohE '\bBENCH_[A-Z_]+' docs/benchmarks.md docs/operations.md \
  tests/bench/*.py tests/bench/*.sh tests/bench/*.mjs | sort -u); do
  if grep -qE "^$name *[:+?]?=" tests/bench/*.inc; then
    not_ok "$name is a setting of a benchmark, and a variable of make"
  else
    ok
  fi
done

# A bare Debian has no jq: a page whose examples need it says how to get it.
for page in $(grep -lE '[|(] *jq ' docs/*.md README.md); do
  if grep -q 'apt install jq' "$page"; then
    ok
  else
    not_ok "$page has examples with jq, and not how to get it"
  fi
done

# Each state of a proposal and each event of a buyer's decision is in the glossary.
for word in $(jq -r '.components.schemas | .Proposition.properties.etat.enum[],
    .ResultatGamme.properties.statut.enum[]' docs/openapi.json) saved cancelled; do
  if sed -n '/^## Data/,/^## Storage/p' docs/glossary.md | grep -q "\`$word\`"; then
    ok
  else
    not_ok "glossary.md has no $word"
  fi
done

# The settings of cluster.conf, and no other.
in_code=$(tr -s '\n\t ' ' ' <lmdb-schema/store/cluster.c |
  grep -oE '(TEXT\( ?|[ ,]\{"cluster", ")[a-z_]+' | sed 's/.*[("] *//' | sort -u)
in_page=$(sed -n '/^## cluster.conf/,/^## What/p' docs/cluster.md |
  grep -E '^\| `' | cut -d'|' -f2 | grep -oE '[a-z_]+' | sort)
if [ "$in_code" = "$in_page" ]; then
  ok
else
  not_ok "cluster.md has other settings: $(printf '%s\n%s\n' "$in_code" \
    "$in_page" | sort | uniq -u | tr '\n' ' ')"
fi

# Each metric, and no other.
in_code=$(grep -ohE 'gridapi_[a-z_]+' fcgi/metrics_text.c |
  sed -E 's/_(bucket|sum|count)$//' | sort -u)
in_page=$(grep -oE '^\| `gridapi_[a-z_]+`' docs/operations.md | tr -d '|` ' |
  sort -u)
if [ "$in_code" = "$in_page" ]; then
  ok
else
  not_ok "operations.md has other metrics: $(printf '%s\n%s\n' "$in_code" \
    "$in_page" | sort | uniq -u | tr '\n' ' ')"
fi

# The beginnings of log lines in the table stand in the code.
grep -oE '^\| `[a-z][^|]*` \| ' docs/operations.md | grep -v 'gridapi_' |
  grep -oE '`[^`]*`' | tr -d '`' >"${TMPDIR:-/tmp}/docs-lines.$$"
while IFS= read -r line; do
  # Words before the first number, sign or dots: the rest is filled in.
  words=$(printf '%s' "$line" | sed -E 's/( have [0-9].*|: [a-z]+=.*|: pages.*|: .* failed)$//; s/^storage: .*/failed: /')
  if grep -rqF --include="*.c" -- "$words" fcgi lmdb-schema common; then
    ok
  else
    not_ok "operations.md has the log line \"$words\", which no program writes"
  fi
done <"${TMPDIR:-/tmp}/docs-lines.$$"
rm -f "${TMPDIR:-/tmp}/docs-lines.$$"
# Functions and files of tests that are named by their last part alone.
named=$(grep -ohE '`[a-z0-9]+(_[a-z0-9]+){3,}`' docs/SECURITY.md
  grep -ohE '`[a-z_-]+\.(py|sh|c)`' docs/operations.md)
for name in $(echo "$named" | tr -d '`' | sort -u); do
  case $name in
  *.*) found=$(find tests tools -name "$name") ;;
  *) found=$(grep -rlw -- "$name" tests) ;;
  esac
  if [ -n "$found" ]; then
    ok
  else
    not_ok "$name is named, and no test has it"
  fi
done

# Files of the sources.
for file in $(grep -ohE '`(docs|tools|nginx|common|fcgi|lmdb-schema)/[^` ]+`' \
  README.md docs/*.md | tr -d '`' | sort -u); do
  if [ -e "${file%/}" ]; then
    ok
  else
    not_ok "$file is named, and is not there"
  fi
done

# Files of the ways through the system, named by their last folder and without
# suffix in the indented part of architecture.md.
for file in $(sed -n '/^## The two ways/,/^## Processes/p' docs/architecture.md |
  grep '^    ' | grep -oE '[a-z_-]+/[a-z_*/-]*' | sort -u); do
  # The name may have a * of its own.
  # shellcheck disable=SC2086
  found=$(for top in . fcgi lmdb-schema tools/gridctl; do
    ls -d $top/$file $top/$file.c $top/$file.h 2>/dev/null
  done)
  if [ -n "$found" ]; then
    ok
  else
    not_ok "architecture.md: $file is named, and is not there"
  fi
done

# Pages of the manual: NAME(SECTION), where NAME is a program or a file of ours.
for page in $(grep -ohE '(grid|product-grid)[a-z.-]*\([1-8]\)' README.md docs/*.md \
  NEWS | tr -d ')' | tr '(' . | sort -u); do
  if [ -e "docs/man/$page" ]; then
    ok
  else
    not_ok "$page is named, and is no page of the manual"
  fi
done

programs=${abs_top_builddir:-.}
gridapi=$programs/fcgi/gridapi
gridctl=$programs/tools/gridctl/gridctl
gridhook=$programs/tools/gridhook/gridhook
gridhud=$programs/tools/gridhud/gridhud
helper=$programs/tools/gridhook/tool/gridhook-tool
for program in "$gridapi" "$gridctl" "$gridhook" "$gridhud" "$helper"; do
  [ -x "$program" ] || not_ok "$program is not built"
done

# `[section] name` in the documents.
settings=$({
  "$gridapi" --print-settings
  "$gridhook" --print-config
  "$gridhud" --print-settings
  "$gridctl" night run --print-settings
} | awk '/^\[/ { section = $0 } /^[a-z_]+ *=/ { print section "." $1 }')
for name in $(grep -ohE '`\[[a-z]+\] [a-z_]+' README.md docs/*.md | tr -d '`' |
  tr ' ' . | sort -u); do
  if echo "$settings" | grep -qxF -- "$name"; then
    ok
  else
    not_ok "the setting $name is named, and no program has it"
  fi
done

# The options that a page has are those of the help, and no other.
options_of() { # options_of PAGE HELP: what only one of the two has
  {
    grep -oE 'Fl (Fl |-)[a-z][a-z-]+' "docs/man/$1" | sed -E 's/.*[ -]?Fl -?//' |
      sort -u
    echo "$2" | grep -oE '^ +(-[a-zA-Z], )?--[a-z][a-z-]*' |
      sed 's/.*--//' | sort -u
  } | sort | uniq -u
}
compare() { # compare PAGE HELP
  differ=$(options_of "$1" "$2" | grep -vx help | tr '\n' ' ')
  if [ -z "$differ" ] && [ -n "$2" ]; then
    ok
  else
    not_ok "$1 and the program's help differ in: $differ"
  fi
}
compare gridhook.1 "$("$gridhook" --help
  for command in ctl tools call mcp run send explain; do "$gridhook" $command --help; done)"
compare gridhud.1 "$("$gridhud" --help)"
compare gridhook-tool.1 "$("$helper" --help)"

# npm takes an old Inspector where Node is older than the present one needs.
if old=$(grep -n 'npx @modelcontextprotocol/inspector' docs/*.md |
  grep -v 'inspector@latest'); then
  not_ok "the Inspector without @latest: $old"
else
  ok
fi

# A measured figure (a time in µs, a rate, so many times as fast) in a section's prose
# has a command in that section, or names the document that has. Tables and blocks
# have theirs above them.
without_command() { # FILE...: FILE: FIGURE
  awk -v unit='[0-9] (µs|[MG]B/s|rows/s|requests/s|times (faster|slower|smaller|as fast))' \
    -v by='`[^`]*(tests/|make bench|[.](sh|py|mjs)|perf |strace |gridctl )[^`]*`|benchmarks[.]md' '
    function tell() {
      if (figure != "" && !has) print name ": " figure
      figure = ""; has = 0
    }
    FNR == 1 { tell(); name = FILENAME; fenced = 0 }
    /^```/ { fenced = !fenced }
    !fenced && /^#/ { tell() }
    fenced { next }
    $0 ~ by { has = 1 }
    /^([|]|    )/ { next }
    # Either may be cut by the end of a line.
    { both = before " " $0; before = $0 }
    both ~ by { has = 1 }
    figure == "" && match(both, unit) { figure = substr(both, RSTART - 20, RLENGTH + 20) }
    END { tell() }' "$@"
}
bare=$(without_command README.md docs/*.md)
if [ -z "$bare" ]; then
  ok
else
  not_ok "figures in sections that name no command: $bare"
fi
# It finds one, and only where no command is.
if [ "$(printf '# A\nIt takes 3 µs.\n# B\nIt takes 3\nµs, by `make bench-x`.\n# C\n| 3 µs |\n' |
  without_command | wc -l)" -eq 1 ]; then
  ok
else
  not_ok "a figure without a command is not found"
fi

if [ $passed -lt 120 ]; then
  not_ok "only $passed things were found"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

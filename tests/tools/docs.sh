#!/bin/sh
# What the documents name is there: tests in SECURITY.md, operations.md and
# testing.md, metrics and log lines in operations.md. Closes with "N passed, N
# failed".
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

# Each metric, and no other.
in_code=$(grep -ohE 'gridapi_[a-z_]+' fcgi/metrics.c |
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
if [ $passed -lt 40 ]; then
  not_ok "only $passed things were found"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

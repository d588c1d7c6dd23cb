#!/bin/sh
# The site of the documents, by make docs-html: docs-html.py looks at it. Closes
# with "N passed, N failed".
top=${abs_top_srcdir:-.}
for program in /usr/bin/python3 mandoc; do
  command -v $program >/dev/null || {
    echo "skipped: $program is not installed"
    exit 77
  }
done
/usr/bin/python3 -c 'import markdown' 2>/dev/null || {
  echo "skipped: python3-markdown is not installed"
  exit 77
}
exec timeout 300 /usr/bin/python3 "$top/tests/tools/docs-html.py" "$top"

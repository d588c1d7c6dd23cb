#!/bin/sh
# docs/openapi.json keeps what docs/api.md promises of /api/v1: each line of
# tests/tools/promised/v1.txt. Closes with "N passed, N failed".
top=${abs_top_srcdir:-.}
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "$top/tests/tools/promised.py" "$top"

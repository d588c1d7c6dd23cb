#!/bin/sh
# The examples of docs/api.md: api_guide.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec timeout 300 python3 "${abs_top_srcdir:-.}/tests/system/api_guide.py" "$@"

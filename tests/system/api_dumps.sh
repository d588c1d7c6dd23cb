#!/bin/sh
# Dumps and computations, and what happens beside them: api_dumps.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec timeout 500 python3 "${abs_top_srcdir:-.}/tests/system/api_dumps.py" "$@"

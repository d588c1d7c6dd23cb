#!/bin/sh
# tests/bench/proposals.py, for make: PUT and POST beside SQLite.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/bench/proposals.py" "$@"

#!/bin/sh
# Random conditions against SQLite: conditions.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
[ -z "${GRID_LONG:-}" ] || [ $# -gt 0 ] || set -- 14000
. "${abs_top_srcdir:-.}/tests/support/openpyxl.sh"
exec "$python" "${abs_top_srcdir:-.}/tests/flow/conditions.py" "$@"

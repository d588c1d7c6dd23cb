#!/bin/sh
# Damaged files under a server, against an undamaged twin: damage.py.
# GRID_LONG=1 makes it 10,000 damages.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
count=40
[ -n "$GRID_LONG" ] && count=10000
exec python3 "${abs_top_srcdir:-.}/tests/system/damage.py" $count "$@"

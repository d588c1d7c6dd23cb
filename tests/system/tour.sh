#!/bin/sh
# The commands of docs/tour.md, in its order, after quickstart: tour.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec timeout 600 python3 "${abs_top_srcdir:-.}/tests/system/tour.py" "$@"

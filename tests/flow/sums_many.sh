#!/bin/sh
# Sums of more groups than pages may wait for: sums_many.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/flow/sums_many.py" "$@"

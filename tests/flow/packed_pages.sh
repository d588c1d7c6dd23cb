#!/bin/sh
# Pages put together of packed rows, against the same as they lie: packed_pages.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/flow/packed_pages.py" "$@"

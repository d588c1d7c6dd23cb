#!/bin/sh
# Dumps put together of pieces of a zstd frame, against plain ones: packed_zstd.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/flow/packed_zstd.py" "$@"

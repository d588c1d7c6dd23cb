#!/bin/sh
# tests/system/full_disk.py, for make.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/system/full_disk.py" "$@"

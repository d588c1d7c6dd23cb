#!/bin/sh
# Each format read back by another program: formats.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/flow/formats.py" "$@"

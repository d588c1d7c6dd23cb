#!/bin/sh
# What changed since a generation: since.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/flow/since.py" "$@"

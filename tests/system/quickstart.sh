#!/bin/sh
# tools/quickstart as somebody with a fresh copy uses it: quickstart.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/system/quickstart.py" "$@"

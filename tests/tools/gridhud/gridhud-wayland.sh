#!/bin/sh
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
PYTHONDONTWRITEBYTECODE=1 exec python3 "${abs_top_srcdir:-.}/tests/tools/gridhud/gridhud_wayland.py" "$@"

#!/bin/sh
# The dashboard and the alerts by a real Prometheus that reads a real gridapi:
# dashboard.py.
for program in python3 prometheus promtool; do
  command -v $program >/dev/null || {
    echo "skipped: $program is not installed: tools/dev/install-packages.sh watch"
    exit 77
  }
done
exec timeout 600 python3 "${abs_top_srcdir:-.}/tests/system/dashboard.py" "$@"

#!/bin/sh
# What a page may cost, counted: budgets.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec timeout 600 python3 "${abs_top_srcdir:-.}/tests/bench/budgets.py" "$@"

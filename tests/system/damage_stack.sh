#!/bin/sh
# Files that are damaged under nginx and gridapi: damage_stack.py.
for program in python3 curl; do
  command -v $program >/dev/null || {
    echo "skipped: $program is not installed"
    exit 77
  }
done
exec python3 "${abs_top_srcdir:-.}/tests/system/damage_stack.py" "$@"

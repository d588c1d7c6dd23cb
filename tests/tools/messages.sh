#!/bin/sh
# tests/tools/messages.py of the programs' sources, for make.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
cd "${abs_top_srcdir:-.}" || exit 1
exec python3 tests/tools/messages.py common fcgi lmdb-schema tools/gridctl \
  tools/gridhook

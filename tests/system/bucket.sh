#!/bin/sh
# tests/system/bucket.py, for make, with an S3-compatible store from npm.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
top=${abs_top_srcdir:-.}
if command -v node >/dev/null && command -v "${NPM:-npm}" >/dev/null; then
  . "$top/tests/support/npm.sh"
  if npm_ready "$top/tests/system/bucket" bucket; then
    export GRID_MODULES="$modules/node_modules"
  fi
fi
exec python3 "$top/tests/system/bucket.py" "$@"

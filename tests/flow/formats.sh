#!/bin/sh
# Each format read back by another program: formats.py. Workbooks are read by
# openpyxl, Parquet by DuckDB and hyparquet, which come by npm.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
top=${abs_top_srcdir:-.}
modules=
if command -v node >/dev/null && command -v "${NPM:-npm}" >/dev/null; then
  . "$top/tests/support/npm.sh"
  npm_ready "$top/tests/flow/npm" flow || {
    echo "failed: npm could not install what tests/flow/npm names"
    exit 1
  }
  export GRID_MODULES="$modules"
fi
. "$top/tests/support/openpyxl.sh"
exec "$python" "$top/tests/flow/formats.py" "$@"

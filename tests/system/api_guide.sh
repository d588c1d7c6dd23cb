#!/bin/sh
# The examples of docs/api.md: api_guide.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
top=${abs_top_srcdir:-.}
if command -v node >/dev/null && command -v "${NPM:-npm}" >/dev/null; then
  . "$top/tests/support/npm.sh"
  npm_ready "$top/tests/flow/npm" flow || {
    echo "failed: npm could not install what tests/flow/npm names"
    exit 1
  }
  export GRID_MODULES="$modules"
fi
exec timeout 300 python3 "${abs_top_srcdir:-.}/tests/system/api_guide.py" "$@"

#!/bin/sh
# tests/system/hooks.py, for make, with libraries from npm that verify events.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
top=${abs_top_srcdir:-.}
if command -v node >/dev/null && command -v "${NPM:-npm}" >/dev/null; then
  . "$top/tests/support/npm.sh"
  if npm_ready "$top/tests/system/hooks" hooks; then
    export GRID_MODULES="$modules/node_modules"
  fi
fi
exec python3 "$top/tests/system/hooks.py" "$@"

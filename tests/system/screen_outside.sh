#!/bin/sh
# tests/system/screen/outside.mjs, as tests/system/screen.sh runs a script.
here=${abs_top_srcdir:-.}/tests/system
exec "$here/screen.sh" "$here/screen/outside.mjs"

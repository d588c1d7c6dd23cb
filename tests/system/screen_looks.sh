#!/bin/sh
# How each window looks, at all sizes, while it fills and when its question fails.
GRID_PARTS=${GRID_PARTS:-looks}
GRID_SCREENSHOTS=${GRID_SCREENSHOTS:-${abs_top_builddir:-.}/tests/screenshots/looks}
export GRID_PARTS GRID_SCREENSHOTS
exec sh "${abs_top_srcdir:-.}/tests/system/screen.sh"

#!/bin/sh
# The buyer's day in Chromium as buyers have it, on rows that no other part has
# worked on.
GRID_PARTS=${GRID_PARTS:-day}
GRID_SCREENSHOTS=${GRID_SCREENSHOTS:-${abs_top_builddir:-.}/tests/screenshots/day}
GRID_CHROMIUM=${GRID_CHROMIUM:-$(command -v chromium)}
export GRID_CHROMIUM GRID_PARTS GRID_SCREENSHOTS
exec sh "${abs_top_srcdir:-.}/tests/system/screen.sh"

#!/bin/sh
# The buyer's day in Chromium, on rows that no other part has worked on.
GRID_PARTS=${GRID_PARTS:-buyersDay}
GRID_SCREENSHOTS=${GRID_SCREENSHOTS:-${abs_top_builddir:-.}/tests/screenshots/day}
export GRID_PARTS GRID_SCREENSHOTS
exec sh "${abs_top_srcdir:-.}/tests/system/screen.sh"

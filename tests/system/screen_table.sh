#!/bin/sh
# What the table shows, counts, prints and gives away as files.
GRID_PARTS=${GRID_PARTS:-table}
GRID_SCREENSHOTS=${GRID_SCREENSHOTS:-${abs_top_builddir:-.}/tests/screenshots/table}
export GRID_PARTS GRID_SCREENSHOTS
exec sh "${abs_top_srcdir:-.}/tests/system/screen.sh"

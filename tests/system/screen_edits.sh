#!/bin/sh
# What buyers and scripts change, in several windows and at once.
GRID_PARTS=${GRID_PARTS:-edits}
GRID_SCREENSHOTS=${GRID_SCREENSHOTS:-${abs_top_builddir:-.}/tests/screenshots/edits}
export GRID_PARTS GRID_SCREENSHOTS
exec sh "${abs_top_srcdir:-.}/tests/system/screen.sh"

#!/bin/sh
# Parts of the Grid screen's test in Debian's Firefox, headless; with GRID_LONG=1
# the head's menus and the roles, too.
set -u
firefox=$(command -v firefox-esr) || {
  echo "skipped: firefox-esr is not installed"
  exit 77
}
GRID_FIREFOX=$firefox
GRID_PARTS=${GRID_PARTS:-day,elsewhere,together${GRID_LONG:+,choices,roles}}
GRID_SCREENSHOTS=${GRID_SCREENSHOTS:-${abs_top_builddir:-.}/tests/screenshots/firefox}
export GRID_FIREFOX GRID_PARTS GRID_SCREENSHOTS
exec sh "${abs_top_srcdir:-.}/tests/system/screen.sh"

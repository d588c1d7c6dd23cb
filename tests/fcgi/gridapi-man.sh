#!/bin/sh
# Each setting of gridapi is in gridapi.conf(5), in its section, and no other;
# each option of its help is in gridapi(8). mandoc has nothing to say about
# either. Closes with "N passed, N failed".
set -u
gridapi=${GRIDAPI:-${abs_top_builddir:-.}/fcgi/gridapi}
man=${abs_top_srcdir:-.}/docs/man
[ -x "$gridapi" ] || { echo "skipped: $gridapi is not built"; exit 77; }
passed=0
failed=0
skipped=

compare() { # compare WHAT PROGRAM PAGE
  if [ -n "$2" ] && [ "$2" = "$3" ]; then
    passed=$((passed + 1))
    return
  fi
  failed=$((failed + 1))
  echo "not ok: $1"
  echo "  the program has: $(echo "$2" | tr '\n' ' ')"
  echo "  the page has:    $(echo "$3" | tr '\n' ' ')"
}

# A section's settings stand in several places; each as "section.name".
program=$("$gridapi" --print-settings | awk '
  /^\[/ { section = substr($0, 2, length($0) - 2) }
  /^[a-z_]+ *=/ { print section "." $1 }' | sort)
page=$(awk '
  /^\.S[sh] / { section = $0 ~ /^\.Ss The section / ? $4 : "" }
  /^\.It Cm / && section != "" { print section "." $3 }' \
  "$man/gridapi.conf.5" | sort)
compare "the settings" "$program" "$page"
# With their defaults; of a path what is behind the prefix of the build.
behind='s|= /[^ ]*\(/lib/product-grid\)$|= \1|
  s|= /[^ ]*\(/product-grid/[a-z]*\.sock\)$|= \1|; s|= /[^ ]*\(/bin/gridctl\)$|= \1|'
program_has=$("$gridapi" --print-settings | awk '
  /^\[/ { section = substr($0, 2, length($0) - 2) }
  /^[a-z_]+ *=/ { sub(/ *$/, ""); print section "." $0 }' | sed "$behind" | sort)
page_has=$(awk '
  /^\.S[sh] / { section = $0 ~ /^\.Ss The section / ? $4 : "" }
  /^\.It Cm / && section != "" {
    sub(/^\.It Cm /, ""); sub(/ No =/, " ="); sub(/ \\&$/, "")
    print section "." $0 }' "$man/gridapi.conf.5" | sed "$behind" | sort)
compare "the defaults" "$program_has" "$page_has"
compare "each section once" "$("$gridapi" --print-settings | grep '^\[')" \
  "$("$gridapi" --print-settings | grep '^\[' | awk '!seen[$0]++')"
if [ "$(echo "$program" | wc -l)" -lt 20 ]; then
  failed=$((failed + 1))
  echo "not ok: only these settings were found: $program"
fi

program=$("$gridapi" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z][a-z-]*' |
  grep -oE -- '--[a-z-]*' | sort)
page=$(grep -E '^\.It Fl' "$man/gridapi.8" | grep -oE -- ' -[a-z][a-z-]*' |
  sed 's/^ -/--/' | sort)
compare "the options" "$program" "$page"

# What the settings file cannot be is told by the program itself.
"$gridapi" --print-settings >"${TMPDIR:-/tmp}/gridapi-man-$$"
said=$("$gridapi" --config "${TMPDIR:-/tmp}/gridapi-man-$$" \
  --set compute.gridctl=/bin/sh --set data.dir=/nonexistent --check 2>&1)
rm -f "${TMPDIR:-/tmp}/gridapi-man-$$"
case $said in
*/nonexistent*) passed=$((passed + 1)) ;;
*)
  failed=$((failed + 1))
  echo "not ok: the printed settings are no settings file: $said"
  ;;
esac

# --check looks at what the table of settings cannot.
checked() { # checked NAME PATTERN SETTING
  said=$("$gridapi" --set data.dir=/nonexistent --set compute.gridctl=/bin/sh \
    --set "$3" --check 2>&1)
  if [ $? -eq 1 ] && echo "$said" | grep -qF "$2"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $1: $said"
  fi
}
checked "an address without host" '[api] public_url: is no address' \
  api.public_url=grid
checked "a mode with a digit that is none" '[pages] socket_mode: is no mode' \
  pages.socket_mode=680
checked "a gridctl that is not there" '[compute] gridctl: is not there' \
  compute.gridctl=/nonexistent
checked "an archive by a relative path" \
  '[trail] archive: is no whole path of a folder' trail.archive=archive
checked "an archive that is not there" \
  '[trail] archive: is not there, or cannot be reached: "/nonexistent"; months stay' \
  trail.archive=/nonexistent
checked "and what to do" "set it to the path that 'command -v gridctl' prints" \
  compute.gridctl=/nonexistent

if command -v mandoc >/dev/null; then
  for page in gridapi.8 gridapi.conf.5; do
    if said=$(mandoc -Tlint -Wwarning "$man/$page"); then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "not ok: $said"
    fi
  done
else
  skipped=", 2 skipped (mandoc is not installed)"
fi
echo "$passed passed, $failed failed$skipped"
[ "$failed" -eq 0 ]

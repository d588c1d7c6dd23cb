#!/bin/sh
# Who may include whom (docs/architecture.md): nothing points upwards, and each
# outside library has one door. Closes with "N passed, N failed".
set -u
cd "${abs_top_srcdir:-.}" || exit 1
passed=0
failed=0

# rule WHERE PATTERN REASON: no file of WHERE may have a line like PATTERN.
rule() {
  hits=$(grep -rnE --include='*.[ch]' --include='*.def' "$2" $1 2>/dev/null |
    grep -vE "^($3):")
  if [ -n "$hits" ]; then
    failed=$((failed + 1))
    printf 'not ok: %s\n%s\n' "$4" "$hits"
  else
    passed=$((passed + 1))
  fi
}

none='-'
own='#include "(lmdb-schema|fcgi|tools|tests|nginx)/'
rule common "$own" "$none" "common includes nothing else of ours"
rule lmdb-schema '#include "(fcgi|tools|tests|nginx)/' "$none" \
  "lmdb-schema includes common only"
rule fcgi '#include "(tools|tests|nginx)/' "$none" "fcgi never meets tools"
rule tools/gridctl '#include "(fcgi|tests|tools/gridh)' "$none" \
  "gridctl never meets fcgi or the desktop tools"
rule "tools/gridhook tools/gridhud" '#include "(lmdb-schema|fcgi|tests|tools/gridctl)/' \
  "$none" "gridhook and gridhud share only common"

all="common lmdb-schema fcgi tools"
rule "$all" '#include <lmdb\.h>' 'common/kv(_open)?\.c' "lmdb.h has one door: common/kv*.c"
rule "$all" '#include <libdeflate\.h>' 'lmdb-schema/deflate\.c' \
  "libdeflate.h has one door: lmdb-schema/deflate.c"
rule "$all" '#include <zlib\.h>' 'lmdb-schema/deflate\.c' \
  "zlib.h has one door: lmdb-schema/deflate.c"
rule "$all" '#include <jansson\.h>' 'common/jsonr\.c' \
  "jansson.h has one door: common/jsonr.c"
rule "$all" '#include <openssl/' 'common/digest\.c' \
  "openssl has one door: common/digest.c"
rule "$all" '#include <utf8proc\.h>' 'common/fold\.c' \
  "utf8proc.h has one door: common/fold.c"
rule "$all" '#include <ini\.h>' 'common/conf\.c' "ini.h has one door: common/conf.c"
rule "$all" '#include <csv\.h>' 'tools/gridctl/csv_quoted\.c' \
  "csv.h has one door: tools/gridctl/csv_quoted.c"
rule "$all" '#include <(fcgiapp|fcgi_stdio|fcgios)\.h>' 'fcgi/worker\.c' \
  "fcgiapp.h has one door: fcgi/worker.c"
rule "$all" '#include <llhttp\.h>' 'tools/gridhook/http\.c' \
  "llhttp.h has one door: tools/gridhook/http.c"
desk=tools/gridhook/tool
rule "$all" '#include <xcb/' "$desk/x11(_[a-z]+)?\.[ch]" \
  "libxcb has one door: $desk/x11*"
rule "$all" '#include <systemd/' "$desk/bus\.c" \
  "sd-bus has one door: $desk/bus.c"
rule "$all" '#include <png\.h>' "$desk/picture_png\.c" \
  "png.h has one door: $desk/picture_png.c"
rule "$all" '#include <jpeglib\.h>' "$desk/picture_jpeg\.c" \
  "jpeglib.h has one door: $desk/picture_jpeg.c"
rule "$all" '#include <(ncurses|curses)\.h>' 'tools/gridhud/term(_[a-z]+)?\.c' \
  "ncurses.h has one door: tools/gridhud/term*.c"
rule "$all" '(^|[^a-z_])(strcpy|strcat|sprintf|strtok|atoi|gmtime|localtime)\(' \
  "$none" "not used: strcpy strcat sprintf strtok atoi gmtime localtime"
rule "$all" '^[ 	]*//|[;{}][ 	]*//' "$none" "comments are /* */"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/sh
# Which folder may include which (docs/architecture.md): nothing points upwards,
# and each outside library has one door. tools/dev/stale-includes.py then names
# includes that their file has no use for. Closes with "N passed, N failed".
set -u
cd "${abs_top_srcdir:-.}" || exit 1
passed=0
failed=0

# A layer is a folder, without its subfolders, or the files that stand between
# its name and the colon. It may include itself, the layers behind the colon, and
# what those may. The first line that fits a file has it.
layers='
common :
common/kv : common
common/mcp : common
common/web : common
lmdb-schema : common
lmdb-schema/store : lmdb-schema common/kv common/web
lmdb-schema/facts : lmdb-schema/store
lmdb-schema/snapshot : lmdb-schema/store
lmdb-schema/state : lmdb-schema/facts
lmdb-schema/compute : lmdb-schema/facts lmdb-schema/snapshot
lmdb-schema/search : lmdb-schema/snapshot
lmdb-schema/upkeep : lmdb-schema/compute lmdb-schema/search lmdb-schema/state
fcgi.base fcgi/settings.* fcgi/metrics* fcgi/key_rates.* : lmdb-schema
fcgi/http : lmdb-schema
fcgi.call fcgi/call.* fcgi/fail.* fcgi/route.h fcgi/auth.* fcgi/outside.* fcgi/key_uses.* fcgi/seen.* fcgi/steps.* fcgi/views.* fcgi/within.* : fcgi.base fcgi/http lmdb-schema/snapshot lmdb-schema/state
fcgi/table : fcgi/http
fcgi/rows : fcgi.call fcgi/table lmdb-schema/snapshot lmdb-schema/upkeep
fcgi/dump : fcgi/rows
fcgi/search : fcgi/rows lmdb-schema/search common/web
fcgi/openapi : fcgi.call
fcgi/endpoints : fcgi/dump fcgi/search fcgi/openapi lmdb-schema/upkeep
fcgi/mcp : fcgi/endpoints common/mcp
fcgi : fcgi/mcp
fcgi/process : fcgi lmdb-schema/upkeep
tools/gridctl/csv : common
tools/gridctl/import : tools/gridctl/csv lmdb-schema/upkeep
tools/gridctl/demo : tools/gridctl/csv
tools/gridctl.cmd tools/gridctl/cmd.h : common
tools/gridctl/hook : tools/gridctl.cmd lmdb-schema/upkeep common/web
tools/gridctl/night : tools/gridctl.cmd lmdb-schema/upkeep common/web
tools/gridctl : tools/gridctl/import tools/gridctl/demo tools/gridctl/hook tools/gridctl/night
tools/gridhook/tool : common
tools/gridhook/net : common
tools/gridhook/events : tools/gridhook/net common/kv
tools/gridhook.settings tools/gridhook/settings.h : common
tools/gridhook/window : tools/gridhook.settings tools/gridhook/events common/mcp
tools/gridhook/mcp : tools/gridhook/window
tools/gridhook : tools/gridhook/mcp
tools/gridhud.base tools/gridhud/settings.* tools/gridhud/hours.* tools/gridhud/message.* tools/gridhud/text.* tools/gridhud/inline.* tools/gridhud/words.* tools/gridhud/child.* : common
tools/gridhud/history : tools/gridhud.base
tools/gridhud/voice : tools/gridhud.base
tools/gridhud/desk : common
tools/gridhud/app : tools/gridhud/history tools/gridhud/voice tools/gridhud/desk
tools/gridhud/term : tools/gridhud/app
tools/gridhud/gtk : tools/gridhud/app
tools/gridhud : tools/gridhud/term
'
# End of the layers.

# Each include of ours as "FILE:LINE INCLUDED"; what the build makes is no file.
includes() {
  grep -rnE --include='*.[ch]' '^#include "' common lmdb-schema fcgi tools |
    sed -E 's/^([^:]*:[0-9]*):#include "([^"]*)".*/\1 \2/' |
    grep -v ' config\.h$'
}

# One line for each layer: "ok NAME", or "bad NAME" and the includes at fault.
by_layer() {
  awk -v layers="$layers" '
    function fits(file, pattern) {
      gsub(/\./, "[.]", pattern)
      gsub(/\*/, "[^/]*", pattern)
      return file ~ "^" pattern "$"
    }
    function layer_of(file, i, j, n, patterns) {
      if (file in known)
        return known[file]
      for (i = 1; i <= count; i++) {
        n = split(files[i], patterns, " ")
        for (j = 1; j <= n; j++)
          if (fits(file, patterns[j]))
            return known[file] = names[i]
      }
      return known[file] = ""
    }
    BEGIN {
      total = split(layers, lines, "\n")
      for (l = 1; l <= total; l++) {
        n = split(lines[l], words, " ")
        if (n == 0)
          continue
        name = names[++count] = words[1]
        for (i = 2; words[i] != ":"; i++)
          files[count] = files[count] " " words[i]
        if (files[count] == "")
          files[count] = name "/*"
        may[name, name] = 1
        # What those below may include was said further up.
        for (i++; i <= n; i++)
          for (k = 1; k <= count; k++)
            if ((words[i], names[k]) in may)
              may[name, names[k]] = 1
      }
    }
    {
      file = $1
      sub(/:.*/, "", file)
      from = layer_of(file)
      to = layer_of($2)
      if (from == "" || to == "")
        faults["(no layer)"] = faults["(no layer)"] "\n" $1 ": " $2
      else if (!((from, to) in may))
        faults[from] = faults[from] "\n" $1 ": " $2 " is of " to
    }
    END {
      for (i = 1; i <= count; i++)
        if (!(names[i] in faults))
          print "ok " names[i]
      for (name in faults)
        print "bad " name faults[name]
    }'
}

report=$(includes | by_layer)
passed=$(echo "$report" | grep -c '^ok ')
failed=$(echo "$report" | grep -c '^bad ')
echo "$report" | sed -n '/^ok /d; s/^bad \(.*\)/not ok: an include points upwards: \1/; p'

all="common lmdb-schema fcgi tools"

# rule WORD PATTERN DOORS: only the files DOORS of the tree may have a line like
# PATTERN; * stands for a part of a name.
rule() {
  doors=$(echo "$3" | sed 's/\./\\./g; s/\*/[^:\/]*/g; s/ /|/g')
  hits=$(grep -rnE --include='*.[ch]' --include='*.def' "$2" $all 2>/dev/null |
    grep -vE "^(${doors:--}):")
  if [ -n "$hits" ]; then
    failed=$((failed + 1))
    printf 'not ok: %s\n%s\n' "$1" "$hits"
  else
    passed=$((passed + 1))
  fi
}

# door NAME HEADER FILES: where alone the headers of an outside library stand.
door() {
  rule "$1 has one door: $3" "#include <$2" "$3"
}

desk=tools/gridhook/tool
door lmdb 'lmdb\.h>' "common/kv/kv.c common/kv/kv_*.c"
door libzstd 'zstd(_errors)?\.h>' "lmdb-schema/zstd.c lmdb-schema/zstd_pieces.c tools/gridctl/csv/csv_unpack.c"
door libdeflate 'libdeflate\.h>' "lmdb-schema/deflate.c"
door isa-l 'isa-l/' "lmdb-schema/stream.c"
door zlib 'zlib\.h>' "lmdb-schema/deflate.c tools/gridctl/csv/csv_unpack.c"
door jansson 'jansson\.h>' "common/jsonr.c"
door openssl 'openssl/' "common/digest.c"
door utf8proc 'utf8proc\.h>' "common/fold.c"
door inih 'ini\.h>' "common/conf_file.c"
door libcsv 'csv\.h>' "tools/gridctl/csv/csv_quoted.c"
door libcurl 'curl/' "common/web/libcurl.h"
door libpq 'libpq-fe\.h>' "lmdb-schema/store/pg.c"
door libfcgi '(fcgiapp|fcgi_stdio|fcgios)\.h>' "fcgi/process/fcgiparams.c"
door llhttp 'llhttp\.h>' "tools/gridhook/net/http.c"
door libxcb 'xcb/' "$desk/x11*.c $desk/x11_priv.h"
door sd-bus 'systemd/' "$desk/bus.c tools/gridhud/desk/notify.c"
door libpng 'png\.h>' "$desk/picture_png.c"
door libjpeg 'jpeglib\.h>' "$desk/picture_jpeg.c"
door ncurses '(ncurses|curses|term)\.h>' "tools/gridhud/term/term*.c"
door gtk '(gtk/gtk|gio/gio)\.h>' "tools/gridhud/gtk/gtk_priv.h tools/gridhud/gtk/model.h"
rule "not used: strcpy strcat sprintf strtok atoi gmtime localtime" \
  '(^|[^a-z_])(strcpy|strcat|sprintf|strtok|atoi|gmtime|localtime)\(' ""
rule "a section's banner is one line" '^/\* --- [^*]*$' ""
rule "comments are /* */" '^[ 	]*//|[;{}][ 	]*//' ""

if command -v python3 >/dev/null; then
  stale=$(python3 tools/dev/stale-includes.py)
  if [ -z "$stale" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'not ok: includes without a use\n%s\n' "$stale"
  fi
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

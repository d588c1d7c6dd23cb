#!/bin/sh
# The interface description as gridapi gives it, for docs/openapi.json:
#
#	make && make check TESTS= && tools/dev/openapi.sh BUILD >docs/openapi.json
#
# BUILD is the build's folder; the server's address in it is an example.
set -eu
build=${1:?usage: tools/dev/openapi.sh BUILD}
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-openapi-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

"$build/tools/gridctl/gridctl" --data "$work/data" init >"$work/log"
"$build/tests/fcgi/once" "$work/data" "$build/tools/gridctl/gridctl" \
  /api/v1/openapi.json api.public_url=https://grid.example |
  sed '1,/^.$/d' | python3 -c '
import json, sys
json.dump(json.load(sys.stdin), sys.stdout, ensure_ascii=False, indent=1)
print()'

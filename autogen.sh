#!/bin/sh
# Makes ./configure from configure.ac. Needs autoconf, automake and pkg-config.
set -eu
cd "$(dirname "$0")"
for tool in autoconf automake aclocal pkg-config; do
  command -v "$tool" >/dev/null || {
    echo "autogen.sh: $tool is missing: apt install autoconf automake pkg-config" >&2
    exit 1
  }
done
exec autoreconf --install --warnings=all,no-portability

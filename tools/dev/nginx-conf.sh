#!/bin/sh
# Writes the configuration of an nginx of one's own:
#
#	tools/dev/nginx-conf.sh DIR LISTEN HTML [READ_TIMEOUT]
#
# DIR/nginx/nginx.conf and DIR/nginx/gridapi.conf, with the workers' sockets in
# DIR/run, logs in DIR/log and what nginx sets aside in DIR/tmp. LISTEN is as
# nginx has it ("127.0.0.1:8080"). Start it by
#
#	nginx -p DIR -e DIR/log/nginx.log -c DIR/nginx/nginx.conf
set -eu
[ $# -ge 3 ] || {
  echo "usage: $0 DIR LISTEN HTML [READ_TIMEOUT]" >&2
  exit 2
}
dir=$1 listen=$2 html=$3 timeout=${4:-310s}
top=$(cd "$(dirname "$0")/../.." && pwd)

# What sed or nginx would take for their own has no place in a path.
case $dir$html in
*[!A-Za-z0-9/._+@:,=~-]*)
  echo "$0: the path \"$dir\" or \"$html\" has characters that nginx's" \
    "configuration does not take (blanks, quotes, braces)" >&2
  exit 1
  ;;
esac
# A socket's address has room for 107 bytes.
if [ "$(printf %s "$dir/run/pages.sock" | wc -c)" -gt 107 ]; then
  echo "$0: the folder's path is too long for sockets in it: $dir" >&2
  exit 1
fi

mkdir -p "$dir/nginx" "$dir/run" "$dir/log" "$dir/tmp"
user=
if [ "$(id -u)" -eq 0 ]; then
  # As root nginx would change to a user who may not enter the folder.
  user="user root;"
fi
# As many connections as open files allow: an answer under way takes up to
# three, for the client, the worker and a file.
files=$(ulimit -Hn)
case $files in
unlimited | ??????*) files=65536 ;;
esac
[ "$files" -le 65536 ] || files=65536
connections=$((files * 3 / 4))
[ "$connections" -le 16384 ] || connections=16384
mime=$dir/nginx/mime.types
for file in /etc/nginx/mime.types /usr/local/etc/nginx/mime.types; do
  [ -r "$file" ] && mime=$file && break
done
if [ "$mime" = "$dir/nginx/mime.types" ]; then
  cat >"$mime" <<'END'
types {
	text/html html;
	text/css css;
	text/javascript js mjs;
	application/json json map;
	image/svg+xml svg;
	image/png png;
	image/x-icon ico;
	font/woff2 woff2;
}
END
fi
fill() {
  sed -e "s|@DIR@|$dir|g" -e "s|@LISTEN@|$listen|g" \
    -e "s|@SERVER_NAME@|_|g" -e "s|@HTML@|$html|g" \
    -e "s|@ACCESS_LOG@|$dir/log/access.log|g" \
    -e "s|@ERROR_LOG@|$dir/log/nginx.log|g" \
    -e "s|@TEMP@|$dir/tmp/answers|g" \
    -e "s|@CLUSTER@|$dir/nginx/cluster.con[f]|g" \
    -e "s|@FILES@|$files|g" -e "s|@CONNECTIONS@|$connections|g" \
    -e "s|@PAGES_SOCKET@|$dir/run/pages.sock|g" \
    -e "s|@SLOW_SOCKET@|$dir/run/slow.sock|g" \
    -e "s|@READ_TIMEOUT@|$timeout|g" -e "s|@USER@|$user|g" \
    -e "s|@MIME_TYPES@|$mime|g" "$1"
}
fill "$top/nginx/standalone.conf.in" >"$dir/nginx/nginx.conf"
fill "$top/nginx/gridapi.conf.in" >"$dir/nginx/gridapi.conf"

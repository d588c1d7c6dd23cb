#!/bin/sh
# The lines for TLS in docs/access.md, in the site file and run by nginx, with a
# certificate in folders as certbot makes them; the lines of accounts, too.
# Closes with "N passed, N failed".
set -u
unset NGINX # nginx takes it for sockets to inherit
top=${abs_top_srcdir:-.}
nginx=$(PATH=$PATH:/usr/sbin command -v nginx)
for program in "$nginx" openssl curl python3; do
  command -v "$program" >/dev/null || {
    echo "skipped: $program is not installed"
    exit 77
  }
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/grid-access.XXXXXX")
pid=
finish() {
  [ -z "$pid" ] || kill "$pid" && wait "$pid" 2>/dev/null
  rm -rf "$dir"
}
trap finish EXIT
passed=0
failed=0
is() {
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $1: \"$2\", not \"$3\""
  fi
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
plain=$(free_port)
tls=$(free_port)

# As certbot leaves them: links from live/NAME to archive/NAME.
live=$dir/letsencrypt/live/grid.example.org
archive=$dir/letsencrypt/archive/grid.example.org
mkdir -p "$live" "$archive" "$dir/www/.well-known/acme-challenge"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=grid.example.org \
  -addext subjectAltName=DNS:grid.example.org \
  -keyout "$archive/privkey1.pem" -out "$archive/fullchain1.pem" 2>/dev/null
for name in fullchain privkey; do
  ln -s "../../archive/grid.example.org/${name}1.pem" "$live/$name.pem"
done
echo token-1 >"$dir/www/.well-known/acme-challenge/token-1"
chmod -R go+rX "$dir"

sh "$top/tools/dev/nginx-conf.sh" "$dir" 127.0.0.1:1 "$top/nginx/html"

# The two blocks of the page: a site for port 80, and lines of the site.
block() {
  awk -v wanted="$1" '/^```nginx/ { n++; on = n == wanted; next }
    /^```/ { on = 0 } on' "$top/docs/access.md" |
    sed "s|listen 80;|listen 127.0.0.1:$plain;|
      s|listen 443 |listen 127.0.0.1:$tls |
      s|/etc/letsencrypt/|$dir/letsencrypt/|
      s|/var/www/letsencrypt|$dir/www|"
}
block 1 >"$dir/nginx/plain.conf"
block 2 >"$dir/nginx/tls.lines"
is "the page has both blocks" "$(grep -c . "$dir/nginx/plain.conf") $(grep -c . "$dir/nginx/tls.lines")" "10 6"
sed "s|#include /etc/product-grid/|include $top/nginx/|" \
  "$dir/nginx/gridapi.conf" |
  awk -v lines="$dir/nginx/tls.lines" '/^\tlisten / {
      while ((getline line < lines) > 0) print line
      next
    }
    /^\tserver_name / { next } { print }' >"$dir/nginx/site"
mv "$dir/nginx/site" "$dir/nginx/gridapi.conf"
sed "s|include $dir/nginx/gridapi.conf;|&\n\tinclude $dir/nginx/plain.conf;|" \
  "$dir/nginx/nginx.conf" >"$dir/nginx/all" &&
  mv "$dir/nginx/all" "$dir/nginx/nginx.conf"

said=$("$nginx" -t -p "$dir" -e "$dir/log/nginx.log" \
  -c "$dir/nginx/nginx.conf" 2>&1)
is "nginx takes them" "$?" 0
case $said in
*"[warn]"* | *"[emerg]"*) is "nginx has nothing to say" "$said" "" ;;
*) is "nginx has nothing to say" "" "" ;;
esac
"$nginx" -p "$dir" -e "$dir/log/nginx.log" -c "$dir/nginx/nginx.conf" \
  -g "daemon off;" &
pid=$!

ask() { curl -s -o "$dir/body" -w '%{http_code} %{redirect_url}' \
  --noproxy '*' --cacert "$archive/fullchain1.pem" \
  --resolve "grid.example.org:$tls:127.0.0.1" \
  --resolve "grid.example.org:$plain:127.0.0.1" "$@"; }
tries=0
until [ "$(ask "http://grid.example.org:$plain/")" != "000 " ] ||
  [ "$tries" -ge 100 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
is "plain HTTP is sent on" "$(ask "http://grid.example.org:$plain/a?b=1")" \
  "301 https://grid.example.org/a?b=1"
is "Let's Encrypt finds its token" "$(ask \
  "http://grid.example.org:$plain/.well-known/acme-challenge/token-1") $(cat "$dir/body")" \
  "200  token-1"
is "the page comes by TLS" "$(ask "https://grid.example.org:$tls/index.html")" \
  "200 "
is "nobody signs in there" "$(ask "https://grid.example.org:$tls/oauth2/auth")" \
  "404 "
is "HTTP/2 is there" "$(curl -s -o "$dir/body" -w '%{http_version}' --noproxy '*' \
  --cacert "$archive/fullchain1.pem" \
  --resolve "grid.example.org:$tls:127.0.0.1" "https://grid.example.org:$tls/")" 2
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

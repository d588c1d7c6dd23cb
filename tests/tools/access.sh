#!/bin/sh
# The lines for TLS in docs/access.md, in the site file and run by nginx; the lines
# of accounts, too. The certificate is certbot's, by the page's command, from
# pebble, an ACME server for tests; without the group acme of install-packages.sh
# it is one in folders as certbot makes them. Closes with "N passed, N failed".
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
authority=
finish() {
  for one in $pid $authority; do kill "$one" && wait "$one"; done 2>/dev/null
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

live=$dir/letsencrypt/live/grid.example.org
archive=$dir/letsencrypt/archive/grid.example.org
mkdir -p "$dir/www/.well-known/acme-challenge"
echo token-1 >"$dir/www/.well-known/acme-challenge/token-1"
trusted=$dir/trusted.pem

# As certbot leaves them: links from live/NAME to archive/NAME.
own_certificate() {
  mkdir -p "$live" "$archive"
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=grid.example.org \
    -addext subjectAltName=DNS:grid.example.org \
    -keyout "$archive/privkey1.pem" -out "$archive/fullchain1.pem" 2>/dev/null
  for name in fullchain privkey; do
    ln -s "../../archive/grid.example.org/${name}1.pem" "$live/$name.pem"
  done
  cp "$archive/fullchain1.pem" "$trusted"
  chmod -R go+rX "$dir"
}

# In a shell of its own: "&" or "$(...)".
serve() { exec "$nginx" -p "$dir" -e "$dir/log/nginx.log" -c "$dir/nginx/nginx.conf" "$@"; }
waits() { # COMMAND...: until it succeeds
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || return 1
    sleep 0.1
  done
}
ask() { curl -s -o "$dir/body" -w '%{http_code} %{redirect_url}' \
  --noproxy '*' --cacert "$trusted" \
  --resolve "grid.example.org:$tls:127.0.0.1" \
  --resolve "grid.example.org:$plain:127.0.0.1" "$@"; }
answers() { [ "$(ask "http://grid.example.org:$plain/")" != "000 " ]; }
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
included="include $dir/nginx/gridapi.conf;"
plain_site="include $dir/nginx/plain.conf;"
cp "$dir/nginx/nginx.conf" "$dir/nginx/one"
with_sites() { sed "s|$included|$1|" "$dir/nginx/one" >"$dir/nginx/nginx.conf"; }


# --- the certificate, by the page's own command -------------------------------------
ask_certbot() { # COMMAND OPTION...
  PATH=$dir/bin:$PATH REQUESTS_CA_BUNDLE=$dir/pebble.pem no_proxy='*' \
    "$@" -n --server "https://localhost:$acme/dir" \
    --config-dir "$dir/letsencrypt" --work-dir "$dir/certbot" \
    --logs-dir "$dir/certbot" >"$dir/log/certbot" 2>&1
}
is_up() { curl -ks --noproxy '*' -o "$1" "$2"; }
if command -v certbot >/dev/null && command -v pebble >/dev/null; then
  acme=$(free_port)
  control=$(free_port)
  names=$(free_port)
  mkdir "$dir/bin"
  # The deploy hook of the page.
  cat >"$dir/bin/systemctl" <<END
#!/bin/sh
[ "\$*" = "reload nginx" ] && echo reload >>"$dir/reloads" && kill -HUP "\$(cat "$dir/nginx-pid")"
END
  chmod +x "$dir/bin/systemctl"
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost -keyout "$dir/pebble.key" \
    -out "$dir/pebble.pem" 2>/dev/null
  cat >"$dir/pebble.json" <<END
{"pebble": {"listenAddress": "127.0.0.1:$acme", "managementListenAddress": "127.0.0.1:$control",
 "certificate": "$dir/pebble.pem", "privateKey": "$dir/pebble.key", "httpPort": $plain, "tlsPort": 1}}
END
  pebble-challtestsrv -defaultIPv6 "" -dns01 "127.0.0.1:$names" -http01 "" \
    -https01 "" -tlsalpn01 "" -management "" >"$dir/log/names" 2>&1 &
  authority=$!
  PEBBLE_VA_NOSLEEP=1 PEBBLE_WFE_NONCEREJECT=0 pebble -config "$dir/pebble.json" \
    -dnsserver "127.0.0.1:$names" >"$dir/log/pebble" 2>&1 &
  authority="$authority $!"
  is "an ACME server" "$(waits is_up "$trusted" "https://localhost:$control/roots/0" && echo up)" up
  with_sites "$plain_site"
  chmod -R go+rX "$dir"
  serve -g "daemon off;" &
  pid=$!
  echo $pid >"$dir/nginx-pid"
  waits answers
  command=$(sed -n '/^    sudo certbot /,/[^\\]$/p' "$top/docs/access.md" |
    sed "s|sudo certbot|certbot|; s|/var/www/letsencrypt|$dir/www|")
  # What certbot asks a person is answered here.
  echo "exec $command --agree-tos --register-unsafely-without-email \"\$@\"" \
    >"$dir/command"
  ask_certbot sh "$dir/command"
  is "certbot gets a certificate: $(tail -n 1 "$dir/log/certbot")" "$?" 0
  is "nginx is told, by the hook" "$(cat "$dir/reloads")" reload
else
  echo "certbot or pebble is missing (install-packages.sh acme): no certificate was asked for"
  own_certificate
fi
with_sites "$included\n\t$plain_site"

said=$(serve -t 2>&1)
is "nginx takes them" "$?" 0
case $said in
*"[warn]"* | *"[emerg]"*) is "nginx has nothing to say" "$said" "" ;;
*) is "nginx has nothing to say" "" "" ;;
esac
if [ -n "$pid" ]; then
  kill -HUP "$pid"
else
  serve -g "daemon off;" &
  pid=$!
fi
by_tls() { [ "$(ask "https://grid.example.org:$tls/index.html")" = "200 " ]; }
waits by_tls
is "plain HTTP is sent on" "$(ask "http://grid.example.org:$plain/a?b=1")" \
  "301 https://grid.example.org/a?b=1"
is "Let's Encrypt finds its token" "$(ask \
  "http://grid.example.org:$plain/.well-known/acme-challenge/token-1") $(cat "$dir/body")" \
  "200  token-1"
is "the page comes by TLS" "$(ask "https://grid.example.org:$tls/index.html")" \
  "200 "
for path in / /index.html /docs/nothing /api/v1/grid /app/session /app/outside/session; do
  is "$path says that the host is TLS's" "$(ask -D "$dir/head" \
    "https://grid.example.org:$tls$path" >"$dir/status"; grep -ci \
    '^strict-transport-security: max-age=31536000' "$dir/head")" 1
done
is "nobody signs in there" "$(ask "https://grid.example.org:$tls/oauth2/auth")" \
  "404 "
# There is no worker; another address would get 403.
is "/metrics is this machine's by TLS, too" \
  "$(ask "https://grid.example.org:$tls/metrics")" "502 "
is "HTTP/2 is there" "$(curl -s -o "$dir/body" -w '%{http_version}' --noproxy '*' \
  --cacert "$trusted" \
  --resolve "grid.example.org:$tls:127.0.0.1" "https://grid.example.org:$tls/")" 2

# --- a renewal -------------------------------------------------------------------------
if [ -n "$authority" ]; then
  shown() {
    echo | openssl s_client -connect "127.0.0.1:$tls" -servername grid.example.org \
      2>/dev/null | openssl x509 -noout -serial 2>/dev/null
  }
  before=$(shown)
  is "the page's certificate is the authority's" "$before" \
    "$(openssl x509 -noout -serial -in "$live/fullchain.pem")"
  ask_certbot certbot renew --force-renewal --no-random-sleep-on-renew
  is "certbot renews it: $(tail -n 1 "$dir/log/certbot")" "$?" 0
  changed() { [ "$(shown)" = "$(openssl x509 -noout -serial -in "$live/fullchain.pem")" ]; }
  is "nginx serves the new one, and nobody has told it to" \
    "$(waits changed && [ "$(shown)" != "$before" ] && echo new)" new
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

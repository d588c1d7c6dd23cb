#!/bin/sh
# The package's postinst in a folder that stands for the system: nginx's site is
# enabled when nginx was there, and when it comes later; what an operator has
# taken out stays out. Closes with "N passed, N failed".
set -u
debian=${abs_top_srcdir:-.}/tools/debian
work=$(mktemp -d "${TMPDIR:-/tmp}/grid-deb-site-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
root=$work/root
site=$root/etc/nginx/sites-enabled/product-grid
passed=0
failed=0
is() { # NAME COMMAND...: the command succeeds
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    sed 's/^/    /' "$work/out"
  fi
}
mkdir "$work/bin" "$work/nginx"
for name in systemd-sysusers gridctl deb-systemd-invoke; do
  printf '#!/bin/sh\nexit 0\n' >"$work/bin/$name"
done
printf '#!/bin/sh\necho "$*" >>%s\n' "$work/installed" >"$work/bin/install"
# The settings that nginx would not take are marked by a file.
printf '#!/bin/sh\n[ ! -e %s ]\n' "$work/bad" >"$work/nginx/nginx"
chmod 755 "$work/bin"/* "$work/nginx/nginx"
path=$work/bin:/usr/bin:/bin
for script in postinst postrm; do
  sed -E "s@(^|[^.])/(etc|var|run)/@\1$root/\2/@g" "$debian/$script" \
    >"$work/$script"
  # Nothing of the machine itself may be named in what is run here.
  if sed "s@$root/@:@g" "$work/$script" | grep -nE '(^|[^.])/(etc|var|run)'; then
    echo "not ok: $script names folders of this machine"
    echo "0 passed, 1 failed"
    exit 1
  fi
done
with() { # with NGINX SCRIPT ARGUMENT...: yes or no
  nginx=$1
  script=$2
  shift 2
  folders=$path
  [ "$nginx" = no ] || folders=$work/nginx:$path
  PATH=$folders sh "$work/$script" "$@" >"$work/out" 2>&1
}
system() { # system NGINX: a new one
  rm -rf "$root" "$work/bad"
  mkdir -p "$root/etc/product-grid" "$root/var/lib"
  [ "$1" = no ] || nginx_comes
}
nginx_comes() {
  mkdir -p "$root/etc/nginx/sites-enabled" "$root/etc/nginx/sites-available" \
    "$root/var/log/nginx"
  : >"$root/etc/nginx/sites-available/product-grid"
}

if PATH=$path command -v nginx >/dev/null; then
  # The host's nginx is found in any case; its place is taken for "no".
  mkdir "$work/few"
  for name in sh sed rm ln mkdir echo install; do
    ln -s "$(command -v "$name")" "$work/few/$name" 2>/dev/null
  done
  path=$work/bin:$work/few
fi

system yes
is "nginx before the package" with yes postinst configure ''
is "the site is enabled" [ -L "$site" ]
is "its log is not for all to read" grep -qx -- \
  "-o www-data -g adm -m 0640 /dev/null $root/var/log/nginx/product-grid.log" \
  "$work/installed"

system no
is "the package before nginx" with no postinst configure ''
is "says that the site waits" grep -q 'enabled when it is' "$work/out"
nginx_comes
is "nginx comes" with yes postinst triggered /usr/sbin/nginx
is "and the site is enabled" [ -L "$site" ]

# From then on the site is the operator's.
rm "$site"
is "an upgrade of nginx" with yes postinst triggered /usr/sbin/nginx
is "leaves out what was taken out" [ ! -e "$site" ]
is "an upgrade of the package" with yes postinst configure 0.0.9
is "does so, too" [ ! -e "$site" ]

system no
with no postinst configure ''
nginx_comes
: >"$work/bad"
is "an nginx that does not take the site" with yes postinst triggered \
  /usr/sbin/nginx
is "stays as it is" [ ! -L "$site" ]
is "and says so" grep -q 'does not take' "$work/out"

system no
with no postinst configure ''
with no postrm purge
is "a purge leaves no note behind" \
  [ -z "$(find "$root/etc/product-grid" -type f)" ]
is "the package is told of nginx" \
  grep -qx 'interest-noawait /usr/sbin/nginx' "$debian/triggers"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

# npm_ready FOLDER NAME: what FOLDER's lock file names, installed once in the
# build's folder and again when the lock file changes; $modules is where. False
# when npm could not install it. Sourced; `make distclean` takes it away.
npm_ready() {
  modules=${abs_top_builddir:-.}/tests/npm/$2
  mkdir -p "$modules"
  exec 8>"$modules.lock"
  flock 8
  npm_install "$1"
  npm_status=$?
  exec 8>&-
  return "$npm_status"
}

# Several tests may use the same folder at once.
npm_install() {
  cmp -s "$1/package-lock.json" "$modules/installed.json" && return 0
  cp "$1/package.json" "$1/package-lock.json" "$modules" &&
    (cd "$modules" && timeout 300 "${NPM:-npm}" ci --ignore-scripts \
      --no-audit --no-fund --loglevel=error) &&
    cp "$1/package-lock.json" "$modules/installed.json"
}

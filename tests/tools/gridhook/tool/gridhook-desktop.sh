#!/bin/sh
# gridhook-tool against real peers: an X server and its clients, notification
# daemons, media players, logind, portals, a wlroots compositor. A peer that is
# not installed or does not start skips its block, by name and with the reason.
# Everything runs in a scratch folder, on buses and displays of its own.
# Closes with "N passed, N failed, N skipped".
set -u

here=$(cd "$(dirname "$0")" && pwd)/desktop
tool=${GRIDHOOK_TOOL:-${abs_top_builddir:-$PWD}/tools/gridhook/tool/gridhook-tool}
python=/usr/bin/python3

if [ ! -x "$tool" ]; then
  echo "skipped: $tool is not built"
  exit 77
fi
for need in jq timeout dbus-run-session "$python"; do
  if ! command -v "$need" >/dev/null; then
    echo "skipped: $need is not installed (tools/dev/install-packages.sh desktop)"
    exit 77
  fi
done

# The whole of it once more, below a session bus that starts no service.
if [ -z "${DESKTOP_TEST_WORK:-}" ]; then
  DESKTOP_TEST_WORK=$(mktemp -d "${TMPDIR:-/tmp}/gridhook-desktop-XXXXXX") || exit 1
  export DESKTOP_TEST_WORK
  sed "s|@WORK@|$DESKTOP_TEST_WORK|" "$here/bus.conf" >"$DESKTOP_TEST_WORK/bus.conf"
  timeout 450 dbus-run-session --config-file="$DESKTOP_TEST_WORK/bus.conf" -- \
    /bin/sh "$0" "$@"
  status=$?
  rm -rf "$DESKTOP_TEST_WORK"
  exit $status
fi

# LeakSanitizer stops the process by ptrace when it ends, and may wait for ever
# for one that a signal ends at that moment: the unit tests look for leaks.
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS

work=$DESKTOP_TEST_WORK
passed=0
failed=0
skipped=0
peers=

# An empty person: no desktop, no settings, no files but ours.
unset DISPLAY WAYLAND_DISPLAY XAUTHORITY SWAYSOCK XDG_SESSION_ID BROWSER
unset XDG_CURRENT_DESKTOP GRIDHOOK_TOOL_SETTINGS
HOME=$work/home
XDG_RUNTIME_DIR=$work/run
XDG_DATA_HOME=$work/data
XDG_DATA_DIRS=$work/no-data
XDG_CONFIG_HOME=$work/home/.config
LC_ALL=C.UTF-8
export HOME XDG_RUNTIME_DIR XDG_DATA_HOME XDG_DATA_DIRS XDG_CONFIG_HOME LC_ALL
mkdir -p "$HOME" "$XDG_DATA_HOME/applications" "$XDG_CONFIG_HOME"
mkdir -m 700 "$XDG_RUNTIME_DIR"
cd "$work" || exit 1

# Peers end with us, each by its own id.
end_peer() {
  kill "$1" 2>/dev/null && kill -CONT "$1" 2>/dev/null
  wait "$1" 2>/dev/null
}
end_peers() {
  for peer in $peers; do end_peer "$peer"; done
  peers=
}
trap end_peers EXIT
trap 'exit 1' INT TERM

ok() {
  passed=$((passed + 1))
  echo "ok: $*"
}
not_ok() {
  failed=$((failed + 1))
  echo "not ok: $*"
  [ -s result.json ] && head -c 600 result.json && echo
  return 0
}
skip() { # NAME REASON
  skipped=$((skipped + 1))
  echo "skipped: $1: $2"
}

# True when all are installed; else the block's name is skipped.
has() { # BLOCK PROGRAM...
  block=$1
  shift
  for program in "$@"; do
    command -v "$program" >/dev/null || {
      skip "$block" "$program is not installed"
      return 1
    }
  done
}
has_module() { # BLOCK PYTHON-MODULE...
  block=$1
  shift
  for module in "$@"; do
    "$python" -c "import $module" 2>/dev/null || {
      skip "$block" "the Python module $module is not installed"
      return 1
    }
  done
}
has_backend() { # BLOCK BACKEND...
  block=$1
  shift
  for backend in "$@"; do
    "$tool" --backends | grep -qx "$backend yes" || {
      skip "$block" "the tool was built without $backend"
      return 1
    }
  done
}

# Runs COMMAND again and again until it is true, for a minute at the most.
until_true() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || return 1
    sleep 0.05
  done
}

start() { # LOG COMMAND...: a peer in the background, its id in $peer
  log=$1
  shift
  # At once, lest what an earlier peer wrote be taken for this one's.
  : >"$log"
  "$@" >>"$log" 2>&1 &
  peer=$!
  peers="$peers $peer"
}

# start_x SCREEN: an X server; sets DISPLAY and $server. False when none starts.
start_x() {
  rm -f display
  start display Xvfb -displayfd 1 -screen 0 "$1" -nolisten tcp -noreset
  server=$peer
  until_true grep -qx '[0-9][0-9]*' display || return 1
  DISPLAY=:$(grep -x '[0-9][0-9]*' display)
  export DISPLAY
}

# call TOOL ARGUMENTS [SETTINGS]: the result in result.json
call() {
  printf '%s' "$2" | GRIDHOOK_TOOL_SETTINGS="${3:-}" timeout 60 "$tool" "$1" \
    >result.json 2>stderr.log
  code=$?
  [ $code -eq 0 ] || {
    echo "exit $code of $1: $(cat stderr.log)"
    return 1
  }
  jq -e 'has("content") and has("isError")' result.json >/dev/null
}
text() { jq -r '.content[0].text // ""' result.json; }

# works NAME TOOL ARGUMENTS [SETTINGS]; fails NAME BEGINNING TOOL ARGUMENTS ...
works() {
  name=$1
  shift
  # A peer that needs two seconds on a busy machine is not what is tried.
  for try in 1 2 3; do
    call "$@"
    called=$?
    case $(text) in
    *"timed out after "*) ;;
    *) break ;;
    esac
  done
  if [ $called -eq 0 ] && jq -e '.isError == false' result.json >/dev/null; then
    ok "$name"
  else
    not_ok "$name"
    return 1
  fi
}
fails() {
  name=$1 beginning=$2
  shift 2
  if call "$@" && jq -e '.isError == true' result.json >/dev/null; then
    case $(text) in
    "$beginning"*)
      ok "$name"
      return 0
      ;;
    esac
  fi
  not_ok "$name: not \"$beginning...\""
}
# fails_soon NAME BEGINNING TOOL ARGUMENTS ...: for what the tool watches for a
# moment only, which may be over before it has come to its end
fails_soon() {
  name=$1 beginning=$2
  shift 2
  refused() { call "$@" && jq -e '.isError == true' result.json; }
  until_true refused "$@"
  case $(text) in
  "$beginning"*) ok "$name" ;;
  *) not_ok "$name: not \"$beginning...\"" ;;
  esac
}
# is NAME EXPECTED GOT
is() {
  if [ "$2" = "$3" ]; then
    ok "$1"
  else
    not_ok "$1: wanted \"$2\", got \"$3\""
  fi
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# A person's one test at a time: gridhook-desktop.sh x11 bus
for block in ${*:-nothing files apps x11 bus wayland}; do
  . "$here/$block.sh"
  end_peers
  unset DISPLAY
done

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] || exit 1
[ $passed -gt 0 ] || exit 77

# An X server of our own: captures, the clipboard, keys. Sourced by
# gridhook-desktop.sh.

x11_capture() {
  xsetroot -solid '#204080'
  works "a screen is captured" capture_screen '{}'
  is "as large and as coloured as it is" "1280x720 PNG 32,64,128" \
    "$("$python" "$here/image.py" pixel result.json 5 5)"
  works "smaller when asked" capture_screen '{"max_edge":640}'
  is "in the same shape" "640x360 PNG 32,64,128" \
    "$("$python" "$here/image.py" pixel result.json 639 359)"
  works "as JPEG" capture_screen '{"format":"jpeg"}'
  case $("$python" "$here/image.py" pixel result.json 5 5) in
  "1280x720 JPEG 3"[0-9],6[0-9],12[0-9]) ok "it is one" ;;
  *) not_ok "it is none" ;;
  esac
  works "the first monitor" capture_screen '{"monitor":0}'
  is "is all there is" "1280x720 PNG 32,64,128" \
    "$("$python" "$here/image.py" pixel result.json 1279 719)"
  fails "a monitor that is not there" "not found: monitor 5; there are 1" \
    capture_screen '{"monitor":5}'
  if has "compare with scrot" scrot; then
    xsetroot -mod 13 7 -fg '#ff8000' -bg '#003366'
    works "a pattern" capture_screen '{"max_edge":4096}'
    scrot -o scrot.png 2>/dev/null
    is "is what scrot sees" "0 differ, 2 colours" \
      "$("$python" "$here/image.py" same result.json scrot.png)"
  fi
}

# Other depths have other masks and row lengths.
x11_depth() { # SCREEN PIXEL
  before=$server:$DISPLAY
  if start_x "$1"; then
    xsetroot -solid '#ff8020'
    works "a screen of $1" capture_screen '{"max_edge":4096}'
    is "has its colour" "$2" \
      "$("$python" "$here/image.py" pixel result.json 300 200)"
    end_peer "$server"
  else
    skip "a screen of $1" "Xvfb does not start with it"
  fi
  server=${before%%:*}
  DISPLAY=${before#*:}
}

x11_clipboard() {
  works "an empty clipboard is read" clipboard_get '{}'
  is "and has no text" "false..false" "$(jq -r '.structuredContent |
    "\(.has_text).\(.text).\(.truncated)"' result.json)"
  works "a text is set" clipboard_set '{"text":"Grüße, 日本 🙂\nzwei"}'
  is "xclip reads it" 'Grüße, 日本 🙂
zwei' "$(timeout 30 xclip -selection clipboard -o)"
  works "so do we" clipboard_get '{}'
  is "the same" 'Grüße, 日本 🙂
zwei' "$(jq -r .structuredContent.text result.json)"
  is "only forms that fit are offered" \
    "TARGETS TIMESTAMP UTF8_STRING text/plain;charset=utf-8" \
    "$(timeout 30 xclip -selection clipboard -o -t TARGETS | tr '\n' ' ' | sed 's/ $//')"
  before=$(milliseconds)
  printf '{"text":"next"}' | timeout 60 "$tool" clipboard_set | cat >result.json
  took=$(($(milliseconds) - before))
  [ $took -lt 20000 ] && ok "whoever reads our output sees its end ($took ms)" ||
    not_ok "our output stayed open: $took ms"
  head -c 1000000 /dev/zero | tr '\0' 'm' >million
  works "a million characters" clipboard_set "{\"text\":\"$(cat million)\"}"
  is "all arrive" "$(cksum <million)" \
    "$(timeout 30 xclip -selection clipboard -o | cksum)"
  printf 'from xclip: é' | xclip -selection clipboard -i >/dev/null 2>&1
  works "what xclip sets" clipboard_get '{}'
  is "is read" 'from xclip: é' "$(jq -r .structuredContent.text result.json)"
  head -c 3000000 /dev/zero | tr '\0' 'x' | xclip -selection clipboard -i >/dev/null 2>&1
  works "three million bytes of xclip's" clipboard_get '{}'
  is "are cut at the limit, and that is told" "1048576.true" \
    "$(jq -r '.structuredContent | "\(.text | length).\(.truncated)"' result.json)"
  works "an empty text clears it" clipboard_set '{"text":""}'
  is "nobody has it" no \
    "$(timeout 30 xclip -selection clipboard -o >/dev/null 2>&1 && echo yes || echo no)"
}

# Our owner of the clipboard ends with the server that started it.
x11_owner_ends() {
  mkfifo life
  exec 8<>life
  printf '{"text":"mine"}' |
    GRIDHOOK_TOOL_SETTINGS='{"life_fd":3}' "$tool" clipboard_set \
      3<life 8>&- >result.json
  is "a text of a server's" mine "$(timeout 30 xclip -selection clipboard -o)"
  exec 8>&-
  gone() { ! timeout 30 xclip -selection clipboard -o >/dev/null 2>&1; }
  until_true gone && ok "goes with that server" ||
    not_ok "outlived that server"
}

# gridhook call: with a server the text ends with that server, without one it
# stays when the call has ended.
x11_called() {
  gridhook=${GRIDHOOK:-${abs_top_builddir:-$PWD}/tools/gridhook/gridhook}
  [ -x "$gridhook" ] || {
    skip "the clipboard by gridhook call" "$gridhook is not built"
    return
  }
  cat >hook.conf <<END
[server]
autostart = no
[store]
data = memory
[interface]
sockets = $work/hook
[tools]
helper = $tool
END
  "$gridhook" --config hook.conf call clipboard_set '{"text":"it stays"}' \
    >result.json 2>stderr.log
  is "gridhook call sets a text" "false" "$(jq .isError result.json)"
  sleep 0.3
  is "which outlives the call" "it stays" \
    "$(timeout 30 xclip -selection clipboard -o)"
  start hook.log "$gridhook" --config hook.conf
  hook=$peer
  until_true "$gridhook" --config hook.conf ctl status
  "$gridhook" --config hook.conf call clipboard_set '{"text":"served"}' \
    >result.json 2>stderr.log
  sleep 0.3
  is "and so does one that a server sets" "served" \
    "$(timeout 30 xclip -selection clipboard -o)"
  end_peer "$hook"
  gone() { ! timeout 30 xclip -selection clipboard -o >/dev/null 2>&1; }
  until_true gone && ok "until that server ends" || not_ok "outlived the server"
}

x11_owners() {
  "$python" -c 'print("é日x" * 33333, end="")' >pieces
  start peer.log "$python" "$here/x11_peer.py" incr pieces
  until_true grep -q ready peer.log
  works "an owner that gives pieces" clipboard_get '{}'
  is "is read to the end" "$(cksum <pieces)" \
    "$(jq -rj .structuredContent.text result.json | cksum)"
  is "and nothing was cut" false "$(jq .structuredContent.truncated result.json)"
  printf 'caf\351' >latin1
  start peer.log "$python" "$here/x11_peer.py" latin1 latin1
  until_true grep -q ready peer.log
  works "an owner that has Latin-1 only" clipboard_get '{}'
  is "is understood" café "$(jq -r .structuredContent.text result.json)"
  start peer.log "$python" "$here/x11_peer.py" hung
  until_true grep -q ready peer.log
  before=$(milliseconds)
  fails "an owner that never answers" "timed out after 2000 ms" clipboard_get '{}'
  took=$(($(milliseconds) - before))
  [ $took -lt 20000 ] && ok "costs its limit, no more ($took ms)" ||
    not_ok "cost $took ms"
  works "and can be replaced" clipboard_set '{"text":"over it"}'
  is "by us" "over it" "$(timeout 30 xclip -selection clipboard -o)"
}

# What nobody hears is not pressed, and what goes to a window is not claimed.
x11_deaf_keys() {
  mkdir -p few
  for program in timeout jq cat head; do
    ln -sf "$(command -v $program)" few/
  done
  path=$PATH
  PATH=$work/few
  fails "no key where nobody listens" "no media player" media_key '{"key":"next"}'
  fails "nor one of the volume" "not found: nobody would hear it" \
    media_key '{"key":"mute"}'
  PATH=$path
  start peer.log "$python" "$here/x11_peer.py" focus
  focused=$peer
  until_true grep -q ready peer.log
  PATH=$work/few
  works "a key for the window with the focus" media_key '{"key":"next"}'
  PATH=$path
  case $(text) in
  *"whether anything listens is not known"*) ok "is not said to be heard" ;;
  *) not_ok "is said to be heard" ;;
  esac
  end_peer "$focused"
  # With a grab, but nothing that has the focus, the server drops every key.
  start peer.log "$python" "$here/x11_peer.py" focus lose
  focused=$peer
  until_true grep -q ready peer.log
  end_peer "$focused"
  : >keys.log
  start peer.log "$python" "$here/x11_peer.py" grab keys.log
  focused=$peer
  until_true grep -q ready peer.log
  PATH=$work/few
  fails "a key that is grabbed, and lost without a focus" "no media player" \
    media_key '{"key":"next"}'
  PATH=$path
  end_peer "$focused"
  start peer.log "$python" "$here/x11_peer.py" focus
  focused=$peer
  until_true grep -q ready peer.log
  end_peer "$focused"
}

# A window manager, and applications that run already.
x11_front() {
  start openbox.log env XDG_DATA_DIRS=/usr/share openbox
  manager=$peer
  has_manager() { "$python" "$here/x11_peer.py" managed; }
  until_true has_manager || {
    skip "windows in front" "openbox does not start"
    return
  }
  mkdir -p "$XDG_DATA_HOME/applications" bin
  for which in one two; do
    cp "$(command -v xterm)" "bin/front$which"
    printf '[Desktop Entry]\nType=Application\nName=Front %s\nExec=%s\n%s\n' \
      $which "$work/bin/front$which -class Front$which %F" \
      "$([ $which = two ] && echo StartupWMClass=Fronttwo)" \
      >"$XDG_DATA_HOME/applications/front$which.desktop"
  done
  front() { [ "$("$python" "$here/x11_peer.py" front)" = "$1" ]; }
  windows() { "$python" "$here/x11_peer.py" windows; }
  for which in one two; do
    works "an application that does not run" open_app "{\"name\":\"front$which\"}"
    is "is started" "Started Front $which (front$which.desktop)." "$(text)"
    until_true front "Front$which" && ok "and has a window" || not_ok "has none"
  done
  works "one that runs" open_app '{"name":"frontone"}'
  is "is not started again" \
    "Front one (frontone.desktop) ran already: its window is in front now." "$(text)"
  front Frontone && ok "it is in front" || not_ok "it is not in front"
  works "so is the other" open_app '{"name":"fronttwo"}'
  front Fronttwo && ok "in front" || not_ok "not in front"
  is "there is one window each" "Frontone Fronttwo " \
    "$(windows | sort | tr '\n' ' ')"
  "$python" "$here/x11_peer.py" minimise Frontone
  works "one that was made an icon" open_app '{"name":"frontone"}'
  front Frontone && ok "comes back" || not_ok "does not come back"
  works "with something to open" open_app \
    '{"name":"frontone","args":["+sb"]}' '{"app_args":true}'
  end_peer "$manager"
  works "without a window manager" open_app '{"name":"frontone"}'
  case $(text) in
  *"this may be a second window"*) ok "it says that this may be a second one" ;;
  *) not_ok "it does not say so" ;;
  esac
}

x11_works() {
  works "what works is told" what_works '{}'
  is "of the tools for a display" "true true true true" \
    "$(jq -r '.structuredContent.tools | map(select(.name | IN("capture_screen",
      "clipboard_get", "clipboard_set", "open_app")).works) | map(tostring) | join(" ")' \
      result.json)"
}

# Without players and sound programs the key itself is pressed.
x11_keys() {
  : >keys.log
  start peer.log "$python" "$here/x11_peer.py" grab keys.log
  until_true grep -q ready peer.log
  for pair in play_pause:play next:next previous:previous stop:stop \
    volume_up:louder volume_down:quieter mute:mute; do
    path=$PATH
    mkdir -p few
    for program in timeout jq cat head; do
      ln -sf "$(command -v $program)" few/
    done
    PATH=$work/few
    works "the key ${pair%%:*}" media_key "{\"key\":\"${pair%%:*}\"}"
    PATH=$path
    until_true grep -q "release ${pair#*:}" keys.log
    is "is seen by whoever grabs it" "press ${pair#*:} release ${pair#*:}" \
      "$(tr '\n' ' ' <keys.log | sed 's/ $//')"
    : >keys.log
  done
  works "a key three times" media_key '{"key":"next","repeat":3}'
  pressed() { [ "$(grep -c 'release next' keys.log)" = 3 ]; }
  until_true pressed && ok "is seen three times" || not_ok "is not"
}

x11_hung() {
  kill -STOP "$server"
  before=$(milliseconds)
  fails "an X server that hangs" "timed out after 700 ms" capture_screen '{}' \
    '{"limit_ms":700}'
  took=$(($(milliseconds) - before))
  [ $took -lt 20000 ] && ok "costs its limit, no more ($took ms)" ||
    not_ok "cost $took ms"
  kill -CONT "$server"
}

if has_backend x11 x11 && has x11 Xvfb; then
  if start_x 1280x720x24; then
    if has capture xsetroot && has_module capture PIL && has_backend capture png jpeg; then
      x11_capture
      x11_depth 641x401x16 "641x401 PNG 255,130,33"
      # xsetroot reads ff as ff00 of ffff, which ten bits can tell.
      x11_depth 640x400x30 "640x400 PNG 254,128,32"
    fi
    if has clipboard xclip; then
      x11_clipboard
      x11_owner_ends
      x11_called
      has_module "owners of the clipboard" Xlib && x11_owners
    fi
    if has_module "media keys" Xlib; then
      x11_deaf_keys
      x11_keys
    fi
    x11_works
    has "windows in front" openbox xterm &&
      has_module "windows in front" Xlib && x11_front
    x11_hung
  else
    skip x11 "Xvfb does not start: $(head -c 200 display)"
  fi
fi

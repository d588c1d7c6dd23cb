# A wlroots compositor without a screen, as an ordinary user: sway refuses to
# be root's. Sourced by gridhook-desktop.sh.

way_dir=$work/wayland
real_tool=$tool

# What makes a command whoever the compositor belongs to; empty for us.
way_as=
[ "$(id -u)" = 0 ] &&
  way_as="setpriv --reuid=nobody --regid=nogroup --clear-groups --"

way_start() {
  mkdir -p "$way_dir"
  mkdir -m 700 "$way_dir/run"
  cp "$tool" "$way_dir/gridhook-tool"
  cat >"$way_dir/config" <<END
output HEADLESS-1 resolution 800x600
output HEADLESS-1 bg #803010 solid_color
xwayland disable
END
  [ -n "$way_as" ] && chown -R nobody:nogroup "$way_dir" && chmod 711 "$work"
  start sway.log $way_as env XDG_RUNTIME_DIR="$way_dir/run" HOME="$way_dir" \
    WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1 \
    sway -c "$way_dir/config"
  way_ready() { ls "$way_dir"/run/wayland-? && ls "$way_dir"/run/sway-ipc.*; }
  until_true way_ready || return 1
  way_display=$(basename "$(ls -d "$way_dir"/run/wayland-? | head -n 1)")
  way_sock=$(ls -d "$way_dir"/run/sway-ipc.* | head -n 1)
}

# way-run runs a command on the compositor; way-tool is the tool there.
way_run() {
  cat >way-run <<END
#!/bin/sh
cd "$way_dir"
exec $way_as env XDG_RUNTIME_DIR="$way_dir/run" HOME="$way_dir" \
  WAYLAND_DISPLAY="$way_display" SWAYSOCK="$way_sock" "\$@"
END
  cat >way-tool <<END
#!/bin/sh
exec "$work/way-run" "$way_dir/gridhook-tool" "\$@"
END
  chmod +x way-run way-tool
}

# The background comes a moment after the compositor.
way_has_ground() {
  call capture_screen '{}' &&
    [ "$("$python" "$here/image.py" pixel result.json 400 300)" = "800x600 PNG 128,48,16" ]
}

way_capture() {
  until_true way_has_ground
  works "a compositor is captured" capture_screen '{}'
  is "as large and as coloured as it is" "800x600 PNG 128,48,16" \
    "$("$python" "$here/image.py" pixel result.json 400 300)"
  works "its first output" capture_screen '{"monitor":0,"max_edge":400}'
  is "made smaller" "400x300 PNG 128,48,16" \
    "$("$python" "$here/image.py" pixel result.json 200 150)"
  fails "an output that is not there" "not found: monitor 3" \
    capture_screen '{"monitor":3}'
  fails "a compositor that is not there" "the desktop refused" \
    capture_screen '{}' '{"display":"wayland","wayland_display":"wayland-9"}'
}

way_clipboard() {
  works "an empty clipboard is read" clipboard_get '{}'
  is "and has no text" false "$(jq .structuredContent.has_text result.json)"
  works "a text is set" clipboard_set '{"text":"Grüße, 日本 🙂\nzwei"}'
  is "wl-paste reads it" 'Grüße, 日本 🙂
zwei' "$(timeout 30 ./way-run wl-paste -n)"
  works "so do we" clipboard_get '{}'
  is "the same" 'Grüße, 日本 🙂
zwei' "$(jq -r .structuredContent.text result.json)"
  head -c 1000000 /dev/zero | tr '\0' 'm' >million
  works "a million characters" clipboard_set "{\"text\":\"$(cat million)\"}"
  is "all arrive" "$(cksum <million)" \
    "$(timeout 30 ./way-run wl-paste -n | cksum)"
  head -c 2000000 /dev/zero | tr '\0' 'y' |
    timeout 30 ./way-run wl-copy >/dev/null 2>&1
  works "two million bytes of wl-copy's" clipboard_get '{}'
  is "are cut at the limit, and that is told" "1048576.true" \
    "$(jq -r '.structuredContent | "\(.text | length).\(.truncated)"' result.json)"
  works "an empty text clears it" clipboard_set '{"text":""}'
  works "and it reads so" clipboard_get '{}'
  is "without text" false "$(jq .structuredContent.has_text result.json)"
}

# A compositor that offers no clipboard to programs without a window.
way_works() { # NAME: what the tool says of it
  jq -r ".structuredContent.tools[] | select(.name == \"$1\") |
    \"\\(.works) \\(.why_not // \"\")\"" result.json
}
way_poor() {
  mkdir -p poor
  printf '#!/bin/sh\nexit 1\n' >poor/wl-paste
  printf '#!/bin/sh\ncat >/dev/null\n' >poor/wl-copy
  chmod +x poor/wl-paste poor/wl-copy
  start peer.log "$python" "$here/wayland_peer.py" "$XDG_RUNTIME_DIR/poor-0" \
    wl_compositor wl_seat
  until_true grep -q ready peer.log
  path=$PATH
  PATH=$work/poor:$PATH
  WAYLAND_DISPLAY=poor-0
  export WAYLAND_DISPLAY
  fails "a clipboard that cannot be read is not empty" \
    "not supported: this compositor does not offer zwlr_data_control_manager_v1" \
    clipboard_get '{}'
  fails "nor is it written" "not supported: this compositor" clipboard_set '{"text":"x"}'
  works "what works there is told" what_works '{}'
  case $(way_works clipboard_get) in
  "false not supported: the compositor does not offer zwlr_data"*)
    ok "of the clipboard, too" ;;
  *) not_ok "of the clipboard: $(way_works clipboard_get)" ;;
  esac
  PATH=$path
  start peer.log "$python" "$here/wayland_peer.py" "$XDG_RUNTIME_DIR/rich-0" \
    wl_compositor ext_data_control_manager_v1
  until_true grep -q ready peer.log
  WAYLAND_DISPLAY=rich-0
  PATH=$work/poor:$path
  works "where it can be read, an empty one is empty" clipboard_get '{}'
  is "and has no text" false "$(jq .structuredContent.has_text result.json)"
  start peer.log "$python" "$here/wayland_peer.py" "$XDG_RUNTIME_DIR/hung-0" --hung
  until_true grep -q ready peer.log
  WAYLAND_DISPLAY=hung-0
  fails "a compositor that does not answer has no empty clipboard" "no display" \
    clipboard_get '{}'
  WAYLAND_DISPLAY=rich-0
  mkdir -p few
  for program in timeout jq cat head; do
    ln -sf "$(command -v $program)" few/
  done
  PATH=$work/few
  fails "without wl-clipboard its package is named" \
    "not found: program wl-paste, which the package wl-clipboard has" clipboard_get '{}'
  PATH=$path
  unset WAYLAND_DISPLAY
}
way_poor

if has wayland sway setpriv; then
  if way_start; then
    way_run
    tool=$work/way-tool
    has_backend "Wayland captures" png && has_module "Wayland captures" PIL &&
      has "Wayland captures" grim && way_capture
    works "what works on a compositor is told" what_works '{}'
    is "of its clipboard" "true " "$(way_works clipboard_get)"
    is "of its captures" "true " "$(way_works capture_screen)"
    has "Wayland's clipboard" wl-copy wl-paste && way_clipboard
    if has "Wayland's keys" wtype; then
      works "a key is pressed by wtype" media_key '{"key":"next"}'
      case $(text) in
      *"whether anything listens is not known"*) ok "and no more is said" ;;
      *) not_ok "and more is said than is known" ;;
      esac
    fi
    tool=$real_tool
  else
    skip wayland "sway does not start: $(tail -n 1 sway.log)"
  fi
fi

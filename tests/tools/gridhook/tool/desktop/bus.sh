# What the buses reach: notifications, players, logind, the portal. Sourced by
# gridhook-desktop.sh, below a session bus without services.

# mock BUS LOG NAME PATH INTERFACE METHOD...: a service that logs its calls
mock() {
  bus=$1 log=$2 name=$3 at=$4 interface=$5
  shift 5
  start "$log" "$python" -m dbusmock "--$bus" "$name" "$at" "$interface"
  until_true dbus-send "--$bus" --print-reply "--dest=$name" "$at" \
    org.freedesktop.DBus.Peer.Ping || return 1
  for method in "$@"; do
    dbus-send "--$bus" --print-reply "--dest=$name" "$at" \
      org.freedesktop.DBus.Mock.AddMethod "string:$interface" \
      "string:$method" string: string: string: >/dev/null
  done
}
# has_call LOG WORD: whether the mock was called so
has_call() { grep -q " $2" "$1"; }

bus_notify() {
  fails "nobody shows notifications" "no notification service" \
    notify_user '{"title":"a","message":"b"}'
  has_module notifications dbusmock || return
  start plain.log "$python" -m dbusmock --session \
    --template notification_daemon -p '{"capabilities": "body"}'
  until_true dbus-send --session --print-reply \
    --dest=org.freedesktop.Notifications /org/freedesktop/Notifications \
    org.freedesktop.Notifications.GetCapabilities
  works "a notification without markup" notify_user \
    '{"title":"T & t","message":"a <b> & c","urgency":"critical","timeout_ms":0}' \
    '{"app_name":"helper"}'
  has_call plain.log 'Notify "helper" 0 "" "T & t" "a <b> & c" \[\] .*"urgency": 2.* 0$' &&
    ok "is sent as it is" || not_ok "was: $(grep ' Notify ' plain.log)"
  kill -STOP "$peer"
  fails "one whose daemon hangs" "timed out after 2000 ms" \
    notify_user '{"title":"a","message":"b"}'
  end_peer "$peer"
}

bus_dunst() {
  has dunst dunst dunstctl Xvfb || return
  start_x 640x480x24 || {
    skip dunst "Xvfb does not start: $(head -c 200 display)"
    return
  }
  printf '[global]\nmarkup = full\n' >dunstrc
  start dunst.log dunst -conf dunstrc
  until_true dunstctl count displayed || {
    skip dunst "dunst does not start: $(head -c 200 dunst.log)"
    return
  }
  works "a notification by dunst" notify_user \
    '{"title":"Backup","message":"1 < 2 & done","urgency":"normal","timeout_ms":60000}' \
    '{"app_name":"helper"}'
  shown() { [ "$(dunstctl count displayed)" = 1 ]; }
  until_true shown && ok "is on the screen" || not_ok "is not on the screen"
  dunstctl close-all
  remembered() { dunstctl history | jq -e '.data[0] | length == 1'; }
  until_true remembered
  is "with our words, its markup written out" \
    'Backup|1 &lt; 2 &amp; done|helper|60000000' \
    "$(dunstctl history | jq -r '.data[0][0] | [.summary.data, .body.data,
      .appname.data, .timeout.data] | map(tostring) | join("|")')"
}

player() { # NAME STATUS
  mock session "$1.log" "org.mpris.MediaPlayer2.$1" /org/mpris/MediaPlayer2 \
    org.mpris.MediaPlayer2.Player PlayPause Play Pause Next Previous Stop
  dbus-send --session --print-reply "--dest=org.mpris.MediaPlayer2.$1" \
    /org/mpris/MediaPlayer2 org.freedesktop.DBus.Mock.AddProperty \
    string:org.mpris.MediaPlayer2.Player string:PlaybackStatus \
    "variant:string:$2" >/dev/null
}

bus_players() {
  unset DISPLAY
  fails "no player runs" "no media player" media_key '{"key":"next"}'
  has_module players dbusmock || return
  player stopped Stopped
  works "one that is stopped" media_key '{"key":"play"}'
  is "is told" "stopped was told: play." "$(text)"
  player playing Playing
  player paused Paused
  for pair in play_pause:PlayPause play:Play pause:Pause next:Next \
    previous:Previous stop:Stop; do
    works "the key ${pair%%:*}" media_key "{\"key\":\"${pair%%:*}\"}"
    has_call playing.log "${pair#*:}\$" && ok "goes to the one that plays" ||
      not_ok "did not reach the one that plays"
  done
  works "twice" media_key '{"key":"next","repeat":2}'
  is "is twice" 3 "$(grep -c ' Next$' playing.log)"
  is "and the paused one heard nothing" 0 \
    "$(grep -cE ' (Next|Play|Pause|PlayPause|Stop|Previous)$' paused.log)"
}

bus_volume() {
  has volume pulseaudio pactl || return
  mkdir -p pulse
  PULSE_RUNTIME_PATH=$work/pulse
  PULSE_STATE_PATH=$work/pulse
  PULSE_SERVER=unix:$work/pulse/socket
  export PULSE_RUNTIME_PATH PULSE_STATE_PATH PULSE_SERVER
  start pulse.log pulseaudio -n --daemonize=no --exit-idle-time=-1 \
    --use-pid-file=no -L 'module-null-sink sink_name=t' \
    -L "module-native-protocol-unix socket=$work/pulse/socket auth-anonymous=1"
  until_true pactl info || {
    skip volume "pulseaudio does not start: $(tail -n 1 pulse.log)"
    unset PULSE_SERVER
    return
  }
  volume() { pactl get-sink-volume t | grep -o '[0-9]*%' | head -n 1; }
  pactl set-sink-volume t 50%
  works "louder" media_key '{"key":"volume_up"}'
  is "by five" 55% "$(volume)"
  works "quieter, three times" media_key '{"key":"volume_down","repeat":3}'
  is "by fifteen" 40% "$(volume)"
  pactl set-sink-volume t 98%
  works "louder at the top" media_key '{"key":"volume_up","repeat":4}'
  is "ends at 100 %" 100% "$(volume)"
  works "mute" media_key '{"key":"mute"}'
  is "mutes" "Mute: yes" "$(pactl get-sink-mute t)"
  works "mute again" media_key '{"key":"mute"}'
  is "lets it sound" "Mute: no" "$(pactl get-sink-mute t)"
  unset PULSE_SERVER
}

# A system bus of our own, with logind's mock on it.
bus_lock() {
  has lock dbus-daemon dbus-send && has_module lock dbusmock || return
  sed "s|<listen>.*|<listen>unix:path=$work/system-bus</listen>|" bus.conf >system.conf
  start system.log dbus-daemon --nofork --config-file=system.conf
  DBUS_SYSTEM_BUS_ADDRESS=unix:path=$work/system-bus
  export DBUS_SYSTEM_BUS_ADDRESS
  until_true dbus-send --system --print-reply --dest=org.freedesktop.DBus \
    /org/freedesktop/DBus org.freedesktop.DBus.ListNames || {
    skip lock "no system bus starts: $(head -c 200 system.log)"
    return
  }
  fails "nobody locks" "the desktop refused: nothing here can lock" \
    lock_session '{}'
  printf '#!/bin/sh\necho "$#:$1" >>%s/locked-by\nexec sleep 3\n' "$work" >locker
  chmod +x locker
  works "the owner's command locks" lock_session '{}' \
    "{\"lock_command\":[\"$work/locker\",\"--fast now\"]}"
  until_true test -s locked-by
  is "with its arguments" "1:--fast now" "$(cat locked-by)"
  fails_soon "one that fails is told" "the lock command false ended" \
    lock_session '{}' '{"lock_command":["false"]}'
  mock session saver.log org.freedesktop.ScreenSaver /org/freedesktop/ScreenSaver \
    org.freedesktop.ScreenSaver Lock
  works "the screen saver comes first" lock_session '{}' \
    "{\"lock_command\":[\"$work/locker\"]}"
  has_call saver.log 'Lock$' && ok "and was asked" || not_ok "was not asked"

  start logind.log "$python" -m dbusmock --system --template logind
  manager="--system --print-reply --dest=org.freedesktop.login1 /org/freedesktop/login1"
  until_true dbus-send $manager org.freedesktop.DBus.Peer.Ping
  dbus-send $manager org.freedesktop.DBus.Mock.AddSession string:c0 \
    string:seat0 uint32:54321 string:other boolean:true >/dev/null
  works "another's session is left alone" lock_session '{}'
  is "and the screen saver asked" "the screen saver" \
    "$(jq -r .structuredContent.by result.json)"
  dbus-send $manager org.freedesktop.DBus.Mock.AddSession string:c1 \
    string:seat0 "uint32:$(id -u)" string:me boolean:true >/dev/null
  works "logind is asked to lock" lock_session '{}'
  has_call logind.log 'emit /org/freedesktop/login1/session/c1 org.freedesktop.login1.Session.Lock' &&
    ok "our session it is" || not_ok "it was: $(grep Lock logind.log)"
  is "whether it did is not claimed" true.null.logind "$(jq -r '.structuredContent |
    "\(.requested).\(.locked).\(.by)"' result.json)"
  start locker.log "$python" "$here/locker.py" /org/freedesktop/login1/session/c1
  until_true grep -q ready locker.log
  XDG_SESSION_ID=c1
  export XDG_SESSION_ID
  works "with a locker that listens" lock_session '{}'
  is "it is known" true.true.logind "$(jq -r '.structuredContent |
    "\(.requested).\(.locked).\(.by)"' result.json)"
  unset XDG_SESSION_ID
}

portal() { # MODE
  : >portal.calls
  start portal.log "$python" "$here/portal_peer.py" "$1" picture.png portal.calls
  until_true grep -q ready portal.log
}

# The portal is asked where the X server that is named does not answer.
bus_portal() {
  has_module portal dbus gi PIL && has_backend portal png || return
  "$python" -c 'from PIL import Image; Image.new("RGB", (320, 200), (1, 2, 3)).save("picture.png")'
  DISPLAY=:987
  export DISPLAY
  TMPDIR=$XDG_RUNTIME_DIR
  export TMPDIR
  portal ok
  works "the portal captures" capture_screen '{}'
  is "its picture" "320x200 PNG 1,2,3" \
    "$("$python" "$here/image.py" pixel result.json 9 9)"
  is "is taken away" no \
    "$([ -e "$(sed -n 's/^Screenshot //p' portal.calls)" ] && echo yes || echo no)"
  works "the portal opens a URL" open_url '{"url":"http://localhost/?a=$(b)"}'
  is "that one" 'OpenURI http://localhost/?a=$(b)' "$(grep OpenURI portal.calls)"
  end_peer "$peer"
  portal deny
  fails "a person says no to a capture" \
    "the desktop refused: permission was asked for" capture_screen '{}'
  BROWSER=$work/browser
  export BROWSER
  printf '#!/bin/sh\ntouch %s/opened\n' "$work" >browser
  chmod +x browser
  fails "a person says no to a URL" "the desktop refused: permission" \
    open_url '{"url":"http://localhost/"}'
  is "and it is not opened otherwise" no "$([ -e opened ] && echo yes || echo no)"
  unset BROWSER
  end_peer "$peer"
  portal silent
  works "a portal that asks the person" open_url '{"url":"http://localhost/"}'
  case $(text) in
  *"has not answered yet"*) ok "is not waited for" ;;
  *) not_ok "is waited for" ;;
  esac
  fails "a capture that nobody allows" "timed out after 1500 ms" \
    capture_screen '{}' '{"limit_ms":1500}'
  end_peer "$peer"
  unset TMPDIR
}

if has_backend bus dbus && has bus dbus-send; then
  bus_notify
  bus_dunst
  bus_players
  bus_volume
  bus_lock
  bus_portal
fi

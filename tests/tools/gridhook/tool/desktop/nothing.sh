# On a machine without display and bus each tool says so, and none fails to
# answer. Sourced by gridhook-desktop.sh.

session_bus=$DBUS_SESSION_BUS_ADDRESS
DBUS_SESSION_BUS_ADDRESS=unix:path=$work/no-bus
DBUS_SYSTEM_BUS_ADDRESS=unix:path=$work/no-system-bus
export DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS

for DISPLAY in '' :987; do
  export DISPLAY
  shown="with DISPLAY=\"$DISPLAY\""
  fails "no capture $shown" "no display" capture_screen '{}'
  fails "no clipboard to read $shown" "no display" clipboard_get '{}'
  fails "no clipboard to write $shown" "no display" \
    clipboard_set '{"text":"x"}'
done
unset DISPLAY
fails "no application without a display" "no display" \
  open_app '{"name":"x"}'
fails "no URL without a display" "no display" \
  open_url '{"url":"http://localhost/"}'
fails "no notification without a bus" "no session bus" \
  notify_user '{"title":"a","message":"b"}'
fails "no media key without bus and display" "no session bus" \
  media_key '{"key":"next"}'
fails "no lock without a bus" "the desktop refused" lock_session '{}'
works "what works without all of them is told" what_works '{}'
is "it is find_files" "find_files" \
  "$(jq -r '.structuredContent.tools[] | select(.works).name' result.json | grep -v media_key)"
is "of all others it says why not" "0" \
  "$(jq '[.structuredContent.tools[] | select(.works | not) |
    select((.why_not // "") == "")] | length' result.json)"
fails "display none is obeyed" "no display" capture_screen '{}' \
  '{"display":"none"}'

# What the server should have refused is refused again.
fails "a key that is none" "not allowed" media_key '{"key":"rm -rf"}'
fails "a missing argument" "not allowed: argument text is missing" \
  clipboard_set '{}'
fails "a wrong type" "not allowed: argument max_edge has the wrong type" \
  capture_screen '{"max_edge":"big"}'
fails "a misspelt setting fails every tool" \
  'the helper knows no setting "find_root"' \
  find_files '{"query":"x"}' '{"find_root":["/"]}'
printf '[1]' | "$tool" lock_session >result.json
is "arguments that are no object are an error result" 0.true \
  "$?.$(jq .isError result.json)"
printf '{' | "$tool" lock_session >result.json
is "arguments that are no JSON are an error result" 0.true \
  "$?.$(jq .isError result.json)"
"$tool" no_such_tool </dev/null >result.json 2>/dev/null
is "an unknown tool is a wrong command line" "2.0" \
  "$?.$(wc -c <result.json | tr -d ' ')"

DBUS_SESSION_BUS_ADDRESS=$session_bus

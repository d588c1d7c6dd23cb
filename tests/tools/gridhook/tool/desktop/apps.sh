# open_app and open_url: .desktop files and a browser that log their argument
# vectors. A display is only named here; nothing connects to it. Sourced by
# gridhook-desktop.sh.

DISPLAY=:987
export DISPLAY

# Writes each argument in brackets, then its settings variable if it leaked.
cat >logger <<'END'
#!/bin/sh
{
  for arg in "$@"; do printf '[%s]' "$arg"; done
  printf '%s\n' "${GRIDHOOK_TOOL_SETTINGS:+leaked}"
} >>"$LOGGED"
if [ "$1" = --stay ]; then
  waits=0
  until [ -e "$LOGGED-go" ] || [ $waits -gt 400 ]; do
    waits=$((waits + 1))
    sleep 0.05
  done
  echo stayed >>"$LOGGED"
fi
exit 0
END
chmod +x logger
LOGGED=$work/logged
export LOGGED

app() { # ID NAME EXEC [LINE...]
  entry=$XDG_DATA_HOME/applications/$1.desktop
  {
    printf '[Desktop Entry]\nType=Application\nName=%s\nExec=%s\n' "$2" "$3"
    shift 3
    for line in "$@"; do printf '%s\n' "$line"; done
  } >"$entry"
}
logged() { # NAME EXPECTED
  until_true test -s logged
  is "$1" "$2" "$(cat logged 2>/dev/null)"
  rm -f logged
}

app org.test.Editor Editor "$work/logger \"a b\\\\\\\\c\" --title=%c %i -- %F" \
  "Name[de]=Schreiber" Icon=ed "Keywords=write;"
app plain Plain "$work/logger plain %u"
app shell Shell "$work/logger \$(id) \`id\` ; touch $work/owned"
app script Script "sh -c \"$work/logger %u\""
app inner Inner "$work/logger in-terminal" Terminal=true
app gone Gone "$work/logger gone" Hidden=true
app stay Stay "$work/logger --stay"
app missing Missing "$work/no-such-program"
app dies Dies "false"
app twin1 Twin "$work/logger 1"
app twin2 Twin "$work/logger 2"

works "an application by its name" open_app '{"name":"Editor"}' \
  '{"app_name":"x"}'
logged "is started as its Exec line says" \
  '[a b\c][--title=Editor][--icon][ed][--]'
works "by its id" open_app '{"name":"org.test.Editor.desktop"}'
logged "is started, too" '[a b\c][--title=Editor][--icon][ed][--]'
works "by the last part of its id" open_app '{"name":"editor"}'
rm -f logged
works "by a keyword" open_app '{"name":"write"}'
until_true test -s logged
rm -f logged
works "a line with shell characters" open_app '{"name":"shell"}'
logged "meets no shell" "[\$(id)][\`id\`][;][touch][$work/owned]"
is "and nothing ran" no "$([ -e owned ] && echo yes || echo no)"
works "one for a terminal" open_app '{"name":"inner"}' \
  "{\"terminal\":[\"$work/logger\",\"-e\"]}"
logged "gets the owner's" "[-e][$work/logger][in-terminal]"
works "one that stays is not waited for" open_app '{"name":"stay"}'
until_true test -s logged
is "it is there still" no "$(grep -q stayed logged && echo yes || echo no)"
: >logged-go
until_true grep -q stayed logged
logged "and lives on" '[--stay]
stayed'
fails "a hidden one is not there" "not found" open_app '{"name":"gone"}'
fails "an unknown one" "not found: no installed application" \
  open_app '{"name":"/usr/bin/id"}'
fails "two of one name are told" \
  'not found: several applications fit "Twin"; name one by its id: twin1, twin2' \
  open_app '{"name":"Twin"}'
fails "a missing program is told" "not found: program" \
  open_app '{"name":"missing"}'
fails_soon "one that dies at once is told" "the desktop refused: Dies ended" \
  open_app '{"name":"dies"}'
fails "arguments want the owner's word" "not allowed: arguments" \
  open_app '{"name":"plain","args":["x"]}'
works "with it they are passed" \
  open_app '{"name":"plain","args":["/a $(id) b"]}' '{"app_args":true}'
logged "as they are" '[plain][/a $(id) b]'
fails "but no options" "not allowed: args" \
  open_app '{"name":"plain","args":["--exec"]}' '{"app_args":true}'
fails "nor a part of a script" "not supported: the Exec line" \
  open_app "{\"name\":\"script\",\"args\":[\"; touch $work/owned\"]}" \
  '{"app_args":true}'
is "and nothing ran" no "$([ -e owned ] && echo yes || echo no)"
works "which starts without them" open_app '{"name":"script"}'
logged "with nothing in its place" ''
fails "an application that takes none gets none" "not allowed: this application takes no arguments" \
  open_app '{"name":"missing","args":["x"]}' '{"app_args":true}'
fails "an owner's list binds" "not allowed: application plain.desktop" \
  open_app '{"name":"plain"}' '{"app_allow":["org.test.Editor.desktop"]}'
works "and lets through" open_app '{"name":"editor"}' \
  '{"app_allow":["org.test.Editor.desktop"]}'
until_true test -s logged
rm -f logged

# With a user manager, in a scope of its own.
mkdir -p "$XDG_RUNTIME_DIR/systemd" bin
"$python" -c "import socket; socket.socket(socket.AF_UNIX).bind('$XDG_RUNTIME_DIR/systemd/private')"
cat >bin/systemd-run <<'END'
#!/bin/sh
printf 'scope %s %s %s %s: ' "$1" "$2" "$3" "$4" >>"$LOGGED"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
END
chmod +x bin/systemd-run
path=$PATH
PATH=$work/bin:$PATH
works "under a user manager" open_app '{"name":"plain"}'
logged "it runs in a scope" 'scope --user --scope --collect --quiet: [plain]'
PATH=$path
rm "$XDG_RUNTIME_DIR/systemd/private"

# --- open_url ---------------------------------------------------------------

for url in file:///etc/passwd javascript:alert-1 -h --version \
  http://user:secret@host/ 'http://host/a b' http: ssh://host; do
  fails "not opened: $url" "not allowed" open_url "{\"url\":\"$url\"}"
done
if has "xdg-open" xdg-open; then
  BROWSER=$work/logger
  export BROWSER
  works "a URL goes to the browser" open_url \
    '{"url":"http://localhost/?q=$(id)`id`&x='"'"'\"%u;"}'
  logged "as one argument" "[http://localhost/?q=\$(id)\`id\`&x='\"%u;]"
  works "a scheme of the owner's" open_url '{"url":"https://localhost/"}' \
    '{"url_schemes":["https"]}'
  logged "is opened" '[https://localhost/]'
  is "what is known is told" "xdg-open handed it to the default program." \
    "$(text)"
  fails "and another is not" "not allowed: scheme http" open_url \
    '{"url":"http://localhost/"}' '{"url_schemes":["https"]}'
  printf '#!/bin/sh\nexec sleep 5\n' >"$work/lasting"
  chmod +x "$work/lasting"
  BROWSER=$work/lasting
  works "a browser that stays" open_url '{"url":"http://localhost/"}'
  is "is not claimed to have opened" "xdg-open was started and is still at \
work after 3 s: whether it opened is not known." "$(text)"
  BROWSER=false
  fails "a browser that fails is told" "the desktop refused" \
    open_url '{"url":"http://localhost/"}'
  unset BROWSER
fi
ln -s "$(command -v timeout)" "$(command -v jq)" "$(command -v cat)" "$(command -v head)" bin/
PATH=$work/bin
fails "without any opener" "not found: neither" \
  open_url '{"url":"http://localhost/"}'
PATH=$path

# find_files in a tree full of traps. Sourced by gridhook-desktop.sh.

mkdir -p tree/docs/deep/er tree/.hidden outside
printf x >tree/docs/Report.PDF
printf xyz >tree/docs/deep/er/report-2.pdf
printf x >tree/.hidden/report.pdf
printf x >outside/report.pdf
ln -s / tree/slash
ln -s loop tree/loop
ln -s /etc/passwd tree/passwd
ln -s ../../outside tree/docs/out
ln -s "$work/outside" tree/away
mkfifo tree/pipe-report.pdf
printf x >"tree/$(printf 'bad-\377-report.pdf')"
printf x >"tree/two
lines-report.pdf"
root="{\"find_roots\":[\"$work/tree\"]}"

works "a tree with links is searched" find_files '{"query":"report"}' "$root"
is "every report in it is found, and none behind a link" \
  '/bad-\\xff-report.pdf|/docs/Report.PDF|/docs/deep/er/report-2.pdf|/pipe-report.pdf|/two\nlines-report.pdf' \
  "$(jq -r --arg w "$work/tree" '[.structuredContent.files[].path |
    ltrimstr($w)] | sort | map(tojson[1:-1]) | join("|")' result.json)"
is "nothing was cut or left out" "false.null.0" \
  "$(jq -r '.structuredContent |
    "\(.truncated).\(.stopped).\(.skipped)"' result.json)"
is "the text is the structured object" true \
  "$(jq '(.content[0].text | fromjson) == .structuredContent' result.json)"
works "size and time are told" find_files '{"query":"report-2"}' "$root"
is "they are the file's" "3.$(date -u -r tree/docs/deep/er/report-2.pdf +%Y-%m-%dT%H:%M:%S)" \
  "$(jq -r '.structuredContent.files[0] |
    "\(.size).\(.modified[0:19])"' result.json)"
works "a glob is one" find_files '{"query":"*.PDF","path":"'"$work"'/tree/docs"}' "$root"
is "and finds whole names" 2 "$(jq '.structuredContent.files | length' result.json)"
works "hidden ones when asked for" \
  find_files '{"query":"report","include_hidden":true}' "$root"
is "there is one more" 6 "$(jq '.structuredContent.files | length' result.json)"
works "a limit holds" find_files '{"query":"report","limit":2}' "$root"
is "and is told" "2.true.results" \
  "$(jq -r '.structuredContent |
    "\(.files | length).\(.truncated).\(.stopped)"' result.json)"
works "the owner's limits hold" find_files '{"query":"report"}' \
  "{\"find_roots\":[\"$work/tree\"],\"find_entries\":2}"
is "and are told" true.entries \
  "$(jq -r '.structuredContent | "\(.truncated).\(.stopped)"' result.json)"
for path in "$work/outside" "$work/tree/../outside" / /etc "$work/treetop" \
  "$work/tree/docs/../../outside"; do
  fails "outside is outside: ${path#"$work"}" "not allowed: path" \
    find_files "{\"query\":\"report\",\"path\":\"$path\"}" "$root"
done
for path in slash/etc away docs/out loop; do
  fails "no way leads through a link: $path" "not" \
    find_files "{\"query\":\"report\",\"path\":\"$work/tree/$path\"}" "$root"
done
fails "a folder that is not there" "not found" \
  find_files "{\"query\":\"x\",\"path\":\"$work/tree/none\"}" "$root"
printf x >"$HOME/my-notes.txt"
works "without roots the home folder is searched" find_files '{"query":"notes"}'
is "and its file found" "$HOME/my-notes.txt" \
  "$(jq -r '.structuredContent.files[0].path' result.json)"
works "a path may be relative to it" find_files '{"query":"notes","path":"~/"}'
before=$(milliseconds)
works "a large tree ends in time" find_files '{"query":"no-such-name-at-all"}' \
  '{"find_roots":["/usr","/lib","/var"],"find_ms":300}'
took=$(($(milliseconds) - before))
[ $took -lt 20000 ] && ok "it took $took ms" || not_ok "it took $took ms"

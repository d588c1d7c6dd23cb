#!/bin/sh
# Comments name what they speak of: none opens with a bare pronoun or relative
# ("What is left", "Those that wait", "It is read once"), and none speaks of a
# program as of a person ("whoever asks", "his rows"). Names each that does.
#
#	tools/dev/check-words.sh [--report] [FILE...]
#
# Without files it checks all folders, as `make check` does. With --report it
# counts such comments by folder, and fails for none. Closes with "N passed, N failed": the files without and with such
# comments.
set -u
cd "${abs_top_srcdir:-.}" || exit 1
report=
if [ "${1:-}" = --report ]; then
  report=yes
  shift
fi
folders="common lmdb-schema fcgi tools tests"
[ $# -gt 0 ] ||
  set -- $(find $folders -name '*.[ch]' -o -name '*.def' | sort)

awk -v report="$report" '
  BEGIN {
    # The words, then what may stand behind one of them all the same.
    split("What Who Whoever Whom Whose Which One Ones It Its They Them Their " \
      "Those These This That He His Him She Her Others Neither", list, " ")
    for (i in list)
      bare[list[i]] = 1
    allowed = "^(This (file|function|header|struct|table|test|program)|" \
      "One (byte|bit|line|row|file|thread|call|request|word|page|of) |" \
      "These? [a-z]+ )"
    person = "(^|[^A-Za-z])([Ww]hoever|[Ww]hom|[Hh]e|[Hh]im|[Hh]is|[Ss]he)" \
      "([^A-Za-z]|$)"
  }
  function tell(text) {
    bad[FILENAME]++
    total++
    if (!report)
      printf "not ok: %s:%d: %s\n", FILENAME, FNR, text
    folder = FILENAME
    sub("/[^/]*$", "", folder)
    by[folder]++
  }
  FNR == 1 {
    if (FILENAME in seen == 0)
      files[++count] = FILENAME
    seen[FILENAME] = 1
    inside = 0
  }
  {
    text = ""
    if (inside || index($0, "/*")) {
      comment = $0
      if (!inside)
        sub("^.*/[*]+", "", comment)
      sub("[*]/.*$", "", comment)
      if (comment ~ person)
        tell(comment)
    }
    if (inside == 1) {
      text = $0
      sub("^[ \t]*[*]+[ \t]*", "", text)
      if (text != "")
        inside = 2
    } else if (match($0, "/[*]+")) {
      text = substr($0, RSTART + RLENGTH)
      sub("^[ \t]+", "", text)
      inside = text == "" ? 1 : 2
    }
    if (index($0, "*/"))
      inside = 0
    if (text == "")
      next
    split(text, words, "[^A-Za-z]")
    if (words[1] in bare && text !~ allowed)
      tell(text)
  }
  END {
    for (i = 1; i <= count; i++)
      if (files[i] in bad)
        failed++
      else
        passed++
    if (report) {
      for (folder in by)
        printf "%5d %s\n", by[folder], folder | "sort -k2"
      close("sort -k2")
      printf "%d comments open with a bare pronoun, or speak of persons\n", total
      exit 0
    }
    printf "%d passed, %d failed\n", passed, failed
    exit failed > 0
  }' "$@"

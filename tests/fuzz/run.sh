#!/bin/sh
# Runs fuzz targets that were built with clang and --enable-fuzzers, each for
# some seconds. usage: tests/fuzz/run.sh SECONDS [NAME]... (default: all). What
# they find stays in the build folder; a crash is put into tests/fuzz/corpus.
set -u
top=${abs_top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [NAME]...}
shift
[ $# -gt 0 ] || set -- tests/fuzz/fuzz_*[a-z]
passed=0
failed=0
for target in "$@"; do
  name=$(basename "$target")
  case $name in *.*) continue ;; esac
  name=${name#fuzz_}
  [ -x "tests/fuzz/fuzz_$name" ] || continue
  mkdir -p "tests/fuzz/found/$name"
  if "tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=90 \
    -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 \
    -artifact_prefix="tests/fuzz/found/$name-" \
    "tests/fuzz/found/$name" "$top/tests/fuzz/corpus/$name" \
    >"tests/fuzz/found/$name.log" 2>&1; then
    passed=$((passed + 1))
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' \
      "tests/fuzz/found/$name.log") inputs in $seconds s"
  else
    failed=$((failed + 1))
    echo "not ok: $name"
    tail -40 "tests/fuzz/found/$name.log"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

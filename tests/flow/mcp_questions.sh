#!/bin/sh
# Twenty questions of a buyer through the tools of agents: mcp_questions.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/flow/mcp_questions.py" "$@"

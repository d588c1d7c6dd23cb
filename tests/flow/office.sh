#!/bin/sh
# Workbooks and csv-fr, opened by LibreOffice: office.py.
command -v python3 >/dev/null || {
  echo "skipped: python3 is not installed"
  exit 77
}
command -v soffice >/dev/null || {
  echo "skipped: LibreOffice is not there (install-packages.sh office)"
  exit 77
}
exec python3 "${abs_top_srcdir:-.}/tests/flow/office.py" "$@"

# $python: the Python that has openpyxl. Debian's own has python3-openpyxl,
# wherever another one comes first; without it, whichever comes first. Sourced.
python=python3
for each in python3 /usr/bin/python3; do
  "$each" -c 'import openpyxl' 2>/dev/null && python=$each && break
done

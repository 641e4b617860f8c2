#!/usr/bin/env bash
# Does every test that tests/FIELD_CASES.md names exist, in the file that it names? Prints those that
# do not, and exits with 1 when there is one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../tests"

named=0 missing=0
while IFS=$'\t' read -r file name; do
  named=$((named + 1))
  # A long name may stand in pieces on several lines.
  if [[ -f $file ]] && tr '\n' ' ' <"$file" | sed 's/" *"//g' | grep -qF "\"$name\""; then
    continue
  fi
  printf '%s has no test case "%s"\n' "$file" "$name"
  missing=$((missing + 1))
done < <(sed -nE 's/^\| U.*\| ([a-z]+\/[a-z_0-9]+\.cpp) "([^"]+)" \|$/\1\t\2/p' FIELD_CASES.md)
echo "field cases: $(grep -c '^| U' FIELD_CASES.md), tests named: $named, missing: $missing"
[[ $named -gt 0 && $missing -eq 0 ]]

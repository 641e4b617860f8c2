#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over our own sources, as build/ compiles them. Takes minutes.
# usage: scripts/check_tidy.sh [path fragments, all sources otherwise]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ! -e build/compile_commands.json ]]; then
  echo 'error: build/compile_commands.json is missing; run scripts/test.sh first' >&2
  exit 1
fi
mapfile -t files < <(find src tests -name '*.cpp' | sort)
if (($# > 0)); then
  mapfile -t files < <(printf '%s\n' "${files[@]}" | grep -F "$(printf '%s\n' "$@")")
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy -p build --quiet --warnings-as-errors='*' \
  --extra-arg=-Wno-unknown-warning-option  # the build names some that only GCC knows
echo "tidy: ${#files[@]} files are clean"

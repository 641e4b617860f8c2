#!/usr/bin/env bash
# Are all C++ files formatted as .clang-format says? Changes nothing; `--fix` formats them.
# usage: scripts/check_format.sh [--fix]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(--dry-run -Werror)
case ${1:-} in
  '') ;;
  --fix) mode=(-i) ;;
  *)
    echo "usage: $0 [--fix]" >&2
    exit 2
    ;;
esac
# Other versions break lines elsewhere.
version=$(clang-format --version | sed -E 's/.*version ([0-9]+).*/\1/')
[[ $version == 14 ]] || echo "note: the files were formatted by clang-format 14; this is $version"

folders=()
for folder in src cuda tests; do
  [[ ! -d $folder ]] || folders+=("$folder")
done
mapfile -d '' files < <(find "${folders[@]}" -type f \
  \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | sort -z)
clang-format "${mode[@]}" "${files[@]}"
echo "format: ${#files[@]} files are as .clang-format says"

#!/usr/bin/env bash
# Downloads classes of Google's "Quick, Draw!" bitmaps (CC BY 4.0, about 100 MB a class) into
# data/quickdraw/. What is there already is left as it is.
# usage: scripts/fetch_quickdraw.sh [class...]     scripts/fetch_quickdraw.sh cat 'alarm clock'
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly source_url=https://storage.googleapis.com/quickdraw_dataset/full/numpy_bitmap
readonly target=data/quickdraw

(($# > 0)) || set -- airplane apple bee bird book clock cow dog eye fish
command -v curl >/dev/null || {
  echo 'error: curl is missing; install it (apt-get install curl)' >&2
  exit 1
}

mkdir -p "$target"
part=
trap '[[ -z $part ]] || rm -f "$part"' EXIT
for class in "$@"; do
  if [[ ! $class =~ ^[A-Za-z][A-Za-z\ -]*$ ]]; then
    echo "error: '$class' is no class name; they look like: cat, 'alarm clock', t-shirt" >&2
    exit 2
  fi
  file=$target/$class.npy
  if [[ -e $file ]]; then
    echo "$file is there already"
    continue
  fi
  echo "fetching $file"
  part=$file.part
  # --fail: an error page must not pass for data.
  curl --fail --location --retry 3 --output "$part" "$source_url/${class// /%20}.npy" || {
    echo "error: cannot fetch '$class'; check the name and the network" >&2
    exit 1
  }
  if [[ $(head -c 6 "$part" | tail -c 5) != NUMPY ]]; then
    echo "error: what came for '$class' is no .npy file" >&2
    exit 1
  fi
  mv "$part" "$file"
  part=
done
echo "done; train with: build/acgan-train -c configs/quickdraw.yaml --data $target"

#!/usr/bin/env bash
# Downloads CIFAR-10, binary version (Alex Krizhevsky; 162 MB), into data/cifar-10-batches-bin/.
# usage: scripts/fetch_cifar10.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly source_url=https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz
readonly md5=c32a1d4ab5d03f1284b67883e8d87530
readonly target=data/cifar-10-batches-bin

if [[ -e $target/data_batch_1.bin ]]; then
  echo "$target is there already"
  exit 0
fi
command -v curl >/dev/null || {
  echo 'error: curl is missing; install it (apt-get install curl)' >&2
  exit 1
}

# Beside the target, so that the last step is a rename and nothing half unpacked is ever seen.
work=$(mktemp -d data/.cifar10.XXXXXX)
trap 'rm -rf "$work"' EXIT
echo "fetching $source_url"
curl --fail --location --retry 3 --output "$work/archive.tar.gz" "$source_url" || {
  echo 'error: cannot fetch CIFAR-10; check the network' >&2
  exit 1
}
echo "$md5  $work/archive.tar.gz" | md5sum --check --quiet || {
  echo 'error: the archive is damaged or not the known one; run this again' >&2
  exit 1
}
tar -xzf "$work/archive.tar.gz" -C "$work" --no-same-owner
mv -T "$work/cifar-10-batches-bin" "$target"
echo "done; train with: build/acgan-train -c configs/cifar10.yaml --data $target"

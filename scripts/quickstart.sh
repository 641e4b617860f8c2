#!/usr/bin/env bash
# Installs what is missing, builds, and trains on the built-in drawings for a short time.
# usage: scripts/quickstart.sh [options of acgan-train]
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# CUDA kernels take minutes to compile: only where there is a driver that can run them.
cuda=OFF
! ldconfig -p | grep -q 'libcuda[.]so[.]1' || cuda=AUTO

install_packages "${build_packages[@]}"
configure build -DACGAN_CUDA=$cuda
build build acgan-train

say "training: acgan-train -c configs/quickstart.yaml $*"
exec "$project_root/build/acgan-train" -c "$project_root/configs/quickstart.yaml" "$@"

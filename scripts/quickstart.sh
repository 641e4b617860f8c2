#!/usr/bin/env bash
# Installs what is missing, builds, and trains on the built-in drawings for a short time.
# usage: scripts/quickstart.sh [options of acgan-train]
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_packages "${build_packages[@]}"
configure build
build build acgan-train

say "training: acgan-train -c configs/quickstart.yaml $*"
exec "$project_root/build/acgan-train" -c "$project_root/configs/quickstart.yaml" "$@"

#!/usr/bin/env bash
# Installs what is missing, builds everything, and runs all checks and tests. Goes on after a failed
# check; the exit code is not 0 when anything failed, and ctest's summary comes last.
# usage: scripts/test.sh [options of ctest]
#
# ACGAN_SHARED_DIR  folder with real data and golden traces (default: ../shared, seen from the
#                   project); tests that need it are skipped where it is missing
# CI=true           nothing is skipped: that folder must be there, Python's safetensors is installed
#                   into the build folder, and the rooms that read foreign files are tested again
#                   with the address and undefined-behaviour sanitizers
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

shared_dir=$(realpath -m "${ACGAN_SHARED_DIR:-$project_root/../shared}")
export ACGAN_SHARED_DIR=$shared_dir
is_ci=$([[ ${CI:-} == true ]] && echo yes || echo no)
status=0

# check COMMAND...: runs it; a failure is kept for the end.
check() {
  say "$*"
  "$@" || status=1
}

# A Python that has the packages which check_safetensors.py needs.
python_folder=$project_root/build/python
# shellcheck disable=SC2317  # called through check
make_python() {
  "$python_folder/bin/python3" -c 'import numpy, safetensors' 2>/dev/null && return
  python3 -m venv "$python_folder" &&
    "$python_folder/bin/pip" install --quiet numpy 'safetensors>=0.4,<1'
}

# What reads files of others and where memory errors would hide, with sanitizers. Without the rest
# of the tests and with less optimisation it takes minutes less. Warnings are no errors here: with
# sanitizers GCC 12 warns of uninitialized memory in std::function that is not there.
# shellcheck disable=SC2317  # called through check
test_with_sanitizers() {
  local rooms=(data run config ops)
  configure build-asan -DACGAN_SANITIZE=address,undefined -DACGAN_WERROR=OFF \
    -DCMAKE_CXX_FLAGS_RELEASE=-O1 &&
    build build-asan "${rooms[@]/#/test_}" &&
    ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
      ctest --test-dir "$project_root/build-asan" --output-on-failure --no-tests=error \
      -R "^($(IFS='|' && echo "${rooms[*]}"))(_shared)?\$"
}

install_packages "${build_packages[@]}" clang-format
options=(-DACGAN_SHARED_DIR="$shared_dir")
if [[ $is_ci == yes ]]; then
  install_packages python3 python3-venv
  check make_python
  options+=(-DACGAN_PYTHON="$python_folder/bin/python3")
fi
configure build "${options[@]}"
build build
check "$project_root/scripts/check_format.sh"
check "$project_root/scripts/check_floors.sh"
[[ $is_ci == no ]] || check test_with_sanitizers
check ctest --test-dir "$project_root/build" --output-on-failure --no-tests=error "$@"
exit "$status"

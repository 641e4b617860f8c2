#!/usr/bin/env bash
# Installs what is missing, builds everything, and runs all checks and tests. Goes on after a failed
# check; the exit code is not 0 when anything failed, and ctest's summary comes last.
# usage: scripts/test.sh [options of ctest]
#
# ACGAN_SHARED_DIR  folder with real data and golden traces (default: ../shared, seen from the
#                   project); tests that need it are skipped where it is missing
# CI=true           nothing is skipped (but what needs PyTorch): that folder must be there, Python's
#                   safetensors, scipy, onnx, onnxruntime and tensorboard (180 MB) are installed into
#                   the build folder, a browser looks at a report, the rooms that read foreign files and the CUDA
#                   kernels (on the emulated device) are tested again with sanitizers, and the
#                   readers of data, configs and checkpoints are fuzzed for a short while
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

# A Python that has the packages which the tests' check_*.py need, but for PyTorch (too large).
python_folder=$project_root/build/python
# shellcheck disable=SC2317  # called through check
make_python() {
  "$python_folder/bin/python3" -c 'import numpy, safetensors, scipy, onnx, onnxruntime, tensorboard' 2>/dev/null && return
  python3 -m venv "$python_folder" &&
    "$python_folder/bin/pip" install --quiet numpy scipy 'safetensors>=0.4,<1' \
      'onnx>=1.16,<2' 'onnxruntime>=1.18,<2' 'tensorboard>=2.12,<3'
}

# sanitize FOLDER SANITIZERS TESTS TARGETS...: builds the targets and runs the tests (a pattern).
# With less optimisation it takes minutes less. Warnings are no errors here: with sanitizers GCC 12
# warns of uninitialized memory in std::function that is not there.
# shellcheck disable=SC2317  # called through check
sanitize() {
  local folder=$1 sanitizers=$2 tests=$3
  shift 3
  configure "$folder" -DACGAN_SANITIZE="$sanitizers" -DACGAN_CUDA=OFF -DACGAN_WERROR=OFF \
    -DCMAKE_CXX_FLAGS_RELEASE=-O1 &&
    build "$folder" "$@" &&
    ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
      ctest --test-dir "$project_root/$folder" --output-on-failure --no-tests=error \
      --parallel "$(nproc)" -R "^($tests)\$"
}

# What reads files of others, and where memory errors would hide.
# shellcheck disable=SC2317  # called through check
find_memory_errors() {
  sanitize build-asan address,undefined \
    '(data|run|config|ops|cuda)(_shared)?|train_checkpoints|planted_.*|ops_emulated_brief|golden_emulated_fp(32|16)' \
    test_data test_run test_config test_train test_ops test_cuda planted_bugs golden_trace \
    acgan_cuda_emulated
}

# Between the threads of the emulated device only: the CPU backends' OpenMP is not instrumented.
# shellcheck disable=SC2317  # called through check
find_races() {
  sanitize build-tsan thread 'cuda|planted_.*|ops_emulated_brief' \
    test_ops test_cuda planted_bugs acgan_cuda_emulated
}

# The readers of data, configs and checkpoints, with inputs that libFuzzer makes up.
# shellcheck disable=SC2317  # called through check
fuzz_readers() {
  configure build-fuzz -DCMAKE_CXX_COMPILER=clang++ -DACGAN_FUZZ=ON -DACGAN_WERROR=OFF \
    -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DACGAN_SHARED_DIR="$shared_dir" &&
    build build-fuzz &&
    ctest --test-dir "$project_root/build-fuzz" --output-on-failure --no-tests=error \
      --parallel "$(nproc)"
}

install_packages "${build_packages[@]}" clang-format gnuplot-nox
options=(-DACGAN_SHARED_DIR="$shared_dir" -DACGAN_CUDA=AUTO)
if [[ $is_ci == yes ]]; then
  install_packages python3 python3-venv chromium clang libclang-rt-14-dev
  check make_python
  options+=(-DACGAN_PYTHON="$python_folder/bin/python3")
fi
configure build "${options[@]}"
build build
check "$project_root/scripts/check_format.sh"
check "$project_root/scripts/check_floors.sh"
check "$project_root/scripts/check_field_cases.sh"
if [[ $is_ci == yes ]]; then
  check find_memory_errors
  check find_races
  check fuzz_readers
fi
check ctest --test-dir "$project_root/build" --output-on-failure --no-tests=error "$@"
exit "$status"

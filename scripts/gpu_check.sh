#!/usr/bin/env bash
# Everything that only a GPU can show, in one go of less than eight minutes, without a network: builds
# for this GPU, runs the tests on it, measures steps and operations, trains for a minute in each
# precision. All results go into one folder; a table of what passed comes last. Goes on after a failed
# part; the exit code is not 0 when one failed.
# usage: scripts/gpu_check.sh [FOLDER]      (default: gpu_check)
#
# ACGAN_BUILD_DIR  a build with CUDA to use instead of building one
# ACGAN_DEVICE     device to check (default: cuda)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
out=$(realpath -m "${1:-gpu_check}")
device=${ACGAN_DEVICE:-cuda}
build=$(realpath -m "${ACGAN_BUILD_DIR:-build-gpu}")
mkdir -p "$out" || exit 5
rows=()
failed=0
started=$SECONDS

# part NAME SECONDS COMMAND...: runs it, at most so long, into FOLDER/NAME.log. 77 counts as skipped.
part() {
  local name=$1 limit=$2 begin=$SECONDS code state
  shift 2
  echo "== $name"
  # A shell of its own, since timeout knows no functions.
  # shellcheck disable=SC2016
  timeout "$limit" bash -c '"$@"' _ "$@" >"$out/$name.log" 2>&1
  code=$?
  case $code in
    0) state=passed ;;
    77) state=skipped ;;
    124) state="over its $limit s" failed=1 ;;
    *) state="failed ($code)" failed=1 ;;
  esac
  [[ $state == passed ]] || tail -n 5 "$out/$name.log"
  rows+=("$(printf '%-28s %-14s %4d s' "$name" "$state" $((SECONDS - begin)))")
}

# What is in this machine.
# shellcheck disable=SC2317  # called through part
describe() {
  nvidia-smi || return 1
  nvcc --version || true
  lscpu | head -n 20
  git log --oneline -1 2>/dev/null || true
  python3 -c 'import torch; print("torch", torch.__version__)' 2>/dev/null || true
}

# shellcheck disable=SC2317  # called through part
build_all() {
  cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DACGAN_CUDA=ON \
    -DCMAKE_CUDA_ARCHITECTURES=native &&
    cmake --build "$build" --parallel "$(nproc)" --target acgan-train acgan_cuda acgan_cuda_emulated \
      test_ops test_train golden_trace
}

# golden NAME PRECISION HALF CONV: the exact traces on the GPU.
golden() {
  part "golden_$1" 30 "$build/tests/golden_trace" tests/golden --device "$device" \
    --precision "$2" --half "$3" --conv "$4"
}

# shellcheck disable=SC2317  # called through part
sanitize() {
  command -v compute-sanitizer >/dev/null || return 77
  compute-sanitizer --tool "$1" --error-exitcode 1 "$build/tests/test_ops" \
    "convolutions of small integers are exact,batch norm*"
}

# shellcheck disable=SC2317  # called through part
bench() {
  "$build/acgan-train" bench -c configs/quickdraw.yaml --set data.kind=doodles \
    --set data.doodles_per_class=500 --device "$device" --min-seconds 0.3 --max-seconds 2 "$@"
}

# shellcheck disable=SC2317  # called through part
train() {
  "$build/acgan-train" -c configs/quickdraw.yaml --set data.kind=doodles --device "$device" \
    --batch 256 --precision "$1" --minutes 0.5 --sample-every 0.25 --outdir "$out/runs"
}

export out device build
export -f describe build_all sanitize bench train
export ACGAN_TEST_BACKENDS=$device OMP_WAIT_POLICY=passive
part machine 20 describe
if [[ -n ${ACGAN_BUILD_DIR:-} && -x $build/acgan-train ]]; then
  echo "== using the build in $build"
else
  part build 300 build_all
fi
part devices 20 "$build/acgan-train" devices
part operations 60 "$build/tests/test_ops"
golden fp32 fp32 fp16 auto
golden fp32_handwritten fp32 fp16 handwritten
golden fp16 mixed fp16 handwritten
golden bf16 mixed bf16 handwritten
part replay_and_emulated 60 "$build/tests/test_train" "[gpu]"
part memcheck 60 sanitize memcheck
part racecheck 60 sanitize racecheck
part bench 75 bench --batch 64,256,1024,4096 --precision fp32,mixed --outdir "$out/bench"
part bench_cudnn 40 bench --batch 256,1024 --precision fp32,mixed --conv cudnn \
  --outdir "$out/bench_cudnn"
part profile 30 bench --batch 1024 --precision fp32,mixed --profile --outdir "$out/profile"
part floors 20 bench --batch 1024 --floors --outdir "$out/floors"
part torch 60 python3 scripts/torch_step.py --batch 64,256,1024 --csv "$out/torch.csv"
part train_fp32 60 train fp32
part train_mixed 60 train mixed

{
  echo
  [[ ! -s $out/bench.log ]] || grep -E '^(batch  |[0-9]+ )' "$out/bench.log"
  [[ ! -s $out/torch.csv ]] || { echo "PyTorch:" && cat "$out/torch.csv"; }
  echo
  printf '%s\n' "${rows[@]}"
  echo "all of it: $((SECONDS - started)) s; results are in $out"
} | tee "$out/summary.txt"
exit "$failed"

#!/usr/bin/env bash
# Runs one fuzz target for a while on inputs that it makes from valid files. Fails when it finds a
# crash, a leak, a sanitizer's complaint, an input that takes over 10 s or more memory than a reader may
# use; the input then lies in the folder it was started in, as crash-*, leak-*, timeout-* or oom-*.
# usage: tests/fuzz/run_fuzz_target.sh PROGRAM SECONDS [PATTERN of real files...]
set -euo pipefail

program=$1 seconds=$2
shift 2
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
ACGAN_WRITE_VALID_INPUTS=$corpus "$program"
number=0
for pattern in "$@"; do
  # What lies in the pattern's folder; none where it is missing. Large files slow the fuzzer down.
  while IFS= read -r file; do
    head -c 65536 "$file" >"$corpus/real_$number"
    number=$((number + 1))
  done < <(compgen -G "$pattern" | sort)
done
OMP_NUM_THREADS=1 "$program" -max_total_time="$seconds" -timeout=10 -max_len=65536 -rss_limit_mb=1024 \
  -malloc_limit_mb=256 -print_final_stats=1 -verbosity=1 "$corpus" 2>&1 |
  grep -vE '^#[0-9]+.(NEW|REDUCE|RELOAD|pulse)|# Uses: ' | tail -n 60

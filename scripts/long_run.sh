#!/usr/bin/env bash
# Trains for long, with a grid and a checkpoint again and again, and watches what leaks and drift
# would show in: memory, open handles, step time. Prints the figures, and exits with 1 where memory
# grew by more than 5 % or 4 MiB after the first tenth of the time, or handles got more. Step time
# is only told: another program's load shows in it as well.
# usage: scripts/long_run.sh [MINUTES (default 60)] [options of acgan-train...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minutes=${1:-60}
shift $(($# > 0 ? 1 : 0))
program=${ACGAN_TRAIN:-build/acgan-train}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$program" -c configs/quickstart.yaml --minutes "$minutes" --batch 8 --threads 1 \
  --sample-every 10s --save-every 15s --outdir "$folder/runs" "$@" >"$folder/output" 2>&1 &
process=$!
trap 'kill $process 2>/dev/null || true; rm -rf "$folder"' EXIT

# seconds, resident KiB, open handles
while sleep 5; do
  resident=$(awk '/^VmRSS/ { print $2 }' "/proc/$process/status" 2>/dev/null) || break
  [[ -n $resident ]] || break
  handles=("/proc/$process/fd"/*)
  echo "$SECONDS $resident ${#handles[@]}" >>"$folder/watched"
done
wait "$process" || {
  tail -n 5 "$folder/output" >&2
  exit 1
}

# median FILE FROM TO: of batch_ms in these rows of a timing.csv
median() {
  awk -F, -v from="$2" -v to="$3" 'NR > from && NR <= to { print $4 }' "$1" | sort -g |
    awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
timing=("$folder"/runs/*/timing.csv)
steps=$(($(wc -l <"${timing[0]}") - 1))
first=$(median "${timing[0]}" 1 $((steps / 3 + 1)))
last=$(median "${timing[0]}" $((steps - steps / 3 + 1)) $((steps + 1)))
echo "steps: $steps, median ms of the first third $first, of the last third $last"
echo "grids: $(grep -c '^samples: ' "$folder/output"), checkpoints: $(grep -c '^checkpoint: ' "$folder/output")"
awk '
  { time[NR] = $1; resident[NR] = $2; handles[NR] = $3 }
  END {
    first = int(NR / 10) + 1
    for (i = first; i <= NR; i++) {
      if (resident[i] > most) most = resident[i]
      if (handles[i] > most_handles) most_handles = handles[i]
    }
    printf "resident KiB: %d after %d s, %d at the end, %d at most\n", resident[first], time[first],
           resident[NR], most
    printf "handles: %d after %d s, %d at the end, %d at most\n", handles[first], time[first],
           handles[NR], most_handles
    growth = resident[NR] - resident[first]
    allowed = resident[first] / 20 > 4096 ? resident[first] / 20 : 4096
    exit growth > allowed || handles[NR] > handles[first]
  }' "$folder/watched"

#!/usr/bin/env bash
# Do includes go down only? Rooms stand on floors; a file includes its own room and lower floors,
# never a neighbour, and headers of third parties stay where the table below says. Tests may include anything.
# Nor does any file but three use a clock that can be set. Prints file:line of every offence and exits with 1 when there is one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folders=()
for folder in src cuda; do
  [[ ! -d $folder ]] || folders+=("$folder")
done
# shellcheck disable=SC2016  # the $0 in there is awk's
find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
  -print0 | sort -z | xargs -0 awk '
  BEGIN {
    split("main=9 cli=8 bench=7 export=7 train=6 quality=5 model=4 optim=4 data=4 run=4 report=4 nn=3 " \
          "config=2 backend=2 cuda=2 tensor=1 base=0", pairs, " ")
    for (i in pairs) {
      split(pairs[i], pair, "=")
      floor[pair[1]] = pair[2]
    }
    # Headers of third parties, and where they may be included.
    home["^yaml-cpp/"] = "^src/config/"
    home["^CLI/"] = "^src/cli/"
    home["^spdlog/"] = "^src/base/"
    home["^fmt/"] = "^src/base/"
    home["^stb/|^stb_"] = "^src/(data/image[a-z_]*|run/sample_grid)[.]cpp$"
    home["^archive(_entry)?[.]h$"] = "^src/data/(npz_)?archive[.]cpp$"
    home["^zlib[.]h$"] = "^src/data/expanded_file[.]cpp$"
    home["^(oneapi/)?dnnl"] = "^src/backend/onednn/"
    home["^nlohmann/"] = "^src/(run|bench)/|^src/train/(train_state|run_identity|run_report)[.]cpp$|^src/data/ndjson_drawing[.]cpp$|^src/quality/quality_report[.]cpp$"
    home["^onnx/"] = "^src/export/"
    home["^Eigen/"] = "^src/quality/"
    home["^webp/"] = "^src/run/animation[.]cpp$"
    home["^cairo"] = "^src/data/stroke_raster[.]cpp$"
    home["^cuda|^cublas|^cudnn"] = "^cuda/|^src/tensor/half[.]h$"
  }

  function room_of(path, parts) {
    split(path, parts, "/")
    if (parts[1] == "cuda") return "cuda"
    return path ~ /^src\/[^\/]*$/ ? "main" : parts[2]
  }

  function complain(why) {
    printf "%s:%d: %s\n", FILENAME, FNR, why
    offences++
  }

  function check_own(header, room, target) {
    target = header ~ /\// ? substr(header, 1, index(header, "/") - 1) : ""
    if (!(target in floor)) {
      complain("\"" header "\" names no room; includes begin with one (\"base/check.h\")")
    } else if (target == room) {
      return
    } else if (room == "cuda" && header ~ /^backend\/[^\/]*$/) {
      return  # implements the interface that lies there
    } else if (FILENAME == "src/backend/open_backend.cpp" && header == "cuda/cuda_backend.h") {
      return  # alone knows what was compiled in
    } else if (floor[target] >= floor[room]) {
      complain(room " (floor " floor[room] ") must not include \"" header "\" (floor " \
               floor[target] ")")
    } else if (floor[room] > 2 && header ~ /^backend\/.*\//) {
      complain("\"" header "\" is a concrete backend; only floor 2 may name it")
    }
  }

  function check_foreign(header, pattern) {
    if (substr(header, 1, index(header, "/") - 1) in floor) {
      complain("<" header "> is ours: include it in quotes")
    }
    for (pattern in home) {
      if (header ~ pattern && FILENAME !~ home[pattern]) {
        complain("<" header "> belongs into " home[pattern] " only")
      }
    }
  }

  FNR == 1 {
    files++
    room = room_of(FILENAME)
    if (!(room in floor)) complain("the room " room " stands on no floor; give it one in this script")
  }

  # Only what is shown to people may depend on a clock that can be set.
  /system_clock|gettimeofday|CLOCK_REALTIME|high_resolution_clock/ &&
      FILENAME !~ /^src\/(base\/log|bench\/bench|run\/event_file)[.]cpp$/ {
    complain("times are of the steady clock")
  }

  /^[ \t]*#[ \t]*include[ \t]*["<]/ {
    header = $0
    sub(/^[^"<]*["<]/, "", header)
    is_own = $0 ~ /^[^"<]*"/
    sub(/[">].*$/, "", header)
    if (!is_own) {
      check_foreign(header)
    } else if (room in floor) {
      check_own(header, room)
    }
  }

  END {
    printf "floors: %d files, %d forbidden includes\n", files, offences
    exit offences > 0
  }' || exit 1

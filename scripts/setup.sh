# shellcheck shell=bash
# Sourced by quickstart.sh and test.sh: what it takes to build on Debian 12. Installs only what is
# missing, so that everything works offline once it is there.

project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# shellcheck disable=SC2034  # for the scripts that source this
readonly build_packages=(g++ cmake ninja-build libdnnl-dev libcli11-dev libyaml-cpp-dev
  libspdlog-dev libfmt-dev libstb-dev catch2 nlohmann-json3-dev libarchive-dev zlib1g-dev
  libcairo2-dev libeigen3-dev libwebp-dev libprotobuf-dev libonnx-dev)

say() { printf '== %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Installs those of the named Debian packages that are missing.
install_packages() {
  local package missing=() as_root=()
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian system; what is needed must be there already: $*"
    return
  fi
  for package in "$@"; do
    # shellcheck disable=SC2016  # dpkg-query expands the braces itself
    [[ $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] ||
      missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    return
  fi
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "these packages are missing and neither root nor sudo is at hand to install them;" \
        "ask for: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing the missing packages: ${missing[*]}"
  "${as_root[@]}" apt-get update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"
}

# configure FOLDER [CMake options...]: prepares a build folder below the project's root.
configure() {
  local folder=$project_root/$1 generator=()
  shift
  # A folder that somebody configured with another generator keeps it.
  [[ -e $folder/CMakeCache.txt ]] || generator=(-G Ninja)
  say "configuring $folder"
  cmake -S "$project_root" -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release "$@"
}

# build FOLDER [targets...]: all targets when none is named, on all cores.
build() {
  local folder=$project_root/$1 targets=()
  shift
  (($# == 0)) || targets=(--target "$@")
  say "building in $folder${*:+: $*}"
  cmake --build "$folder" --parallel "$(nproc)" "${targets[@]}"
}

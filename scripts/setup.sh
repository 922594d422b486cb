#!/usr/bin/env bash
# Installs the system packages that coir needs, on Debian and Ubuntu.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: scripts/setup.sh [--dry-run] [--mpi] [--ci] [--docs] [--help]

Installs the system packages that coir needs (Debian, Ubuntu; as root or by sudo).
Does nothing, and prints nothing, when all of them are there.

  --dry-run  only say what would be done
  --mpi      also Open MPI, for programs on several ranks (presets openmp-mpi, cuda-mpi)
  --ci       also what .ci/run needs
  --docs     also what scripts/docs.sh needs
EOF
}

packages=(
  g++ cmake ninja-build ca-certificates
  libpng-dev                      # coir::io
  libhdf5-dev                     # coir::hdf5
  librandom123-dev libhwy-dev     # coir::array; without Highway (libhwy-dev) sorts of hosts take longer
  libopenblas-openmp-dev          # coir::linalg; OpenBLAS for other threads works, at half the speed
  libfftw3-dev                    # coir::fft
  libcli11-dev nlohmann-json3-dev # applications
  libgtest-dev libbenchmark-dev   # tests, benchmarks
)
mpi_packages=(libopenmpi-dev openmpi-bin)
dry_run=false
for argument in "$@"; do
  case $argument in
    --dry-run) dry_run=true ;;
    --mpi) packages+=("${mpi_packages[@]}") ;;
    --ci) packages+=("${mpi_packages[@]}" git clang-format-19 clang-tidy-19 clang-19 libomp-19-dev pkg-config python3) ;;
    --docs) packages+=(doxygen python3-sphinx python3-myst-parser furo) ;;
    --help | -h)
      usage
      exit 0
      ;;
    *)
      echo "setup.sh: unknown argument '$argument' (see scripts/setup.sh --help)" >&2
      exit 2
      ;;
  esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  {
    echo "setup.sh: this is not a Debian or Ubuntu system. Install what these packages hold by your system's means:"
    printf '  %s\n' "${packages[@]}"
  } >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done

# The presets and workflows need CMake 3.25; older distributions have an older one.
check_cmake() {
  local version
  version=$(cmake --version | sed -n 's/^cmake version //p')
  if dpkg --compare-versions "$version" lt 3.25; then
    echo "setup.sh: CMake is $version and must be 3.25 or newer: python3 -m pip install cmake" >&2
    exit 1
  fi
}
if [[ ${#missing[@]} -eq 0 ]]; then
  check_cmake
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  as_root=(sudo)
fi
update=("${as_root[@]}" apt-get -o Acquire::Retries=1 -o Acquire::http::Timeout=15 -o Acquire::https::Timeout=15 update)
install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}")
if $dry_run; then
  echo "would run: ${update[*]}"
  echo "would run: ${install[*]}"
  exit 0
fi
if [[ ${#as_root[@]} -gt 0 ]] && ! command -v sudo >/dev/null; then
  echo "setup.sh: run it as root, or install sudo; missing packages: ${missing[*]}" >&2
  exit 1
fi

# A third party's repository that is down fails the update without harm: what counts is the installation. Where no archive at all
# can be reached apt-get would try each package for itself, for minutes; then only packages that it has kept can be installed.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"${update[@]}" 2>&1 | tee "$log" || echo "setup.sh: apt-get update had errors; trying to install all the same" >&2
if grep -qE '^(Hit|Get):' "$log"; then
  "${install[@]}"
elif ! "${install[@]}" --no-download >"$log" 2>&1; then
  echo "setup.sh: none of apt's package archives can be reached (is there a network?), and these packages are missing: ${missing[*]}" >&2
  exit 1
fi
check_cmake

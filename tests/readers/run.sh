#!/usr/bin/env bash
# Snapshots of coir-nbody as other people's readers see them.
#   tests/readers/run.sh COIR_NBODY FOLDER
# pynbody and yt are installed into a virtual environment in FOLDER; where they can't be, this is skipped, and says so.
set -euo pipefail
nbody=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
cd "$2"

skip() {
  echo "skipped: $1, so nobody has looked at snapshots with pynbody and yt"
  exit 0
}
command -v python3 >/dev/null || skip "there is no python3"
python3 -m venv python >venv.txt 2>&1 || skip "python3 can't make a virtual environment (python3-venv, see $PWD/venv.txt)"
timeout 120 python/bin/python -m pip install --quiet --disable-pip-version-check pynbody yt >pip.txt 2>&1 ||
  skip "pip can't install them within two minutes (see $PWD/pip.txt)"

# Not the default cosmology, nor a = 1 alone, where powers of a and h would not show.
"$nbody" --particles 16 --box 40 --steps 4 --outputs 0.5 --omega-m 0.3 --h 0.7 --snapshots --no-pictures --no-spectra \
  --output run
for a in 0.500 1.000; do
  python/bin/python "$here/snapshots.py" "run/snapshot_a$a.hdf5" 0.3 40 0.7
done

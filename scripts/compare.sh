#!/usr/bin/env bash
# Builds what is missing of the presets named, and compares them on this machine.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: scripts/compare.sh [--dry-run] PRESET... [-- options of coir-compare run]

Configures each preset, builds coir-info and the benchmarks that are compared, and coir-compare of the first, and runs one set of
work on all of them in turns: scripts/compare.sh openmp cuda -- --set full --output here
The first preset is what others are compared with. The report is a folder, compare where this is started unless --output says otherwise:
compare.html opens in a browser.

  --dry-run  only say what would be done
  --help     print this and exit
EOF
}

fail() {
  echo "compare.sh: $1" >&2
  exit 2
}

dry_run=false
presets=()
while (($#)); do
  case $1 in
    --) shift && break ;;
    --dry-run) dry_run=true ;;
    --help | -h) usage && exit 0 ;;
    -*) fail "unknown argument '$1': options of coir-compare go behind -- (see scripts/compare.sh --help)" ;;
    *) presets+=("$1") ;;
  esac
  shift
done
((${#presets[@]})) || fail 'name a preset, such as openmp (see scripts/compare.sh --help)'

root=$(cd "$(dirname "$0")/.." && pwd)
builds=()
known=$(cmake -S "$root" --list-presets | sed -nE 's/^ +"([^"]+)".*/\1/p')
for preset in "${presets[@]}"; do
  grep -qxF -- "$preset" <<<"$known" || fail "'$preset' is no preset; there are: ${known//$'\n'/, }"
  builds+=("$root/build/$preset")
done

run() {
  if $dry_run; then
    echo "$@"
  else
    "$@"
  fi
}
for preset in "${presets[@]}"; do
  build=$root/build/$preset
  if [[ ! -e $build/build.ninja ]]; then
    run cmake -S "$root" --preset "$preset"
  fi
  if grep -qsx 'COIR_BUILD_BENCHMARKS:[A-Z]*=OFF' "$build/CMakeCache.txt"; then
    fail "the preset $preset builds no benchmarks: name another one, such as openmp"
  fi
  # Other benchmarks, tests and applications would take longer than the comparison.
  targets=(compared)
  if [[ $preset == "${presets[0]}" ]]; then
    targets+=(coir_app_compare)
  fi
  run cmake --build "$build" --target "${targets[@]}"
done
run "$root/build/${presets[0]}/apps/compare/coir-compare" run "${builds[@]}" "$@"

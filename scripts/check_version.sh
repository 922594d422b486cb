#!/usr/bin/env bash
# The version is the same in CMakeLists.txt, at the top of CHANGELOG.md, in CITATION.cff and in the recipes of packaging/; of a released
# one the changelog and the citation have the same date.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"
cmake=$(sed -nE '/^project\(/,/\)/s/^ *VERSION ([0-9.]+)$/\1/p' CMakeLists.txt)
heading=$(grep -m 1 '^## ' CHANGELOG.md)
changelog=$(sed -E 's/^## ([0-9.]+),.*/\1/' <<<"$heading")
citation=$(sed -nE 's/^version: ([0-9.]+)$/\1/p' CITATION.cff)
if [[ ! $cmake =~ ^[0-9]+\.[0-9]+\.[0-9]+$ || $cmake != "$changelog" || $cmake != "$citation" ]]; then
  echo "the version is '$cmake' in CMakeLists.txt, '$changelog' in CHANGELOG.md, '$citation' in CITATION.cff" >&2
  exit 1
fi
conda=$(sed -nE 's/^  version: "([0-9.]+)"$/\1/p' packaging/conda/recipe.yaml)
spack=$(sed -nE 's/^    version\("([0-9.]+)", tag="v\1"\)$/\1/p' packaging/spack/spack_repo/coir/packages/coir/package.py | head -n 1)
if [[ $cmake != "$conda" || $cmake != "$spack" ]]; then
  echo "the version is '$cmake' in CMakeLists.txt, and '$conda' and '$spack' in packaging's recipes for conda and Spack" >&2
  exit 1
fi
released=$(sed -nE 's/^date-released: "?([0-9-]+)"?$/\1/p' CITATION.cff)
dated=$(sed -nE 's/^## [0-9.]+, ([0-9]{4}-[0-9]{2}-[0-9]{2})$/\1/p' <<<"$heading")
if [[ $released != "$dated" ]]; then
  echo "version $cmake is of '$dated' in CHANGELOG.md ('not released yet' counts as no date), of '$released' in CITATION.cff" >&2
  exit 1
fi
echo "version $cmake${dated:+ of $dated}"

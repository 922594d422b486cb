#!/bin/sh
# A page as Doxygen reads it: the label of its title is its path (docs/arrays.md: docs_arrays), so that its address is
# the same for every version of Doxygen and every clone. The page of the examples is followed by their sources.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
page=${1#"$root/"}
label=$(printf %s "${page%.md}" | sed 's|/README$||; s|[^A-Za-z0-9]|_|g')
if [ "$page" = README.md ]; then
  cat "$1"
else
  sed "1s|\$| {#$label}|" "$1"
fi
if [ "$page" = docs/examples/README.md ]; then
  printf '\n## The programs\n'
  for example in "$root"/docs/examples/[0-9]*.cpp; do
    name=$(basename "$example" .cpp)
    printf '\n### %s\n\n```cpp\n' "$name"
    cat "$example"
    printf '```\n\nNumPy:\n\n```python\n'
    cat "${example%.cpp}.py"
    printf '```\n'
  done
fi

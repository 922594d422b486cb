#!/usr/bin/env bash
# usage: scripts/docs.sh [FOLDER]: writes the site of the pages and the reference of the public headers to FOLDER (build/site), with a
# search of all its text that needs no server: FOLDER/html/index.html. scripts/setup.sh --docs installs what it needs.
#
# Doxygen reads the headers, cmake/site/reference.py writes their pages, and Sphinx the site from these and those of the tree. A
# warning is an error, such as that of a link that leads nowhere or of a page that the menu, cmake/site/menu.md, leaves out.
set -euo pipefail
mkdir -p "${1:-build/site}"
folder=$(realpath "${1:-build/site}")
cd "$(dirname "$0")/.."
rm -rf "${folder:?}"/{headers,pages,html} # pages of earlier runs that are gone now would be followed as well
mkdir "$folder/headers"
export COIR_XML=$folder/headers COIR_MACROS COIR_VERSION
COIR_MACROS=$(grep -rhoE '^#define COIR_[A-Z_0-9]+\(' include | grep -oE 'COIR_\w+' | grep -vE '_ON_|BYTES|STRIDED|VECTOR' | sort -u | tr '\n' ' ')
COIR_VERSION=$(sed -nE '/^project\(/,/\)/s/^ *VERSION ([0-9.]+)$/\1/p' CMakeLists.txt)
doxygen cmake/site/Doxyfile
python3 cmake/site/collect.py . "$folder/pages"
python3 cmake/site/reference.py . "$folder/headers/xml" "$folder/pages/reference"
sphinx-build -W --keep-going -q -j auto -b html -c cmake/site "$folder/pages" "$folder/html"

#!/bin/sh
# usage: debian_source.sh PACKAGE DESTINATION FOLDER...
#
# Fetches a Debian or Ubuntu source package and unpacks FOLDER... of it into DESTINATION (each under its last
# name), all or nothing. Needs no root and changes nothing on the system: apt gets a private state, cache and
# configuration, and as its sources the system's own with "deb" turned to "deb-src". The system's source files
# are asked one after the other, the distribution's before others, until one has the package, so that a third
# party's repository that is down does no harm.
set -eu
package=$1 destination=$2
shift 2

work=$destination.part
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/sources" "$work/none" "$work/download"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

fail() {
  echo "$*" >&2
  exit 1
}

# Mirrors, proxies and keys as on the system, but none of its hooks.
apt-config dump | grep -E '^(Acquire|Dir|APT::Architecture)' >"$work/apt.conf"
eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
cat >>"$work/apt.conf" <<EOF
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "/dev/null";
Dir::Cache "$work/cache";
Dir::Log "$work";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/sources";
Dir::Etc::parts "$work/none";
Dir::Etc::main "/dev/null";
APT::Sandbox::User "root";
APT::Get::List-Cleanup "false";
Acquire::Languages "none";
Acquire::Retries "0";
Acquire::http::Timeout "5";
Acquire::https::Timeout "5";
EOF
export APT_CONFIG="$work/apt.conf" LC_ALL=C

# A source file of the system, with every binary entry turned to a source entry.
as_source() {
  case $1 in
    *.sources) sed -E 's/^[Tt]ypes:.*/Types: deb-src/' "$1" ;;
    *) sed -nE 's/^[[:space:]]*deb(-src)?[[:space:]]/deb-src /p' "$1" | grep -v 'cdrom:' | sort -u ;;
  esac
}

found=
asked=
for file in $(printf '%s\n' "$list" "$parts"debian.sources "$parts"ubuntu.sources "$parts"*.list "$parts"*.sources |
  awk '!seen[$0]++'); do
  [ -r "$file" ] || continue
  rm -f "$work"/sources/*
  case $file in *.sources) name=one.sources ;; *) name=one.list ;; esac
  as_source "$file" >"$work/sources/$name"
  [ -s "$work/sources/$name" ] || continue
  asked="$asked $file"
  apt-get update >>"$work/log" 2>&1 || true
  if apt-get --print-uris source --download-only "$package" >"$work/uris" 2>>"$work/log"; then
    found=$file
    break
  fi
done
[ -n "$asked" ] || fail "apt has no sources"
[ -n "$found" ] || fail "not to be had from any of$asked; apt says: $(grep '^[WE]: ' "$work/log" | grep -v -e 'Some index files' -e "put some 'deb-src'" | head -n 2)"

# The upstream archive alone: mirrors may lack the package's other files, which aren't needed.
uri=$(sed -nE "s/^'([^']*\.orig\.tar\.[a-z0-9]+)' .*/\1/p" "$work/uris" | head -n 1)
sum=$(sed -nE "s/^'[^']*\.orig\.tar\.[a-z0-9]+' [^ ]+ [0-9]+ //p" "$work/uris" | head -n 1)
archive=$work/download/${uri##*/}
/usr/lib/apt/apt-helper download-file "$uri" "$archive" "$sum" >>"$work/log" 2>&1 ||
  fail "found by way of $found, but apt could not download it: $(grep '^E:' "$work/log" | head -n 1)"
mkdir "$work/unpacked" "$work/result"
set -f # the patterns are tar's, not the shell's
tar -xf "$archive" -C "$work/unpacked" --strip-components=1 --wildcards $(printf '*/%s/* ' "$@") ||
  fail "could not unpack $archive"
for folder; do
  mv "$work/unpacked/$folder" "$work/result/"
done
mv "$work/result" "$destination"

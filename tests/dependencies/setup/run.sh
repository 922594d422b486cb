#!/usr/bin/env bash
# What scripts/setup.sh says and does where apt-get behaves in one way or another: usage: run.sh SETUP FOLDER. The system's tools
# are made up: packages are missing, and apt-get update prints what $APT_SAYS has.
set -euo pipefail
setup=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/bin"
cat >"$folder/bin/dpkg-query" <<'END'
#!/bin/sh
exit 1
END
cat >"$folder/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$0.calls"
case "$*" in
  *update) echo "$APT_SAYS" ;;
  *--no-download*) exit 100 ;;
esac
END
for tool in id:'echo 0' cmake:'echo cmake version 3.25.1' dpkg:'exit 1'; do
  printf '#!/bin/sh\n%s\n' "${tool#*:}" >"$folder/bin/${tool%%:*}"
done
chmod +x "$folder"/bin/*

# case NAME UPDATE STATUS TEXT: with what update prints, the script ends with STATUS and says TEXT last
case_of() {
  local name=$1 status=0 said
  rm -f "$folder/bin/apt-get.calls"
  said=$(APT_SAYS=$2 PATH="$folder/bin:$PATH" "$setup" 2>&1) || status=$?
  said=$(tail -n 1 <<<"$said")
  if [[ $status -ne $3 || $said != *"$4"* ]]; then
    echo "$name: ended with $status, said: $said" >&2
    exit 1
  fi
}
case_of 'no network' "Err:1 http://archive stable InRelease" 1 \
  'setup.sh: none of apt'"'"'s package archives can be reached (is there a network?), and these packages are missing: g++ cmake'
case_of 'one archive of two' $'Err:1 http://other stable InRelease\nHit:2 http://archive stable InRelease' 0 'Hit:2'
grep -q 'install --yes --no-install-recommends g++' "$folder/bin/apt-get.calls"

#!/bin/sh
# Makes a git repository with a real history: a Debian source package, each patch of its series as a
# commit. For the tests of commits: SORTIE_HISTORY=FOLDER.
#
#     debian_history.sh PACKAGE FOLDER        for example: debian_history.sh grub2 /tmp/grub2
#
# Needs apt-get, dpkg-source, patch, git and the network. Nothing of the machine's apt is changed.
set -eu
package=$1
folder=$2
release=${3:-bookworm}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/state/lists/partial" "$place/cache/archives/partial"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $release main" \
  > "$place/sources.list"
apt() {
  apt-get -q -q -o Dir::Etc::SourceList="$place/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State="$place/state" -o Dir::State::status=/dev/null -o Dir::Cache="$place/cache" \
    -o APT::Sandbox::User=root "$@"
}
apt update
(cd "$place" && apt source --download-only "$package")
dpkg-source --skip-patches -x "$place"/*.dsc "$folder" > /dev/null
cd "$folder"
git init -q -b main .
git config user.name Debian
git config user.email debian@example.org
git config commit.gpgSign false
git config gc.auto 0
cp -r debian/patches "$place/patches"
rm -rf debian
git add -A -f
git commit -q -m "$package"
grep -v -e '^#' -e '^$' "$place/patches/series" | while read -r name _; do
  patch -s -p1 -f --no-backup-if-mismatch < "$place/patches/$name" > /dev/null || {
    git checkout -q -f . && git clean -q -f -d
    continue
  }
  git add -A -f
  git commit -q --allow-empty -m "$name"
done
echo "$(git rev-list --count HEAD) commits in $folder"

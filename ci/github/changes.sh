#!/usr/bin/env bash
# Writes what a pull request changes, for the task's {{stdin}}. Runs no program of the repository.
#   SORTIE_WORKSPACE  a checkout with both commits
#   SORTIE_BASE, SORTIE_HEAD  the commits, as hashes
#   SORTIE_DIFF       the file to write
set -euo pipefail

for name in SORTIE_BASE SORTIE_HEAD; do
  [[ ${!name-} =~ ^[0-9a-f]{40,64}$ ]] || {
    echo "sortie changes: $name is no commit's hash" >&2
    exit 2
  }
done
command -v git > /dev/null || {
  echo "sortie changes: git is not on PATH: this job's image needs it" >&2
  exit 2
}
# The checkout may belong to another user of the container.
git_dir=$(git -c safe.directory="$(cd "${SORTIE_WORKSPACE:?}" && pwd -P)" -C "$SORTIE_WORKSPACE" \
  rev-parse --absolute-git-dir)
# A .gitattributes of the pull request could hide what it changes ("*.c -diff"): git reads those of the
# work tree and of the index, and here both are empty.
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
mkdir "$empty/tree"
GIT_DIR=$git_dir GIT_WORK_TREE=$empty/tree GIT_INDEX_FILE=$empty/index \
  git -c core.attributesFile=/dev/null diff --no-ext-diff --no-textconv --no-color --unified=10 \
  "$SORTIE_BASE...$SORTIE_HEAD" -- > "${SORTIE_DIFF:?}"

most=$((1 << 20)) # of stdin, for {{stdin}}
size=$(wc -c < "$SORTIE_DIFF")
if [ "$size" -gt "$most" ]; then
  echo "sortie changes: $size bytes are too many for one review, which takes $most" >&2
  exit 2
fi

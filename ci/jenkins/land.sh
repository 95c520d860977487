#!/usr/bin/env bash
# The stage "land": judges the diff of a run again, and pushes it as a branch. Needs git; has no
# key of a model, and runs nothing of the diff.
#   SORTIE_OUT        the run's folder
#   SORTIE_POLICY     the policy of this checkout, which judges the diff
#   SORTIE_WORKSPACE  the folder that the run worked on, by default the current one
#   GIT_ASKPASS       from the Git plugin's gitUsernamePassword
#   BUILD_TAG         from Jenkins; names the branch
set -euo pipefail

SORTIE_WORKSPACE=${SORTIE_WORKSPACE:-.}
for name in SORTIE_OUT SORTIE_POLICY SORTIE_WORKSPACE; do
  case ${!name-} in
    '') echo "sortie land: $name is not set" >&2 && exit 2 ;;
    -*) echo "sortie land: $name begins with '-'" >&2 && exit 2 ;;
  esac
done
# Before anything is pushed: a job that ends half-way leaves a branch.
for program in sortie git; do
  command -v "$program" > /dev/null || {
    echo "sortie land: $program is not on PATH: this job's image needs it" >&2
    exit 2
  }
done
branch=sortie/$(printf %s "${BUILD_TAG:?}" | tr -c 'A-Za-z0-9_-' -)

# The checkout may belong to another user than this container's, which git refuses unless told. The job's
# own settings in GIT_CONFIG_… stay.
top=$(git -c safe.directory='*' rev-parse --show-toplevel)
settings=${GIT_CONFIG_COUNT:-0}
export "GIT_CONFIG_KEY_$settings=safe.directory" "GIT_CONFIG_VALUE_$settings=$top"
export GIT_CONFIG_COUNT=$((settings += 1))

commit=$(env -u GIT_ASKPASS -u GIT_USERNAME -u GIT_PASSWORD \
  sortie land "$SORTIE_OUT" -C "$SORTIE_WORKSPACE" \
  --policy "$SORTIE_POLICY" --onto HEAD --three-way)
if [ -z "$commit" ]; then
  echo "sortie land: nothing was changed" >&2
  exit 0
fi
git -c core.hooksPath=/dev/null push -q origin "$commit:refs/heads/$branch"
echo "sortie land: pushed $branch" >&2

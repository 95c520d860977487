#!/usr/bin/env bash
# The trusted half: judges the diff of a run again, and opens a pull request with it. Needs git, gh
# and jq; has no key of a model, and runs nothing of the diff. Whoever copies it reads one file: the
# few lines that the other systems' land.sh have too are not in a file of their own.
#   SORTIE_OUT     the run's folder, from the artifact
#   SORTIE_POLICY  the policy of this checkout, which judges the diff
#   SORTIE_BRANCH  the new branch
#   SORTIE_WORKSPACE  the folder that the run worked on, by default the current one
#   GH_TOKEN       may write contents and pull requests
set -euo pipefail

SORTIE_WORKSPACE=${SORTIE_WORKSPACE:-.}
for name in SORTIE_OUT SORTIE_POLICY SORTIE_BRANCH SORTIE_WORKSPACE; do
  case ${!name-} in
    '') echo "sortie land: $name is not set" >&2 && exit 2 ;;
    -*) echo "sortie land: $name begins with '-'" >&2 && exit 2 ;;
  esac
done
# Before anything is pushed: a job that ends half-way leaves a branch.
for program in sortie git gh jq; do
  command -v "$program" > /dev/null || {
    echo "sortie land: $program is not on PATH: this job's image needs it" >&2
    exit 2
  }
done
git check-ref-format "refs/heads/$SORTIE_BRANCH" || {
  echo "sortie land: SORTIE_BRANCH is no name of a branch" >&2
  exit 2
}

# The checkout may belong to another user than this container's, which git refuses unless told. The job's
# own settings in GIT_CONFIG_… stay; gh asks git too.
top=$(git -c safe.directory='*' rev-parse --show-toplevel)
settings=${GIT_CONFIG_COUNT:-0}
export "GIT_CONFIG_KEY_$settings=safe.directory" "GIT_CONFIG_VALUE_$settings=$top"
export GIT_CONFIG_COUNT=$((settings += 1))

commit=$(env -u GH_TOKEN sortie land "$SORTIE_OUT" -C "$SORTIE_WORKSPACE" \
  --policy "$SORTIE_POLICY" --onto HEAD --three-way)
if [ -z "$commit" ]; then
  echo "sortie land: nothing was changed" >&2
  exit 0
fi

# The token is neither in a file nor in an argument: git takes it from its own environment.
login=$(printf 'x-access-token:%s' "${GH_TOKEN:?}" | base64 -w 0)
(
  export "GIT_CONFIG_KEY_$settings=http.${GITHUB_SERVER_URL:-https://github.com}/.extraheader"
  export "GIT_CONFIG_VALUE_$settings=AUTHORIZATION: basic $login"
  export GIT_CONFIG_COUNT=$((settings + 1))
  git -c core.hooksPath=/dev/null push -q origin "$commit:refs/heads/$SORTIE_BRANCH"
)

# Into the branch that the job is for; gh takes the default branch where none is named.
base=()
case ${GITHUB_REF-} in refs/heads/*) base=("--base=${GITHUB_REF#refs/heads/}") ;; esac
title=$(jq -r .title "$SORTIE_OUT/pr.json")
jq -r .body "$SORTIE_OUT/pr.json" |
  gh pr create --head "$SORTIE_BRANCH" "${base[@]}" --title="$title" --body-file -

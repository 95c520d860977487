#!/usr/bin/env bash
# The job "sortie-merge-request": judges the diff of a run again, pushes it as a branch, and has GitLab
# open the merge request. Needs git and jq; has no key of a model, and runs nothing of the diff.
#   SORTIE_OUT         the run's folder, from the artifact
#   SORTIE_POLICY      the policy of this checkout, which judges the diff
#   SORTIE_WORKSPACE   the folder that the run worked on, by default the current one
#   SORTIE_PUSH_TOKEN  may write the repository
#   CI_…               as GitLab sets them
set -euo pipefail

SORTIE_WORKSPACE=${SORTIE_WORKSPACE:-.}
for name in SORTIE_OUT SORTIE_POLICY SORTIE_WORKSPACE; do
  case ${!name-} in
    '') echo "sortie land: $name is not set" >&2 && exit 2 ;;
    -*) echo "sortie land: $name begins with '-'" >&2 && exit 2 ;;
  esac
done
# Before anything is pushed: a job that ends half-way leaves a branch.
for program in sortie git jq; do
  command -v "$program" > /dev/null || {
    echo "sortie land: $program is not on PATH: this job's image needs it" >&2
    exit 2
  }
done

# The checkout may belong to another user than this container's, which git refuses unless told. The job's
# own settings in GIT_CONFIG_… stay.
top=$(git -c safe.directory='*' rev-parse --show-toplevel)
settings=${GIT_CONFIG_COUNT:-0}
export "GIT_CONFIG_KEY_$settings=safe.directory" "GIT_CONFIG_VALUE_$settings=$top"
export GIT_CONFIG_COUNT=$((settings += 1))

commit=$(env -u SORTIE_PUSH_TOKEN -u CI_JOB_TOKEN \
  sortie land "$SORTIE_OUT" -C "$SORTIE_WORKSPACE" \
  --policy "$SORTIE_POLICY" --onto HEAD --three-way)
if [ -z "$commit" ]; then
  echo "sortie land: nothing was changed" >&2
  exit 0
fi

# A push option is one line.
title=$(jq -r '.title | gsub("[\\x00-\\x1f\\x7f]"; " ") | .[:200]' "$SORTIE_OUT/pr.json")
# The token is neither in a file nor in an argument: git takes it from its own environment.
login=$(printf 'oauth2:%s' "${SORTIE_PUSH_TOKEN:?}" | base64 -w 0)
export "GIT_CONFIG_KEY_$settings=http.${CI_SERVER_URL:?}/.extraheader"
export "GIT_CONFIG_VALUE_$settings=AUTHORIZATION: basic $login"
export GIT_CONFIG_COUNT=$((settings + 1))
exec git -c core.hooksPath=/dev/null push -q \
  -o merge_request.create \
  -o "merge_request.target=${CI_DEFAULT_BRANCH:?}" \
  -o "merge_request.title=$title" \
  -o "merge_request.description=Made by sortie: ${CI_PIPELINE_URL:?}. The commit's message has the agent's words." \
  "$CI_SERVER_URL/${CI_PROJECT_PATH:?}.git" "$commit:refs/heads/sortie/${CI_JOB_ID:?}"

#!/usr/bin/env bash
# Runs .sortie/nightly.yaml on the newest commit of a repository's branch, and pushes the change as a
# branch of its own. Prints nothing if all is well: cron mails the log of a failure.
#   REPOSITORY       the address that is cloned, fetched and pushed to; git asks nobody for a password
#   BRANCH           the branch that is worked on: main
#   PUSH             the branch that gets the change: sortie-nightly; it is replaced every night.
#                    Empty: it stays in $STATE/clone
#   STATE            a folder of the user's own, for clone, artifacts and lock; made if it is missing
#   SORTIE_KEY_FILE  the model's key
set -euo pipefail
umask 077
: "${REPOSITORY:?}" "${STATE:?}" "${SORTIE_KEY_FILE:?}"
for program in sortie git flock timeout; do
  command -v "$program" > /dev/null || {
    echo "sortie: $program is not on PATH" >&2
    exit 2
  }
done
branch=${BRANCH:-main} push=${PUSH-sortie-nightly}
clone=$STATE/clone out=$STATE/out
export GIT_TERMINAL_PROMPT=0 GIT_SSH_COMMAND="${GIT_SSH_COMMAND:-ssh -o BatchMode=yes}"

mkdir -p "$STATE"
# One at a time: a run of last night may still be at work.
exec 9> "$STATE/lock"
flock -n 9 || {
  echo "sortie: the run before this one is still at work" >&2
  exit 12
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Runs a command with its stderr in the log, which is shown if it fails.
logged() {
  local status=0
  "$@" < /dev/null 2> "$log" 9>&- || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  return "$status"
}
# A server that does not answer must not hold the lock for ever.
remote_git() { logged timeout --kill-after=30 900 git "$@"; }

if [ ! -d "$clone" ]; then
  # Under another name until it is whole: a clone that was cut off is begun again.
  rm -rf "$clone.new"
  remote_git clone -q --no-checkout "$REPOSITORY" "$clone.new"
  mv "$clone.new" "$clone"
fi
cd "$clone"
remote_git fetch -q --no-tags "$REPOSITORY" "+refs/heads/$branch:refs/remotes/origin/$branch"
logged git checkout -q --force --detach "origin/$branch"

logged sortie run .sortie/nightly.yaml --policy .sortie/policy.yaml \
  --api-key-file "$SORTIE_KEY_FILE" --out "$out" --fresh > /dev/null
commit=$(logged sortie land "$out" --policy .sortie/policy.yaml --onto HEAD)
[ -n "$commit" ] || exit 0 # nothing was to be done
logged git branch -f sortie-nightly "$commit" > /dev/null
[ -z "$push" ] || remote_git push -q --force "$REPOSITORY" "$commit:refs/heads/$push"

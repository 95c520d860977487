#!/usr/bin/env bash
# Runs .sortie/nightly.yaml on the newest commit of a clone, and commits the change on a branch of its
# own. Prints nothing if all is well: cron mails the log of a failure.
#   PROJECT          the clone; its work tree is not touched
#   SORTIE_KEY_FILE  the model's key
set -euo pipefail
umask 077

out=${PROJECT:?}.sortie-out
# One at a time: a run of last night may still be at work.
exec 9> "$PROJECT.sortie-lock"
flock -n 9 || {
  echo "sortie: the run before this one is still at work" >&2
  exit 12
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
sortie run "$PROJECT/.sortie/nightly.yaml" -C "$PROJECT" --policy "$PROJECT/.sortie/policy.yaml" \
  --api-key-file "${SORTIE_KEY_FILE:?}" --out "$out" --fresh \
  < /dev/null > /dev/null 2> "$log" 9>&- || status=$?
if [ "$status" -ne 0 ]; then
  cat "$log" >&2
  exit "$status"
fi

commit=$(sortie land "$out" -C "$PROJECT" --policy "$PROJECT/.sortie/policy.yaml" --onto HEAD 2> "$log") || {
  status=$?
  cat "$log" >&2
  exit "$status"
}
[ -z "$commit" ] || git -C "$PROJECT" branch -f sortie-nightly "$commit" > "$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}

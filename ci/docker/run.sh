#!/usr/bin/env bash
# Runs sortie in the image: run.sh TASK.yaml [FLAGS…], in the folder of the project. The root is
# read-only, /tmp is in memory; the project is read, and ../sortie-out/run written, by your own user id.
#   SORTIE_IMAGE  by digest is best
set -euo pipefail
out=$(dirname "$PWD")/sortie-out
mkdir -p "$out"

# --mount takes CSV: so quoted, a folder's name may hold ':', ',' and '"'. -v ends it at ':'.
mount_of() { # FOLDER IN-CONTAINER [OPTION]
  printf 'type=bind,"source=%s","target=%s"%s' "${1//\"/\"\"}" "$2" "${3:+,$3}"
}

# Not /sortie-out itself: nothing is moved out of a mount, and the run before this one becomes run.prev.
exec docker run --rm --read-only --tmpfs /tmp:exec,size=2g --user "$(id -u):$(id -g)" \
  --cap-drop ALL --security-opt no-new-privileges -e OPENAI_API_KEY \
  --mount "$(mount_of "$PWD" /work readonly)" --mount "$(mount_of "$out" /sortie-out)" -w /work \
  "${SORTIE_IMAGE:-registry.example/sortie:0.1}" run "$@" --out /sortie-out/run

#!/usr/bin/env bash
# Runs sortie in the image: run.sh TASK.yaml [FLAGS…], in the folder of the project. The root is
# read-only, /tmp is in memory; the project is read, and ../sortie-out written, by your own user id.
#   SORTIE_IMAGE  by digest is best
set -euo pipefail
out=$(dirname "$PWD")/sortie-out
mkdir -p "$out"
exec docker run --rm --read-only --tmpfs /tmp:exec,size=2g --user "$(id -u):$(id -g)" \
  --cap-drop ALL --security-opt no-new-privileges -e OPENAI_API_KEY \
  -v "$PWD:/work:ro" -v "$out:/sortie-out" -w /work \
  "${SORTIE_IMAGE:-registry.example/sortie:0.1}" run "$@" --out /sortie-out

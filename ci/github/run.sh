#!/usr/bin/env bash
# The step of action.yml, and the first job of the templates for GitLab and Jenkins: runs a task. All
# that comes from outside is in variables, never in code.
#   SORTIE_TASK, SORTIE_POLICY, SORTIE_WORKSPACE, SORTIE_OUT, SORTIE_VERSION
#   SORTIE_STDIN  a file for the task's {{stdin}}; may be empty
set -euo pipefail

for name in SORTIE_TASK SORTIE_POLICY SORTIE_WORKSPACE SORTIE_OUT SORTIE_VERSION; do
  case ${!name-} in
    '') echo "sortie action: $name is not set" >&2 && exit 2 ;;
    -*) echo "sortie action: $name begins with '-'" >&2 && exit 2 ;;
  esac
done

found=$(sortie --version)
# A released program names its commit behind it: "sortie 0.1.0 (1a2b3c4d5e6f)".
if [ "${found%% (*}" != "sortie $SORTIE_VERSION" ]; then
  echo "sortie action: version $SORTIE_VERSION is asked for, and PATH has '$found'" >&2
  exit 2
fi

exec < "${SORTIE_STDIN:-/dev/null}"
exec sortie run "$SORTIE_TASK" --policy "$SORTIE_POLICY" -C "$SORTIE_WORKSPACE" --out "$SORTIE_OUT"

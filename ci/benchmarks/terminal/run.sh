#!/bin/sh
# Runs one task of a terminal benchmark in its container: run.sh INSTRUCTION-FILE LOGS [FLAG…]
# The changes are made in the current folder itself, since the harness looks at the container. The flags
# go to `sortie run`: --provider, --model, --max-cost …
# LOGS/sortie-out gets the artifacts. The code is sortie's own, but 0 for a run whose work counts although
# it was not finished: then what there is of it stays in the folder.
set -u
instruction=$1 logs=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$logs"
status=0
sortie run -p - --policy "$here/policy.yaml" --isolation none --out "$logs/sortie-out" "$@" \
  < "$instruction" || status=$?
case $status in
  # 1 an expectation, 3 a denial, 4 the budget: sortie has put the folder back, and kept the work.
  1 | 3 | 4)
    partial=$logs/sortie-out/partial.diff
    if [ -s "$partial" ] && command -v git > /dev/null; then
      git apply --whitespace=nowarn "$partial" || exit "$status"
    fi
    exit 0
    ;;
esac
exit "$status"

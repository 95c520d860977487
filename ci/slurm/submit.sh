#!/usr/bin/env bash
# Hands a batch to Slurm: an array of SHARDS tasks, and behind it one that merges their results.
#   ci/slurm/submit.sh MANIFEST OUT SHARDS [FLAG-OF-SBATCH…]
# Prints the ids of the array and of the merging job. OUT has to lie on a file system that all nodes
# share; OUT.log gets the logs. To go on after a failure or a cut, give the same command again.
#   SORTIE_KEY_FILE  a file with the model's key that the nodes can read, mode 600
#   SORTIE_JOBS      runs at once in each task of the array; by default auto
set -euo pipefail
if [ $# -lt 3 ] || [[ ! $3 =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: submit.sh MANIFEST OUT SHARDS [FLAG-OF-SBATCH…]; SHARDS is a number from 1 on" >&2
  exit 2
fi
manifest=$(realpath -e -- "$1")
out=$(realpath -m -- "$2")
shards=$3
shift 3
here=$(dirname "$(realpath -- "$0")")
mkdir -p "$out.log"

# Slurm keeps the environment of this command on its controller: no key belongs there.
unset OPENAI_API_KEY ANTHROPIC_API_KEY AZURE_OPENAI_API_KEY
array=$(sbatch --parsable --array="0-$((shards - 1))" \
  --output="$out.log/%A_%a.log" "$@" "$here/shard.sbatch" "$manifest" "$out")
array=${array%%;*} # behind it stands the cluster's name, where there are several
# Whatever became of the array: a shard that is missing is then an error with its name.
merge=$(sbatch --parsable --dependency="afterany:$array" \
  --output="$out.log/%j_merge.log" "$@" "$here/merge.sbatch" "$out")
echo "$array ${merge%%;*}"

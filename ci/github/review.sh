#!/usr/bin/env bash
# The trusted half of a review: checks a run again, and posts its findings as one review. Needs git,
# gh and jq; has no key of a model.
#   SORTIE_OUT           the run's folder, from the artifact
#   SORTIE_POLICY        the policy of this checkout
#   SORTIE_PULL_REQUEST  its number
#   SORTIE_HEAD          the commit that was reviewed
#   GH_TOKEN             may write pull requests
set -euo pipefail

for name in SORTIE_OUT SORTIE_POLICY; do
  case ${!name-} in
    '') echo "sortie review: $name is not set" >&2 && exit 2 ;;
    -*) echo "sortie review: $name begins with '-'" >&2 && exit 2 ;;
  esac
done
for program in sortie git gh jq; do
  command -v "$program" > /dev/null || {
    echo "sortie review: $program is not on PATH: this job's image needs it" >&2
    exit 2
  }
done
[[ ${SORTIE_PULL_REQUEST-} =~ ^[0-9]{1,12}$ ]] || {
  echo "sortie review: SORTIE_PULL_REQUEST is no number" >&2
  exit 2
}
[[ ${SORTIE_HEAD-} =~ ^[0-9a-f]{40,64}$ ]] || {
  echo "sortie review: SORTIE_HEAD is no commit's hash" >&2
  exit 2
}

# The checkout may belong to another user than this container's, which git refuses unless told. The job's
# own settings in GIT_CONFIG_… stay; gh asks git too.
top=$(git -c safe.directory='*' rev-parse --show-toplevel)
settings=${GIT_CONFIG_COUNT:-0}
export "GIT_CONFIG_KEY_$settings=safe.directory" "GIT_CONFIG_VALUE_$settings=$top"
export GIT_CONFIG_COUNT=$((settings += 1))

places=$(mktemp -d)
trap 'rm -rf "$places"' EXIT
# Writes review.json, with the findings quoted. A review changes nothing, so nothing is landed.
commit=$(env -u GH_TOKEN sortie land "$SORTIE_OUT" --policy "$SORTIE_POLICY" --onto HEAD --out "$places")
if [ -n "$commit" ]; then
  echo "sortie review: the run changed files: a task that reviews needs 'expect: {changes: forbidden}'" >&2
  exit 8
fi
if [ ! -e "$places/review.json" ]; then
  echo "sortie review: the answer has no findings: a task that reviews needs 'output: {findings: true}'" >&2
  exit 2
fi

repository=${GITHUB_REPOSITORY:?}
gh api --paginate "repos/$repository/pulls/$SORTIE_PULL_REQUEST/files" > "$places/files.json"

# GitHub refuses a whole review if one of its comments is on a line that the change does not show.
jq -s '
  def shown_lines:   # of the new file
    [split("\n")[] | capture("^@@ -[0-9,]+ \\+(?<first>[0-9]+)(,(?<count>[0-9]+))? @@")
     | (.first | tonumber) as $first | ((.count // "1") | tonumber) as $count
     | [$first, $first + $count - 1]];
  ([.[1:][][] | {key: .filename, value: ((.patch // "") | shown_lines)}] | from_entries) as $shown
  | .[0] as $review
  | [$review.comments[], $review.outside[]]
  | map(. as $one | . + {there: any($shown[$one.path] // [] | .[]; .[0] <= $one.line and $one.line <= .[1])})
  | {
      event: "COMMENT",
      commit_id: $head,
      comments: map(select(.there) | {path, line, side: "RIGHT", body})[:50],
      elsewhere: ((map(select(.there))[50:]) + map(select(.there | not)))
    }
  | .body = "\(.comments | length) finding\(if .comments | length == 1 then "" else "s" end) on lines of this change, \(.elsewhere | length) elsewhere."
      + ([.elsewhere[:50][] | "\n\n`\(.path | tostring | gsub("[`\n]"; " ") | .[:200]):\(.line)`\n\(.body)"] | join(""))
  | .body |= .[:60000]
  | del(.elsewhere)
' --arg head "$SORTIE_HEAD" "$places/review.json" "$places/files.json" > "$places/post.json"

gh api --method POST "repos/$repository/pulls/$SORTIE_PULL_REQUEST/reviews" \
  --input "$places/post.json" > /dev/null

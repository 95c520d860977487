#pragma once

#include <string>
#include <vector>

#include "app/land/judgement.h"
#include "app/land/landed_run.h"
#include "core/json/json.h"

namespace sortie {

/// The message for a commit of the change: a subject of at most 72 characters from the first line of
/// the agent's message, the message, and trailers that name run and diff.
std::string commit_message(const LandedRun& run);

/// What a pull request is about.
struct PullRequest {
  const LandedRun& run;
  const LandedChange& change;
  std::vector<std::string> attention;  ///< judge_change()
  std::string base;                    ///< the branch; "" if HEAD is on none
  std::string base_commit;
  std::string head_commit;  ///< "" without --onto
};

/// pr.json: title, body (Markdown), base, base_sha, head_sha, labels, size, files, attention, run.
Json pull_request_json(const PullRequest& request);

}  // namespace sortie

#pragma once

#include <string>
#include <vector>

#include "app/inputs/options.h"

namespace sortie {

/// What `exec review` looks at; with none of them, at what its prompt says.
struct ReviewTarget {
  bool uncommitted = false;
  std::string base;    ///< a branch
  std::string commit;  ///< an id
  std::string title;   ///< of that commit
};

/// The command line of `sortie exec`.
struct ExecOptions {
  std::vector<std::string> words;         ///< PROMPT
  bool resume = false;                    ///< the subcommand
  std::vector<std::string> resume_words;  ///< ID and PROMPT
  bool last = false;                      ///< instead of ID: the newest thread of this workspace
  bool all = false;                       ///< … or of any
  bool review = false;                    ///< the subcommand
  ReviewTarget reviewed;
  std::vector<std::string> review_words;  ///< PROMPT
  bool search = false;
  bool full_auto = false;
  bool trust = false;        ///< --trust, --approve-for-me
  bool unsandboxed = false;  ///< --dangerously-bypass-approvals-and-sandbox
  bool skip_git_check = false;
  bool ephemeral = false;
  bool strict_config = false;
  bool oss = false;
  bool own_events = false;
  bool retryable_apart = false;  ///< --exit-map is given: a retryable exit code is not made 1
  std::string
      sandbox;  ///< of -s: "read-only", "workspace-write", "danger-full-access"; "": not given
  std::string ask_for_approval;  ///< of -a; "": not given
  std::string output_schema;
  std::string local_provider;
  std::string profile;
  std::vector<std::string> add_dirs;
  std::vector<std::string> images;  ///< one or several a word, separated by commas
  std::vector<std::string> config;  ///< key=value
  RunOptions run;                   ///< the flags that `run` has too
};

}  // namespace sortie

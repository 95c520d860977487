#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"
#include "core/workspace/diff/path_patterns.h"
#include "core/workspace/diff/run_ignore_rules.h"
#include "core/workspace/start_state.h"

namespace sortie {

/// Decides which changed paths a diff is about, and a verification too: neither sees ignored paths
/// and build products.
///
/// Only a path that is new in the run, and that git does not track, can be a product or ignored by
/// rules of the run. A product also was in no patch of the agent.
class DiffScope {
 public:
  /// Everything outlives the object. @param changes  all of the run
  DiffScope(const Workspace& workspace, const Files& view, const StartState& start,
            const DiffOptions& options, const std::vector<ChangedPath>& changes);

  struct Place {
    enum class Kind { inside, ignored, product };
    Kind kind = Kind::inside;
    bool by_run = false;    ///< ignored by rules of the run alone
    std::string product{};  ///< the product: the file, or a folder with a slash at its end
    std::string meaning{};  ///< what it is
  };
  Place place_of(const ChangedPath& changed);

 private:
  bool is_new(const ChangedPath& changed) const;
  bool is_ignored_by_run(const ChangedPath& changed);
  std::string folder_meaning(const std::string& folder);
  std::string find_folder_meaning(const std::string& folder) const;
  bool has_sign(const Files& files, const std::string& entry, std::string_view begins) const;
  std::string content_meaning(const std::string& path);
  bool was_moved(const std::string& path, std::uint64_t size, const std::string& content) const;

  const Workspace& workspace_;
  const Files& view_;
  const StartState& start_;
  const DiffOptions& options_;
  const PathPatterns included_;
  RunIgnoreRules run_rules_;
  std::set<std::string> deleted_lines_;                ///< ignore_line_for() of deleted paths
  std::multimap<std::uint64_t, std::string> deleted_;  ///< deleted files by their size
  std::map<std::string, std::string> folders_;         ///< by path; "" for no product
};

}  // namespace sortie

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/git/git_repository.h"
#include "core/workspace/start_state.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// The ignore rules of a run's tree: those of the start, with the `.gitignore` files that the run
/// created, changed or removed. A change that the user makes meanwhile does not count.
///
/// They are copied into a temporary repository, where libgit2 reads them; it is removed at the end.
class RunIgnoreRules {
 public:
  /// Everything outlives the object. @param changes  of the run
  RunIgnoreRules(const Files& view, const StartState& start,
                 const std::vector<ChangedPath>& changes);
  RunIgnoreRules(const RunIgnoreRules&) = delete;
  RunIgnoreRules& operator=(const RunIgnoreRules&) = delete;
  ~RunIgnoreRules();

  /// Whether the run changed any `.gitignore`. If not, the rules are those of the start.
  bool differ() const noexcept { return !changed_.empty(); }
  /// @throws Error  the temporary repository can't be made
  bool ignored(const std::string& path);

 private:
  void open();
  void add_rules(const std::string& path);
  std::optional<std::string> rules_of(const std::string& file) const;

  const Files& view_;
  const StartState& start_;
  std::set<std::string> changed_;  ///< paths of `.gitignore` files
  std::filesystem::path folder_;   ///< the temporary repository; "" before it is needed
  GitRepository repository_;
  std::set<std::string> added_;  ///< paths of files that were looked for
};

}  // namespace sortie

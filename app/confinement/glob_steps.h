#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/text/pattern.h"

namespace sortie {

/// Globs read folder by folder, to see where below a link one could match. What `**` at a glob's
/// beginning reaches by itself is left out: such a match lies at its own place too.
class GlobSteps {
 public:
  /// Of each glob, how many of its parts a path has gone through so far.
  using Places = std::set<std::pair<std::size_t, std::size_t>>;

  /// @throws PatternError
  explicit GlobSteps(const std::vector<std::string>& globs);
  /// @param link  relative
  Places at_link(const std::filesystem::path& link) const;
  Places below(const Places& places, const std::string& name) const;

 private:
  struct Part {
    bool any_folders;  ///< "**"
    Pattern name;
  };

  bool is_anywhere(std::size_t glob, std::size_t at) const;
  void add(std::size_t glob, std::size_t at, Places& places) const;

  std::vector<std::vector<Part>> globs_;
};

}  // namespace sortie

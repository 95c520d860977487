#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/pattern.h"

namespace sortie {

/// Path globs, each compiled only when a path may match it. Asked of many paths, as in a walk through
/// a tree, it rules most of them out at once (NameFilter). Threads may share one.
class GlobList {
 public:
  GlobList();
  GlobList(GlobList&&) noexcept;
  GlobList& operator=(GlobList&&) noexcept;
  ~GlobList();

  /// Not once it is asked.
  /// @param glob  as for Pattern::path_glob()
  /// @throws PatternError
  void add(const std::string& glob, LetterCase letters);

  /// Whether one of them matches the path or a folder above it.
  bool matches(std::string_view path) const;

 private:
  struct Names;
  std::vector<std::string> globs_;
  std::vector<Pattern> patterns_;
  std::unique_ptr<Names> names_;
};

}  // namespace sortie

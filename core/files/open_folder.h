#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/fd.h"

namespace sortie::disk {

/// A folder below an open root that stays open until another one is asked for: paths mostly come in
/// the order of their folders.
class OpenFolder {
 public:
  explicit OpenFolder(int root) : root_(root) {}
  /// None, with errno set, where it can't be opened.
  const Fd& open(const std::string& folder);
  /// With all that is missing on the way.
  /// @param shown  for messages
  /// @param made   gets the folders that were made, parents first
  /// @throws ToolError
  const Fd& make(const std::string& folder, const std::filesystem::path& shown,
                 std::vector<std::string>& made);
  void close() { folder_.reset(); }

 private:
  int root_;
  std::string name_;
  Fd folder_;
};

}  // namespace sortie::disk

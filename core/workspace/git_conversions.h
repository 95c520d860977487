#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/git/git_repository.h"
#include "core/workspace/start_record.h"
#include "core/workspace/start_state.h"

namespace sortie {

/// Tells files whose bytes in the working tree may differ from their object in the repository,
/// although git holds them for unchanged: by line ends (autocrlf, text, eol), ident,
/// working-tree-encoding, or a filter. In doubt they do.
class GitConversions {
 public:
  /// Looks through the settings and attributes that are in no folder of the tree.
  /// @param state  outlives the object
  GitConversions(const StartRecord& record, const StartState& state);
  /// Looks through a `.gitattributes`, before the files that it applies to are asked for.
  void look_at(std::string_view attributes);
  /// @param size  of the file in the tree, in bytes
  bool may_convert(const std::string& path, const git_oid& id, std::uint64_t size) const;
  /// Whether the repository has the object.
  bool has(const git_oid& id) const;

 private:
  const StartState& state_;
  bool any_ = false;     ///< something may ask for a conversion
  bool filter_ = false;  ///< one that may keep the size
  GitOdb objects_;
};

}  // namespace sortie

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/workspace/apply/file_patches.h"
#include "core/workspace/apply/present_entry.h"
#include "core/workspace/workspace.h"

namespace sortie {

/// The content of a blob; nothing if it is not known.
using BaseContent = std::function<std::optional<std::string>(const std::string& id)>;

/// A file after a three-way merge.
struct Merged {
  std::optional<TreeEntry> entry{};  ///< nothing: it is removed
  std::string why{};                 ///< why it can't be merged; "" if it was
};

/// Merges a patch into a file that has changed since the diff was made: the patch applied to its
/// base, and the file as it is now, against that base. Lines are merged as git merges them; links
/// and binary files are not.
/// @throws Error  ExitCode::integrity: the patch does not fit its own base
Merged merge(const FilePatch& patch, const PresentEntry& now, const BaseContent& base);

}  // namespace sortie

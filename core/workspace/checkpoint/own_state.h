#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/threads.h"

namespace sortie {

/// What a tree has that its commit does not have.
struct OwnState {
  std::vector<std::string> paths;  ///< as own_changes_since() has them, without a limit
  /// A line for each, in their order: "MARK NAME\n". NAME is json_name(). MARK is what the path holds:
  ///
  ///     gone | folder | other | unreadable
  ///     file SHA256 | program SHA256 | link SHA256     of the content, or of the link's target
  ///     file SIZE@TIME | program SIZE@TIME             of one that is not read: its last change, ns
  std::string list;
};

/// Which marks files get.
enum class FileMarks {
  contents,  ///< of very large files, and once much was read, the times
  times,
};

/// Looks through the whole tree, without writing to it; it may have no repository.
/// @param root   absolute, links resolved
/// @param apart  as for own_changes_since()
/// @throws Error  as own_changes_since()
OwnState own_state(const std::filesystem::path& root,
                   const std::vector<std::filesystem::path>& apart, FileMarks marks,
                   const CancelCheck& check_cancel = {});

/// The paths with their marks; of a text that is no list, as far as it is one.
std::map<std::string, std::string> marks_in(std::string_view list);

}  // namespace sortie

#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/threads.h"
#include "core/workspace/start_list.h"

namespace sortie {

/// A path whose file, link or folder is not the one of the start, untouched. Its content may still
/// be the same.
struct StartDifference {
  std::string path;                 ///< "" for the tree's own folder
  const StartEntry* was = nullptr;  ///< nullptr: there was nothing
  struct stat now {};
  bool is_there = false;   ///< else `now` means nothing
  bool is_closed = false;  ///< commands can't read it; a closed folder is not looked into
};

/// Walks the tree, without its `.git` and what the list covers. Folders differ by their modes and
/// owners alone, the tree's own one too. Nothing is read but folders.
/// @param list  outlives the result
/// @return      sorted by path
/// @throws Error
std::vector<StartDifference> start_differences(const StartList& list,
                                               const CancelCheck& check_cancel = {});

}  // namespace sortie

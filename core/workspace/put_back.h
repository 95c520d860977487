#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/workspace/start_files.h"
#include "core/workspace/start_list.h"
#include "core/workspace/start_state.h"
#include "core/workspace/work_times.h"

namespace sortie {

/// What putting a tree back did. Paths are relative to the tree, sorted.
struct UndoneTree {
  std::filesystem::path root;         ///< "" if there was nothing to undo
  std::vector<std::string> put_back;  ///< changed, removed or created by the run
  std::vector<std::string> left;      ///< last changed by somebody else, while the run did not work
  std::vector<std::string> failed;    ///< "PATH: cause"
  /// "PATH, WHAT": nobody can make it as it was, or only root
  std::vector<std::string> inexact;
};

/// A tree that is to be as a list says again.
struct PutBack {
  const StartList& list;
  const StartFiles& start;   ///< of the list
  const StartState* ignore;  ///< git's rules: what they ignore stays; null: it is put back, too
  std::vector<WorkTime> times;
  std::vector<std::filesystem::path> leave = {};  ///< with all that is below them
};

/// Puts the list's own tree back: contents, links, modes, owners and times of files, folders; what is
/// not in the list is removed. A path that was last changed outside of the times stays. With rules,
/// an ignored file that was only moved is moved back, since nothing was kept of it.
/// @throws Error  the tree can't be read; what can't be put back is in the result
UndoneTree put_back_tree(const PutBack& what);

/// The same in another tree that shows the list's own tree as it is now: an overlay on it, or a copy.
/// The own tree stays as it is.
/// @param root  of the other tree
/// @throws Error  ExitCode::environment: it can't be made as the list says
void put_back_in(const PutBack& what, const Fd& root);

}  // namespace sortie

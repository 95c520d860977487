#pragma once

#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// A deleted and an added file that are, or may be, one renamed file.
struct Rename {
  std::string from;
  std::string to;
  int least_similarity = 100;  ///< per cent, the minimum for a rename
  bool operator==(const Rename&) const = default;
};

/// Paths that exist in only one of two trees: possible renames. Both lists are sorted.
struct Moves {
  std::vector<std::string> deleted;
  std::vector<std::string> added;
};
Moves find_moves(const TouchedFiles& before, const TouchedFiles& after);

/// Pairs files with equal bytes and removes them from `moves`: first those of the same name, then
/// in path order. Linear in their size, like git (diffcore-rename.c: find_identical_files).
std::vector<Rename> exact_renames(const TouchedFiles& before, const TouchedFiles& after,
                                  Moves& moves, const CancelCheck& check_cancel);

/// Pairs to compare before all others: the last parts of their paths are equal, and no other path
/// on either side ends so. git compares names (diffcore-rename.c: find_basename_matches); here two
/// folders above count, too.
std::vector<Rename> likely_renames(const Moves& moves);

/// Removes the paths of renames from the moves.
void subtract(Moves& moves, const std::vector<Rename>& renames);

}  // namespace sortie

#pragma once

#include <string>
#include <vector>

#include "core/workspace/diff/diff.h"

namespace sortie {

/// A file that went and one that came, which are one that moved; or may be.
struct Rename {
  std::string from;
  std::string to;
  int least_similarity = 100;  ///< per cent, from which on they are told as one
  bool operator==(const Rename&) const = default;
};

/// Paths of only one of two trees: what may have moved, and to where. Each list is sorted.
struct Moves {
  std::vector<std::string> gone;
  std::vector<std::string> came;
};
Moves find_moves(const TouchedFiles& before, const TouchedFiles& after);

/// Files of the same bytes, taken off `moves`: those of the same name first, then in the order of
/// their paths. Linear in their bytes, as in git (diffcore-rename.c: find_identical_files).
std::vector<Rename> exact_renames(const TouchedFiles& before, const TouchedFiles& after,
                                  Moves& moves, const CancelCheck& pace);

/// Pairs that are worth a look before all are compared with all: the last parts of their paths are
/// the same, and no other path on either side ends so. git does it with names
/// (diffcore-rename.c: find_basename_matches), here two folders above count too.
std::vector<Rename> likely_renames(const Moves& moves);

/// Takes the paths of a rename off the moves.
void take_off(Moves& moves, const std::vector<Rename>& renames);

}  // namespace sortie

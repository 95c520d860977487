#pragma once

#include <string>

#include "core/git/git_handle.h"
#include "core/git/index_file.h"

namespace sortie {

/// The entries of an index that libgit2 has read.
/// @throws Error  for more than a gigabyte of them
IndexFile index_of(const git_index& index);

/// An index for libgit2 with the ignore and attribute files of another one alone, which is all that
/// it looks up when it is asked for rules.
GitIndex rules_of(const IndexFile& index);

/// Adds the entries of a path.
void add_entries(git_index& to, const IndexFile& from, const std::string& path);

}  // namespace sortie

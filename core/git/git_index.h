#pragma once

#include <filesystem>

#include "core/git/git_handle.h"

namespace sortie {

/// git leaves out the checksum at an index's end where `index.skipHash` says so
/// (`feature.manyFiles`), and libgit2 refuses such an index: it is given a copy in memory that has
/// one. Another index stays unread.
void give_readable_index(git_repository& repository, const std::filesystem::path& index);

/// Opens an index file by itself. @return false where it can't be read
bool open_index_file(GitIndex& index, const std::filesystem::path& path);

}  // namespace sortie

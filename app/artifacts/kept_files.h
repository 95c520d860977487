#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/secrets/redact.h"

namespace sortie {

/// The folder in --out.
inline constexpr const char* kKeptFolder = "kept";

struct KeptFiles {
  std::map<std::string, std::string> digests;  ///< path in the workspace → "sha256:…"
  std::vector<std::string> not_kept;           ///< "PATH: why"
  std::uint64_t bytes = 0;                     ///< of all of them
};

/// Writes changed files that no diff has to FOLDER/kept, under their own paths: a link as a file with
/// its target, as in git; nothing executable; nothing with a secret. A path that is gone is skipped,
/// a folder is kept with its content.
/// @param out    --out
/// @param paths  relative to the workspace
KeptFiles keep_files(const std::filesystem::path& out, const Files& view,
                     const std::vector<std::string>& paths, const Redactor& redactor);

/// Keeps a path that is about to be removed, as FOLDER/kept/PATH.taken; a `.git` in it gets that
/// ending too, so that no git command takes it for a repository.
/// @param kept  the files kept so far, which count towards the limits; the path is added
void keep_taken(const std::filesystem::path& out, const Files& view, const std::string& path,
                const Redactor& redactor, KeptFiles& kept);

/// The modification times of the empty files at and below a path, in ns since 1970. A rename keeps
/// them, so they identify moved files. Links are not followed.
std::set<std::int64_t> times_of_empty_files(const DiskFiles& view,
                                            const std::filesystem::path& path);

}  // namespace sortie

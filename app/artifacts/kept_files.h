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

/// Writes changed files that no diff holds to FOLDER/kept, under their own paths: a link as a file
/// with its target, as git keeps it; nothing executable; nothing that holds a secret. A path that
/// is gone is passed over, a folder is taken with what lies in it.
/// @param out    --out
/// @param paths  relative to the workspace
KeptFiles keep_files(const std::filesystem::path& out, const Files& view,
                     const std::vector<std::string>& paths, const Redactor& redactor);

/// Adds what stands at a path that is about to be taken away, as FOLDER/kept/PATH.taken; a `.git`
/// in it gets that ending too, so that no git command takes it for a repository.
/// @param kept  what was kept so far, by name in FOLDER/kept; of it all the bounds hold
void keep_taken(const std::filesystem::path& out, const Files& view, const std::string& path,
                const Redactor& redactor, KeptFiles& kept);

/// When the empty files at and below a path were written last, in ns since 1970: a rename keeps
/// that, so that it tells them apart. No link is followed.
std::set<std::int64_t> times_of_empty_files(const DiskFiles& view,
                                            const std::filesystem::path& path);

}  // namespace sortie

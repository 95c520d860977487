#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/redact.h"

namespace sortie {

/// The folder in --out.
inline constexpr const char* kKeptFolder = "kept";

struct KeptFiles {
  std::map<std::string, std::string> digests;  ///< path in the workspace → "sha256:…"
  std::vector<std::string> not_kept;           ///< "PATH: why"
};

/// Writes changed files that no diff holds to FOLDER/kept, under their own paths: a link as a file
/// with its target, as git keeps it; nothing executable; nothing that holds a secret. A path that
/// is gone is passed over, a folder is taken with what lies in it.
/// @param out    --out
/// @param paths  relative to the workspace
KeptFiles keep_files(const std::filesystem::path& out, const Files& view,
                     const std::vector<std::string>& paths, const Redactor& redactor);

}  // namespace sortie

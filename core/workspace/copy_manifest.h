#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/workspace/file_stamp.h"

namespace sortie {

/// The stamps of a copied file or link and its source when the copy was made.
struct CopiedFile {
  FileStamp source;
  FileStamp copy;
  bool operator==(const CopiedFile&) const = default;
};

/// All files and links of a copied tree, by path.
struct CopyManifest {
  std::map<std::string, CopiedFile> files;
  bool operator==(const CopyManifest&) const = default;
};

/// One record per file: ten numbers and the path, terminated by a zero byte, which no path
/// contains.
std::string manifest_text(const CopyManifest& manifest);
/// Nothing if the text is not a complete manifest.
std::optional<CopyManifest> parse_manifest(const std::string& text);

}  // namespace sortie

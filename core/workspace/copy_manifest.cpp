#include "core/workspace/copy_manifest.h"

#include <sstream>

namespace sortie {
namespace {

constexpr const char* kFirstLine = "sortie-manifest 1";

std::ostream& operator<<(std::ostream& out, const FileStamp& stamp) {
  return out << stamp.mode << ' ' << stamp.size << ' ' << stamp.inode << ' ' << stamp.mtime << ' '
             << stamp.ctime << ' ';
}

std::istream& operator>>(std::istream& in, FileStamp& stamp) {
  return in >> stamp.mode >> stamp.size >> stamp.inode >> stamp.mtime >> stamp.ctime;
}

}  // namespace

std::string manifest_text(const CopyManifest& manifest) {
  std::ostringstream out;
  out << kFirstLine << ' ' << manifest.files.size() << '\n';
  for (const auto& [path, file] : manifest.files) out << file.source << file.copy << path << '\0';
  return out.str();
}

std::optional<CopyManifest> parse_manifest(const std::string& text) {
  std::istringstream in(text);
  std::string name;
  std::string version;
  std::size_t count = 0;
  CopyManifest manifest;
  in >> name >> version >> count;
  if (!in || name + " " + version != kFirstLine || in.get() != '\n') return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    CopiedFile file;
    std::string path;
    in >> file.source >> file.copy;
    if (!in || in.get() != ' ') return std::nullopt;
    if (!std::getline(in, path, '\0') || in.eof()) return std::nullopt;
    manifest.files.emplace(std::move(path), file);
  }
  return manifest;
}

}  // namespace sortie

#include "core/workspace/diff/link_loops.h"

#include <filesystem>

#include "core/base/error.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr int kMostLinks = 40;  // path_resolution(7)

/// Whether following the path takes too many links. What leads out of the tree does not count.
bool loops(const Files& files, fs::path rest, int links = 0) {
  fs::path at;
  while (!rest.empty()) {
    const fs::path part = *rest.begin();
    fs::path left;
    for (auto it = std::next(rest.begin()); it != rest.end(); ++it) left /= *it;
    rest = std::move(left);
    if (part == ".." && at.empty()) return false;
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    if (part == "." || part.empty()) continue;
    const auto status = files.status(at / part);
    if (!status) return false;
    if (status->kind != FileStatus::Kind::symlink) {
      at /= part;
      continue;
    }
    if (++links > kMostLinks) return true;
    const fs::path target = files.read_link(at / part);
    if (target.is_absolute()) return false;
    rest = rest.empty() ? target : target / rest;
  }
  return false;
}

}  // namespace

std::string link_loop_above(const Files& files, const std::string& path) {
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    try {
      const auto status = files.status(above);
      if (!status || status->kind == FileStatus::Kind::file) return "";
      if (status->kind == FileStatus::Kind::symlink) return loops(files, above) ? above : "";
    } catch (const ToolError&) {
      return "";  // behind a link that leads out of the tree
    }
  }
  return "";
}

}  // namespace sortie

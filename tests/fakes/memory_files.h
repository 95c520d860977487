#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "core/base/error.h"
#include "core/files/files.h"

namespace sortie {

/// A tree in memory that a test fills and reads as plain maps. Links are followed; the call that
/// `fail_at` counts to, of those that change something, fails.
class MemoryFiles : public Files {
 public:
  struct File {
    std::string content;
    unsigned mode = 0644;
    bool operator==(const File&) const = default;
  };
  std::map<std::filesystem::path, File> content;
  std::map<std::filesystem::path, std::filesystem::path> links;  ///< link → target as written
  std::set<std::filesystem::path> folders;                       ///< without their files' own
  int fail_at = 0;                                               ///< from 1; 0 never
  int changes = 0;                                               ///< calls that change something

  bool same_tree(const MemoryFiles& other) const {
    return content == other.content && links == other.links && all_folders() == other.all_folders();
  }

  std::optional<std::string> read(const std::filesystem::path& path,
                                  std::uint64_t max_bytes) const override {
    const auto place = resolve(path);
    if (all_folders().contains(place)) throw ToolError(path.string() + ": is a folder");
    const auto found = content.find(place);
    if (found == content.end()) return std::nullopt;
    if (found->second.content.size() > max_bytes) throw ToolError(path.string() + ": too large");
    return found->second.content;
  }
  std::optional<FileStatus> status(const std::filesystem::path& path) const override {
    const auto place = resolve(path.parent_path()) / path.filename();
    if (links.contains(place)) return FileStatus{.kind = FileStatus::Kind::symlink, .mode = 0777};
    if (place.empty() || all_folders().contains(place))
      return FileStatus{.kind = FileStatus::Kind::folder, .mode = 0755};
    const auto found = content.find(place);
    if (found == content.end()) return std::nullopt;
    return FileStatus{.mode = found->second.mode, .size = found->second.content.size()};
  }
  std::filesystem::path resolve(const std::filesystem::path& path) const override {
    return resolve(path, 0);
  }
  std::string read_link(const std::filesystem::path& path) const override {
    return links.at(path).string();
  }
  std::vector<FolderEntry> list(const std::filesystem::path& folder) const override {
    const auto place = resolve(folder);
    if (content.contains(place)) throw ToolError(folder.string() + ": is not a folder");
    if (!place.empty() && !all_folders().contains(place))
      throw ToolError(folder.string() + ": no such folder");
    std::map<std::string, FileStatus::Kind> found;
    const auto note = [&](const std::filesystem::path& path, FileStatus::Kind kind) {
      if (path.parent_path() == place && !path.empty()) found[path.filename().string()] = kind;
    };
    for (const auto& path : all_folders()) note(path, FileStatus::Kind::folder);
    for (const auto& [path, file] : content) note(path, FileStatus::Kind::file);
    for (const auto& [path, target] : links) note(path, FileStatus::Kind::symlink);
    std::vector<FolderEntry> entries;
    for (const auto& [name, kind] : found) entries.push_back({name, kind});
    return entries;
  }
  void write(const std::filesystem::path& path, std::string_view bytes, unsigned mode) override {
    count_change();
    if (all_folders().contains(path)) throw ToolError(path.string() + ": is a folder");
    for (auto parent = path.parent_path(); !parent.empty(); parent = parent.parent_path()) {
      if (content.contains(parent)) throw ToolError(parent.string() + ": is not a folder");
      folders.insert(parent);
    }
    content[path] = {std::string(bytes), mode};
  }
  void remove(const std::filesystem::path& path) override {
    count_change();
    for (auto parent = path.parent_path(); !parent.empty(); parent = parent.parent_path())
      folders.insert(parent);
    if (content.erase(path) + links.erase(path) == 0)
      throw ToolError(path.string() + ": no such file");
  }
  bool remove_empty_folder(const std::filesystem::path& path) override {
    if (!list(path).empty()) return false;
    folders.erase(path);
    return true;
  }

  void replace_all(const std::vector<Replacement>& replacements) override {
    const auto before = std::tuple(content, links, folders);
    for (const auto& [path, bytes, mode] : replacements) {
      try {
        if (bytes)
          write(path, *bytes, mode);
        else
          remove(path);
      } catch (const ToolError& error) {
        std::tie(content, links, folders) = before;
        throw ToolError((bytes ? "Failed to write file " : "Failed to delete file ") +
                        path.string() + ": " + error.what() + ". No file was changed.");
      }
    }
  }

 private:
  void count_change() {
    if (++changes == fail_at) throw ToolError("no space left on device");
  }
  std::set<std::filesystem::path> all_folders() const {
    std::set<std::filesystem::path> all;
    const auto add = [&](std::filesystem::path path) {
      for (; !path.empty(); path = path.parent_path()) all.insert(path);
    };
    for (const auto& path : folders) add(path);
    for (const auto& [path, file] : content) add(path.parent_path());
    for (const auto& [path, target] : links) add(path.parent_path());
    return all;
  }
  std::filesystem::path resolve(const std::filesystem::path& path, int depth) const {
    if (depth > 40) throw ToolError(path.string() + ": is a loop of links");
    const auto outside = [&] { return ToolError(path.string() + ": leads outside the workspace"); };
    if (path.is_absolute()) throw outside();
    std::filesystem::path done;
    for (auto part = path.begin(); part != path.end(); ++part) {
      if (*part == "." || part->empty()) continue;
      if (*part == "..") {
        if (done.empty()) throw outside();
        done = done.parent_path();
        continue;
      }
      const auto link = links.find(done / *part);
      if (link == links.end()) {
        done /= *part;
        continue;
      }
      if (link->second.is_absolute()) throw outside();
      std::filesystem::path rest = done / link->second;
      for (++part; part != path.end(); ++part) rest /= *part;
      return resolve(rest, depth + 1);
    }
    return done;
  }
};

}  // namespace sortie

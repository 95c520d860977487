#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/workspace/apply/tree_apply.h"
#include "core/workspace/diff/patch_text.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {

namespace fs = std::filesystem;

inline constexpr unsigned kFile = 0100644;
inline constexpr unsigned kProgram = 0100755;
inline constexpr unsigned kLink = 0120000;

/// A real tree in a folder of its own.
class RealTree {
 public:
  explicit RealTree(const TouchedFiles& files) {
    for (const auto& [path, entry] : files) put(path, entry);
    root_ = Fd(::open(path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  fs::path path() const { return folder_.path(); }
  int root() const { return root_.get(); }
  void put(const std::string& name, const TreeEntry& entry) const {
    const fs::path file = folder_ / name;
    fs::create_directories(file.parent_path());
    if (entry.mode == kLink) {
      fs::create_symlink(entry.content, file);
      return;
    }
    std::ofstream(file, std::ios::binary) << entry.content;
    ::chmod(file.c_str(), entry.mode == kProgram ? 0755 : 0644);
  }
  TouchedFiles entries() const {
    TouchedFiles found;
    for (const auto& one : fs::recursive_directory_iterator(path())) {
      const std::string name = one.path().lexically_relative(path()).string();
      if (fs::is_directory(one.symlink_status())) continue;
      found[name] = read_present(root(), name).entry;
    }
    return found;
  }
  bool has_folder(const std::string& name) const {
    return fs::is_directory(fs::symlink_status(folder_ / name));
  }
  PlannedChanges plan(const std::string& diff, const PlanOptions& options = {}) const {
    return plan_changes(
        read_patches(diff), [this](const std::string& name) { return read_present(root(), name); },
        options);
  }
  void apply(const std::string& diff) const {
    const PlannedChanges planned = plan(diff);
    if (!planned.conflicts.empty())
      throw Error("conflict: " + planned.conflicts.front(), ExitCode::conflict);
    TreeApply apply(root(), planned.changes);
    apply.perform();
    apply.settle();
  }

 private:
  TemporaryFolder folder_;
  Fd root_;
};

inline std::string diff_of(const TouchedFiles& before, const TouchedFiles& after) {
  return std::string(make_patch(before, after, 3, true).text.view());
}

inline std::string lines(int count, const std::string& word = "line") {
  std::string text;
  for (int i = 0; i < count; ++i) text += word + " " + std::to_string(i) + "\n";
  return text;
}

inline const std::string kBytes("\0\1\2binary\xff\xfe", 11);

/// Everything that a diff can say.
inline const TouchedFiles kBefore = {
    {"a.txt", {kFile, lines(30)}},
    {"deep/er/only.txt", {kFile, "only\n"}},
    {"empty", {kFile, ""}},
    {"image", {kFile, kBytes}},
    {"link", {kLink, "a.txt"}},
    {"moved/from.txt", {kFile, lines(40, "moved")}},
    {"odd \"name\"\n\xc3\xa4 \xff", {kFile, "odd\n"}},
    {"script", {kFile, "#!/bin/sh\n"}},
    {"stays/a", {kFile, "a"}},
    {"to_folder", {kFile, "file\n"}},
    {"to_file/x", {kFile, "x\n"}},
    {"to_link", {kFile, "file\n"}},
};
inline const TouchedFiles kAfter = {
    {"a.txt", {kFile, lines(30) + "no newline"}},
    {"image", {kFile, kBytes + kBytes}},
    {"link", {kLink, "elsewhere"}},
    {"moved/to.txt", {kFile, lines(40, "moved")}},
    {"new/folder/file", {kProgram, "#!/bin/sh\r\n"}},
    {"odd \"name\"\n\xc3\xa4 \xff", {kFile, "odd\r\n\xff\xfe\n"}},
    {"script", {kProgram, "#!/bin/sh\n"}},
    {"stays/a", {kFile, "a"}},
    {"to_folder/y", {kFile, "y\n"}},
    {"to_file", {kFile, "file\n"}},
    {"to_link", {kLink, "a.txt"}},
};

}  // namespace sortie::test

#include "app/run/diff_record.h"

#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/text/base64.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNames = 10'000;

std::optional<RecordedSide> side_record(const std::optional<DiffSide>& side) {
  if (!side) return std::nullopt;
  std::string mode;
  for (int shift = 15; shift >= 0; shift -= 3)
    mode += static_cast<char>('0' + (side->mode >> shift & 7));
  return RecordedSide{mode, side->sha256, side->bytes};
}

/// Without a commit only the folders tell later whether a file beside those of the diff was removed.
void add_folders(const Files& start, DiffWritten& record) {
  std::set<std::string> paths;
  for (const DiffedFile& file : record.files)
    for (const std::string& path : {file.path, file.old_path})
      for (fs::path above = path; above.has_relative_path();)
        paths.insert((above = above.parent_path()).native());
  std::size_t count = 0;
  for (const std::string& path : paths) {
    DiffedFolder folder{.path = path};
    try {
      const auto status = start.status(path);
      if (status && status->kind == FileStatus::Kind::folder)
        for (const FolderEntry& entry : start.list(path)) {
          if (!folder.names) folder.names.emplace();
          folder.names->push_back(entry.name);
        }
      if (status && status->kind == FileStatus::Kind::folder && !folder.names)
        folder.names.emplace();
      count += folder.names ? folder.names->size() : 0;
    } catch (const ToolError&) {
      count = kMostNames + 1;
    }
    if (count > kMostNames) return record.folders.clear();
    record.folders.push_back(std::move(folder));
  }
}

}  // namespace

DiffWritten diff_record(const Diff& diff, const std::string& name, const Redactor& redactor,
                        const Files& start) {
  DiffWritten record{.name = name,
                     .submodule = diff.submodule,
                     .sha256 = sha256_hex(diff.text),
                     .base = diff.base,
                     .base_commit = diff.head_commit,
                     .prefix = diff.prefix,
                     .files = {}};
  for (const DiffFile& file : diff.files) {
    DiffedFile one{.path = file.path,
                   .old_path = file.old_path,
                   .before = side_record(file.before),
                   .after = side_record(file.after),
                   .in_commit = file.in_head,
                   .base_content = {}};
    if (file.base_content && redactor.find(*file.base_content, Audience::tools).empty())
      one.base_content = base64_encoded(*file.base_content);
    record.files.push_back(std::move(one));
  }
  if (record.base_commit.empty()) add_folders(start, record);
  return record;
}

}  // namespace sortie

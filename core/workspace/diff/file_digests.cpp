#include "core/workspace/diff/file_digests.h"

#include "core/base/error.h"
#include "core/base/hash.h"

namespace sortie {
namespace file_digests {

constexpr std::uint64_t kMostOfFile = 8u << 20;
constexpr std::uint64_t kMostBytes = 32u << 20;
constexpr std::uint64_t kMostKeptOfFile = 256u << 10;
constexpr std::uint64_t kMostKept = 2u << 20;
/// Paths whose last digest is remembered.
constexpr std::size_t kMostKnown = 20'000;

}  // namespace file_digests

EntryRead read_entry(const Files& files, const std::string& path, std::uint64_t& budget) {
  EntryRead read;
  try {
    const auto status = files.status(path);
    if (!status) return read;
    read.is_there = true;
    read.mode = status->mode;
    if (status->kind == FileStatus::Kind::symlink) {
      read.is_link = true;
      read.content = files.read_link(path);
    } else if (status->kind != FileStatus::Kind::file) {
      read.why_not = kNoFile;
    } else if (status->size > file_digests::kMostOfFile) {
      read.why_not = "larger than 8 MiB";
    } else if (status->size > budget) {
      read.why_not = "the call changed more than 32 MiB";
    } else {
      read.content = files.read(path);
      budget -= status->size;
    }
  } catch (const ToolError&) {
    read.why_not = "unreadable";
  }
  return read;
}

std::string FileDigests::digest_before(const std::string& path, TouchedFile& file) {
  if (const auto known = known_.find(path); known != known_.end()) return known->second;
  auto was = read_entry(workspace_.start(), path, bytes_left_);
  if (file.not_read.empty()) file.not_read = was.why_not;
  if (file.kind == TouchedFile::Kind::deleted && was.content) file.mode = was.mode;
  return was.content ? sha256_hex(*was.content) : "";
}

TouchedFile FileDigests::look_at(const std::string& path, char kind, Contents contents) {
  using Kind = TouchedFile::Kind;
  TouchedFile file{.path = path,
                   .kind = kind == 'A'   ? Kind::added
                           : kind == 'D' ? Kind::deleted
                                         : Kind::modified};
  if (file.kind != Kind::deleted) {
    auto now = read_entry(view_, path, bytes_left_);
    file.mode = now.mode;
    file.not_read = now.why_not;
    if (now.content) {
      file.after = sha256_hex(*now.content);
      if (now.is_link) file.link_target = *now.content;
      const bool keeps = contents == Contents::keep && !now.is_link &&
                         now.content->size() <= file_digests::kMostKeptOfFile &&
                         now.content->size() <= kept_left_;
      if (keeps) {
        kept_left_ -= now.content->size();
        file.content = std::move(now.content);
      }
    }
  }
  if (file.kind != Kind::added) file.before = digest_before(path, file);
  if (known_.size() < file_digests::kMostKnown || known_.count(path) != 0)
    known_[path] = file.after;
  return file;
}

std::vector<TouchedFile> FileDigests::look(const std::vector<std::string>& touched,
                                           Contents contents) {
  bytes_left_ = file_digests::kMostBytes;
  kept_left_ = file_digests::kMostKept;
  std::vector<TouchedFile> files;
  for (const std::string& line : touched) {
    if (line.size() < 3 || line[1] != ' ') continue;  // "… N more"
    files.push_back(look_at(line.substr(2), line[0], contents));
  }
  return files;
}

}  // namespace sortie

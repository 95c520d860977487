#include "core/workspace/checkpoint/base_list.h"

#include <algorithm>
#include <cstdint>
#include <exception>

#include "core/files/path_below.h"
#include "core/workspace/checkpoint/content_mark.h"

namespace sortie {
namespace {

/// The most bytes of contents that are read for a list.
constexpr std::uint64_t kMostDigested = 256u << 20;
constexpr std::size_t kPieceBytes = 1u << 20;

constexpr const char* kUnreadable = "unreadable";

std::string sized_mark(const FileStatus& status) {
  return ((status.mode & 0100) != 0 ? "program " : "file ") + std::to_string(status.size);
}

bool is_sized(std::string_view mark) {
  constexpr std::size_t kDigestLength = 64;
  return (mark.starts_with("file ") || mark.starts_with("program ")) &&
         mark.size() - mark.find(' ') - 1 < kDigestLength;
}

/// @param left  of the bytes that may be read
std::string base_mark(const Files& tree, const std::string& path, std::uint64_t& left) {
  if (path.ends_with('/')) return "folder";
  try {
    const auto status = tree.status(path);
    if (status && status->kind == FileStatus::Kind::file) {
      if (status->size > left) return sized_mark(*status);
      left -= status->size;
    }
    const std::string mark = content_mark(tree, path);
    return mark.empty() ? "gone" : mark;
  } catch (const std::exception&) {
    return kUnreadable;
  }
}

bool holds(const Files& tree, const std::string& path, std::string_view mark) {
  if (mark == kUnreadable) return true;  // nobody knows
  try {
    const auto status = tree.status(path);
    if (!status) return mark == "gone";
    if (is_sized(mark))
      return status->kind == FileStatus::Kind::file && sized_mark(*status) == mark;
    return content_mark(tree, path) == mark;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::optional<BaseEntry> BaseListReader::next() {
  while (piece_ < pieces_.size() && at_ >= pieces_[piece_].size()) {
    ++piece_;
    at_ = 0;
  }
  if (piece_ == pieces_.size()) return std::nullopt;
  std::string_view line = pieces_[piece_].substr(at_);
  line = line.substr(0, line.find('\n'));
  at_ += line.size() + 1;
  const auto [mark, name] = split_marked(line);
  return BaseEntry{mark, path_named(std::string(name))};
}

void write_base_list(std::vector<std::string> paths, const Files& tree,
                     const std::function<void(std::string_view)>& write) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::uint64_t left = kMostDigested;
  std::string piece;
  for (const std::string& path : paths) {
    piece += base_mark(tree, path, left) + " " + json_name(path) + "\n";
    if (piece.size() < kPieceBytes) continue;
    write(piece);
    piece.clear();
  }
  if (!piece.empty()) write(piece);
}

std::vector<std::string> base_list_differences(const std::vector<std::string_view>& pieces,
                                               const std::vector<std::string>& now,
                                               const Files& tree, const BaseComparison& how) {
  std::vector<std::string> differing;
  auto at = now.begin();
  const auto take_unlisted = [&](const auto& is_before) {
    for (; at != now.end() && is_before(*at); ++at)
      if (!how.without_folders || !at->ends_with('/')) differing.push_back(*at);
  };
  BaseListReader lines(pieces);
  while (const auto line = lines.next()) {
    take_unlisted([&line](const std::string& path) { return path < line->path; });
    if (at != now.end() && *at == line->path) ++at;
    if (line->path.ends_with('/') || is_below_any(line->path, how.apart)) continue;
    if (!holds(tree, line->path, line->mark)) differing.push_back(line->path);
  }
  take_unlisted([](const std::string&) { return true; });
  return differing;
}

}  // namespace sortie

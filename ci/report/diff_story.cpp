#include "ci/report/diff_story.h"

#include <charconv>
#include <cstdio>

#include "ci/report/bounded_record.h"
#include "core/base/error.h"
#include "core/text/text.h"
#include "core/workspace/diff/file_patch.h"

namespace sortie {
namespace {

constexpr std::size_t kMostFiles = 500;
constexpr std::int64_t kMostFileLines = 2000;
constexpr std::int64_t kMostLines = 20'000;
constexpr std::size_t kMostLineBytes = 1000;

std::string octal(unsigned mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%06o", mode);
  return text;
}

/// The number behind a sign in a hunk's header: 12 of "@@ -12,3 +14,4 @@".
std::int64_t hunk_line(std::string_view header, char sign) {
  const auto at = header.find(std::string(" ") + sign);
  std::int64_t number = 0;
  if (at != header.npos)
    std::from_chars(header.data() + at + 2, header.data() + header.size(), number);
  return number;
}

std::int64_t lines_of(const StoryFile& file) {
  std::int64_t lines = 0;
  for (const StoryHunk& hunk : file.hunks) lines += static_cast<std::int64_t>(hunk.lines.size());
  return lines;
}

/// Counts all lines, and keeps those that fit.
void take_hunks(std::string_view body, std::int64_t room, StoryFile& file) {
  std::int64_t kept = 0;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    const std::string_view line = body.substr(at, end - at);
    at = end + 1;
    if (line.empty()) continue;
    if (line[0] == '@') {
      if (kept < room)
        file.hunks.push_back(
            {visible_line(line, kMostLineBytes), hunk_line(line, '-'), hunk_line(line, '+'), {}});
      continue;
    }
    if (line[0] == '+') ++file.added;
    if (line[0] == '-') ++file.removed;
    if (kept < room && !file.hunks.empty()) {
      file.hunks.back().lines.push_back(line[0] +
                                        visible_text(utf8_prefix(line.substr(1), kMostLineBytes)) +
                                        (line.size() > kMostLineBytes + 1 ? "…" : ""));
      ++kept;
    } else {
      ++file.left_out;
    }
  }
}

StoryFile story_file(const FilePatch& patch, const std::string& submodule, std::int64_t room) {
  StoryFile file;
  const PatchHeader& header = patch.header;
  file.path = visible_line(patch.path(), 4096);
  file.submodule = visible_line(submodule, 4096);
  if (header.old_path != header.new_path) {
    file.kind = StoryFileKind::renamed;
    file.old_path = visible_line(header.old_path, 4096);
  } else if (patch.adds()) {
    file.kind = StoryFileKind::added;
  } else if (patch.deletes()) {
    file.kind = StoryFileKind::deleted;
  }
  if (header.old_mode != header.new_mode) {
    if (header.old_mode != 0) file.old_mode = octal(header.old_mode);
    if (header.new_mode != 0) file.new_mode = octal(header.new_mode);
  }
  file.binary = patch.body.starts_with("GIT binary patch");
  if (!file.binary) take_hunks(patch.body, room, file);
  return file;
}

}  // namespace

void add_diff_text(std::string_view diff, const std::string& submodule, StoryChanges& changes) {
  std::int64_t used = 0;
  for (const StoryFile& file : changes.files) used += lines_of(file);
  while (!diff.empty()) {
    const FilePatch patch = take_patch(diff);
    const bool fits = changes.files.size() < kMostFiles;
    const std::int64_t room = fits ? std::min(kMostFileLines, kMostLines - used) : 0;
    StoryFile file = story_file(patch, submodule, room);
    used += lines_of(file);
    changes.added += file.added;
    changes.removed += file.removed;
    if (fits)
      changes.files.push_back(std::move(file));
    else
      ++changes.more_files;
  }
}

void add_diff(const std::filesystem::path& path, const std::string& submodule,
              StoryChanges& changes) {
  const std::string name = path.filename().string();
  std::uint64_t bytes = 0;
  const Fd file = open_regular(path, bytes);
  if (!file) {
    changes.problem = name + " is missing, or is no regular file";
    return;
  }
  if (bytes == 0) return;
  try {
    const DiffText text(file, bytes);
    add_diff_text(text, submodule, changes);
  } catch (const Error& error) {
    changes.problem = name + ": " + visible_line(error.what());
  }
}

}  // namespace sortie

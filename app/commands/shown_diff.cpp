#include "app/commands/shown_diff.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/text/text.h"

namespace sortie {
namespace {

/// What a person reads on the way to the end; a file of lock data should not hide the others.
constexpr std::size_t kMostOfFile = 200;
constexpr std::size_t kMostOfDiff = 1000;

std::string lines_more(std::size_t number) {
  return with_thousands(static_cast<std::int64_t>(number)) + " more line" +
         (number == 1 ? "" : "s");
}

Tint tint_of(const std::string& line) {
  if (line.starts_with('+')) return Tint::good;
  if (line.starts_with('-')) return Tint::bad;
  return line.starts_with('\\') ? Tint::faint : Tint::plain;
}

std::string title_of(const StoryFile& file) {
  static const char* const kWords[] = {"added", "deleted", "renamed", "modified"};
  std::string title = "--- " + (file.submodule.empty() ? "" : file.submodule + ": ") + file.path +
                      " (" + kWords[static_cast<int>(file.kind)];
  if (file.kind == StoryFileKind::renamed) title += " from " + file.old_path;
  if (!file.old_mode.empty() && !file.new_mode.empty())
    title += ", mode " + file.old_mode + " → " + file.new_mode;
  return title + (file.binary ? ", binary)" : ")");
}

std::size_t lines_of(const StoryFile& file) {
  std::size_t lines = 0;
  for (const StoryHunk& hunk : file.hunks) lines += hunk.lines.size();
  return lines;
}

class DiffLines {
 public:
  explicit DiffLines(const LogStyle& style) : style_(style) {}

  void add(const StoryFile& file) {
    const std::size_t most = std::min(style_.verbose ? kNoLimit : kMostOfFile, room_);
    std::size_t left_out = static_cast<std::size_t>(std::max<std::int64_t>(0, file.left_out));
    if (most == 0) {
      left_out_ += lines_of(file) + left_out;
      return;
    }
    lines_.push_back("");
    lines_.push_back(tinted(style_, Tint::caution, title_of(file)));
    std::size_t shown = 0;
    for (const StoryHunk& hunk : file.hunks) {
      if (shown < most) lines_.push_back(tinted(style_, Tint::faint, hunk.header));
      for (const std::string& line : hunk.lines) {
        if (shown == most) {
          ++left_out;
          continue;
        }
        lines_.push_back(tinted(style_, tint_of(line), line));
        ++shown;
      }
    }
    if (room_ != kNoLimit) room_ -= shown;
    if (left_out > 0)
      lines_.push_back(tinted(style_, Tint::faint, "… " + lines_more(left_out) + " of this file"));
    left_out_ += left_out;
  }

  /// @param whole  where all of it is
  std::vector<std::string> finish(const std::string& whole) {
    if (left_out_ > 0) {
      lines_.push_back("");
      lines_.push_back(
          tinted(style_, Tint::faint, "… " + lines_more(left_out_) + " in all: see " + whole));
    }
    return std::move(lines_);
  }

 private:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  const LogStyle& style_;
  std::vector<std::string> lines_;
  std::size_t room_ = style_.verbose ? kNoLimit : kMostOfDiff;
  std::size_t left_out_ = 0;
};

}  // namespace

std::vector<std::string> shown_diff(const StoryChanges& changes, const LogStyle& style,
                                    const std::filesystem::path& folder) {
  if (changes.name.empty()) return {};
  DiffLines lines(style);
  for (const StoryFile& file : changes.files) lines.add(file);
  return lines.finish((folder / changes.name).string());
}

}  // namespace sortie

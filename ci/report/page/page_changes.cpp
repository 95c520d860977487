#include <algorithm>

#include "ci/report/page/highlight.h"
#include "ci/report/page/page_parts.h"
#include "ci/report/page/page_room.h"

namespace sortie {
namespace {

/// A page of lines is read; thousands are looked up in the file.
constexpr std::int64_t kOpenLines = 200;
constexpr std::size_t kMostFileBytes = 512u << 10;
constexpr std::size_t kMostDiffBytes = 3u << 20;
constexpr std::size_t kMostListBytes = 256u << 10;

/// Writes the lines of a hunk with their numbers on both sides.
class HunkLines {
 public:
  HunkLines(Html& html, const CodeLanguage* language, const StoryHunk& hunk)
      : html_(html),
        before_(language),
        after_(language),
        old_(hunk.old_line),
        new_(hunk.new_line) {}

  void write(std::string_view line) {
    const char sign = line.empty() ? ' ' : line[0];
    const auto text = line.empty() ? line : line.substr(1);
    if (sign == '+') {
      html_ << "<span class=\"l p\"><i data-b=\"" << new_++ << "\"></i><b>+</b><span>";
      after_.write(html_, text);
    } else if (sign == '-') {
      html_ << "<span class=\"l m\" data-a=\"" << old_++ << "\"><i></i><b>-</b><span>";
      before_.write(html_, text);
    } else if (sign == '\\') {
      html_ << "<span class=\"l\"><i></i><b></b><span class=\"soft\">" << text;
    } else {
      html_ << "<span class=\"l\" data-a=\"" << old_++ << "\"><i data-b=\"" << new_++
            << "\"></i><b> </b><span>";
      before_ = after_;
      after_.write(html_, text);
      before_ = after_;
    }
    html_ << "</span></span>";
  }

 private:
  Html& html_;
  Highlighter before_;
  Highlighter after_;
  std::int64_t old_;
  std::int64_t new_;
};

void write_authors(Html& html, const StoryFile& file) {
  if (file.by_agent) html << "<span class=\"tag\">by the agent</span>";
  if (file.by_command) html << "<span class=\"tag warn\">by a command</span>";
  if (file.by_verification) html << "<span class=\"tag warn\">by the verification</span>";
}

/// What a reviewer would not expect of the agent: files that it did not write itself.
void write_other_authors(Html& html, const std::vector<StoryFile>& files) {
  std::size_t commands = 0;
  std::size_t verification = 0;
  for (const auto& file : files) {
    if (file.by_command && !file.by_agent) ++commands;
    if (file.by_verification && !file.by_agent && !file.by_command) ++verification;
  }
  if (commands + verification == 0) return;
  html << "<p class=\"soft small\">Not written by the agent itself: ";
  if (commands > 0) html << counted(commands, "file", "files") << " by commands that it ran";
  if (commands > 0 && verification > 0) html << ", ";
  if (verification > 0)
    html << counted(verification, "file", "files") << " by the verification’s commands";
  html << ".</p>\n";
}

void write_kind(Html& html, StoryFileKind kind) {
  switch (kind) {
    case StoryFileKind::added:
      html << "<span class=\"tag good\">added</span>";
      return;
    case StoryFileKind::deleted:
      html << "<span class=\"tag bad\">deleted</span>";
      return;
    case StoryFileKind::renamed:
      html << "<span class=\"tag\">renamed</span>";
      return;
    case StoryFileKind::modified:
      return;
  }
}

/// @return  how many lines there was no room for
std::int64_t write_hunks(Html& html, const StoryFile& file, PageRoom& room) {
  if (file.hunks.empty()) return 0;
  const CodeLanguage* language = language_of(file.path);
  PageRoom own(std::min(kMostFileBytes, room.left()));
  const std::size_t before = own.left();
  std::int64_t left_out = 0;
  html << "<pre class=\"diff\">";
  for (const auto& hunk : file.hunks) {
    const bool fits = left_out == 0 && own.write(html, [&](Html& part) {
      part << "<span class=\"h\">" << hunk.header << "</span>";
      HunkLines lines(part, language, hunk);
      for (const auto& line : hunk.lines) lines.write(line);
    });
    if (!fits) left_out += static_cast<std::int64_t>(hunk.lines.size());
  }
  html << "</pre>";
  room.take(before - own.left());
  return left_out;
}

void write_file(Html& html, const StoryFile& file, bool open, PageRoom& room) {
  html << "<details class=\"box file\"";
  if (open) html << " open";
  html << "><summary><code class=\"grow\">";
  if (!file.submodule.empty()) html << file.submodule << ": ";
  if (!file.old_path.empty()) html << file.old_path << " → ";
  html << file.path << "</code>";
  write_kind(html, file.kind);
  write_authors(html, file);
  html << "<span class=\"num small\">";
  write_lines(html, file.added, file.removed);
  html << "</span></summary>";
  if (!file.new_mode.empty() && !file.old_mode.empty()) {
    html << "<div class=\"in small\">Mode " << file.old_mode << " → " << file.new_mode << "</div>";
  } else if (!file.new_mode.empty() && file.new_mode != "100644") {
    html << "<div class=\"in small\">Mode " << file.new_mode << "</div>";
  }
  if (file.binary) html << "<div class=\"in small\">A binary file.</div>";
  const std::int64_t left_out = write_hunks(html, file, room) + file.left_out;
  if (left_out > 0) {
    html << "<div class=\"in small soft\">" << left_out
         << " more lines are in the diff itself.</div>";
  }
  html << "</details>\n";
}

void write_left_out(Html& html, const StoryChanges& changes) {
  if (changes.left_out.empty()) return;
  html << "<details class=\"box\"><summary><span class=\"grow\">Changed, but not in the diff: "
       << changes.left_out.size()
       << "</span></summary><div class=\"in\"><table><thead><tr><th scope=\"col\">Path</th><th "
          "scope=\"col\">Why</th></tr></thead><tbody>";
  PageRoom room(kMostListBytes);
  std::size_t more = 0;
  for (const auto& each : changes.left_out) {
    const bool fits = room.write(html, [&each](Html& row) {
      row << "<tr><td><code>" << each.path << "</code></td><td><bdi>" << each.why;
      if (!each.detail.empty()) row << ": " << each.detail;
      row << "</bdi></td></tr>";
    });
    if (!fits) ++more;
  }
  html << "</tbody></table>";
  if (more > 0)
    html << "<p class=\"soft\">" << counted(more, "more is", "more are") << " in result.json.</p>";
  html << "</div></details>\n";
}

}  // namespace

void write_changes(Html& html, const StoryChanges& changes) {
  html << "<section id=\"changes\" data-folds=\".file\"><h2>What changed</h2>\n";
  if (!changes.problem.empty()) {
    html << "<p class=\"event bad\"><bdi>" << changes.problem << "</bdi></p>";
  } else if (changes.files.empty()) {
    html << "<p class=\"soft\">No file changed.</p>\n";
  } else {
    html << "<p class=\"soft small\">"
         << counted(changes.files.size() + changes.more_files, "file", "files");
    if (!changes.name.empty()) html << " in <code>" << changes.name << "</code>";
    if (changes.added < 0) {
      html << "; the record names them, and the diff with their lines is not there";
    } else {
      html << ", <span class=\"add\">"
           << counted(static_cast<std::size_t>(changes.added), "line", "lines")
           << " added</span>, <span class=\"del\">" << changes.removed << " removed</span>";
    }
    if (changes.applied) {
      html << (*changes.applied ? std::string_view("; applied to the workspace")
                                : std::string_view("; not applied to the workspace"));
    }
    html << "</p>\n";
    write_other_authors(html, changes.files);
  }
  PageRoom list(kMostListBytes);
  std::size_t more_conflicts = 0;
  for (const auto& conflict : changes.conflicts) {
    const bool fits = list.write(html, [&conflict](Html& part) {
      part << "<p class=\"event bad\">Changed by the user, too: <code>" << conflict
           << "</code></p>";
    });
    if (!fits) ++more_conflicts;
  }
  if (more_conflicts > 0) {
    html << "<p class=\"event bad\">"
         << counted(more_conflicts, "more such file is", "more such files are")
         << " in result.json.</p>\n";
  }
  PageRoom room(kMostDiffBytes);
  PageRoom hunks(kMostDiffBytes / 6 * 5);
  std::int64_t lines = 0;
  std::size_t more = changes.more_files;
  for (const auto& file : changes.files) {
    lines += std::max<std::int64_t>(0, file.added) + std::max<std::int64_t>(0, file.removed);
    if (!room.write(html, [&](Html& part) { write_file(part, file, lines <= kOpenLines, hunks); }))
      ++more;
  }
  if (more > 0) html << "<p class=\"soft\">" << more << " more files are in the diff itself.</p>\n";
  write_left_out(html, changes);
  html << "</section>\n";
}

}  // namespace sortie

#include "tools/git/git_diff.h"

#include "core/base/error.h"
#include "core/files/path_below.h"
#include "core/text/git_quote.h"
#include "core/workspace/diff/whole_diff.h"
#include "tools/git/time_limit.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kBegin = "diff --git ";
constexpr std::size_t kMaxListed = 200;

bool is_in(const std::string& path, const std::string& folder) {
  return folder == "." || is_below(path, folder);
}

std::string summary_line(const DiffFile& file) {
  const char* kind = file.kind == ChangedPath::Kind::added     ? "A "
                     : file.kind == ChangedPath::Kind::deleted ? "D "
                                                               : "M ";
  std::string line = kind + git_quoted_for_reading(file.path);
  if (!file.old_path.empty()) line += " (was " + git_quoted_for_reading(file.old_path) + ")";
  return line + " +" + std::to_string(file.added_lines) + " -" +
         std::to_string(file.deleted_lines) + "\n";
}

std::string files_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " file" : " files");
}

void add_note(std::string& note, const std::string& text) {
  note += (note.empty() ? "" : "; ") + text;
}

/// Changes that the final diff can't contain either: the model should know now.
std::string undiffable(const Diff& diff, const std::string& folder) {
  constexpr std::size_t kMaxNamed = 5;
  std::string text;
  std::size_t count = 0;
  for (const LeftOut& one : diff.left_out) {
    if (one.why == LeftOut::Why::git_folder || !is_in(one.path, folder)) continue;
    if (++count <= kMaxNamed)
      text +=
          (text.empty() ? "" : ", ") + git_quoted_for_reading(one.path) + " (" + one.detail + ")";
  }
  if (count > kMaxNamed) text += " and " + std::to_string(count - kMaxNamed) + " more";
  return text;
}

}  // namespace

std::vector<std::string_view> diff_sections(std::string_view diff) {
  std::vector<std::string_view> sections;
  const auto first_line = [](std::string_view text) { return text.substr(0, text.find('\n')); };
  // Content lines begin with another character, and lines of binary patches contain no space.
  while (diff.starts_with(kBegin)) {
    const std::size_t next = diff.find("\ndiff --git ");
    const std::size_t end = next == diff.npos ? diff.size() : next + 1;
    // A type change (file to link or back) is a deletion followed by an addition.
    if (!sections.empty() && first_line(sections.back()) == first_line(diff))
      sections.back() = {sections.back().data(), sections.back().size() + end};
    else
      sections.push_back(diff.substr(0, end));
    diff.remove_prefix(end);
  }
  return sections;
}

GitDiff::GitDiff(MakeDiff make, fs::path workspace, const Clock& clock, GitDiffOptions options)
    : make_(std::move(make)),
      workspace_(std::move(workspace)),
      clock_(clock),
      options_(std::move(options)) {
  spec_.name = "git_diff";
  spec_.description =
      "Shows your changes since the run began, staged or not, as a git diff: all of them, or those "
      "of one file or folder. All changed files are listed; if their diffs are too long, only the first ones are "
      "shown.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {"path": {"type": "string", "description": "File or folder. Default: all changes."}},
    "additionalProperties": false
  })");
}

std::vector<Action> GitDiff::actions(const Json& arguments) const {
  return {ReadPath{workspace_path(arguments.string_at("path"), workspace_)}};
}

Diff GitDiff::make(const std::string& path, const std::stop_token& stop) {
  const CancelCheck check_cancel =
      cancel_after(options_.time_limit, clock_, stop, "; use a more specific `path`");
  std::unique_lock lock(one_at_a_time_, std::defer_lock);
  // The diff in progress has the same time limit. Waits in steps, to notice a stop.
  while (!lock.try_lock_for(std::chrono::milliseconds(50))) check_cancel();
  check_cancel();
  return make_(path == "." ? "" : path, check_cancel);
}

bool GitDiff::is_shown(const DiffFile& file, const std::string& path) const {
  const auto& hidden = options_.hidden;
  if (hidden && (hidden(file.path) || (!file.old_path.empty() && hidden(file.old_path))))
    return false;
  return is_in(file.path, path) || (!file.old_path.empty() && is_in(file.old_path, path));
}

ToolResult GitDiff::run(const Json& arguments, std::stop_token stop) {
  const std::string path = workspace_path(arguments.string_at("path"), workspace_).string();
  Diff diff;
  try {
    diff = make(path, stop);
  } catch (const Error& error) {
    throw ToolError("Can't make the diff: " + std::string(error.what()));
  }
  const std::vector<DiffFile> files = all_files(diff);
  auto sections = diff_sections(diff.text);
  for (const Diff& one : diff.submodules) {
    const auto own = diff_sections(one.text);
    sections.insert(sections.end(), own.begin(), own.end());
  }
  if (sections.size() != files.size()) throw ToolError("Can't split the diff into files");
  ToolResult result;
  std::string list;
  std::size_t count = 0;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!is_shown(files[i], path)) continue;
    if (++count <= kMaxListed) list += summary_line(files[i]);
    // Stops at the first diff that does not fit: the shown diffs are the beginning of the list.
    const bool fits = result.text.size() + sections[i].size() <= options_.max_bytes;
    if (shown + 1 != count || (shown > 0 && !fits)) continue;
    ++shown;
    result.text += sections[i];
  }
  const std::string where = path == "." ? "" : " in " + git_quoted_for_reading(path);
  if (count == 0) {
    result.text = "No changes" + where + ".\n";
  } else {
    result.head = files_text(count) + " changed" + where + " since " +
                  (diff.base == "head" ? "HEAD" : "the start of the run") + ":\n" + list;
    if (count > kMaxListed)
      result.head += "… and " + std::to_string(count - kMaxListed) + " more\n";
  }
  if (shown < count)
    add_note(result.note, "the diffs of " + files_text(count - shown) +
                              " are left out; use `path` to see one of them");
  for (const Diff& one : diff.submodules)
    add_note(result.note, "the diffs of files in " + git_quoted_for_reading(one.submodule) +
                              ", a submodule, have paths that begin there");
  if (!diff.too_large.empty())
    add_note(result.note,
             std::to_string(diff.too_large.size()) + " changed files are too large to show");
  if (const std::string lost = undiffable(diff, path); !lost.empty())
    add_note(result.note, "the final diff can't contain " + lost +
                              ": undo these changes, or change other files");
  return result;
}

}  // namespace sortie

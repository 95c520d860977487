#include "tools/git_diff.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kBegin = "diff --git ";

bool is_in(const std::string& path, const std::string& folder) {
  return folder == "." || path == folder || path.starts_with(folder + "/");
}

std::string line_of(const DiffFile& file) {
  const char* kind = file.kind == ChangedPath::Kind::added     ? "A "
                     : file.kind == ChangedPath::Kind::deleted ? "D "
                                                               : "M ";
  std::string line = kind + one_line(file.path, 4096);
  if (!file.old_path.empty()) line += " (was " + one_line(file.old_path, 4096) + ")";
  return line + " +" + std::to_string(file.added_lines) + " -" +
         std::to_string(file.deleted_lines) + "\n";
}

}  // namespace

std::vector<std::string_view> diff_sections(std::string_view diff) {
  std::vector<std::string_view> sections;
  // Lines of content begin with another letter, those of binary patches hold no blank.
  while (diff.starts_with(kBegin)) {
    const std::size_t next = diff.find("\ndiff --git ");
    const std::size_t end = next == diff.npos ? diff.size() : next + 1;
    sections.push_back(diff.substr(0, end));
    diff.remove_prefix(end);
  }
  return sections;
}

GitDiff::GitDiff(std::function<Diff()> make, fs::path workspace, HiddenPaths hidden)
    : make_(std::move(make)), workspace_(std::move(workspace)), hidden_(std::move(hidden)) {
  spec_.name = "git_diff";
  spec_.description =
      "Shows what you have changed since the run began, as a diff in git's format: all of it, or "
      "that of one file or folder.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {"path": {"type": "string", "description": "File or folder, default: all."}},
    "additionalProperties": false
  })");
}

std::vector<Action> GitDiff::actions(const Json& arguments) const {
  return {ReadPath{workspace_path(arguments.string_at("path"), workspace_)}};
}

ToolResult GitDiff::run(const Json& arguments, std::stop_token) {
  const std::string path = workspace_path(arguments.string_at("path"), workspace_).string();
  Diff diff;
  try {
    const std::lock_guard lock(one_at_a_time_);
    diff = make_();
  } catch (const Error& error) {
    throw ToolError("The diff can't be made: " + std::string(error.what()));
  }
  const auto sections = diff_sections(diff.text);
  if (sections.size() != diff.files.size())
    throw ToolError("The diff can't be told apart by files");
  ToolResult result;
  std::string list;
  std::size_t count = 0;
  for (std::size_t i = 0; i < diff.files.size(); ++i) {
    const DiffFile& file = diff.files[i];
    if (hidden_ && (hidden_(file.path) || (!file.old_path.empty() && hidden_(file.old_path))))
      continue;
    if (!is_in(file.path, path) && (file.old_path.empty() || !is_in(file.old_path, path))) continue;
    ++count;
    list += line_of(file);
    result.text += sections[i];
  }
  const std::string where = path == "." ? "" : " in " + one_line(path, 4096);
  if (count == 0) {
    result.text = "Nothing is changed" + where + ".\n";
  } else {
    result.head = std::to_string(count) + (count == 1 ? " file" : " files") + " changed" + where +
                  " since " + (diff.base == "head" ? "HEAD" : "the start of the run") + ":\n" +
                  (count <= 100 ? list : "");
  }
  if (!diff.too_large.empty())
    result.note =
        std::to_string(diff.too_large.size()) + " changed files are too large to be shown";
  return result;
}

}  // namespace sortie

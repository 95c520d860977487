#include "tools/files/list_dir.h"

#include <optional>

#include "core/base/error.h"
#include "core/text/git_quote.h"
#include "core/text/text.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace fs = std::filesystem;

namespace {

/// Entries that are counted after the last one shown.
constexpr std::size_t kMostCounted = 100'000;

fs::path below(const fs::path& folder, const std::string& name) {
  return folder == "." ? fs::path(name) : folder / name;
}

}  // namespace

struct ListDir::Listing {
  std::size_t limit = 0;
  std::size_t max_bytes = 0;
  const Clock& clock;
  std::chrono::steady_clock::time_point deadline{};
  std::stop_token stop{};
  std::size_t seen = 0;
  std::size_t shown = 0;
  std::size_t left_out = 0;    ///< counted, not shown
  std::size_t unreadable = 0;  ///< folders that can't be read
  std::string text{};
  const char* cut_by = nullptr;  ///< why the walk ended early

  bool is_full() const { return left_out > 0; }
  bool has_ended() const { return left_out >= kMostCounted || cut_by != nullptr; }
  bool must_end() {
    if (stop.stop_requested())
      cut_by = "since the run is ending";
    else if (clock.steady() >= deadline)
      cut_by = "at its time limit";
    return has_ended();
  }
  void add(const std::string& line) {
    if (is_full() || shown == limit || (shown > 0 && text.size() + line.size() > max_bytes)) {
      ++left_out;
      return;
    }
    ++shown;
    text += line;
  }
};

ListDir::ListDir(const Files& files, fs::path workspace, const Clock& clock, ListDirOptions options)
    : files_(files), workspace_(std::move(workspace)), clock_(clock), options_(std::move(options)) {
  spec_.name = "list_dir";
  spec_.description =
      "Lists a folder, sorted by name: 'name/' is a folder, 'name -> target' a link, 'name|' a "
      "special file. Names that begin with a dot and git-ignored files are listed too. "
      "Odd names are in double quotes with C's escapes, as git writes them; tools take them so.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {
      "path": {"type": "string", "description": "Folder to list. Default: the workspace."},
      "depth": {"type": "integer", "minimum": 1, "maximum": 16,
                "description": "Levels of subfolders to list. Default: 1."},
      "limit": {"type": "integer", "minimum": 1, "maximum": 5000,
                "description": "Maximum number of entries. Default: 400."}
    },
    "additionalProperties": false
  })");
}

std::vector<Action> ListDir::actions(const Json& arguments) const {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  if (path == ".") return {ReadPath{path}};
  return {ReadPath{path}, ReadPath{files_.resolve(path)}};
}

std::string ListDir::line_of(const fs::path& path, FileStatus::Kind kind) const {
  const bool is_folder = kind == FileStatus::Kind::folder;
  std::string line = git_quoted_for_reading(path.native() + (is_folder ? "/" : ""));
  if (kind == FileStatus::Kind::other) line += '|';
  if (kind == FileStatus::Kind::symlink) {
    try {
      line += " -> " + git_quoted_for_reading(files_.read_link(path));
    } catch (const ToolError&) {  // removed or replaced since its folder was read
      line += " ->";
    }
  }
  return line + '\n';
}

void ListDir::list(const std::vector<FolderEntry>& entries, const fs::path& folder, int depth,
                   Listing& listing) const {
  for (const auto& [name, kind] : entries) {
    // Reading a folder takes time, its names do not.
    if (listing.has_ended() || (listing.seen++ % 64 == 0 && listing.must_end())) return;
    const fs::path path = below(folder, name);
    if (options_.hidden && options_.hidden(path)) continue;
    // The content of .git is large and irrelevant to the task.
    const bool descends = kind == FileStatus::Kind::folder && depth > 1 && name != ".git";
    std::optional<std::vector<FolderEntry>> inner;
    if (descends) {
      if (listing.must_end()) return;
      try {
        inner = files_.list(path);
      } catch (const ToolError&) {
        ++listing.unreadable;
      }
    }
    std::string line = listing.is_full() ? "" : line_of(path, kind);
    if (descends && !inner && !line.empty()) line.insert(line.size() - 1, " (can't be read)");
    listing.add(line);
    if (inner) list(*inner, path, depth - 1, listing);
  }
}

ToolResult ListDir::run(const Json& arguments, std::stop_token stop) {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  if (path != "." && !files_.status(files_.resolve(path)))
    throw ToolError(missing_path(files_, path, options_.hidden));
  Listing listing{.limit = static_cast<std::size_t>(arguments.integer_at("limit", 400)),
                  .max_bytes = options_.max_bytes,
                  .clock = clock_,
                  .deadline = clock_.steady() + options_.time_limit,
                  .stop = std::move(stop)};
  list(files_.list(path), path, static_cast<int>(arguments.integer_at("depth", 1)), listing);
  ToolResult result;
  result.text = std::move(listing.text);
  if (listing.shown == 0 && !listing.has_ended()) result.text = path.string() + " is empty\n";
  if (listing.is_full())
    result.head = "The first " + std::to_string(listing.shown) + " entries; " +
                  (listing.has_ended() ? "more than " : "") + std::to_string(listing.left_out) +
                  " more are left out\n";
  if (listing.cut_by)
    result.note = "the listing stopped early, " + std::string(listing.cut_by) +
                  ": there may be more entries; use a smaller `depth` or a deeper `path`";
  if (listing.unreadable > 0)
    result.note += (result.note.empty() ? "" : "; ") + std::to_string(listing.unreadable) +
                   (listing.unreadable == 1 ? " folder" : " folders") + " can't be read";
  return result;
}

}  // namespace sortie

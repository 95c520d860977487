#include "tools/list_dir.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace fs = std::filesystem;

struct ListDir::Listing {
  std::size_t limit = 0;
  std::size_t shown = 0;
  bool more = false;
  std::string text{};
};

ListDir::ListDir(const Files& files, fs::path workspace,
                 std::function<bool(const fs::path&)> hidden)
    : files_(files), workspace_(std::move(workspace)), hidden_(std::move(hidden)) {
  spec_.name = "list_dir";
  spec_.description =
      "Lists a folder, sorted by name: 'name/' is a folder, 'name -> target' a link, 'name|' "
      "neither file, folder nor link.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {
      "path": {"type": "string", "description": "Default: the workspace."},
      "depth": {"type": "integer", "minimum": 1, "maximum": 16,
                "description": "Levels to go down, default 1."},
      "limit": {"type": "integer", "minimum": 1, "maximum": 5000,
                "description": "Entries at most, default 400."}
    },
    "additionalProperties": false
  })");
}

std::vector<Action> ListDir::actions(const Json& arguments) const {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  if (path == ".") return {ReadPath{path}};
  return {ReadPath{path}, ReadPath{files_.resolve(path)}};
}

void ListDir::list(const fs::path& folder, int depth, Listing& listing) const {
  for (const auto& [name, kind] : files_.list(folder)) {
    const fs::path path = folder == "." ? fs::path(name) : folder / name;
    if (hidden_ && hidden_(path)) continue;
    if (listing.shown == listing.limit) {
      listing.more = true;
      return;
    }
    ++listing.shown;
    listing.text += one_line(path.string(), 4096);
    if (kind == FileStatus::Kind::folder) listing.text += '/';
    if (kind == FileStatus::Kind::other) listing.text += '|';
    if (kind == FileStatus::Kind::symlink)
      listing.text += " -> " + one_line(files_.read_link(path), 4096);
    listing.text += '\n';
    // What is in .git is no concern of the work, and there is much of it.
    if (kind == FileStatus::Kind::folder && depth > 1 && name != ".git")
      list(path, depth - 1, listing);
  }
}

ToolResult ListDir::run(const Json& arguments, std::stop_token) {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  Listing listing{.limit = static_cast<std::size_t>(arguments.integer_at("limit", 400))};
  list(path, static_cast<int>(arguments.integer_at("depth", 1)), listing);
  ToolResult result;
  result.text = std::move(listing.text);
  if (listing.shown == 0) result.text = path.string() + " is empty\n";
  if (listing.more)
    result.head = "The first " + std::to_string(listing.shown) + " entries; there are more\n";
  return result;
}

}  // namespace sortie

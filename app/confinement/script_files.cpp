#include "app/confinement/script_files.h"

#include <optional>
#include <string>

#include "core/base/error.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Larger ones are no scripts, and comparing them would hold up each call.
constexpr std::uint64_t kMaxScript = 64ull << 20;

/// The rest of the path behind the workspace, its own ".." and links left for the kernel's rules;
/// nothing where it does not begin there.
std::optional<fs::path> behind(const fs::path& path, const fs::path& workspace) {
  const std::string prefix = workspace.string() + "/";
  const std::string text = path.string();
  if (!text.starts_with(prefix)) return std::nullopt;
  return fs::path(text.substr(prefix.size()));
}

/// Why the file at this place is not what it was, or "".
std::string difference(const Files& start, const Files& view, const fs::path& path) {
  const std::string name = path.string();
  const auto now = view.status(path);
  const auto before = start.status(path);
  if (!now) return name + " does not exist";
  if (!before) return name + " was made in this run, and only scripts of the start may run";
  if (now->kind != FileStatus::Kind::file) return name + " is no file";
  if ((now->mode & 0111) == 0) return name + " is not executable";
  const bool same = before->kind == now->kind && before->mode == now->mode &&
                    before->size == now->size &&
                    start.read(path, kMaxScript) == view.read(path, kMaxScript);
  return same ? "" : name + " was changed in this run, and only scripts of the start may run";
}

}  // namespace

ScriptFiles script_files(const Files& start, const Files& view, fs::path workspace) {
  return [&start, &view, workspace = std::move(workspace)](const fs::path& path) {
    ScriptFile file;
    const auto relative = behind(path, workspace);
    if (!relative) {
      file.problem = "the path leaves the workspace on its way";
      return file;
    }
    try {
      file.path = view.resolve(*relative);
      file.problem = difference(start, view, file.path);
      if (file.problem.empty() && start.resolve(*relative) != file.path)
        file.problem = relative->string() + " led elsewhere at the start of the run";
    } catch (const ToolError& error) {
      file.problem = error.what();
    }
    return file;
  };
}

}  // namespace sortie

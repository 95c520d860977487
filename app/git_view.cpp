#include "app/git_view.h"

#include <algorithm>

#include "core/base/path_below.h"
#include "core/base/pattern.h"
#include "core/workspace/git_place.h"
#include "core/workspace/git_secrets.h"
#include "policies/sandbox/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRepositoryEntries = 300'000;
constexpr std::size_t kMostHiddenPlaces = 1'000;

/// What paths.hide names in a working tree outside of the workspace: all of it, or nothing is
/// shown.
class HiddenSearch {
 public:
  HiddenSearch(fs::path toplevel, const GitViewInputs& inputs)
      : toplevel_(std::move(toplevel)), inputs_(inputs) {
    for (const std::string& glob : inputs.hide) {
      if (glob.starts_with('/') || glob.starts_with('~')) continue;  // hidden wherever it stands
      patterns_.push_back(Pattern::path_glob(glob));
      patterns_.push_back(Pattern::path_glob("**/" + glob));
    }
  }

  /// False where it is too much.
  bool run(std::vector<fs::path>& found) { return patterns_.empty() || search("", found); }

 private:
  bool search(const fs::path& folder, std::vector<fs::path>& found) {
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::directory_iterator at(toplevel_ / folder, options, error), end; !error && at != end;
         at.increment(error)) {
      if (++entries_ > kMostRepositoryEntries) return false;
      const fs::path name = at->path().filename();
      const fs::path path = folder / name;
      if (name == ".git" || at->path() == inputs_.workspace) continue;
      std::error_code unknown;
      const bool is_link = at->is_symlink(unknown);
      if (any_matches(patterns_, path.native())) {
        if (is_link || git_tracks(toplevel_, path)) continue;
        found.push_back(at->path());
        if (found.size() > kMostHiddenPlaces) return false;
      } else if (!is_link && name != "node_modules" && at->is_directory(unknown) &&
                 !search(path, found)) {
        return false;
      }
    }
    return true;
  }

  fs::path toplevel_;
  const GitViewInputs& inputs_;
  std::vector<Pattern> patterns_;
  std::size_t entries_ = 0;
};

/// --out and the one before, which hold what runs were told and have answered.
std::vector<fs::path> outputs_in(const fs::path& toplevel, const GitViewInputs& inputs) {
  std::vector<fs::path> found;
  for (const fs::path& folder : {inputs.out, fs::path(inputs.out.string() + ".prev")}) {
    std::error_code error;
    if (!inputs.out.empty() && is_below(folder, toplevel) && !is_below(folder, inputs.workspace) &&
        fs::is_directory(fs::symlink_status(folder, error)))
      found.push_back(folder);
  }
  return found;
}

/// Whether a folder holds what the view keeps from commands, or has of its own.
bool holds_private_places(const fs::path& folder, const GitViewInputs& inputs) {
  const fs::path places[] = {inputs.home, "/tmp", "/var/tmp", "/dev/shm", "/proc", "/sys", "/run"};
  return std::any_of(std::begin(places), std::end(places),
                     [&](const fs::path& place) { return is_below(place, folder); });
}

/// "" or why the working tree above the workspace is not shown.
std::string show_working_tree(const fs::path& toplevel, const GitViewInputs& inputs,
                              FoundGitView& found) {
  const std::string name = "the repository at " + toplevel.string();
  if (!inputs.namespaces) return name + " is above the workspace, which is a copy here";
  if (holds_private_places(toplevel, inputs)) return name + " holds HOME or /tmp, which is private";
  std::vector<fs::path> hidden;
  if (!HiddenSearch(toplevel, inputs).run(hidden))
    return name + " has too many files to look for all that paths.hide names";
  found.hidden = std::move(hidden);
  found.view.covered = outputs_in(toplevel, inputs);
  found.view.folders.push_back(toplevel);
  return "";
}

void show_folders(const GitPlace& place, const GitViewInputs& inputs, FoundGitView& found) {
  std::vector<fs::path> folders = {place.common_dir, place.git_dir};
  folders.insert(folders.end(), place.alternates.begin(), place.alternates.end());
  for (const fs::path& folder : folders) {
    auto& shown = found.view.folders;
    const bool is_there = is_below(folder, inputs.workspace) ||
                          std::any_of(shown.begin(), shown.end(),
                                      [&](const fs::path& one) { return is_below(folder, one); });
    if (is_there) continue;
    // Such a folder holds more than a repository.
    if (holds_private_places(folder, inputs) || is_below(inputs.workspace, folder)) {
      found.problem = "the repository's " + folder.string() + " holds the workspace, HOME or /tmp";
      continue;
    }
    shown.push_back(folder);
  }
}

}  // namespace

FoundGitView find_git_view(const GitViewInputs& inputs) {
  FoundGitView found;
  for (auto& config : clean_git_configs(inputs.workspace))
    found.view.files.emplace_back(std::move(config.file), std::move(config.text));
  const GitPlace place = find_git_place(inputs.workspace);
  if (place.git_dir.empty()) return found;
  if (place.toplevel != inputs.workspace) {
    found.problem = show_working_tree(place.toplevel, inputs, found);
    if (!found.problem.empty()) return found;
  }
  show_folders(place, inputs, found);
  return found;
}

}  // namespace sortie

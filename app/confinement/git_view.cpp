#include "app/confinement/git_view.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/files/path_below.h"
#include "core/git/config/git_place.h"
#include "core/git/config/git_secrets.h"
#include "core/text/name_filter.h"
#include "core/text/pattern.h"
#include "core/workspace/tree_search.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostHiddenPlaces = 4'000;

/// Only the relative globs: absolute ones are hidden anyway.
std::vector<std::string> relative_globs(const std::vector<std::string>& hide,
                                        const std::string& above) {
  std::vector<std::string> globs;
  for (const std::string& glob : hide)
    if (!glob.starts_with('/') && !glob.starts_with('~')) globs.push_back(above + glob);
  return globs;
}

std::vector<std::string> together(std::vector<std::string> some,
                                  const std::vector<std::string>& others) {
  some.insert(some.end(), others.begin(), others.end());
  return some;
}

/// The globs of paths.hide: relative to the workspace in it, at any depth around it.
class HidePatterns {
 public:
  explicit HidePatterns(const GitViewInputs& inputs)
      : workspace_(inputs.workspace.string()),
        inside_(Pattern::path_globs(relative_globs(inputs.hide, ""), LetterCase::ignored)),
        around_(Pattern::path_globs(relative_globs(inputs.hide, "**/"), LetterCase::ignored)),
        protected_(Pattern::path_globs(inputs.protect, LetterCase::ignored)),
        names_(together(relative_globs(inputs.hide, ""), inputs.protect)) {}

  /// @param toplevel  of the working tree that is looked through
  /// @param path      absolute, below it
  bool hides(const fs::path& toplevel, const std::string& path) const {
    if (path == workspace_) return false;
    if (path.starts_with(workspace_ + '/'))
      return inside_.matches(std::string_view(path).substr(workspace_.size() + 1));
    const std::string below = path.substr(toplevel.native().size() + 1);
    return around_.matches(below) && !workspace_.starts_with(path + '/') &&
           !git_tracks(toplevel, below);
  }

  /// Whether a path in the workspace that has this name may be hidden or protected.
  bool concern(std::string_view name) const { return names_.name_may_match(name); }

  bool protects(const std::string& path) const {
    return path.starts_with(workspace_ + '/') &&
           protected_.matches(std::string_view(path).substr(workspace_.size() + 1));
  }

 private:
  std::string workspace_;
  Pattern inside_;
  Pattern around_;
  Pattern protected_;
  NameFilter names_;
};

/// Distributes the finds to the lists of the result.
void take(TreeFinds finds, const GitViewInputs& inputs, FoundGitView& found) {
  const fs::path& workspace = inputs.workspace;
  for (fs::path& path : finds.hidden) {
    if (is_below(path, workspace))
      found.hidden_inside.push_back(path.lexically_relative(workspace));
    else
      found.hidden.push_back(std::move(path));
  }
  for (const fs::path& path : finds.guarded)
    found.protected_inside.push_back(path.lexically_relative(workspace));
  // The run's own link to its state comes meanwhile; commands don't see --out.
  const auto is_own = [&](const fs::path& link) {
    return !inputs.out.empty() && is_below(link, inputs.out);
  };
  for (const fs::path& path : finds.links)
    if (is_below(path, workspace) && !is_own(path))
      found.links.push_back(path.lexically_relative(workspace));
  found.sockets.insert(found.sockets.end(), finds.sockets.begin(), finds.sockets.end());
  found.git_files.insert(found.git_files.end(), finds.git_files.begin(), finds.git_files.end());
  if (!finds.complete)
    found.incomplete =
        "the workspace has more than 300,000 files and folders: of what paths.hide names, and of "
        "credentials in the configuration of repositories in it, commands can read what lies "
        "beyond them, and what globs of paths.protect match there is not read-only for them; name "
        "whole folders by a plain path in paths.hide, or start the run in a "
        "smaller folder";
}

/// --out and OUT.prev, which hold the prompts and answers of runs.
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

/// Whether a folder contains places that are private in the view.
bool holds_private_places(const fs::path& folder, const GitViewInputs& inputs) {
  const fs::path places[] = {inputs.home, "/tmp", "/var/tmp", "/dev/shm", "/proc", "/sys", "/run"};
  return std::any_of(std::begin(places), std::end(places),
                     [&](const fs::path& place) { return is_below(place, folder); });
}

/// Shows the working tree above the workspace; returns why not, or "".
std::string show_working_tree(const fs::path& toplevel, const GitViewInputs& inputs,
                              FoundGitView& found) {
  const std::string name = "the repository at " + toplevel.string();
  if (!inputs.sandboxed) return "";
  if (!inputs.namespaces && inputs.in_place)
    return name + " is above the workspace, which is all that commands see without namespaces";
  if (!inputs.namespaces) return name + " is above the workspace, which is a copy here";
  if (holds_private_places(toplevel, inputs)) return name + " holds HOME or /tmp, which is private";
  const HidePatterns patterns(inputs);
  TreeFinds finds = search_tree(
      toplevel, {.hides = [&](const std::string& path) { return patterns.hides(toplevel, path); },
                 .protects = [&](const std::string& path) { return patterns.protects(path); }});
  if (!finds.complete || finds.hidden.size() > kMostHiddenPlaces)
    return name + " has too many files to look for all that paths.hide names";
  take(std::move(finds), inputs, found);
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
    take(search_tree(folder), inputs, found);
  }
}

/// Searches the workspace alone, if it was not part of a larger search.
void search_workspace(const GitViewInputs& inputs, FoundGitView& found) {
  const HidePatterns patterns(inputs);
  take(
      search_tree(
          inputs.workspace,
          {.hides = [&](const std::string& path) { return patterns.hides(inputs.workspace, path); },
           .protects = [&](const std::string& path) { return patterns.protects(path); },
           .concerns = [&](std::string_view name) { return patterns.concern(name); }}),
      inputs, found);
}

/// Searches all that commands see of the repository and of the workspace.
FoundGitView look_through(const GitPlace& place, const GitViewInputs& inputs) {
  FoundGitView found;
  const bool is_around = !place.git_dir.empty() && place.toplevel != inputs.workspace;
  if (is_around) found.problem = show_working_tree(place.toplevel, inputs, found);
  if (!is_around || !found.problem.empty()) search_workspace(inputs, found);
  if (!place.git_dir.empty() && found.problem.empty()) show_folders(place, inputs, found);
  return found;
}

/// Adds the configurations without credentials.
FoundGitView with_configs(FoundGitView found, const GitViewInputs& inputs) {
  for (auto& config : clean_git_configs(inputs.workspace, found.git_files))
    found.view.files.emplace_back(std::move(config.file), std::move(config.text));
  return found;
}

}  // namespace

FoundGitView find_git_view(const GitViewInputs& inputs) {
  return with_configs(look_through(find_git_place(inputs.workspace), inputs), inputs);
}

EarlyGitView::EarlyGitView(GitViewInputs inputs) : inputs_(std::move(inputs)) {
  // Here: what is known of a repository is known to one thread (GitPlacesOnce).
  GitPlace place = find_git_place(inputs_.workspace);
  try {
    found_ = std::async(std::launch::async,
                        [this, place = std::move(place)] { return look_through(place, inputs_); });
  } catch (const std::system_error&) {  // no more threads: it is looked for when it is needed
  }
}

void EarlyGitView::wait() const {
  if (found_.valid()) found_.wait();
}

FoundGitView EarlyGitView::take(const GitViewInputs& inputs) {
  if (!found_.valid()) return find_git_view(inputs);
  FoundGitView found = found_.get();
  return inputs == inputs_ ? with_configs(std::move(found), inputs) : find_git_view(inputs);
}

}  // namespace sortie

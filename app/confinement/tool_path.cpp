#include "app/confinement/tool_path.h"

#include <algorithm>

#include "core/files/path_below.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Folders of PATH that the view shows, read-only, although they lie in private HOME or /tmp.
std::vector<fs::path> shown_folders(const ToolPathInputs& inputs, const SandboxProfile& profile) {
  std::vector<fs::path> shown = profile.toolchains;
  if (!shown.empty()) shown.push_back(inputs.home / ".local/bin");
  for (const fs::path& path : profile.readable) {
    const auto holds = [&](const fs::path& place) { return is_below(path, place); };
    // Without mounts a folder can't be read-only within one that is writable.
    if (profile.use_namespaces ||
        std::none_of(profile.writable.begin(), profile.writable.end(), holds))
      shown.push_back(path);
  }
  return shown;
}

/// What a rule widens goes by a command's name: no command may say what that is. So it is with
/// allow rules under deny-by-default.
WorkspaceFolders workspace_folders(const ToolPathInputs& inputs) {
  return inputs.approval == Approval::deny_by_default || inputs.policy.escalation
             ? WorkspaceFolders::left_out
             : WorkspaceFolders::kept;
}

}  // namespace

CommandPath tool_path(const ToolPathInputs& inputs, const Environment& own,
                      const SandboxProfile& profile) {
  const fs::path& seen = workspace_root(profile);
  // The caller's HOME too where the commands have another: its tools need more of it than the
  // folder of PATH, and a run is to find the same programs everywhere.
  CommandPathPlaces places;
  places.writable = {profile.home, inputs.home};
  if (seen != inputs.workspace) places.writable.push_back(seen);
  places.writable.insert(places.writable.end(), profile.writable.begin(), profile.writable.end());
  places.shown = shown_folders(inputs, profile);
  places.workspace = inputs.workspace;
  places.home = inputs.home;
  places.workspace_folders = workspace_folders(inputs);
  places.kept_apart = profile.writable;
  places.kept_apart.insert(places.kept_apart.end(), {inputs.workspace, seen, profile.home});
  if (!inputs.out.empty()) places.kept_apart.push_back(inputs.out);
  places.installations =
      inputs.policy.toolchains ? Installations::all : Installations::outside_home;
  CommandPath found = find_command_path(own, places);

  const auto as_seen = [&](const fs::path& path) {
    return is_below(path, inputs.workspace) ? seen / path.lexically_relative(inputs.workspace)
                                            : path;
  };
  for (fs::path& folder : found.folders) folder = as_seen(folder);
  for (auto& [name, value] : found.variables) value = as_seen(value).string();
  return found;
}

}  // namespace sortie

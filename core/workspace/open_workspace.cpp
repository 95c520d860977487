#include "core/workspace/open_workspace.h"

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/workspace/copy.h"
#include "core/workspace/overlay.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr const char* kOverlayRemedy =
    "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container --cap-add SYS_ADMIN), put "
    "--out on a file system that overlayfs takes, or use --isolation copy";

void check_state(const WorkspaceOptions& options) {
  const auto relative = options.state.lexically_relative(options.root);
  if (!relative.empty() && *relative.begin() != "..") {
    throw Error("the state folder " + path_text(options.state) + " lies inside the workspace",
                ExitCode::environment);
  }
}

/// Which isolation a run that is resumed here had; its changes lie there.
std::optional<Isolation> earlier_isolation(const WorkspaceOptions& options) {
  std::error_code ignored;
  if (fs::exists(options.state / "upper", ignored)) return Isolation::overlay;
  if (fs::exists(options.state / "manifest", ignored)) return Isolation::copy;
  return std::nullopt;
}

std::unique_ptr<Workspace> open_overlay(const WorkspaceOptions& options) {
  const std::string obstacle = overlay_obstacle(options);
  if (!obstacle.empty()) {
    throw Error("--isolation overlay does not work here: " + obstacle + "; " + kOverlayRemedy,
                ExitCode::environment);
  }
  return std::make_unique<OverlayWorkspace>(options, "asked for");
}

std::unique_ptr<Workspace> open_best(const WorkspaceOptions& options) {
  const auto earlier = earlier_isolation(options);
  std::string obstacle;
  if (earlier == Isolation::copy) {
    obstacle = "the run goes on in its copy";
  } else {
    obstacle = overlay_obstacle(options);
    if (obstacle.empty()) {
      return std::make_unique<OverlayWorkspace>(options, "the first choice, and it works here");
    }
    obstacle = "overlay: " + obstacle;
  }
  if (earlier == Isolation::overlay) {
    throw Error("the run was begun in an overlay, which does not work any more: " + obstacle,
                ExitCode::environment);
  }
  try {
    return std::make_unique<CopyWorkspace>(options, obstacle);
  } catch (const Error& error) {
    throw Error("no isolation works here: " + obstacle + "; copy: " + error.what(), error.code());
  }
}

}  // namespace

std::unique_ptr<Workspace> open_workspace(const WorkspaceOptions& options) {
  if (options.isolation == Isolation::none) {
    throw Error("--isolation none is not supported yet; use auto, overlay or copy",
                ExitCode::usage);
  }
  check_state(options);
  switch (options.isolation) {
    case Isolation::overlay:
      return open_overlay(options);
    case Isolation::copy:
      return std::make_unique<CopyWorkspace>(options, "asked for");
    default:
      return open_best(options);
  }
}

}  // namespace sortie

#include "core/workspace/open_workspace.h"

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/workspace/copy.h"
#include "core/workspace/overlay.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

/// One way to keep the tree apart, in the order in which they are tried.
struct Way {
  Isolation isolation;
  const char* trace;  ///< what it leaves in the state folder: a run that is resumed goes on with it
  std::string (*obstacle)(const WorkspaceOptions& options);
  const char* remedy;  ///< for an obstacle
  std::unique_ptr<Workspace> (*open)(const WorkspaceOptions& options, std::string reason);
};

std::string no_obstacle(const WorkspaceOptions&) { return ""; }

constexpr Way kWays[] = {
    {Isolation::overlay, "upper", overlay_obstacle,
     "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
     "kernel.apparmor_restrict_unprivileged_userns=0; in a container --cap-add SYS_ADMIN), put "
     "--out on a file system that overlayfs takes, or use --isolation copy",
     make_overlay},
    {Isolation::copy, "manifest", no_obstacle, "", make_copy},
};
static_assert(std::size(kWays) + 1 == kSpelling<Isolation>.size(), "all but `auto` have a way");

void check_state(const WorkspaceOptions& options) {
  if (path_below(options.state, options.root))
    throw Error("the state folder " + path_text(options.state) + " lies inside the workspace",
                ExitCode::environment);
}

/// The way of a run that is resumed here: its changes lie there. nullptr: nothing was begun here.
const Way* earlier_way(const WorkspaceOptions& options) {
  std::error_code ignored;
  for (const Way& way : kWays)
    if (fs::exists(options.state / way.trace, ignored)) return &way;
  return nullptr;
}

std::unique_ptr<Workspace> open_named(const WorkspaceOptions& options, const Way& way) {
  const std::string obstacle = way.obstacle(options);
  if (!obstacle.empty())
    throw Error(std::string("--isolation ") + name_of(way.isolation) +
                    " does not work here: " + obstacle + "; " + way.remedy,
                ExitCode::environment);
  return way.open(options, "asked for");
}

std::unique_ptr<Workspace> open_earlier(const WorkspaceOptions& options, const Way& way) {
  const std::string name = name_of(way.isolation);
  if (const std::string obstacle = way.obstacle(options); !obstacle.empty())
    throw Error(
        "the run was begun with isolation " + name + ", which does not work any more: " + obstacle,
        ExitCode::environment);
  return way.open(options, "the run goes on in its " + name);
}

/// The first way that works here.
std::unique_ptr<Workspace> open_best(const WorkspaceOptions& options) {
  std::string obstacles;  // of the ways before
  for (const Way& way : kWays) {
    const std::string before = obstacles.empty() ? "" : obstacles + "; ";
    const std::string name = name_of(way.isolation);
    if (const std::string obstacle = way.obstacle(options); !obstacle.empty()) {
      obstacles = before + name + ": " + obstacle;
      continue;
    }
    if (obstacles.empty()) return way.open(options, "the first choice, and it works here");
    try {
      return way.open(options, obstacles);
    } catch (const Error& error) {
      throw Error("no isolation works here: " + before + name + ": " + error.what(), error.code());
    }
  }
  throw Error("no isolation works here: " + obstacles, ExitCode::environment);
}

}  // namespace

std::unique_ptr<Workspace> open_workspace(const WorkspaceOptions& options) {
  check_state(options);
  for (const Way& way : kWays)
    if (way.isolation == options.isolation) return open_named(options, way);
  const Way* const earlier = earlier_way(options);
  return earlier != nullptr ? open_earlier(options, *earlier) : open_best(options);
}

}  // namespace sortie

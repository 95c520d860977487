#include "core/workspace/open_workspace.h"

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/workspace/copy.h"
#include "core/workspace/overlay.h"
#include "core/workspace/own_tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

/// A kind of isolation; the table is in the order of the attempts.
struct Way {
  Isolation isolation;
  const char* trace;  ///< its file in the state folder: a resumed run continues with it
  std::string (*why_not)(const WorkspaceOptions& options);
  const char* remedy;  ///< what to do if it does not work
  std::unique_ptr<Workspace> (*open)(const WorkspaceOptions& options, std::string reason);
  bool only_by_name = false;  ///< `auto` never takes it
};

std::string never(const WorkspaceOptions&) { return ""; }

constexpr Way kWays[] = {
    {Isolation::overlay, "upper", why_no_overlay,
     "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
     "kernel.apparmor_restrict_unprivileged_userns=0; in a container --cap-add SYS_ADMIN), put "
     "--out on a file system that overlayfs supports, or use --isolation copy",
     make_overlay},
    {Isolation::copy, "manifest", never, "", make_copy},
    {Isolation::none, "in-place", why_not_own_tree,
     "set paths.protect: [] in the policy if commands may change every path, or use --isolation "
     "copy",
     make_own_tree, true},
};
static_assert(std::size(kWays) + 1 == kSpelling<Isolation>.size(), "all but `auto` have a way");

void check_state(const WorkspaceOptions& options) {
  if (path_below(options.state, options.root))
    throw Error("the state folder " + path_text(options.state) + " is inside the workspace",
                ExitCode::environment);
}

/// The row of the run that is resumed: its changes are stored there; nullptr if none was begun.
const Way* earlier_way(const WorkspaceOptions& options) {
  std::error_code ignored;
  for (const Way& way : kWays)
    if (fs::exists(options.state / way.trace, ignored)) return &way;
  return nullptr;
}

std::unique_ptr<Workspace> open_named(const WorkspaceOptions& options, const Way& way) {
  const std::string reason = way.why_not(options);
  if (!reason.empty())
    throw Error(std::string("--isolation ") + name_of(way.isolation) +
                    " does not work here: " + reason + "; " + way.remedy,
                ExitCode::environment);
  return way.open(options, "asked for");
}

std::unique_ptr<Workspace> open_earlier(const WorkspaceOptions& options, const Way& way) {
  const std::string name = name_of(way.isolation);
  if (const std::string reason = way.why_not(options); !reason.empty())
    throw Error("the run started with isolation " + name + ", which no longer works: " + reason,
                ExitCode::environment);
  return way.open(options, way.isolation == Isolation::none
                               ? "the run continues in the user's own tree"
                               : "the run continues in its " + name);
}

/// The first way that works here.
std::unique_ptr<Workspace> open_best(const WorkspaceOptions& options) {
  std::string reasons;  // why the ways before don't work
  for (const Way& way : kWays) {
    if (way.only_by_name) continue;
    const std::string before = reasons.empty() ? "" : reasons + "; ";
    const std::string name = name_of(way.isolation);
    if (const std::string reason = way.why_not(options); !reason.empty()) {
      reasons = before + name + ": " + reason;
      continue;
    }
    if (reasons.empty()) return way.open(options, "the first choice, which works here");
    try {
      return way.open(options, reasons);
    } catch (const Error& error) {
      throw Error("no isolation works here: " + before + name + ": " + error.what(), error.code(),
                  error.cause());
    }
  }
  throw Error("no isolation works here: " + reasons, ExitCode::environment);
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

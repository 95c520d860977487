#include "policies/sandbox/view/set_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/files/open_beneath.h"
#include "core/files/path_below.h"
#include "policies/sandbox/layers/mounts.h"
#include "policies/sandbox/view/private_folders.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

Fd open_part(const Fd& above, const std::string& path) {
  Fd part = open_beneath(above.get(), path, O_PATH | O_DIRECTORY);
  if (!part) throw system_error("open " + path, ExitCode::environment);
  return part;
}

/// An overlay with the folders "upper" and "work" of `own`.
Fd overlay_on(const Fd& lower, const Fd& state, const std::string& own, UserNamespace user) {
  const Fd upper = open_part(state, own + "/upper");
  const Fd work = open_part(state, own + "/work");
  // The set's folders are removed with it: nothing has to be synced.
  return make_detached("overlay", overlay_options(lower, upper, work, user) + ",volatile");
}

/// Makes the folders of a path below `root`, with the owner of commands. Whatever else is on the
/// way, a link too, is removed: it is no part of the tree that the path is of.
fs::path make_way(const fs::path& root, const std::string& path, const SandboxProfile& profile) {
  fs::path made = root;
  for (const fs::path& part : fs::path(path)) {
    made /= part;
    struct stat status {};
    if (::lstat(made.c_str(), &status) == 0) {
      if (S_ISDIR(status.st_mode)) continue;
      if (::unlink(made.c_str()) != 0) throw system_error(made.string(), ExitCode::environment);
    }
    if (::mkdir(made.c_str(), 0755) != 0 ||
        (::geteuid() == 0 && ::chown(made.c_str(), profile.uid, profile.gid) != 0))
      throw system_error("mkdir " + made.string(), ExitCode::environment);
  }
  return made;
}

/// The places of the view inside the workspace, but not at it.
std::vector<std::pair<std::string, Fd>> places_inside(const SandboxProfile& profile,
                                                      const View& view) {
  const fs::path& root = workspace_root(profile);
  std::vector<fs::path> places = profile.writable;
  places.push_back(profile.home);
  places.insert(places.end(), view.toolchains.begin(), view.toolchains.end());
  std::vector<std::pair<std::string, Fd>> inside;
  for (const fs::path& place : places) {
    const auto below = path_below(place, root);
    if (!below || *below == "." || ::access(place.c_str(), F_OK) != 0) continue;
    inside.emplace_back(below->string(), copy_tree(place, Access::read_write));
  }
  return inside;
}

GitView inside_of(const GitView& git, const fs::path& root) {
  GitView inside;
  for (const auto& file : git.files)
    if (is_below(file.first, root)) inside.files.push_back(file);
  return inside;
}

}  // namespace

SetTreeMounts open_set_tree(const SetTree& tree, const View& view) {
  if (!view.start || !view.state)
    throw Error("there is no folder for another tree", ExitCode::environment);
  SetTreeMounts mounts;
  if (tree.kind == SetTree::Kind::overlay) {
    mounts.tree = overlay_on(view.start, view.state, tree.folder, view.user);
  } else {
    const std::string state = "/proc/self/fd/" + std::to_string(view.state.get());
    mounts.tree = copy_tree(fs::path(state) / tree.folder / "tree", Access::read_write);
  }
  for (std::size_t i = 0; i < tree.keep.size(); ++i) {
    const std::string own = tree.folder + "/keep-" + std::to_string(i);
    const Fd lower = open_part(view.workspace, tree.keep[i]);
    const Fd upper = open_part(view.state, own + "/upper");
    adopt_attributes(lower, "/proc/self/fd/" + std::to_string(upper.get()));
    mounts.kept.emplace_back(tree.keep[i], overlay_on(lower, view.state, own, view.user));
  }
  return mounts;
}

Fd mount_set_tree(const SetTreeMounts& mounts, const SandboxProfile& profile, const View& view,
                  const fs::path& scratch) {
  const fs::path& root = workspace_root(profile);
  const auto inside = places_inside(profile, view);
  attach_tree(mounts.tree, root);
  for (const auto& [path, tree] : mounts.kept) attach_tree(tree, make_way(root, path, profile));
  Fd bare = copy_tree(root, Access::read_write);
  for (const auto& [path, tree] : inside) attach_tree(tree, make_way(root, path, profile));
  View masked;
  lay_workspace_masks(profile, scratch, masked);
  lay_git_files(inside_of(profile.git, root), scratch, masked);
  return bare;
}

}  // namespace sortie

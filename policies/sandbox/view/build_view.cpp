#include "policies/sandbox/view/view.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/files/path_below.h"
#include "core/text/pattern.h"
#include "policies/sandbox/layers/mounts.h"
#include "policies/sandbox/view/private_folders.h"
#include "policies/sandbox/view/socket_files.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The mount at one path of the view.
struct Place {
  enum class Kind { machine, own, private_folder, toolchain, workspace };
  Kind kind = Kind::machine;
  bool is_optional = false;      ///< machine: left out if it can't be shown
  bool without_sockets = false;  ///< machine: SandboxProfile::without_sockets
  fs::path source = {};          ///< machine, own and toolchain: the real path
  std::string folder = {};       ///< private_folder: its name in the private file system
  Access access = Access::read_only;
  Fd tree{};
  bool is_folder = true;
};

/// Sorted by path, so that a folder comes before what is mounted below it.
using Places = std::map<fs::path, Place>;

fs::path below_root(const fs::path& path) { return path.relative_path(); }

/// Without a slash at the end.
fs::path plain(const fs::path& path) {
  fs::path clean = path.lexically_normal();
  return clean.has_filename() ? clean : clean.parent_path();
}

/// Where a path of the machine is shown: its folder with links resolved, so that no mount target
/// goes through a link.
std::optional<std::pair<fs::path, fs::path>> target_and_source(const fs::path& path) {
  std::error_code error;
  const fs::path source = fs::canonical(path, error);
  if (error || source == "/") return std::nullopt;
  const fs::path named = plain(path);
  if (source == named) return std::pair(source, source);
  const fs::path parent = fs::canonical(named.parent_path(), error);
  if (error || parent == "/") return std::pair(source, source);
  return std::pair(parent / named.filename(), source);
}

void add(Places& places, const fs::path& path, Place::Kind kind, Access access) {
  if (!path.is_absolute()) return;
  const auto place = target_and_source(path);
  if (!place) return;
  std::error_code error;
  const bool is_folder = fs::is_directory(place->second, error);
  places.insert_or_assign(
      place->first,
      Place{.kind = kind, .source = place->second, .access = access, .is_folder = is_folder});
}

void add_machine(Places& places, const SandboxProfile& profile, const std::string& path_variable) {
  // Most folders of PATH are among the readable ones too, and each takes some ten calls.
  std::set<fs::path> added;
  const auto readable = [&](const fs::path& path) {
    if (added.insert(path).second) add(places, path, Place::Kind::machine, Access::read_only);
  };
  for (std::size_t start = 0; start <= path_variable.size();) {
    const std::size_t end = std::min(path_variable.find(':', start), path_variable.size());
    readable(path_variable.substr(start, end - start));
    start = end + 1;
  }
  for (const auto& path : profile.readable) readable(path);
  if (profile.network == NetworkMode::full || profile.may_escalate_network) {
    // Often a link into /run, which is empty in the view.
    std::error_code error;
    const fs::path resolver = fs::canonical("/etc/resolv.conf", error);
    if (!error && !is_below(resolver, "/etc")) readable(resolver);
  }
  for (const char* folder : {"/usr", "/etc", "/opt"}) readable(folder);
  for (const fs::path& folder : profile.without_sockets) {
    readable(folder);
    if (const auto place = places.find(plain(folder)); place != places.end())
      place->second.without_sockets = true;
  }
}

/// Parts of /sys and /var. Their limits are those of the group that commands are in, as a group
/// namespace of their own makes it the root of the hierarchy for them.
void add_machine_state(Places& places, const SandboxProfile& profile) {
  const auto show = [&](const fs::path& path, const fs::path& source) {
    std::error_code error;
    if (!fs::is_directory(source, error)) return;
    Place place;
    place.source = source;
    place.is_optional = true;
    places.insert_or_assign(path, std::move(place));
  };
  for (const char* folder : kMachineFolders) {
    std::error_code error;
    const fs::path source = fs::canonical(folder, error);
    if (!error) show(folder, source);
  }
  if (!profile.shown_group.empty()) show(kGroupFolder, profile.shown_group);
}

/// /bin, /lib64 …: links on most systems, folders on some.
void add_top_level(Places& places, std::map<fs::path, fs::path>& links) {
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code error;
    const fs::path target = fs::read_symlink(name, error);
    if (error) {
      add(places, name, Place::Kind::machine, Access::read_only);
    } else {
      links.emplace(name, target);
    }
  }
}

/// A folder of PATH stays read-only: which program a name means is decided before the run.
void add_toolchains(Places& places, const SandboxProfile& profile) {
  for (const auto& path : profile.toolchains) {
    const auto place = target_and_source(path);
    if (place && places.count(place->first) == 0)
      add(places, path, Place::Kind::toolchain, Access::read_only);
  }
}

Places gather(const SandboxProfile& profile, const std::string& path_variable,
              std::map<fs::path, fs::path>& links) {
  Places places;
  add_machine_state(places, profile);
  add_machine(places, profile, path_variable);
  add_top_level(places, links);
  const auto keep_private = [&](const fs::path& path, const std::string& folder) {
    Place place;
    place.kind = Place::Kind::private_folder;
    place.folder = folder;
    if (path.is_absolute() && path != "/") places.insert_or_assign(path, std::move(place));
  };
  keep_private("/tmp", "tmp");
  keep_private("/var/tmp", "var-tmp");
  keep_private(profile.home.lexically_normal(), "home");
  add_toolchains(places, profile);
  for (const auto& path : profile.git.folders)
    if (places.count(path) == 0) add(places, path, Place::Kind::machine, Access::read_only);
  for (std::size_t i = 0; i < profile.git.covered.size(); ++i)
    keep_private(profile.git.covered[i], "covered-" + std::to_string(i));
  for (const auto& path : profile.writable) add(places, path, Place::Kind::own, Access::read_write);

  const fs::path& workspace = workspace_root(profile);
  std::erase_if(places, [&](const auto& entry) {
    const bool of_machine = entry.second.kind == Place::Kind::machine;
    return !workspace.empty() && of_machine && is_below(entry.first, workspace);
  });
  if (!workspace.empty()) {
    if (!workspace.is_absolute() || workspace == "/")
      throw Error("the workspace can't be '" + workspace.string() + "'", ExitCode::environment);
    Place place;
    place.kind = Place::Kind::workspace;
    places.insert_or_assign(workspace, std::move(place));
  }
  return places;
}

/// The innermost place that contains a path.
const Place* holder(const Places& places, const fs::path& path) {
  for (fs::path folder = path.parent_path(); folder != "/"; folder = folder.parent_path()) {
    const auto found = places.find(folder);
    if (found != places.end()) return &found->second;
  }
  return nullptr;
}

/// Opens the shown parts of the machine before a mount hides them; drops those that their folder
/// shows already.
void open_sources(Places& places) {
  for (auto it = places.begin(); it != places.end();) {
    Place& place = it->second;
    const Place* above = holder(places, it->first);
    const bool shown = place.kind == Place::Kind::machine && !place.without_sockets &&
                       above != nullptr && above->kind == Place::Kind::machine &&
                       place.source == it->first;
    if (shown) {
      it = places.erase(it);
      continue;
    }
    try {
      if (place.kind == Place::Kind::machine || place.kind == Place::Kind::own ||
          place.kind == Place::Kind::toolchain)
        place.tree = copy_tree(place.source, place.access);
      ++it;
    } catch (const Error&) {
      if (!place.is_optional) throw;
      it = places.erase(it);
    }
  }
}

/// The sources of the workspace, opened before a mount hides them.
struct WorkspaceSource {
  Fd lower;
  Fd upper;
  Fd work;
  Fd tree;
  Fd start;  ///< for View
  Fd state;
};

WorkspaceSource open_workspace_source(const MountPlan& plan) {
  WorkspaceSource source;
  if (plan.workspace.empty()) return source;
  if (plan.kind == MountPlan::Kind::overlay) {
    source.lower = open_folder(plan.workspace);
    source.upper = open_folder(plan.upper);
    source.work = open_folder(plan.work);
    adopt_attributes(source.lower, plan.upper);
  } else {
    source.tree = copy_tree(plan.source.empty() ? plan.workspace : plan.source, Access::read_write);
  }
  const fs::path& own = plan.upper.empty() ? plan.source : plan.upper;
  const fs::path beside = plan.in_place ? plan.beside : own.parent_path();
  if (beside.empty()) return source;
  source.start = copy_tree(plan.workspace, Access::read_only);
  source.state = copy_tree(beside, Access::read_write);
  return source;
}

void mount_overlay(const WorkspaceSource& source, const fs::path& target, UserNamespace user) {
  const std::string options = overlay_options(source.lower, source.upper, source.work, user);
  // Otherwise unmounting it syncs the whole file system of the upper folder, and waits for all
  // pending writes of the machine. Its content is read before (Linux 5.10).
  // The marker of an earlier volatile mount would make this one fail: it warns of a power loss in
  // between, after which a run starts again from its base anyway.
  std::error_code ignored;
  const fs::path work = "/proc/self/fd/" + std::to_string(source.work.get());
  fs::remove_all(work / "work/incompat/volatile", ignored);
  const std::string unsynced = options + ",volatile";
  if (::mount("overlay", target.c_str(), "overlay", MS_NOSUID | MS_NODEV, unsynced.c_str()) == 0)
    return;
  mount_new("overlay", target, options.c_str());
}

void make_devices(const std::map<std::string, Fd>& devices, const PrivateFolders& own) {
  make_folders("dev");
  if (::mount("tmpfs", "dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k") != 0)
    throw system_error("mount tmpfs at /dev", ExitCode::environment);
  for (const auto& [name, tree] : devices) {
    const fs::path path = fs::path("dev") / name;
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    attach_tree(tree, path);
  }
  const std::pair<const char*, const char*> links[] = {{"/proc/self/fd", "dev/fd"},
                                                       {"pts/ptmx", "dev/ptmx"},
                                                       {"/proc/self/fd/0", "dev/stdin"},
                                                       {"/proc/self/fd/1", "dev/stdout"},
                                                       {"/proc/self/fd/2", "dev/stderr"}};
  for (const auto& [target, link] : links) {
    if (::symlink(target, link) != 0) throw system_error("symlink", ExitCode::environment);
  }
  make_folders("dev/pts");
  mount_terminals("dev/pts");
  make_folders("dev/shm");
  own.attach("shm", "dev/shm");
  make_mount_read_only("dev");
}

std::map<std::string, Fd> open_devices() {
  std::map<std::string, Fd> devices;
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    const fs::path path = fs::path("/dev") / name;
    // Some containers have no controlling terminal's name; a command has none anyway.
    if (path != "/dev/tty" || fs::exists(path)) devices.emplace(name, copy_device(path));
  }
  return devices;
}

void make_target(const fs::path& target, bool is_folder) {
  if (is_folder) return make_folders(target);
  make_folders(target.parent_path());
  const Fd file(::open(target.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0644));
  if (!file && ::access(target.c_str(), F_OK) != 0)
    throw system_error("make " + target.string(), ExitCode::environment);
}

/// Makes the folders of the private HOME above a mount mounts too: else they could be renamed with
/// it and replaced.
class Pins {
 public:
  explicit Pins(const Places& places) : places_(places) {}

  void pin_parents(const fs::path& path) {
    const Place* above = holder(places_, path);
    if (above == nullptr || above->kind != Place::Kind::private_folder) return;
    std::vector<fs::path> parents;
    for (fs::path folder = path.parent_path(); places_.count(folder) == 0;
         folder = folder.parent_path())
      parents.push_back(folder);
    for (auto folder = parents.rbegin(); folder != parents.rend(); ++folder) {
      if (!pinned_.insert(*folder).second) continue;
      make_folders(below_root(*folder));
      bind_onto_itself(below_root(*folder), Access::read_write);
    }
  }

 private:
  const Places& places_;
  std::set<fs::path> pinned_;
};

/// Hides the sockets of a machine's folder, all at once where that is possible.
/// @return  for `hide`: those that are left
std::vector<std::string> cover_sockets(const fs::path& target, const PrivateFolders& own,
                                       UserNamespace user, View& view) {
  constexpr int kMostEntries = 20'000;
  make_folders(own.path() / "no-sockets");
  const std::string problem =
      show_without_sockets(target, open_folder(own.path() / "no-sockets"), user);
  if (problem.empty()) return {};
  const SocketFiles found = find_sockets(target, kMostEntries);
  if (found.is_cut || !found.problem.empty())
    view.notes.push_back("sockets: commands can connect to services that listen in /" +
                         target.string() +
                         ": it has too many files to look for them, and can't be "
                         "shown without (" +
                         problem + ")");
  std::vector<std::string> left;
  for (const fs::path& path : found.paths) left.push_back('/' + quoted_glob(path.string()));
  return left;
}

/// @param hide  gets what else has to be hidden
void mount_places(const Places& places, const WorkspaceSource& source, const PrivateFolders& own,
                  const SandboxProfile& profile, UserNamespace user, View& view,
                  std::vector<std::string>& hide) {
  ToolchainLayers layers(profile, own, user);
  Pins pins(places);
  for (const auto& [path, place] : places) {
    const fs::path target = below_root(path);
    pins.pin_parents(path);
    make_target(target, place.is_folder);
    switch (place.kind) {
      case Place::Kind::machine:
      case Place::Kind::own:
        attach_tree(place.tree, target);
        if (place.without_sockets)
          for (std::string& one : cover_sockets(target, own, user, view))
            hide.push_back(std::move(one));
        break;
      case Place::Kind::toolchain:
        // The machine's own folder below the overlay, where a private set finds it.
        attach_tree(place.tree, target);
        if (const std::string cause = layers.mount(open_folder(target), path, target);
            !cause.empty())
          view.notes.push_back("toolchains: " + path.string() + " is read-only: " + cause);
        else
          view.toolchains.push_back(path);
        break;
      case Place::Kind::private_folder:
        make_folders(own.path() / place.folder);
        own.attach(place.folder, target);
        break;
      case Place::Kind::workspace:
        if (source.start) {
          attach_tree(source.state, target);
          view.state = open_folder(target);
          attach_tree(source.start, target);
          view.start = open_folder(target);
        }
        if (profile.mount.kind == MountPlan::Kind::overlay) {
          mount_overlay(source, target, user);
        } else {
          attach_tree(source.tree, target);
        }
        break;
    }
  }
}

/// An existing folder to build on; its content has been opened before.
const char* building_ground() {
  for (const char* folder : {"/tmp", "/mnt", "/usr"})
    if (::access(folder, F_OK) == 0) return folder;
  return "/";
}

}  // namespace

View build_view(const SandboxProfile& wanted, const std::string& path_variable,
                UserNamespace user) {
  SandboxProfile profile = wanted;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    throw system_error("make mounts private", ExitCode::environment);
  std::map<fs::path, fs::path> links;
  Places places = gather(profile, path_variable, links);
  open_sources(places);
  const WorkspaceSource source = open_workspace_source(profile.mount);
  const auto devices = open_devices();

  const char* ground = building_ground();
  PrivateFolders own(profile, ground);
  mount_new("tmpfs", ground, "mode=755,size=1m");
  if (::chdir(ground) != 0) throw system_error("chdir", ExitCode::environment);
  for (const char* folder : {"proc", "sys", "run", "home", "root", "srv", "mnt", "var"})
    make_folders(folder);
  for (const auto& [link, target] : links) {
    if (::symlink(target.c_str(), below_root(link).c_str()) != 0)
      throw system_error("symlink " + link.string(), ExitCode::environment);
  }
  // Before the machine's own /proc is hidden: an ordinary user may mount one only while a fully
  // visible one exists.
  if (::mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    throw system_error("mount proc", ExitCode::environment);
  make_devices(devices, own);
  View view;
  mount_places(places, source, own, profile, user, view, profile.hide);
  for (const auto& path : profile.git.covered) make_mount_read_only(below_root(path));
  lay_path_masks(profile, own.path(), view);
  lay_git_files(profile.git, own.path(), view);
  make_mount_read_only(".");
  // pivot_root(2), "pivot_root(".", ".")": the machine's root lies on the view's now, where an
  // absolute path does not lead.
  if (::syscall(SYS_pivot_root, ".", ".") != 0)
    throw system_error("pivot_root", ExitCode::environment);
  const fs::path& workspace = workspace_root(profile);
  view.workspace = open_folder(workspace.empty() ? "/" : workspace);
  view.private_root = own.take_root();
  view.user = user;
  return view;
}

void leave_machine() {
  if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0)
    throw system_error("umount of the machine's root", ExitCode::environment);
}

void remove_placeholders(const View& view) noexcept {
  for (auto path = view.placeholders.rbegin(); path != view.placeholders.rend(); ++path) {
    ::umount2(path->c_str(), MNT_DETACH);
    ::rmdir(path->c_str());
  }
}

}  // namespace sortie

#include "policies/sandbox/view.h"

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
#include "core/base/path_below.h"
#include "policies/sandbox/covers.h"
#include "policies/sandbox/mounts.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// What comes to stand at one path of the view.
struct Place {
  enum class Kind { machine, own, private_folder, toolchain, workspace };
  Kind kind = Kind::machine;
  fs::path source;          ///< machine, own and toolchain: the real path
  std::string folder = {};  ///< private_folder: its name in the private file system
  Access access = Access::read_only;
  Fd tree{};
  Fd lower{};  ///< toolchain: what its overlay lies on
  bool is_folder = true;
};

/// Sorted by path, so that a folder comes before what is mounted below it.
using Places = std::map<fs::path, Place>;

fs::path below_root(const fs::path& path) { return path.relative_path(); }

/// Where a path of the machine is shown: its folder without links, so that no target of a mount
/// goes through one.
std::optional<std::pair<fs::path, fs::path>> target_and_source(const fs::path& path) {
  std::error_code error;
  const fs::path source = fs::canonical(path, error);
  if (error || source == "/") return std::nullopt;
  const fs::path clean = path.lexically_normal();
  const fs::path named = clean.has_filename() ? clean : clean.parent_path();
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
  places.insert_or_assign(place->first,
                          Place{kind, place->second, {}, access, Fd(), Fd(), is_folder});
}

void add_machine(Places& places, const SandboxProfile& profile, const std::string& path_variable) {
  const auto readable = [&](const fs::path& path) {
    add(places, path, Place::Kind::machine, Access::read_only);
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

/// A folder of PATH stays what it is, read-only: what a name means is decided before the run.
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
  add_machine(places, profile, path_variable);
  add_top_level(places, links);
  const auto keep_private = [&](const fs::path& path, const char* folder) {
    Place place;
    place.kind = Place::Kind::private_folder;
    place.folder = folder;
    if (path.is_absolute() && path != "/") places.insert_or_assign(path, std::move(place));
  };
  keep_private("/tmp", "tmp");
  keep_private("/var/tmp", "var-tmp");
  keep_private(profile.home.lexically_normal(), "home");
  add_toolchains(places, profile);
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

/// The nearest place that holds a path.
const Place* holder(const Places& places, const fs::path& path) {
  for (fs::path folder = path.parent_path(); folder != "/"; folder = folder.parent_path()) {
    const auto found = places.find(folder);
    if (found != places.end()) return &found->second;
  }
  return nullptr;
}

Fd open_folder(const fs::path& path) {
  Fd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw system_error("open " + path.string(), ExitCode::environment);
  return folder;
}

/// Opens what is shown of the machine, before any mount of ours hides it; what its folder shows
/// already falls away.
void open_sources(Places& places) {
  for (auto it = places.begin(); it != places.end();) {
    Place& place = it->second;
    const Place* above = holder(places, it->first);
    const bool shown = place.kind == Place::Kind::machine && above != nullptr &&
                       above->kind == Place::Kind::machine && place.source == it->first;
    if (shown) {
      it = places.erase(it);
      continue;
    }
    if (place.kind == Place::Kind::machine || place.kind == Place::Kind::own ||
        place.kind == Place::Kind::toolchain)
      place.tree = copy_tree(place.source, place.access);
    if (place.kind == Place::Kind::toolchain) place.lower = open_folder(place.source);
    ++it;
  }
}

/// The sources of the workspace, opened before any mount of ours hides them.
struct WorkspaceSource {
  Fd lower;
  Fd upper;
  Fd work;
  Fd tree;
};

/// The merged root has the owner and mode of the upper one.
void adopt_attributes(const Fd& from, const fs::path& path) {
  struct stat lower {};
  struct stat upper {};
  if (::fstat(from.get(), &lower) != 0 || ::stat(path.c_str(), &upper) != 0) return;
  // As an ordinary user the owners are equal, or can't be made so.
  if (lower.st_uid != upper.st_uid || lower.st_gid != upper.st_gid)
    static_cast<void>(::chown(path.c_str(), lower.st_uid, lower.st_gid) == 0);
  if ((lower.st_mode & 07777) != (upper.st_mode & 07777))
    ::chmod(path.c_str(), lower.st_mode & 07777);
}

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
  return source;
}

/// The options of an overlay of these folders.
std::string overlay_options(const Fd& lower, const Fd& upper, const Fd& work, bool user) {
  const auto name = [](const Fd& folder) {
    return "/proc/self/fd/" + std::to_string(folder.get());
  };
  // By descriptor: no path needs escaping, none is too long, none shows in /proc/mounts. Renames
  // of folders are refused (EXDEV), so that the upper folder holds whole files alone.
  std::string options = "lowerdir=" + name(lower) + ",upperdir=" + name(upper) +
                        ",workdir=" + name(work) + ",redirect_dir=nofollow,metacopy=off,index=off";
  if (user) options += ",userxattr";
  return options;
}

void mount_overlay(const WorkspaceSource& source, const fs::path& target, bool user) {
  const std::string options = overlay_options(source.lower, source.upper, source.work, user);
  // Otherwise unmounting it syncs the whole file system that the upper folder is on, and waits for
  // all that the machine has to write. What is needed of it is read before (Linux 5.10).
  // The mark of an earlier volatile mount would refuse this one: it warns of a power loss in
  // between, after which a run begins again from its base anyhow.
  std::error_code ignored;
  const fs::path work = "/proc/self/fd/" + std::to_string(source.work.get());
  fs::remove_all(work / "work/incompat/volatile", ignored);
  const std::string unsynced = options + ",volatile";
  if (::mount("overlay", target.c_str(), "overlay", MS_NOSUID | MS_NODEV, unsynced.c_str()) == 0)
    return;
  mount_new("overlay", target, options.c_str());
}

std::uint64_t private_size(const SandboxProfile& profile) {
  std::uint64_t size = profile.limits.disk > 0 ? profile.limits.disk : 10ull << 30;
  // It is memory: never more than the run may have.
  if (profile.memory_bytes > 0) size = std::min(size, profile.memory_bytes);
  return size;
}

/// The file system of the private folders: below the view's own while that is built, so that it
/// leaves with the machine's mounts. Unmounting it by itself would wait for the whole machine
/// (RCU).
class PrivateFolders {
 public:
  PrivateFolders(const SandboxProfile& profile, const char* ground) {
    const std::string options = "mode=755,size=" + std::to_string(private_size(profile));
    mount_new("tmpfs", ground, options.c_str());
    root_ = open_folder(ground);
    const struct {
      const char* name;
      mode_t mode;
    } folders[] = {{"tmp", 01777}, {"var-tmp", 01777}, {"shm", 01777}, {"home", 0755}};
    for (const auto& folder : folders) {
      make_folders(path() / folder.name);
      ::chmod((path() / folder.name).c_str(), folder.mode);
    }
    if (::chown((path() / "home").c_str(), profile.uid, profile.gid) != 0)
      throw system_error("chown of HOME", ExitCode::environment);
  }

  /// Reaches it although another mount covers it.
  fs::path path() const { return "/proc/self/fd/" + std::to_string(root_.get()); }
  void attach(const std::string& folder, const fs::path& target) const {
    attach_tree(copy_tree(path() / folder, Access::read_write), target);
  }

 private:
  Fd root_;
};

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
  // An instance of its own: its terminals are not the machine's, nor the other way round.
  if (::mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=0620") != 0)
    throw system_error("mount devpts", ExitCode::environment);
  make_folders("dev/shm");
  own.attach("shm", "dev/shm");
  make_mount_read_only("dev");
}

std::map<std::string, Fd> open_devices() {
  std::map<std::string, Fd> devices;
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    const fs::path path = fs::path("/dev") / name;
    // Some containers have no controlling terminal's name; a command has none anyhow.
    if (path != "/dev/tty" || fs::exists(path)) devices.emplace(name, copy_device(path));
  }
  return devices;
}

void make_target(const fs::path& target, bool is_folder) {
  if (is_folder) return make_folders(target);
  make_folders(target.parent_path());
  const Fd file(::open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file && ::access(target.c_str(), F_OK) != 0)
    throw system_error("make " + target.string(), ExitCode::environment);
}

/// The upper layers of toolchains: of the private file system, so that they end with the run and
/// count as what it keeps in memory.
class ThrownAway {
 public:
  ThrownAway(const SandboxProfile& profile, const PrivateFolders& own, bool user)
      : profile_(profile), own_(own), user_(user) {}

  /// @return "" or why the folder is read-only instead
  std::string mount(const Place& place, const fs::path& named, const fs::path& target) {
    const fs::path folder = own_.path() / ("toolchain-" + std::to_string(count_++));
    make_folders(folder / "upper");
    make_folders(folder / "work");
    adopt_attributes(place.lower, folder / "upper");
    leave_out_credentials(named, folder / "upper");
    const Fd upper = open_folder(folder / "upper");
    const Fd work = open_folder(folder / "work");
    const std::string options = overlay_options(place.lower, upper, work, user_);
    if (::mount("overlay", target.c_str(), "overlay", MS_NOSUID | MS_NODEV, options.c_str()) == 0)
      return "";
    const std::string cause = errno_text(errno);
    attach_tree(place.tree, target);
    return cause;
  }

 private:
  /// A name that overlayfs takes as deleted: tools find no such file, where one that can't be read
  /// would stop them. What this can't do, paths.hide covers.
  void leave_out_credentials(const fs::path& named, const fs::path& upper) const {
    for (const std::string& hidden : profile_.hide) {
      if (fs::path(hidden).parent_path() != named) continue;
      static_cast<void>(
          ::mknod((upper / fs::path(hidden).filename()).c_str(), S_IFCHR, makedev(0, 0)) == 0);
    }
  }

  const SandboxProfile& profile_;
  const PrivateFolders& own_;
  bool user_;
  int count_ = 0;
};

/// Folders of private HOME above a mount could be renamed with it, and another be put in their
/// place: they become mounts too.
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

void mount_places(const Places& places, const WorkspaceSource& source, const PrivateFolders& own,
                  const SandboxProfile& profile, bool user, View& view) {
  ThrownAway thrown_away(profile, own, user);
  Pins pins(places);
  for (const auto& [path, place] : places) {
    const fs::path target = below_root(path);
    pins.pin_parents(path);
    make_target(target, place.is_folder);
    switch (place.kind) {
      case Place::Kind::machine:
      case Place::Kind::own:
        attach_tree(place.tree, target);
        break;
      case Place::Kind::toolchain:
        if (const std::string cause = thrown_away.mount(place, path, target); !cause.empty())
          view.notes.push_back("toolchains: " + path.string() + " is read-only: " + cause);
        break;
      case Place::Kind::private_folder:
        own.attach(place.folder, target);
        break;
      case Place::Kind::workspace:
        if (profile.mount.kind == MountPlan::Kind::overlay) {
          mount_overlay(source, target, user);
        } else {
          attach_tree(source.tree, target);
        }
        break;
    }
  }
}

/// Leaves the machine's own tree (pivot_root(2), "pivot_root(".", ".")").
void leave_machine() {
  if (::syscall(SYS_pivot_root, ".", ".") != 0)
    throw system_error("pivot_root", ExitCode::environment);
  if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0)
    throw system_error("umount of the machine's root", ExitCode::environment);
}

/// An existing folder to build on; what lies in it has been opened before.
const char* building_ground() {
  for (const char* folder : {"/tmp", "/mnt", "/usr"})
    if (::access(folder, F_OK) == 0) return folder;
  return "/";
}

}  // namespace

View build_view(const SandboxProfile& profile, const std::string& path_variable,
                UserNamespace user) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    throw system_error("make mounts private", ExitCode::environment);
  std::map<fs::path, fs::path> links;
  Places places = gather(profile, path_variable, links);
  open_sources(places);
  const WorkspaceSource source = open_workspace_source(profile.mount);
  const auto devices = open_devices();

  const char* ground = building_ground();
  const PrivateFolders own(profile, ground);
  mount_new("tmpfs", ground, "mode=755,size=1m");
  if (::chdir(ground) != 0) throw system_error("chdir", ExitCode::environment);
  for (const char* folder : {"proc", "sys", "run", "home", "root", "srv", "mnt", "var"})
    make_folders(folder);
  for (const auto& [link, target] : links) {
    if (::symlink(target.c_str(), below_root(link).c_str()) != 0)
      throw system_error("symlink " + link.string(), ExitCode::environment);
  }
  // Before the machine's own /proc is out of sight: an ordinary user may mount one only while a
  // fully visible one is there.
  if (::mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    throw system_error("mount proc", ExitCode::environment);
  make_devices(devices, own);
  View view;
  mount_places(places, source, own, profile, user == UserNamespace::own, view);
  cover_paths(profile, own.path(), view);
  make_mount_read_only(".");
  leave_machine();
  const fs::path& workspace = workspace_root(profile);
  view.workspace = open_folder(workspace.empty() ? "/" : workspace);
  return view;
}

void remove_placeholders(const View& view) noexcept {
  for (auto path = view.placeholders.rbegin(); path != view.placeholders.rend(); ++path) {
    ::umount2(path->c_str(), MNT_DETACH);
    ::rmdir(path->c_str());
  }
}

int mount_command_proc(bool read_only) noexcept {
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | (read_only ? MS_RDONLY : 0);
  if (::mount("proc", "/proc", "proc", flags, nullptr) != 0) return errno;
  if (read_only) return 0;
  const int tree =
      ::open_tree(AT_FDCWD, "/proc/sys", OPEN_TREE_CLONE | static_cast<unsigned>(O_CLOEXEC));
  if (tree < 0) return errno;
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  int error = 0;
  if (::mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0 ||
      ::move_mount(tree, "", AT_FDCWD, "/proc/sys", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    error = errno;
  ::close(tree);
  return error;
}

int make_tree_read_only(const char* path) noexcept {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  return ::mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &attributes, sizeof attributes) == 0 ? 0
                                                                                            : errno;
}

}  // namespace sortie

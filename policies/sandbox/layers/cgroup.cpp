#include "policies/sandbox/layers/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "core/base/error.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "sortie-";
constexpr int kGoneWithinMilliseconds = 2'000;

std::string read_control_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_word(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  return std::find(std::istream_iterator<std::string>(words), {}, word) !=
         std::istream_iterator<std::string>();
}

/// "max" is no bound.
std::optional<std::uint64_t> bound_in(const fs::path& file) {
  std::istringstream text(read_control_file(file));
  std::uint64_t bytes = 0;
  return text >> bytes ? std::optional(bytes) : std::nullopt;
}

struct Hierarchy {
  fs::path top;  ///< where it is mounted
  fs::path own;  ///< this process' group
};

/// The mount of type cgroup2 and the line "0::/path" (cgroups(7), proc(5)).
std::optional<Hierarchy> find_hierarchy() {
  std::string path;
  std::istringstream groups(read_control_file("/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::/")) path = line.substr(4);
  }
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    // "36 35 98:0 ROOT MOUNT OPTIONS … - TYPE SOURCE OPTIONS"
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    std::istringstream words(line);
    std::string id, parent, device, root, mount;
    words >> id >> parent >> device >> root >> mount;
    // A group above what is mounted here can't be reached.
    if (root != "/" || path.starts_with("..")) return std::nullopt;
    return Hierarchy{mount, path.empty() ? fs::path(mount) : fs::path(mount) / path};
  }
  return std::nullopt;
}

bool write_file(const Fd& folder, const char* name, const std::string& text) {
  const Fd file(::openat(folder.get(), name, O_WRONLY | O_CLOEXEC));
  return file && write_all(file.get(), text);
}

/// Groups of runs that were killed before they could remove them: nobody holds their lock.
void remove_stale(const fs::path& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const Fd folder(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) ::rmdir(entry.path().c_str());
  }
}

/// A new folder of a name of its own, locked. No descriptor, with errno, where it can't be made.
Fd make_folder(const fs::path& parent, fs::path& path) {
  for (int number = 0; number < 100; ++number) {
    path = parent / (kPrefix + std::to_string(::getpid()) + '-' + std::to_string(number));
    if (::mkdir(path.c_str(), 0755) != 0) {
      if (errno == EEXIST) continue;
      return {};
    }
    Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat status {};
    // Another run may have taken it for a dead one's before the lock was there.
    if (folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 &&
        ::stat(path.c_str(), &status) == 0)
      return folder;
    ::rmdir(path.c_str());
  }
  errno = EEXIST;
  return {};
}

/// The nearest group, from this process' own upwards, that hands the controllers down.
struct Parent {
  fs::path path;
  bool limits = false;
  std::optional<std::uint64_t> memory{};  ///< of the groups that are left on the way up
};

Parent find_parent(const fs::path& own, const fs::path& top) {
  std::optional<std::uint64_t> memory;
  for (fs::path path = own;; path = path.parent_path()) {
    const std::string handed_down = read_control_file(path / "cgroup.subtree_control");
    if (has_word(handed_down, "memory") && has_word(handed_down, "pids") &&
        ::access(path.c_str(), W_OK) == 0)
      return {path, true, memory};
    if (const auto bound = bound_in(path / "memory.max"))
      memory = std::min(memory.value_or(*bound), *bound);
    if (path == top || path == path.root_path()) return {own};
  }
}

/// "" or what could not be set.
std::string set_limits(const Fd& folder, const GroupLimits& limits, const Parent& parent) {
  std::uint64_t memory = limits.memory_bytes;
  if (parent.memory) memory = memory == 0 ? *parent.memory : std::min(memory, *parent.memory);
  if (memory > 0) {
    if (!write_file(folder, "memory.max", std::to_string(memory)))
      return "memory.max: " + errno_text(errno);
    // Not there where the kernel keeps no account of swap.
    write_file(folder, "memory.swap.max", "0");
  }
  if (limits.tasks > 0 && !write_file(folder, "pids.max", std::to_string(limits.tasks)))
    return "pids.max: " + errno_text(errno);
  return "";
}

}  // namespace

std::unique_ptr<RunGroup> RunGroup::make(const GroupLimits& limits,
                                         std::vector<std::string>& notes) {
  const auto hierarchy = find_hierarchy();
  if (!hierarchy) {
    notes.push_back("cgroup: version 2 is not mounted here");
    return nullptr;
  }
  return make_at(hierarchy->own, hierarchy->top, limits, notes);
}

std::unique_ptr<RunGroup> RunGroup::make_at(const fs::path& own, const fs::path& top,
                                            const GroupLimits& limits,
                                            std::vector<std::string>& notes) {
  const Parent parent = find_parent(own, top);
  remove_stale(parent.path);
  fs::path path;
  Fd folder = make_folder(parent.path, path);
  if (!folder) {
    notes.push_back("cgroup: " + parent.path.string() + ": " + errno_text(errno));
    return nullptr;
  }
  std::unique_ptr<RunGroup> group(new RunGroup(std::move(path), std::move(folder)));
  if (!parent.limits) {
    notes.push_back(
        "cgroup: the controllers memory and pids are not handed down here: these limits are held "
        "by sampling");
  } else if (const std::string problem = set_limits(group->folder_, limits, parent);
             !problem.empty()) {
    notes.push_back("cgroup: " + problem + ": limits are held by sampling");
  }
  return group;
}

bool RunGroup::end() {
  if (!folder_) return true;
  kill_group(folder_);
  // What was killed leaves the group only once it is dead.
  for (int waited = 0; ::rmdir(path_.c_str()) != 0 && errno != ENOENT; ++waited) {
    if (errno != EBUSY || waited >= kGoneWithinMilliseconds) return false;
    ::poll(nullptr, 0, 1);
  }
  folder_.reset();
  return true;
}

fs::path own_group() {
  const auto hierarchy = find_hierarchy();
  return hierarchy ? hierarchy->own : fs::path();
}

std::uint64_t memory_kills(const Fd& group) {
  const Fd file(group ? ::openat(group.get(), "memory.events", O_RDONLY | O_CLOEXEC) : -1);
  char text[512] = {};
  if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return 0;
  std::istringstream lines(text);
  std::string name;
  for (std::uint64_t count = 0; lines >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

bool kill_group(const Fd& group) { return group && write_file(group, "cgroup.kill", "1"); }

}  // namespace sortie

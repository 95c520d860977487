#include "core/git/config/git_config_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/git/config/rule_files.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestInclude = 10;  // git's own limit
constexpr std::size_t kMostFiles = 200;
constexpr std::size_t kMostOfConfig = 4 << 20;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw Error("git configuration " + path_text(path) + ": " + why, ExitCode::environment);
}

/// The file's bytes; nothing if there is none. A pipe is refused, not read.
std::optional<std::string> read_regular(const fs::path& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    refuse(path, "can't be read");
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    refuse(path, "is not a regular file");
  std::string bytes;
  char part[16384];
  for (ssize_t count = 0; (count = ::read(file.get(), part, sizeof part)) > 0;) {
    bytes.append(part, static_cast<std::size_t>(count));
    if (bytes.size() > kMostOfConfig) refuse(path, "is too large");
  }
  return bytes;
}

bool is_include(const std::string& key) {
  return key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path"));
}

class Walk {
 public:
  Walk(GitConfigFiles& found, const fs::path& toplevel) : found_(found), toplevel_(toplevel) {}

  void file(const fs::path& path, int depth) {
    const auto text = read_regular(path);
    if (!text) return;
    if (depth > kDeepestInclude || found_.files.size() > kMostFiles)
      refuse(path, "too many includes");
    if (!seen_.insert(path).second) return;
    const auto settings = parse_git_config(*text);
    if (!settings) refuse(path, "git can't read it");
    found_.files.push_back(path);
    found_.settings.insert(found_.settings.end(), settings->begin(), settings->end());
    for (const GitSetting& setting : *settings)
      if (is_include(setting.key) && !setting.value.empty()) include(path, setting.value, depth);
  }

 private:
  void include(const fs::path& from, const std::string& value, int depth) {
    // In HOME, which is empty for the git of commands.
    if (value == "~" || value.starts_with("~/")) return;
    if (value.front() == '~' || value.starts_with("%(prefix)"))
      refuse(from, "includes " + value + ", which is not followed here");
    const fs::path path = from.parent_path() / value;
    // Not lexically: after a link, ".." means another folder.
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    const fs::path named = path.lexically_normal();
    if (error) refuse(path, error.message());
    if (real != named && (is_below(real, toplevel_) || is_below(named, toplevel_)))
      refuse(path, "is reached through a link in the workspace");
    found_.included.push_back(named);
    file(real, depth + 1);
  }

  GitConfigFiles& found_;
  const fs::path& toplevel_;
  std::set<fs::path> seen_;
};

/// Refuses special files among the others that git and libgit2 open by name.
void check_plain_files(const GitPlace& place) {
  std::vector<fs::path> folders = {place.git_dir};
  if (place.common_dir != place.git_dir) folders.push_back(place.common_dir);
  for (const fs::path& folder : folders) {
    for (const char* name : {"HEAD", "index", "packed-refs", "shallow", "info/exclude",
                             "info/attributes", "info/grafts", "objects/info/alternates"}) {
      std::error_code error;
      const fs::file_status status = fs::status(folder / name, error);
      if (fs::exists(status) && !fs::is_regular_file(status))
        refuse(folder / name, "is not a regular file");
    }
  }
}

/// Refuses special files that the configuration names and libgit2 opens to read rules. Relative
/// paths start at the working tree. "~/" means HOME, which libgit2 does not have here.
void check_named_files(const GitConfigFiles& config, const fs::path& toplevel) {
  for (const GitSetting& setting : config.settings) {
    if (setting.key != "core.excludesfile" && setting.key != "core.attributesfile") continue;
    if (setting.value.empty() || setting.value.starts_with("~/")) continue;
    if (const fs::path file = toplevel / setting.value; reading_may_block(file))
      throw Error("git configuration " + path_text(toplevel / ".git") + ": " + setting.key +
                      " names " + path_text(file) + ", which is not a regular file",
                  ExitCode::environment);
  }
}

/// A folder of hooks and the targets of the links in it.
void add_folder(const fs::path& folder, std::set<fs::path>& found) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return;
  found.insert(real);
  for (fs::directory_iterator at(real, error), end; !error && at != end; at.increment(error)) {
    std::error_code unknown;
    if (!at->is_symlink(unknown)) continue;
    if (fs::path target = fs::canonical(at->path(), unknown); !unknown)
      found.insert(std::move(target));
  }
}

GitConfigFiles read_anew(const GitPlace& place) {
  GitConfigFiles found;
  check_plain_files(place);
  Walk walk(found, place.toplevel);
  walk.file(place.common_dir / "config", 0);
  walk.file(place.git_dir / "config.worktree", 0);
  check_named_files(found, place.toplevel);
  return found;
}

/// The cache of GitPlacesOnce.
struct KnownConfigs {
  unsigned of = 0;
  std::map<std::pair<fs::path, fs::path>, GitConfigFiles> by_place{};  ///< toplevel and git_dir
};

}  // namespace

GitConfigFiles read_git_config(const GitPlace& place) {
  if (place.git_dir.empty()) return {};
  const unsigned now = GitPlacesOnce::current();
  if (now == 0) return read_anew(place);
  thread_local KnownConfigs known;
  if (known.of != now) known = {.of = now};
  const std::pair key(place.toplevel, place.git_dir);
  const auto found = known.by_place.find(key);
  if (found != known.by_place.end()) return found->second;
  return known.by_place[key] = read_anew(place);
}

std::vector<fs::path> hooks_elsewhere(const fs::path& folder) {
  const GitPlace place = find_git_place(folder);
  if (place.git_dir.empty()) return {};
  std::set<fs::path> found;
  add_folder(place.common_dir / "hooks", found);
  for (const GitSetting& setting : read_git_config(place).settings)
    if (setting.key == "core.hookspath" && !setting.value.empty() && setting.value.front() != '~')
      add_folder(place.toplevel / setting.value, found);
  found.erase(place.common_dir / "hooks");
  return {found.begin(), found.end()};
}

}  // namespace sortie

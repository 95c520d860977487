#include "core/git/config/git_place.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/folder_stream.h"
#include "core/files/path_below.h"
#include "core/git/config/git_config_text.h"
#include "core/git/config/rule_files.h"
#include "core/text/text.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr std::uint64_t kMostOfSmallFile = 1u << 20;
constexpr int kDeepestAlternate = 5;  // git's own limit
constexpr std::size_t kMostRepositoryEntries = 2'000'000;

std::vector<fs::path>& folders_let() {
  static std::vector<fs::path> folders;
  return folders;
}

std::vector<fs::path>& lenders_let() {
  static std::vector<fs::path> folders;
  return folders;
}

/// The cache of GitPlacesOnce, of a thread.
struct KnownPlaces {
  int holders = 0;
  unsigned count = 0;  ///< of the times that there was one
  std::map<fs::path, GitPlace> by_folder{};
  std::map<fs::path, std::shared_ptr<const void>> kept{};

  void clear() {
    by_folder.clear();
    kept.clear();
  }
};

KnownPlaces& known_places() {
  thread_local KnownPlaces places;
  return places;
}

/// Why a repository is not used; thrown and caught in this file.
struct Refusal {
  std::string why;
};

/// The text of a small regular file, without its line end; nothing if there is no such file.
std::optional<std::string> small_text(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  try {
    std::string text = read_file(path, kMostOfSmallFile);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The path with links resolved; "" if it does not exist.
fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? fs::path() : real;
}

/// The same, but the last part need not exist.
fs::path real_name(const fs::path& path) {
  const fs::path clean = path.has_filename() ? path : path.parent_path();
  const fs::path folder = real_path(clean.parent_path());
  return folder.empty() ? fs::path() : folder / clean.filename();
}

/// The folders that a repository may be read from.
class Region {
 public:
  explicit Region(const fs::path& toplevel) : folders_(folders_let()) { add(toplevel); }
  void add(const fs::path& folder) { folders_.push_back(folder); }
  /// This region plus the folders that objects may be borrowed from.
  Region with_lenders() const {
    Region wider = *this;
    for (const fs::path& folder : lenders_let()) wider.add(folder);
    return wider;
  }
  bool holds(const fs::path& real) const {
    return std::any_of(folders_.begin(), folders_.end(),
                       [&](const fs::path& folder) { return is_below(real, folder); });
  }
  void require(const fs::path& real, const std::string& named) const {
    if (holds(real)) return;
    throw Refusal{named + " leads to " + path_text(real) +
                  ", which is neither in the working tree nor in its repository; paths.read of the "
                  "policy may allow that folder"};
  }

 private:
  std::vector<fs::path> folders_;
};

/// Whether it is a linked worktree's folder: in the main one's, with the place of its checkout.
bool points_back(const fs::path& git_dir, const fs::path& toplevel) {
  if (git_dir.parent_path().filename() != "worktrees") return false;
  const auto text = small_text(git_dir / "gitdir");
  return text && !text->empty() && real_name(git_dir / *text) == toplevel / ".git";
}

/// Whether a submodule's configuration names the working tree.
bool names_working_tree(const fs::path& git_dir, const fs::path& toplevel) {
  std::string named;
  for (const char* name : {"config", "config.worktree"}) {
    const auto settings = parse_git_config(small_text(git_dir / name).value_or(""));
    if (!settings) return false;
    for (const GitSetting& setting : *settings)
      if (setting.key == "core.worktree") named = setting.value;
  }
  return !named.empty() && real_path(git_dir / named) == toplevel;
}

/// The target of `.git`, links resolved.
fs::path lead_of(const fs::path& dot_git) {
  std::error_code error;
  if (fs::is_directory(dot_git, error)) return real_path(dot_git);
  constexpr std::string_view kPrefix = "gitdir: ";
  const auto text = small_text(dot_git);
  if (!text || !text->starts_with(kPrefix))
    throw Refusal{path_text(dot_git) + " is not a repository and does not name one"};
  const fs::path named = dot_git.parent_path() / text->substr(kPrefix.size());
  fs::path real = real_path(named);
  std::error_code unknown;
  if (real.empty() || !fs::is_directory(real, unknown))
    throw Refusal{path_text(dot_git) + " names " + path_text(named) +
                  ", which is not a repository"};
  return real;
}

fs::path common_of(const fs::path& git_dir) {
  const auto text = small_text(git_dir / "commondir");
  if (!text) return git_dir;
  fs::path real = real_path(git_dir / *text);
  if (real.empty()) throw Refusal{path_text(git_dir / "commondir") + " names a missing folder"};
  return real;
}

/// Sets both folders, after checking that they belong to this working tree.
void find_folders(GitPlace& place, Region& region) {
  const fs::path dot_git = place.toplevel / ".git";
  const fs::path git_dir = lead_of(dot_git);
  const fs::path common = common_of(git_dir);
  // A repository in the working tree proves nothing: the same author could have written both.
  if (!region.holds(git_dir)) {
    const bool is_linked = points_back(git_dir, place.toplevel);
    if (!is_linked && !names_working_tree(git_dir, place.toplevel))
      throw Refusal{path_text(dot_git) + " leads to " + path_text(git_dir) +
                    ", which does not point back at it: run `git worktree repair` for a moved "
                    "worktree, or allow that folder in paths.read of the policy"};
    region.add(is_linked ? git_dir.parent_path().parent_path() : git_dir);
  }
  region.require(common, path_text(git_dir / "commondir"));
  place.git_dir = git_dir;
  place.common_dir = common;
}

/// Names that git and libgit2 don't read as parts of the repository, or that are checked when they
/// are opened on their own: they may be or contain links to anywhere.
bool is_no_part(const std::string& name) {
  for (const char* other : {"hooks", "lfs", "annex", "logs", "rr-cache", "modules", "worktrees"})
    if (name == other) return true;
  return false;
}

/// Whether it is a folder of loose objects, "00" to "ff".
bool is_object_fan(const std::string& name) {
  return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Walks a repository or an object folder before anything in it is opened. Refuses links that lead
/// elsewhere, and pipes and devices: libgit2 would open them like files and block forever. Single
/// objects are looked at when they are read (object_folders.h): there may be a hundred thousand.
/// They may be links, since their id already reveals their content.
class Look {
 public:
  explicit Look(const Region& region) : region_(region) {}

  void check_repository(const fs::path& folder) {
    each(folder, [&](const fs::directory_entry& entry) {
      const std::string name = entry.path().filename();
      if (!is_no_part(name)) check_link(entry);
      const fs::path objects = name == "objects" ? folder_at(entry) : fs::path();
      if (!objects.empty())
        check_objects(objects);
      else
        check(entry, name == "refs" || name == "info" ? Asks::for_links : Asks::for_waits);
    });
  }

  void check_objects(const fs::path& folder) {
    each(folder, [&](const fs::directory_entry& entry) {
      check_link(entry);
      const std::string name = entry.path().filename();
      if (is_object_fan(name))
        check_wait(entry);
      else
        check(entry, name == "pack" || name == "info" ? Asks::for_links : Asks::for_waits);
    });
  }

 private:
  enum class Asks { for_waits, for_links };  // for_links includes for_waits

  /// Checks the entry and everything below it. Refs may have any name.
  void check(const fs::directory_entry& entry, Asks asks) {
    if (asks == Asks::for_links) check_link(entry);
    check_wait(entry);
    const fs::path folder = folder_at(entry);
    if (folder.empty() || !seen_.emplace(folder, asks).second) return;
    const auto go_on = [&](const fs::directory_entry& below) { check(below, asks); };
    if (asks == Asks::for_links)
      each(folder, go_on);
    else
      each_odd(folder, go_on);
  }

  /// The folder that the entry is or, within the region, points to; else "".
  fs::path folder_at(const fs::directory_entry& entry) const {
    std::error_code error;
    if (!entry.is_symlink(error)) return entry.is_directory(error) ? entry.path() : fs::path();
    fs::path real = real_path(entry.path());
    return !real.empty() && region_.holds(real) && fs::is_directory(real, error) ? real
                                                                                 : fs::path();
  }

  template <typename Use>
  void each(const fs::path& folder, Use use) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      count(folder);
      use(*at);
    }
    if (error) refuse_unlisted(folder, error);
  }

  /// Checks all entries but regular files, of which there may be tens of thousands.
  template <typename Use>
  void each_odd(const fs::path& folder, Use use) {
    FolderStream list(folder);
    if (!list) return refuse_unlisted(folder, std::error_code(errno, std::generic_category()));
    while (const dirent* const entry = list.next()) {
      count(folder);
      std::error_code unknown;
      if (entry->d_type != DT_REG) use(fs::directory_entry(folder / entry->d_name, unknown));
    }
  }

  void count(const fs::path& folder) {
    if (++count_ > kMostRepositoryEntries)
      throw Refusal{path_text(folder) +
                    " contains too many files to check; run `git gc` to pack them"};
  }

  /// Refuses an unreadable folder: its files might still be opened by name.
  static void refuse_unlisted(const fs::path& folder, const std::error_code& error) {
    if (::access(folder.c_str(), X_OK) == 0)
      throw Refusal{path_text(folder) + ": " + error.message()};
  }

  void check_link(const fs::directory_entry& entry) const {
    std::error_code error;
    if (!entry.is_symlink(error)) return;
    const fs::path real = fs::weakly_canonical(entry.path(), error);
    if (error) throw Refusal{path_text(entry.path()) + ": " + error.message()};
    region_.require(real, path_text(entry.path()));
  }

  /// Uses the entry's type from the folder if possible, since there are many objects.
  static void check_wait(const fs::directory_entry& entry) {
    std::error_code error;
    const bool waits =
        entry.is_symlink(error)
            ? reading_may_block(entry.path())
            : entry.is_fifo(error) || entry.is_character_file(error) || entry.is_block_file(error);
    if (waits)
      throw Refusal{path_text(entry.path()) +
                    " is not a regular file, and git would block on it: remove it"};
  }

  const Region& region_;
  std::size_t count_ = 0;
  std::set<std::pair<fs::path, Asks>> seen_;
};

/// Each line names a folder: absolute, or relative to the object folder (gitrepository-layout(5)).
void find_alternates(const fs::path& objects, const Region& region, int depth,
                     std::vector<fs::path>& found) {
  const fs::path list = objects / "info/alternates";
  const std::string text = small_text(list).value_or("");
  for (const std::string_view line : split_lines(text)) {
    const std::string name(line.substr(0, line.find_last_not_of('\r') + 1));
    if (name.empty() || name.front() == '#') continue;
    if (name.front() == '"') throw Refusal{path_text(list) + ": quoted names are not supported"};
    const fs::path real = real_path(objects / name);
    if (real.empty()) continue;  // git ignores it, too
    region.require(real, path_text(list));
    if (std::find(found.begin(), found.end(), real) != found.end()) continue;
    if (depth >= kDeepestAlternate)
      throw Refusal{path_text(list) + ": alternates are nested too deep"};
    found.push_back(real);
    Look(region).check_objects(real);
    find_alternates(real, region, depth + 1, found);
  }
}

/// Whether git recognizes it as a repository: it ignores an empty folder, for example.
bool may_be_repository(const fs::path& dot_git) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(dot_git, error);
  if (!fs::exists(status)) return false;
  return !fs::is_directory(dot_git, error) || fs::exists(fs::symlink_status(dot_git / "HEAD"));
}

GitPlace look_for_place(const fs::path& folder) {
  GitPlace place;
  for (fs::path at = folder;; at = at.parent_path()) {
    if (may_be_repository(at / ".git")) {
      place.toplevel = at;
      break;
    }
    if (at == at.parent_path()) return place;
  }
  try {
    Region region(place.toplevel);
    find_folders(place, region);
    Look look(region);
    look.check_repository(place.git_dir);
    if (place.common_dir != place.git_dir) look.check_repository(place.common_dir);
    if (const fs::path objects = real_path(place.common_dir / "objects"); !objects.empty())
      find_alternates(objects, region.with_lenders(), 0, place.alternates);
  } catch (const Refusal& refusal) {
    place.refused = refusal.why;
  } catch (const fs::filesystem_error& error) {
    place.refused = error.what();
  }
  if (!place.refused.empty()) place = {.toplevel = place.toplevel, .refused = place.refused};
  return place;
}

}  // namespace

GitPlacesOnce::GitPlacesOnce() {
  if (++known_places().holders == 1) ++known_places().count;
}

unsigned GitPlacesOnce::current() noexcept {
  const KnownPlaces& known = known_places();
  return known.holders == 0 ? 0 : known.count;
}

GitPlacesOnce::~GitPlacesOnce() {
  if (--known_places().holders == 0) known_places().clear();
}

std::shared_ptr<const void>* GitPlacesOnce::kept_for(const fs::path& folder) {
  KnownPlaces& known = known_places();
  return known.holders == 0 ? nullptr : &known.kept[folder];
}

GitPlace find_git_place(const fs::path& folder) {
  KnownPlaces& known = known_places();
  if (known.holders == 0) return look_for_place(folder);
  const auto found = known.by_folder.find(folder);
  if (found != known.by_folder.end()) return found->second;
  return known.by_folder[folder] = look_for_place(folder);
}

void let_git_read(std::vector<fs::path> folders, std::vector<fs::path> lenders) {
  folders_let() = std::move(folders);
  lenders_let() = std::move(lenders);
  known_places().clear();
}

}  // namespace sortie

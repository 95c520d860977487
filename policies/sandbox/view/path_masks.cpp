#include "policies/sandbox/view/view.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/path_below.h"
#include "policies/sandbox/layers/mounts.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Hidden files are secrets: searched at every depth, also in folders of packages.
constexpr SearchReach kHideReach = {
    .levels = 4096, .entries = 300'000, .packages = SearchReach::Packages::searched};

/// A link is protected through its target.
constexpr SearchReach kProtectReach = {.links = SearchReach::Links::found};

/// More would be too many mounts for one command.
constexpr std::size_t kMostMatches = 1'000;

enum class Found { nothing, folder, file, link };

Found look(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return Found::nothing;
  if (S_ISLNK(status.st_mode)) return Found::link;
  return S_ISDIR(status.st_mode) ? Found::folder : Found::file;
}

/// "./a/b/" → "a/b"; "" for a path out of the workspace.
fs::path tidy(const std::string& path) {
  fs::path clean = fs::path(path).lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  if (clean.is_absolute() || clean == "." || *clean.begin() == "..") return {};
  return clean;
}

/// Mounts all masks over the workspace, and makes the empty file and folder that they use.
class PathMasks {
 public:
  PathMasks(const SandboxProfile& profile, const fs::path& scratch, View& view)
      : profile_(profile),
        root_(workspace_root(profile).relative_path()),
        scratch_(scratch),
        view_(view) {
    make_empty("empty", 0555);
    make_empty("hidden", 0);
    const fs::path file = scratch_ / "hidden-file";
    const Fd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0));
    if (!made) throw system_error("make " + file.string(), ExitCode::environment);
  }

  void limit_writing() {
    const bool read_only = is_view_read_only(profile_);
    if (profile_.workspace_writable && !read_only) return;
    for (const auto& entry : profile_.workspace_write_only) {
      const fs::path path = tidy(entry);
      if (read_only || path.empty()) continue;
      if (look(root_ / path) == Found::nothing) make_folders(root_ / path);
      if (look(root_ / path) != Found::link) bind(root_ / path, Access::read_write);
    }
    if (read_only) {
      if (const int error = make_tree_read_only(root_.c_str())) {
        errno = error;
        throw system_error("make the workspace read-only", ExitCode::environment);
      }
    } else {
      make_mount_read_only(root_);
    }
  }

  void protect() {
    if (is_view_read_only(profile_)) return;
    std::set<fs::path> paths;
    std::vector<fs::path> names;
    std::vector<std::string> globs;
    for (const auto& entry : profile_.protect) {
      const fs::path path = tidy(entry);
      if (has_wildcard(entry)) {
        globs.push_back(entry);
      } else if (!path.empty()) {
        names.push_back(path);
      }
    }
    paths.insert(names.begin(), names.end());
    for (const auto& path : search_names(root_, names)) paths.insert(path);
    for (const auto& path : protected_matches(globs)) paths.insert(path);
    // Sorted: folders before what is in them.
    for (const auto& path : paths) protect_one(path);
  }

  /// Of another tree at the workspace's place nothing is the user's.
  void pin() {
    if (is_view_read_only(profile_)) return;
    std::vector<fs::path> bases = profile_.writable;
    if (profile_.mount.in_place) bases.push_back(workspace_root(profile_));
    for (const fs::path& folder : profile_.pinned)
      for (const fs::path& base : bases) pin_below(base, folder);
  }

  enum class Where { everywhere, inside };
  void hide(Where where = Where::everywhere) {
    const fs::path& root = workspace_root(profile_);
    std::vector<fs::path> names;
    std::vector<std::string> globs;
    for (const auto& entry : profile_.hide) {
      if (entry.starts_with('/')) {
        if (where == Where::everywhere || has_wildcard(entry) || is_below(entry, root))
          hide_absolute(entry);
      } else if (has_wildcard(entry)) {
        globs.push_back(entry);
      } else if (const fs::path path = tidy(entry); !path.empty()) {
        names.push_back(path);
      }
    }
    std::set<fs::path> paths(names.begin(), names.end());
    for (const auto& path : search_names(root_, names)) paths.insert(path);
    if (profile_.hidden_inside)
      paths.insert(profile_.hidden_inside->begin(), profile_.hidden_inside->end());
    else
      for (const auto& path : search(globs, "hide", kHideReach)) paths.insert(path);
    for (const auto& path : paths) hide_in_workspace(path);
  }

  void cover() {
    for (const auto& entry : profile_.mount.cover) {
      const fs::path path = tidy(entry.string());
      if (path.empty()) continue;
      if (look(root_ / path) == Found::nothing) make_placeholder(path);
      lay("empty", root_ / path);
    }
  }

 private:
  void make_empty(const char* name, mode_t mode) {
    const fs::path path = scratch_ / name;
    if (::mkdir(path.c_str(), mode) != 0)
      throw system_error("mkdir " + path.string(), ExitCode::environment);
  }

  void lay(const char* what, const fs::path& over) {
    attach_tree(copy_tree(scratch_ / what, Access::read_only), over);
    view_.masks.push_back({.path = '/' + over.string(), .source = what});
  }

  void bind(const fs::path& place, Access access) {
    bind_onto_itself(place, access);
    view_.masks.push_back({.path = '/' + place.string(), .access = access});
  }

  std::vector<fs::path> search(const std::vector<std::string>& globs, const char* why,
                               const SearchReach& reach) {
    bool complete = true;
    auto found = search_globs(root_, globs, &complete, reach);
    if (!complete) {
      view_.notes.push_back(std::string(why) +
                            ": the tree has too many entries to look for every match of a glob "
                            "before the run; changes are checked after it");
    }
    return found;
  }

  /// The matches of protected globs. If there are too many to mount, those near the root come
  /// first.
  std::vector<fs::path> protected_matches(const std::vector<std::string>& globs) {
    std::vector<fs::path> found = profile_.protected_inside
                                      ? *profile_.protected_inside
                                      : search(globs, "protect", kProtectReach);
    if (found.size() <= kMostMatches) return found;
    const auto depth = [](const fs::path& path) { return std::distance(path.begin(), path.end()); };
    std::stable_sort(found.begin(), found.end(), [&](const auto& left, const auto& right) {
      return depth(left) < depth(right);
    });
    found.resize(kMostMatches);
    view_.notes.push_back("protect: globs match more than " + std::to_string(kMostMatches) +
                          " paths: changes of those further down are checked after the run");
    return found;
  }

  /// False if the workspace is read-only there, so that commands can't make the path either.
  bool make_placeholder(const fs::path& path) {
    fs::path made;
    for (const auto& part : path) {
      made /= part;
      const fs::path folder = root_ / made;
      if (::mkdir(folder.c_str(), 0755) == 0) {
        view_.placeholders.push_back('/' + folder.string());
      } else if (errno == EROFS) {
        return false;
      } else if (errno != EEXIST) {
        throw system_error("mkdir " + folder.string(), ExitCode::environment);
      }
    }
    return true;
  }

  void protect_one(const fs::path& path) {
    const fs::path place = real_path(path);
    if (place.empty()) return;
    switch (look(root_ / place)) {
      case Found::nothing:
      case Found::link:
        return;  // nothing to mount on: left to MadePaths and the check of the diff
      case Found::folder:
      case Found::file:
        if (pin_parents(place)) bind(root_ / place, Access::read_only);
        return;
    }
  }

  /// A link can't be mounted on: its target inside the workspace is protected, and the links on the
  /// way by a check of the target at the end.
  /// @return  the path with links resolved; "" if they lead out, or form a loop
  fs::path real_path(const fs::path& path) {
    constexpr int kMostLinks = 40;  // as path_resolution(7)
    fs::path real;
    std::deque<fs::path> rest(path.begin(), path.end());
    for (int links = 0; !rest.empty();) {
      const fs::path part = rest.front();
      rest.pop_front();
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        if (real.empty()) return {};
        real = real.parent_path();
        continue;
      }
      real /= part;
      if (look(root_ / real) != Found::link) continue;
      if (links == 0)
        view_.notes.push_back("protect: " + path.string() +
                              " is a link, or lies behind one: its target is protected, the link "
                              "itself is checked after the run");
      std::error_code error;
      fs::path target = fs::read_symlink(root_ / real, error);
      if (error || ++links > kMostLinks) return {};
      real = real.parent_path();
      if (target.is_absolute()) {
        target = target.lexically_normal().lexically_relative(workspace_root(profile_));
        if (target.empty() || *target.begin() == "..") return {};
        real.clear();
      }
      rest.insert(rest.begin(), target.begin(), target.end());
    }
    return real;
  }

  /// Makes the folders above a mount, which could be renamed with it, mounts too. False if one of
  /// them is protected as a whole already.
  bool pin_parents(const fs::path& path) {
    fs::path folder;
    for (const auto& part : path.parent_path()) {
      folder /= part;
      const fs::path place = root_ / folder;
      if (::access(place.c_str(), W_OK) != 0 && errno == EROFS) return false;
      if (look(place) != Found::folder || !pinned_.insert(folder).second) continue;
      bind(place, Access::read_write);
    }
    return true;
  }

  /// Makes each folder between two a mount: one that is none could be renamed with those below it.
  void pin_below(const fs::path& base, const fs::path& folder) {
    const auto below = path_below(folder, base);
    if (!below || *below == ".") return;
    fs::path place = base.relative_path();
    for (const auto& part : *below) {
      place /= part;
      if (place == root_) {
        if (!profile_.mount.in_place) return;  // below it is the run's own tree
        continue;
      }
      if (::access(place.c_str(), W_OK) != 0 && errno == EROFS) return;
      if (look(place) != Found::folder) return;
      if (pinned_places_.insert(place).second) bind(place, Access::read_write);
    }
  }

  void hide_place(const fs::path& place) {
    const Found found = look(place);
    if (found == Found::folder) lay("hidden", place);
    if (found == Found::file) lay("hidden-file", place);
    if (found != Found::link) return;
    std::error_code error;
    const fs::path target = fs::read_symlink(place, error);
    // Absolute links will lead through the view's own root.
    const fs::path real =
        (target.is_absolute() ? target.relative_path() : place.parent_path() / target)
            .lexically_normal();
    if (!error && *real.begin() != ".." && look(real) != Found::link) hide_place(real);
  }

  void hide_absolute(const std::string& entry) {
    if (!has_wildcard(entry)) return hide_place(fs::path(entry).relative_path());
    glob_t matches{};
    if (::glob(entry.substr(1).c_str(), GLOB_NOSORT, nullptr, &matches) == 0) {
      for (std::size_t i = 0; i < matches.gl_pathc; ++i) hide_place(matches.gl_pathv[i]);
    }
    ::globfree(&matches);
  }

  void hide_in_workspace(const fs::path& path) {
    if (!git_tracks(root_, path)) hide_place(root_ / path);
  }

  const SandboxProfile& profile_;
  fs::path root_;
  fs::path scratch_;
  View& view_;
  std::set<fs::path> pinned_;         ///< relative to the workspace
  std::set<fs::path> pinned_places_;  ///< relative to the view
};

}  // namespace

void lay_path_masks(const SandboxProfile& profile, const fs::path& scratch, View& view) {
  PathMasks masks(profile, scratch, view);
  if (!workspace_root(profile).empty()) {
    masks.cover();
    masks.limit_writing();
    masks.protect();
  }
  masks.pin();
  masks.hide();
}

void lay_workspace_masks(const SandboxProfile& profile, const fs::path& scratch, View& view) {
  PathMasks masks(profile, scratch, view);
  masks.cover();
  masks.limit_writing();
  masks.protect();
  masks.hide(PathMasks::Where::inside);
}

void lay_git_files(const GitView& git, const fs::path& scratch, View& view) {
  int count = 0;
  for (const auto& [file, text] : git.files) {
    const fs::path target = file.relative_path();
    struct stat status {};
    // A file outside the view can't be read by commands.
    if (::lstat(target.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const std::string name = "git-config-" + std::to_string(count++);
    const fs::path shown = scratch / name;
    const Fd made(::open(shown.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
    if (!made || !write_all(made.get(), text) || ::fchmod(made.get(), 0444) != 0)
      throw system_error("make " + shown.string(), ExitCode::environment);
    attach_tree(copy_tree(shown, Access::read_only), target);
    view.masks.push_back({.path = '/' + target.string(), .source = name});
  }
}

}  // namespace sortie

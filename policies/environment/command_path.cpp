#include "policies/environment/command_path.h"

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include "core/files/file_name.h"
#include "core/files/path_below.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> entries_of(const Environment& own) {
  std::vector<std::string> entries;
  const auto path = own.find("PATH");
  if (path == own.end()) return entries;
  const std::string& text = path->second;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    entries.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return entries;
}

/// As named and with links resolved.
std::vector<fs::path> both_ways(const std::vector<fs::path>& paths) {
  std::vector<fs::path> both;
  for (const fs::path& path : paths) {
    if (path.empty()) continue;
    std::error_code error;
    both.push_back(path.lexically_normal());
    const fs::path resolved = fs::weakly_canonical(path, error);
    if (!error) both.push_back(resolved);
  }
  return both;
}

/// The depth of the innermost of these folders that contains a path; -1: none does. A path belongs
/// to the innermost one.
std::ptrdiff_t innermost(const fs::path& path, const std::vector<fs::path>& places) {
  std::ptrdiff_t depth = -1;
  for (const fs::path& place : places) {
    const fs::path named = place.has_filename() ? place : place.parent_path();
    if (is_below(path, named)) depth = std::max(depth, std::distance(named.begin(), named.end()));
  }
  return depth;
}

bool holds_any(const fs::path& folder, const std::vector<fs::path>& places) {
  return std::any_of(places.begin(), places.end(),
                     [&](const fs::path& place) { return is_below(place, folder); });
}

class Search {
 public:
  Search(const Environment& own, const CommandPathPlaces& places)
      : own_(own),
        places_(places),
        workspace_(both_ways({places.workspace})),
        temporary_(both_ways(places.temporary)),
        writable_(both_ways(places.writable)),
        home_(both_ways({places.home})),
        apart_(both_ways(places.kept_apart)) {
    writable_.insert(writable_.end(), temporary_.begin(), temporary_.end());
    writable_.insert(writable_.end(), workspace_.begin(), workspace_.end());
    shown_ = both_ways(places.shown);
  }

  CommandPath run() {
    for (const std::string& entry : entries_of(own_)) look_at(entry);
    add_variable("VIRTUAL_ENV");
    add_variable("CONDA_PREFIX");
    if (found_.folders.empty()) found_.folders = {"/usr/local/bin", "/usr/bin", "/bin"};
    return std::move(found_);
  }

 private:
  void look_at(const std::string& entry) {
    if (entry.empty()) return;
    std::error_code error;
    const fs::path named = entry;
    if (!named.is_absolute()) {
      found_.left_out.push_back({entry, "it is not an absolute path", ""});
      return;
    }
    if (!fs::is_directory(named, error)) return;
    const fs::path folder = fs::canonical(named, error);
    if (error || !looked_at_.insert(folder).second) return;
    const auto installation = installation_of(folder);
    if (may_stay(folder) || installation) {
      found_.folders.push_back(folder);
      if (installation) found_.installations.push_back(*installation);
    } else {
      leave_out(entry, folder);
    }
  }

  bool is_there(const fs::path& folder) const {
    return std::find(found_.folders.begin(), found_.folders.end(), folder) != found_.folders.end();
  }

  bool is_of_workspace(const fs::path& folder) const { return innermost(folder, workspace_) >= 0; }

  bool may_stay(const fs::path& folder) const {
    if (is_of_workspace(folder)) return places_.workspace_folders == WorkspaceFolders::kept;
    const std::ptrdiff_t written = innermost(folder, writable_);
    return written < 0 || innermost(folder, shown_) >= written;
  }

  /// The installation that has to be shown for the programs in a folder to work; nothing if it is
  /// shown already, or can't be.
  std::optional<fs::path> installation_of(const fs::path& folder) const {
    if (places_.installations == Installations::none || folder.filename() != "bin" ||
        is_of_workspace(folder))
      return {};
    const fs::path root = folder.parent_path();
    std::error_code error;
    const bool is_python = fs::is_regular_file(root / "pyvenv.cfg", error) ||
                           fs::is_directory(root / "conda-meta", error);
    if (!is_python && !fs::is_directory(root / "lib", error)) return {};
    // "/x" is a folder of the system, or a whole disk.
    if (std::distance(root.begin(), root.end()) < 3) return {};
    for (const char* shown : {"/usr", "/etc", "/opt", "/bin", "/sbin", "/lib", "/lib64", "/proc",
                              "/sys", "/dev", "/run", "/boot"})
      if (is_below(root, shown)) return {};
    if (innermost(root, shown_) > innermost(root, writable_)) return {};
    const bool of_home = innermost(root, home_) >= 0;
    if (of_home && places_.installations == Installations::outside_home) return {};
    // HOME itself holds all other data of the user too.
    for (const fs::path& home : home_)
      if (root == home / ".local") return {};
    if (holds_any(root, writable_) || holds_any(root, home_) || holds_any(root, apart_)) return {};
    if (innermost(root, apart_) >= 0) return {};
    return root;
  }

  void leave_out(const std::string& entry, const fs::path& folder) {
    if (is_of_workspace(folder)) {
      found_.left_out.push_back(
          {entry, "commands can write to the workspace, and rules match a command's name",
           "approval: full-auto without rules that escalate keeps it; a rule on a script allows "
           "one of its programs by its path"});
    } else if (innermost(folder, home_) >= 0) {
      found_.left_out.push_back({entry, "the run has a HOME of its own",
                                 "paths.read with '" + entry + "' in the policy shows it"});
    } else if (innermost(folder, temporary_) >= 0) {
      found_.left_out.push_back({entry, "commands have a folder for temporary files of their own",
                                 "paths.read with '" + entry + "' in the policy shows it"});
    } else {
      found_.left_out.push_back(
          {entry, "commands can write to it", "leave it out of the policy's paths.write"});
    }
  }

  void add_variable(const char* name) {
    const auto variable = own_.find(name);
    if (variable == own_.end() || variable->second.empty()) return;
    std::error_code error;
    const fs::path folder = fs::canonical(fs::path(variable->second) / "bin", error);
    if (!error && is_there(folder)) found_.variables.emplace(name, variable->second);
  }

  const Environment& own_;
  const CommandPathPlaces& places_;
  std::vector<fs::path> workspace_;
  std::vector<fs::path> temporary_;
  std::vector<fs::path> writable_;
  std::vector<fs::path> shown_;
  std::vector<fs::path> home_;
  std::vector<fs::path> apart_;
  std::set<fs::path> looked_at_;
  CommandPath found_;
};

}  // namespace

CommandPath find_command_path(const Environment& own, const CommandPathPlaces& places) {
  return Search(own, places).run();
}

std::string left_out_text(const CommandPath::LeftOut& one) {
  std::string text = "PATH: " + path_text(one.entry) + " is left out: " + one.why;
  if (!one.remedy.empty()) text += "; " + one.remedy;
  return text;
}

}  // namespace sortie

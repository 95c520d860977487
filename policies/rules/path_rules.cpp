#include "policies/rules/path_rules.h"

#include <algorithm>

#include "core/files/file_name.h"
#include "core/files/journal_name.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Always readable: the system's programs and settings, as in the view.
constexpr const char* kSystemFolders[] = {"/usr",  "/etc", "/opt",   "/bin",
                                          "/sbin", "/lib", "/lib32", "/lib64"};

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string normal(const fs::path& path) {
  return without_trailing_slash(path.lexically_normal().string());
}

/// `path` relative to `folder` ("." for itself), or nothing if it is not inside.
std::optional<std::string> relative_to(const std::string& path, const std::string& folder) {
  if (path == folder) return ".";
  const std::string prefix = folder == "/" ? folder : folder + '/';
  if (path.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
  return path.substr(prefix.size());
}

std::string exact_path(const std::string& path) {
  std::string glob;
  for (const char letter : path) {
    if (std::string_view("*?[\\").find(letter) != std::string_view::npos) glob += '\\';
    glob += letter;
  }
  return glob;
}

}  // namespace

PathRules::Globs PathRules::compile(const std::vector<std::string>& globs, const PathPlaces& places,
                                    LetterCase letters) {
  Globs compiled;
  for (const std::string& glob : globs) {
    if (glob == "." || glob == "./") {
      compiled.relative.add("**", letters);
    } else if (glob == "~" || glob.substr(0, 2) == "~/") {
      const std::string rest = glob.substr(1);
      if (places.home.empty()) {
        compiled.absolute.add("/**" + rest, letters);
      } else {
        compiled.absolute.add(normal(places.home) + rest, letters);
      }
    } else if (!glob.empty() && glob.front() == '/') {
      compiled.absolute.add(glob, letters);
    } else if (!glob.empty()) {
      compiled.relative.add(glob, letters);
      if (glob.substr(0, 3) == "**/") compiled.anywhere.add(glob, letters);
    }
  }
  return compiled;
}

bool PathRules::Globs::match(const Place& place) const {
  return (place.inside && relative.matches(place.relative)) || absolute.matches(place.absolute) ||
         anywhere.matches(place.absolute);
}

PathRules::PathRules(const Policy& policy, PathPlaces places)
    : places_(std::move(places)), mode_(policy.sandbox) {
  places_.workspace = normal(places_.workspace);
  write_ = compile(policy.write, places_);
  read_ = compile(policy.read, places_);
  hide_ = compile(policy.hide, places_, LetterCase::ignored);
  protect_ = compile(policy.protect, places_, LetterCase::ignored);
  // At any depth: the configuration of a nested repository names programs too, and a diff can't
  // contain it.
  protect_.relative.add(".git", LetterCase::ignored);
  protect_.relative.add("**/.git", LetterCase::ignored);
  const std::string journal = kApplyFolder;
  protect_.relative.add(journal, LetterCase::ignored);
  protect_.relative.add("**/" + journal, LetterCase::ignored);
  std::vector<fs::path> files = places_.protected_files;
  files.insert(files.end(), policy.files.begin(), policy.files.end());
  if (!policy.file.empty()) files.push_back(policy.file);
  if (!places_.out.empty()) {
    files.push_back(places_.out);
    files.push_back(normal(places_.out) + ".prev");
  }
  for (const fs::path& file : files) {
    if (file.is_absolute()) protect_.absolute.add(exact_path(normal(file)), LetterCase::ignored);
  }
}

PathRules::Place PathRules::place_of(const fs::path& path) const {
  Place place;
  const std::string& workspace = places_.workspace.native();
  if (is_plain_path(path.native()) && places_.workspace.is_absolute()) {
    place.relative = path.native();
    place.absolute = (workspace == "/" ? workspace : workspace + '/') + place.relative;
    place.inside = true;
    return place;
  }
  place.absolute = normal(path.is_absolute() ? path : places_.workspace / path);
  if (auto relative = relative_to(place.absolute, workspace)) {
    place.relative = std::move(*relative);
    place.inside = true;
  }
  return place;
}

bool PathRules::protects(const Place& place) const { return protect_.match(place); }

bool PathRules::is_protected(const fs::path& path) const { return protects(place_of(path)); }

/// As in the view: files that the policy names by an absolute path are always hidden, files in the
/// workspace only if git does not track them.
bool PathRules::hides(const Place& place) const {
  if (hide_.absolute.matches(place.absolute)) return true;
  if (!hide_.match(place)) return false;
  if (!place.inside || !places_.tracked) return true;
  // A folder is hidden as a whole: the outermost match decides.
  for (std::size_t end = place.relative.find('/');; end = place.relative.find('/', end + 1)) {
    Place outer = place;
    outer.relative = place.relative.substr(0, end);
    outer.absolute.resize(place.absolute.size() - place.relative.size() + outer.relative.size());
    if (end == std::string::npos || hide_.match(outer)) return !places_.tracked(outer.relative);
  }
}

bool PathRules::is_hidden(const fs::path& path) const { return hides(place_of(path)); }

Decision PathRules::decide_read(const fs::path& path) const {
  const Place place = place_of(path);
  Decision denied{.effect = Effect::deny, .part = path.string()};
  if (path.empty() || path.native().find('\0') != std::string::npos) {
    denied.reason = "not a path";
    return denied;
  }
  if (hides(place)) {
    denied.reason = "paths.hide: the file is hidden from the run";
    return denied;
  }
  const bool system = std::any_of(
      std::begin(kSystemFolders), std::end(kSystemFolders),
      [&](const char* folder) { return relative_to(place.absolute, folder).has_value(); });
  if (place.inside || system || read_.match(place)) {
    return {.effect = Effect::allow, .part = path.string(), .reason = "paths: readable"};
  }
  denied.reason = "outside the workspace, and no entry of paths.read covers it";
  denied.unmatched = true;
  denied.instead = "use paths inside the workspace";
  return denied;
}

Decision PathRules::decide_write(const fs::path& path) const {
  const Place place = place_of(path);
  Decision denied{.effect = Effect::deny, .part = path.string()};
  if (path.empty() || path.native().find('\0') != std::string::npos || place.relative == ".") {
    denied.reason = "not the path of a file";
  } else if (mode_ == SandboxMode::read_only) {
    denied.reason = "sandbox.mode is read-only: nothing may be written";
  } else if (protects(place)) {
    denied.reason = "the path is protected: it can be read, but not written or created";
  } else if (hides(place)) {
    denied.reason = "paths.hide: the file is hidden from the run";
  } else if (!write_.match(place)) {
    denied.reason = place.inside ? "no entry of paths.write covers it"
                                 : "outside the workspace, and no entry of paths.write covers it";
    denied.instead = "use paths inside the workspace that the policy lets you write";
    denied.unmatched = true;
  } else {
    return {.effect = Effect::allow, .part = path.string(), .reason = "paths.write covers it"};
  }
  return denied;
}

}  // namespace sortie

#include "core/workspace/git_conversions.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "core/files/files.h"
#include "core/git/config/rule_files.h"
#include "core/git/object_folders.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool mentions(std::string_view text, std::initializer_list<const char*> words) {
  const std::string lower = lower_case(text);
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return lower.find(word) != std::string::npos; });
}

bool file_exists(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

/// Whether the settings of the one who checked the files out may convert line ends, or name
/// attributes. They are only looked through for words.
bool settings_may_convert() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  const fs::path home = variable("HOME");
  const fs::path xdg = variable("XDG_CONFIG_HOME");
  const fs::path own = (xdg.empty() ? home / ".config" : xdg) / "git";
  for (const fs::path& file : {fs::path("/etc/gitconfig"), home / ".gitconfig", own / "config"}) {
    if (!file_exists(file)) continue;
    const TextFile text = read_bytes_file(file, 1u << 20);
    if (!text.problem.empty() ||
        mentions(text.text, {"autocrlf", "eol", "attributesfile", "include"}))
      return true;
  }
  return file_exists(own / "attributes") || file_exists("/etc/gitattributes");
}

}  // namespace

GitConversions::GitConversions(const StartRecord& record, const StartState& state) : state_(state) {
  if (!record.has_repository) return;
  start_libgit2();
  check_git(git_odb_new(GitOut(objects_)), "objects", ExitCode::environment);
  for (const fs::path& folder : record.objects) add_objects(*objects_, folder, "objects");
  any_ = settings_may_convert();
  look_at(read_rule_file(record.folder / ".git/info/attributes").value_or(""));
  const std::string settings = read_file(record.folder / ".git/config", 1u << 20);
  any_ = any_ || record.converts || mentions(settings, {"attributesfile"});
  filter_ = filter_ || any_;  // it may be in what is not read here
}

void GitConversions::look_at(std::string_view attributes) {
  any_ = any_ ||
         mentions(attributes, {"text", "eol", "crlf", "ident", "encoding", "filter", "[attr]"});
  filter_ = filter_ || mentions(attributes, {"filter", "[attr]"});
}

bool GitConversions::has(const git_oid& id) const {
  return objects_ && git_odb_exists(objects_.get(), &id) == 1;
}

bool GitConversions::may_convert(const std::string& path, const git_oid& id,
                                 std::uint64_t size) const {
  if (!objects_) return true;
  if (!any_) return false;
  if (filter_ && !state_.filter(path).empty()) return true;
  std::size_t bytes = 0;
  git_object_t type = GIT_OBJECT_INVALID;
  return git_odb_read_header(&bytes, &type, objects_.get(), &id) < 0 || bytes != size;
}

}  // namespace sortie

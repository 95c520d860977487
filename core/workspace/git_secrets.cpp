#include "core/workspace/git_secrets.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "core/base/address_passwords.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/pattern.h"
#include "core/workspace/git_repository.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr std::uint64_t kMostConfigBytes = 4u << 20;
constexpr std::size_t kMostSubmodules = 200;

/// Names of keys whose value is a secret; libgit2 gives them in lower case.
bool names_secret(std::string_view name) {
  for (const auto part : {"password", "passwd", "token", "secret", "apikey", "accesskey"})
    if (name.find(part) != std::string_view::npos) return true;
  return name == "pass" || name == "smtppass";
}

class SecretWalk {
 public:
  void file(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;  // a pipe would be waited for without end
    try {
      // As it stands: commented lines are printed too.
      add(address_passwords(read_file(path, kMostConfigBytes)));
    } catch (const Error&) {
      // Nor can commands read it.
    }
    GitConfig config;
    if (git_config_open_ondisk(GitOut(config), path.c_str()) < 0) return;
    git_config_iterator* iterator = nullptr;
    if (git_config_iterator_new(&iterator, config.get()) < 0) return;
    const GitHandle<git_config_iterator, git_config_iterator_free> held(iterator);
    git_config_entry* entry = nullptr;
    while (git_config_next(&entry, iterator) == 0)
      key(entry->name, entry->value != nullptr ? entry->value : "");
  }

  std::vector<Secret> secrets() const {
    std::vector<Secret> list;
    for (const std::string& value : values_) list.push_back({"git-config", value});
    return list;
  }

 private:
  void key(const std::string& whole, const std::string& value) {
    const std::string_view name = std::string_view(whole).substr(whole.rfind('.') + 1);
    // A key may hold an address too: url.https://user:token@host/.insteadOf.
    add(address_passwords(whole));
    add(address_passwords(value));
    if (name == "extraheader") add(header_credentials(value));
    if (names_secret(name)) values_.insert(value);
    if (name == "helper") helper(value);
  }

  /// "!f() { echo username=x; echo password=SECRET; }; f"
  void helper(const std::string& value) {
    static const Pattern said =
        Pattern::line_expression(R"re((?:password|oauth_refresh_token)=([^\s;"'}]+))re");
    for (std::size_t at = 0;;) {
      const auto match = said.find_group(value, at, 1);
      if (!match) return;
      const std::string one =
          value.substr(match->group_begin, match->group_end - match->group_begin);
      if (!one.starts_with('$')) values_.insert(one);
      at = match->end;
    }
  }

  void add(const std::vector<std::string>& values) { values_.insert(values.begin(), values.end()); }

  std::set<std::string> values_;
};

}  // namespace

std::vector<Secret> git_config_secrets(const fs::path& folder) {
  const FoundRepository repository = find_repository(folder);
  if (!repository.handle) return {};
  SecretWalk walk;
  const fs::path common = git_repository_commondir(repository.handle.get());
  walk.file(common / "config");
  walk.file(fs::path(git_repository_path(repository.handle.get())) / "config.worktree");
  std::error_code error;
  std::size_t count = 0;
  for (fs::recursive_directory_iterator at(common / "modules", error), end; !error && at != end;
       at.increment(error)) {
    if (++count > kMostSubmodules * 50) break;
    const std::string name = at->path().filename();
    if (name == "objects" || name == "refs" || name == "logs" || name == "hooks")
      at.disable_recursion_pending();
    if (name == "config") walk.file(at->path());
  }
  return walk.secrets();
}

}  // namespace sortie

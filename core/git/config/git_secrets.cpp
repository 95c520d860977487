#include "core/git/config/git_secrets.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/git/config/git_config_files.h"
#include "core/git/config/git_place.h"
#include "core/secrets/address_passwords.h"
#include "core/text/pattern.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr std::uint64_t kMostConfigBytes = 4u << 20;
constexpr std::size_t kMostModuleEntries = 10'000;

/// Whether values of keys with this lower-case name are secrets.
bool names_secret(std::string_view name) {
  for (const auto part :
       {"password", "passwd", "token", "secret", "apikey", "accesskey", "oauth", "authorization"})
    if (name.find(part) != std::string_view::npos) return true;
  return name == "pass" || name == "smtppass";
}

std::string_view name_of_key(std::string_view key) { return key.substr(key.rfind('.') + 1); }

/// The matches of the pattern's first group, without those that a shell would expand.
std::vector<std::string> found_by(const Pattern& said, const std::string& value) {
  std::vector<std::string> found;
  for (std::size_t at = 0;;) {
    const auto match = said.find_group(value, at, 1);
    if (!match) return found;
    std::string one = value.substr(match->group_begin, match->group_end - match->group_begin);
    if (!one.starts_with('$')) found.push_back(std::move(one));
    at = match->end;
  }
}

/// The secrets in "!f() { echo username=x; echo password=SECRET; }; f".
std::vector<std::string> said_by_helper(const std::string& value) {
  static const Pattern said =
      Pattern::rare_line_expression(R"re((?:password|oauth_refresh_token)=([^\s;"'}]+))re",
                                    {"password=", "oauth_refresh_token="});
  return found_by(said, value);
}

/// Secrets in a command line: "sshpass -p SECRET ssh", "curl -H 'Authorization: Bearer SECRET'".
std::vector<std::string> said_in_command(const std::string& value) {
  static const Pattern said = Pattern::rare_line_expression(
      R"re((?i:\bsshpass\s+-p\s*|\b(?:bearer|basic|token)\s+|private-token:\s*)['"]?([^\s'"]{6,}))re",
      {"sshpass", "bearer", "basic", "token"});
  return found_by(said, value);
}

/// Secrets because of which the whole setting is left out.
std::vector<std::string> secrets_of_value(const GitSetting& setting) {
  const std::string_view name = name_of_key(setting.key);
  if (name == "extraheader") return header_credentials(setting.value);
  if (names_secret(name) && !setting.value.empty()) return {setting.value};
  if (name == "helper") {
    if (auto said = said_by_helper(setting.value); !said.empty()) return said;
  }
  return said_in_command(setting.value);
}

/// "https://user:password@host/x" → "https://host/x". For other schemes the user stays: ssh needs
/// it.
std::string without_passwords(std::string text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at)) {
    const bool is_http =
        text.substr(0, at).ends_with("http") || text.substr(0, at).ends_with("https");
    at += 3;
    const std::size_t end = std::min(text.find_first_of("/ \t\n\"'<>", at), text.size());
    const std::size_t host = text.substr(at, end - at).rfind('@');
    if (host == std::string::npos) continue;
    const std::size_t colon = text.substr(at, host).find(':');
    if (is_http)
      text.erase(at, host + 1);
    else if (colon != std::string::npos)
      text.erase(at + colon, host - colon);
  }
  return text;
}

/// A configuration file: its settings and its raw text.
struct ConfigText {
  std::string bytes;
  std::vector<GitSetting> settings;  ///< empty if git refuses it
};

/// Whether it has another format: "URL: https://…" of an old remote, URLs of a credential store.
bool is_plain_text(const fs::path& file) {
  const fs::path above = file.parent_path().filename();
  return above == "remotes" || above == "branches" ||
         !file.filename().string().starts_with("config");
}

std::optional<ConfigText> read_config(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;  // reading a pipe would block
  try {
    ConfigText text{read_file(file, kMostConfigBytes), {}};
    text.settings = parse_git_config(text.bytes).value_or(std::vector<GitSetting>());
    return text;
  } catch (const Error&) {
    return std::nullopt;  // commands can't read it either
  }
}

std::set<std::string> secrets_in(const ConfigText& config) {
  std::set<std::string> values;
  const auto add = [&values](const std::vector<std::string>& more) {
    values.insert(more.begin(), more.end());
  };
  // The raw text: commands could print comments, too.
  add(address_passwords(config.bytes));
  for (const GitSetting& setting : config.settings) {
    // A key may contain a URL, too: url.https://user:token@host/.insteadOf.
    add(address_passwords(setting.key));
    add(address_passwords(setting.value));
    add(secrets_of_value(setting));
  }
  return values;
}

std::string clean_text(const fs::path& file, const ConfigText& config) {
  if (config.settings.empty() && is_plain_text(file)) return without_passwords(config.bytes);
  std::vector<GitSetting> kept;
  for (const GitSetting& setting : config.settings)
    if (secrets_of_value(setting).empty())
      kept.push_back(
          {without_passwords(setting.key), without_passwords(setting.value), setting.bare});
  return write_git_config(kept);
}

/// Adds the configuration files of submodules and other worktrees below a repository's folder.
void add_configs_below(const fs::path& folder, std::set<fs::path>& files) {
  std::error_code error;
  std::size_t count = 0;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (++count > kMostModuleEntries) return;
    const std::string name = at->path().filename();
    if (name == "objects" || name == "refs" || name == "logs" || name == "hooks")
      at.disable_recursion_pending();
    if (name == "config" || name == "config.worktree") files.insert(at->path());
  }
}

void add_configs_of(const GitPlace& place, std::set<fs::path>& files) {
  const fs::path dot_git = place.toplevel / ".git";
  files.insert(dot_git / "config");  // even if it is refused
  if (place.git_dir.empty()) return;
  for (const fs::path& objects : place.alternates) files.insert(objects.parent_path() / "config");
  for (const fs::path& folder : {place.git_dir, place.common_dir}) {
    files.insert(folder / "config");
    files.insert(folder / "config.worktree");
    for (const char* below : {"modules", "worktrees"}) add_configs_below(folder / below, files);
  }
  try {
    const GitConfigFiles found = read_git_config(place);
    files.insert(found.files.begin(), found.files.end());
  } catch (const Error&) {  // reported when git is used there
  }
}

/// The files of "credential.helper = store --file=PATH"; "~" is a private HOME for commands.
void add_stores(std::set<fs::path>& files) {
  static const Pattern store =
      Pattern::line_expression(R"re(\bstore\b.*--file[= ]['"]?([^\s'"]+))re");
  std::set<fs::path> stores;
  for (const fs::path& file : files) {
    const auto config = read_config(file);
    if (!config) continue;
    for (const GitSetting& setting : config->settings) {
      if (name_of_key(setting.key) != "helper") continue;
      const auto match = store.find_group(setting.value, 0, 1);
      if (!match) continue;
      const fs::path named =
          setting.value.substr(match->group_begin, match->group_end - match->group_begin);
      // git runs helpers in the working tree or in the git folder.
      for (const fs::path& from : {file.parent_path(), file.parent_path().parent_path()})
        stores.insert(from / named);
    }
  }
  files.merge(stores);
}

/// Resolves links, so that no file is listed twice.
std::set<fs::path> config_files(const fs::path& folder, const std::vector<fs::path>& git_files) {
  std::set<fs::path> named(git_files.begin(), git_files.end());
  const GitPlace place = find_git_place(folder);
  if (!place.toplevel.empty()) add_configs_of(place, named);
  add_stores(named);
  std::set<fs::path> files;
  for (const fs::path& file : named) {
    std::error_code error;
    fs::path real = fs::canonical(file, error);
    if (!error) files.insert(std::move(real));
  }
  return files;
}

}  // namespace

std::vector<Secret> git_config_secrets(const fs::path& folder,
                                       const std::vector<fs::path>& git_files) {
  std::set<std::string> values;
  for (const fs::path& file : config_files(folder, git_files))
    if (const auto config = read_config(file)) values.merge(secrets_in(*config));
  std::vector<Secret> secrets;
  for (const std::string& value : values) secrets.push_back({"git-config", value});
  return secrets;
}

std::vector<CleanGitConfig> clean_git_configs(const fs::path& folder,
                                              const std::vector<fs::path>& git_files) {
  std::vector<CleanGitConfig> clean;
  for (const fs::path& file : config_files(folder, git_files)) {
    const auto config = read_config(file);
    if (config && !secrets_in(*config).empty()) clean.push_back({file, clean_text(file, *config)});
  }
  return clean;
}

}  // namespace sortie

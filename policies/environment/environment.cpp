#include "policies/environment/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

std::vector<Pattern> name_globs(const std::vector<std::string>& globs) {
  std::vector<Pattern> patterns;
  for (const std::string& glob : globs)
    patterns.push_back(Pattern::word_glob(glob, LetterCase::ignored));
  return patterns;
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// Variables that make a shell, the loader or a command of the class read-only run code that no
/// rule has decided, or read its options differently from the rules.
bool runs_code(const std::string& name) {
  static const std::vector<std::string> exact = {"BASH_ENV",
                                                 "ENV",
                                                 "SHELLOPTS",
                                                 "BASHOPTS",
                                                 "PROMPT_COMMAND",
                                                 "PS4",
                                                 "IFS",
                                                 "GCONV_PATH",
                                                 "GLOBIGNORE",
                                                 "GLIBC_TUNABLES",
                                                 "MAGIC",
                                                 "RIPGREP_CONFIG_PATH",
                                                 "SHELLCHECK_OPTS",
                                                 "GAWK_PERSIST_FILE",
                                                 "POSIXLY_CORRECT",
                                                 "_POSIX2_VERSION"};
  for (const char* prefix : {"LD_", "DYLD_", "BASH_FUNC_"})
    if (name.starts_with(prefix)) return true;
  return contains(exact, name);
}

/// Only the author's and committer's variables pass: every other variable of git names a path or a
/// program.
bool is_foreign_git(const std::string& name) {
  if (!name.starts_with("GIT_")) return false;
  return !name.starts_with("GIT_AUTHOR_") && !name.starts_with("GIT_COMMITTER_");
}

/// A name that is valid in a shell; others (exported functions of other shells) are left out.
bool is_name(const std::string& name) {
  return !name.empty() && name.find_first_of(std::string_view("=\0", 2)) == std::string::npos;
}

Environment inherited(const Policy& policy, const Environment& own) {
  const std::vector<Pattern> included = name_globs(policy.environment_include);
  const std::vector<Pattern> excluded = name_globs(policy.environment_exclude);
  Environment result;
  for (const auto& [name, value] : own) {
    if (!is_name(name) || runs_code(name) || is_foreign_git(name)) continue;
    const bool wanted =
        policy.environment_inherit == InheritedVariables::all ||
        (policy.environment_inherit == InheritedVariables::core && is_core_variable(name)) ||
        any_matches(included, name);
    if (!wanted) continue;
    // A glob of `include` does not lift an exclusion; the variable's own name does.
    const bool held_back = (policy.credentials.count(name) != 0 || any_matches(excluded, name)) &&
                           !contains(policy.environment_include, name);
    if (!held_back) result.emplace(name, value);
  }
  return result;
}

void set_git_config(Environment& environment,
                    const std::vector<std::pair<std::string, std::string>>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    environment["GIT_CONFIG_KEY_" + std::to_string(i)] = keys[i].first;
    environment["GIT_CONFIG_VALUE_" + std::to_string(i)] = keys[i].second;
  }
  environment["GIT_CONFIG_COUNT"] = std::to_string(keys.size());
}

/// Settings that override inherited variables, but not the policy's `set`.
void add_quiet_settings(Environment& environment, const EnvironmentPlaces& places) {
  environment["HOME"] = places.home.string();
  environment["TMPDIR"] = places.temporary.string();
  environment["PAGER"] = "cat";
  environment["TERM"] = "dumb";
  environment["NO_COLOR"] = "1";
  environment["CI"] = "true";
  environment["DEBIAN_FRONTEND"] = "noninteractive";
  environment.emplace("LANG", "C.UTF-8");
  // Leak detection traces the program, which the sandbox refuses; every run would fail.
  environment["LSAN_OPTIONS"] = "detect_leaks=0";
  environment["GIT_PAGER"] = "cat";
  environment["GIT_TERMINAL_PROMPT"] = "0";
  environment["GIT_OPTIONAL_LOCKS"] = "0";  // of the repository that is read-only
  // In a namespace with one user, files of other owners belong to an unknown user.
  set_git_config(environment, {{"safe.directory", "*"}});
}

constexpr std::array kProxyVariables = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
                                        "http_proxy", "https_proxy", "all_proxy"};

/// Programs find the proxy by these variables; others have no network. Loopback is the sandbox's
/// own. sortie's own values may hold a password, and don't work inside the sandbox.
void add_proxy(Environment& environment) {
  for (const char* name : kProxyVariables) environment[name] = proxy_url();
  for (const char* name : {"NO_PROXY", "no_proxy"}) environment[name] = "localhost,127.0.0.1,::1";
  environment["NODE_USE_ENV_PROXY"] = "1";  // its own fetch() asks for it
}

}  // namespace

bool is_core_variable(const std::string& name) {
  static const std::vector<std::string> core = {"PATH", "HOME",   "USER",  "LANG",
                                                "TERM", "TMPDIR", "SHELL", "TZ"};
  return name.starts_with("LC_") || contains(core, name);
}

bool makes_programs_run_code(const std::string& name) {
  static const std::vector<std::string> interpreters = {"NODE_OPTIONS",
                                                        "NODE_PATH",
                                                        "PERL5OPT",
                                                        "PERL5LIB",
                                                        "PERL5DB",
                                                        "RUBYOPT",
                                                        "RUBYLIB",
                                                        "CLASSPATH",
                                                        "_JAVA_OPTIONS",
                                                        "JAVA_TOOL_OPTIONS",
                                                        "DOTNET_STARTUP_HOOKS",
                                                        "JDK_JAVA_OPTIONS"};
  return runs_code(name) || name.starts_with("PYTHON") || contains(interpreters, name);
}

bool is_never_given(const std::string& name) { return !is_name(name) || runs_code(name); }

Environment command_environment(const Policy& policy, const Environment& own,
                                const EnvironmentPlaces& places) {
  Environment environment = inherited(policy, own);
  add_quiet_settings(environment, places);
  if (policy.network == NetworkMode::allow_list) add_proxy(environment);
  for (const auto& [name, value] : policy.environment_set) {
    if (!is_never_given(name)) environment[name] = value;
  }
  // The rules look a command's name up in these folders: it has to be found in the same ones.
  environment["PATH"] = joined(places.path, ":");
  return environment;
}

Environment one_repository(const fs::path& toplevel,
                           const std::vector<std::pair<std::string, std::string>>& overrides) {
  Environment environment = {{"GIT_DIR", (toplevel / ".git").string()},
                             {"GIT_WORK_TREE", toplevel.string()},
                             {"GIT_NO_LAZY_FETCH", "1"},
                             {"HOME", "/nonexistent"},
                             {"GIT_PAGER", "cat"},
                             {"GIT_TERMINAL_PROMPT", "0"},
                             {"GIT_CONFIG_NOSYSTEM", "1"},
                             {"GIT_ATTR_NOSYSTEM", "1"},
                             {"GIT_CONFIG_GLOBAL", "/dev/null"},
                             {"GIT_OPTIONAL_LOCKS", "0"}};
  std::vector<std::pair<std::string, std::string>> keys = {{"safe.directory", "*"},
                                                           {"core.hooksPath", "/dev/null"},
                                                           {"core.fsmonitor", "false"},
                                                           {"core.pager", "cat"},
                                                           {"diff.ignoreSubmodules", "all"}};
  keys.insert(keys.end(), overrides.begin(), overrides.end());
  set_git_config(environment, keys);
  return environment;
}

void remove_proxy(Environment& environment) {
  for (const char* name : kProxyVariables) {
    const auto found = environment.find(name);
    if (found != environment.end() && found->second == proxy_url()) environment.erase(found);
  }
}

namespace {

/// Whether it names a key of git's configuration: sortie sets these variables for commands itself.
bool names_git_key(const std::string& name) { return name.starts_with("GIT_CONFIG_KEY_"); }

}  // namespace

std::vector<Secret> environment_secrets(const Policy& policy, const Environment& own) {
  const std::vector<Pattern> excluded = name_globs(policy.environment_exclude);
  std::vector<Secret> secrets;
  for (const auto& [name, value] : own) {
    const bool is_secret = any_matches(excluded, name) || policy.credentials.count(name) != 0;
    if (is_secret && !value.empty() && !names_git_key(name)) secrets.push_back({name, value});
  }
  return secrets;
}

Environment own_environment() {
  Environment own;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      own.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return own;
}

}  // namespace sortie

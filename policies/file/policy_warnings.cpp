#include "policies/file/policy_warnings.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "core/base/error.h"
#include "core/host/host.h"
#include "core/host/url.h"
#include "core/task/tool_names.h"
#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/environment/environment.h"
#include "policies/file/presets.h"
#include "policies/rules/command_rules.h"
#include "policies/rules/planted_programs.h"
#include "policies/shell/lookup.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

/// The most combinations of a rule's alternatives that are tried.
constexpr std::size_t kMaxCombinations = 256;

/// Whether the program runs code from its arguments: a rule with its name alone allows everything.
bool runs_anything(std::string_view name) {
  static constexpr std::array<std::string_view, 22> kInterpreters = {
      "awk",  "gawk",   "mawk", "python", "python2", "python3", "perl", "ruby",
      "node", "nodejs", "php",  "lua",    "tclsh",   "deno",    "bun",  "sudo",
      "doas", "su",     "ssh",  "docker", "podman",  "make"};
  return is_shell(name) || is_wrapper(name) ||
         std::find(kInterpreters.begin(), kInterpreters.end(), name) != kInterpreters.end();
}

/// The argvs that a rule's prefix means; none if there are too many.
std::vector<std::vector<std::string>> combinations(const CommandRule& rule) {
  std::vector<std::vector<std::string>> argvs = {{}};
  for (const auto& words : rule.prefix) {
    if (argvs.size() * words.size() > kMaxCombinations) return {};
    std::vector<std::vector<std::string>> longer;
    for (const auto& argv : argvs) {
      for (const auto& word : words) {
        longer.push_back(argv);
        longer.back().push_back(word);
      }
    }
    argvs = std::move(longer);
  }
  return argvs;
}

/// Whether the variable makes programs load code, or contact servers, that no argument names.
bool leads_programs_elsewhere(const std::string& name) {
  static constexpr std::array<std::string_view, 8> kBegins = {
      "OPENSSL_", "npm_config_", "NPM_CONFIG_", "PIP_",
      "UV_INDEX", "GIT_SSH",     "GIT_CONFIG",  "RUSTC"};
  static constexpr std::array<std::string_view, 26> kNames = {
      "NODE_EXTRA_CA_CERTS", "PYTHONPATH",        "PYTHONHOME",
      "PYTHONSTARTUP",       "PYTHONUSERBASE",    "GIT_ASKPASS",
      "GIT_EXEC_PATH",       "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF",
      "SSL_CERT_FILE",       "SSL_CERT_DIR",      "REQUESTS_CA_BUNDLE",
      "CURL_CA_BUNDLE",      "HTTP_PROXY",        "HTTPS_PROXY",
      "ALL_PROXY",           "http_proxy",        "https_proxy",
      "all_proxy",           "GOPROXY",           "GOFLAGS",
      "MAVEN_OPTS",          "GRADLE_OPTS",       "GRADLE_USER_HOME",
      "CARGO_BUILD_RUSTC",   "SSH_ASKPASS"};
  if (makes_programs_run_code(name) && !name.starts_with("PYTHON")) return true;
  return std::any_of(kBegins.begin(), kBegins.end(),
                     [&name](std::string_view begin) { return name.starts_with(begin); }) ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Whether the variable names a package index, and its value is the address of one host that the
/// policy's allow-list names too: then that server is meant.
bool names_listed_index(const std::string& name, const std::string& value, const Policy& policy) {
  static constexpr std::array<std::string_view, 8> kIndexes = {
      "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL",        "UV_DEFAULT_INDEX",
      "UV_INDEX",      "npm_config_registry", "NPM_CONFIG_REGISTRY", "GOPROXY"};
  if (policy.network != NetworkMode::allow_list) return false;
  if (std::find(kIndexes.begin(), kIndexes.end(), name) == kIndexes.end()) return false;
  Url url;
  try {
    url = parse_url(value);
  } catch (const InputError&) {
    return false;  // several addresses, a password, a file: or no address at all
  }
  return std::any_of(policy.network_allow.begin(), policy.network_allow.end(),
                     [&url](const std::string& entry) {
                       std::string problem;
                       const auto host = parse_host_pattern(entry, problem);
                       return host && !host->any && !host->subdomains && host->covers(url.host) &&
                              (host->port == 0 ? 443 : host->port) == url.port;
                     });
}

/// What a shell does itself, without a program of that name.
bool is_shell_builtin(std::string_view word) {
  return is_one_of(word,
                   {".",     ":",     "[",    "alias",  "bg",    "cd",      "command", "declare",
                    "eval",  "exec",  "exit", "export", "fg",    "hash",    "jobs",    "local",
                    "popd",  "pushd", "read", "return", "set",   "shift",   "shopt",   "source",
                    "times", "trap",  "type", "ulimit", "umask", "unalias", "unset",   "wait"});
}

std::string place_text(const RulePlace& place) {
  return place.file + ":" + std::to_string(place.line);
}

class Search {
 public:
  Search(const Policy& policy, const PolicySurroundings& surroundings)
      : policy_(policy), rules_(policy.commands), surroundings_(surroundings) {}

  std::vector<PolicyWarning> run() {
    for (const auto& rule : policy_.commands)
      if (rule.effect == Effect::allow) check_allow(rule);
    for (const auto& rule : policy_.tools) check_tool_names(rule);
    check_paths();
    check_network();
    check_variables();
    check_modes();
    return std::move(warnings_);
  }

 private:
  void add(const RulePlace& place, std::string text) {
    warnings_.push_back({.place = place, .text = std::move(text)});
  }
  void add_at(const std::string& key, std::string text) {
    const auto place = policy_.places.find(key);
    add(place == policy_.places.end() ? RulePlace{} : place->second, std::move(text));
  }
  void add_risk(const std::string& key, std::string text) {
    add_at(key, std::move(text));
    warnings_.back().of_risk = true;
  }

  void check_allow(const CommandRule& rule) {
    if (rule.escalate && !policy_.escalation)
      add(rule.place, "'escalate' has no effect: 'escalation' is deny");
    if (rule.prefix.empty()) return;
    for (const auto& word : rule.prefix[0]) {
      if (word.find('/') != std::string::npos && word.front() != '/')
        add(rule.place, "'" + word +
                            "' is a path: no command of the workspace is allowed by its "
                            "words; use allow: {script: …}");
      else if (const auto why = planted(word); !why.empty())
        add(rule.place, "no command is allowed by '" + word + "': " + why +
                            "; use the bare name of a program that PATH finds elsewhere, or show "
                            "its folder with paths.read");
      else if (rule.prefix.size() == 1 && runs_anything(base_name(word)) &&
               !(word == "make" && !rule.but_not_args.empty()))
        add(rule.place, "allows all that " + word + " can run: name its arguments too");
    }
    check_covered(rule);
    check_installed(rule);
  }

  const std::vector<std::filesystem::path>& path() {
    if (!path_)
      path_.emplace(surroundings_.path ? surroundings_.path() : decltype(path_)::value_type());
    return *path_;
  }

  /// Warns of a rule whose programs nobody can start. Presets have rules for what may not be there.
  void check_installed(const CommandRule& rule) {
    if (find_preset(rule.place.file) != nullptr || path().empty()) return;
    const auto is_there = [&](const std::string& word) {
      return word.find('/') != std::string::npos || is_shell_builtin(word) ||
             std::any_of(path().begin(), path().end(), [&](const std::filesystem::path& folder) {
               std::error_code error;
               return std::filesystem::exists(folder / word, error);
             });
    };
    if (std::none_of(rule.prefix[0].begin(), rule.prefix[0].end(), is_there))
      add(rule.place, "no program '" + rule.prefix[0].front() +
                          "' is on the PATH that commands have here: install it, or add its folder "
                          "to PATH, and to paths.read if that is below HOME or the workspace");
  }

  /// Warns of names that no tool has.
  void check_tool_names(const ToolRule& rule) {
    std::vector<std::string> known = built_in_tool_names();
    if (surroundings_.functions)
      known.insert(known.end(), surroundings_.functions->begin(), surroundings_.functions->end());
    for (const std::string& name : rule.names) {
      const bool is_glob = name.find_first_of("*?[") != std::string::npos;
      if (is_glob || name.starts_with("mcp_") || name.starts_with("mcp:") || is_one_of(name, known))
        continue;
      const std::string nearest = nearest_name(name, known);
      // A function of some task may have it.
      if (nearest.empty() && (!surroundings_.functions || rule.effect != Effect::allow)) continue;
      add(rule.place, "there is no tool '" + one_line(name, 60) + "'" +
                          (nearest.empty() ? "" : "; did you mean '" + nearest + "'?") +
                          (surroundings_.functions ? "" : " (unless a task has such a function)"));
    }
  }

  /// Whether commands see or write the whole machine, or a home folder.
  void check_paths() {
    const auto is_broad = [this](const std::string& entry) {
      if (entry == "~" || entry == "~/") return true;
      const std::filesystem::path path = std::filesystem::path(entry).lexically_normal();
      if (!path.is_absolute()) return false;
      const auto rest = surroundings_.home.lexically_normal().lexically_relative(path);
      return path == "/" || (!rest.empty() && *rest.begin() != "..");
    };
    for (const auto& entry : policy_.read)
      if (is_broad(entry))
        add_at("paths.read", "'" + entry +
                                 "' lets commands read what other programs and users keep there, "
                                 "keys that paths.hide does not know included: name the folders "
                                 "that are needed");
    for (const auto& entry : policy_.write)
      if (is_broad(entry))
        add_at("paths.write", "'" + entry +
                                  "' lets commands change all that this user can change there, "
                                  "outside of the diff: name the folders that are needed");
  }

  /// There is no workspace here; the caller's HOME is used for the run's.
  std::string planted(const std::string& word) const {
    const char* home = std::getenv("HOME");
    return why_planted(word, policy_, "/workspace", home == nullptr ? "" : home);
  }

  /// Warns if deny rules match everything that the rule allows.
  void check_covered(const CommandRule& rule) {
    const CommandPlace place{.workspace = "/workspace", .workdir = "/workspace", .folders = {}};
    const auto argvs = combinations(rule);
    const CommandRule* by = nullptr;
    for (const auto& argv : argvs) {
      const RuleMatch match = rules_.find_deny(argv, place);
      if (match.rule == nullptr) return;
      by = match.rule;
    }
    if (by != nullptr)
      add(rule.place, "can never match: " + place_text(by->place) + " (" + by->place.text +
                          ") denies all that it allows");
  }

  void check_network() {
    if (policy_.network != NetworkMode::allow_list) {
      if (!policy_.network_allow.empty())
        add_at("network.allow",
               "'network.allow' is not used: the mode is " + std::string(name_of(policy_.network)) +
                   (policy_.network == NetworkMode::none ? "; add mode: allow-list" : ""));
      return;
    }
    if (policy_.network_allow.empty())
      add_at("network.mode", "the allow-list is empty: nothing can be reached");
    for (const auto& entry : policy_.network_allow) {
      std::string problem;
      const auto host = parse_host_pattern(entry, problem);
      if (host && host->is_broad())
        add_at("network.allow", "'" + entry + "' lets commands reach nearly every host");
      if (host) check_loopback(entry);
    }
  }

  /// Programs that use the proxy don't use it for hosts of NO_PROXY, which has loopback by default.
  void check_loopback(const std::string& entry) {
    const std::string host = entry.starts_with('[') ? entry.substr(1, entry.find(']') - 1)
                                                    : entry.substr(0, entry.rfind(':'));
    if (!is_one_of(host, {"localhost", "127.0.0.1", "::1"})) return;
    for (const char* name : {"NO_PROXY", "no_proxy"}) {
      const auto set = policy_.environment_set.find(name);
      if (set != policy_.environment_set.end() && set->second.find(host) == std::string::npos)
        continue;
      return add_at("network.allow",
                    "'" + entry + "' is in " + name +
                        " of commands, so that most programs look for it inside the sandbox, where "
                        "nothing listens; add environment.set: {NO_PROXY: '', no_proxy: ''}");
    }
  }

  void check_variables() {
    for (const auto& [name, value] : policy_.environment_set)
      if (name == "PATH")
        add_at(
            "environment.set",
            "'PATH' has no effect: rules and commands look names up in the same folders, those of "
            "sortie's own PATH; set it for sortie, or show a folder with paths.read");
      else if (is_never_given(name))
        add_at("environment.set",
               "'" + name + "' has no effect: it would make programs run other code");
      else if (leads_programs_elsewhere(name) && !names_listed_index(name, value, policy_))
        add_at("environment.set", "'" + name +
                                      "' makes programs that read it run other code, or contact "
                                      "other servers, than their arguments say");
    for (const auto& name : policy_.mcp_env) {
      if (makes_programs_run_code(name) || name == "PATH" || name == "HOME")
        add_at("bounds.mcp_env",
               "'" + name +
                   "' has no effect: no task gives it to a server, since it could make "
                   "the server's program run other code");
      else if (leads_programs_elsewhere(name))
        add_at("bounds.mcp_env", "'" + name +
                                     "' lets a task name code or servers for the programs "
                                     "of MCP servers");
    }
  }

  void check_modes() {
    if (policy_.sandbox == SandboxMode::none)
      add_risk("sandbox.mode", "commands run without a sandbox: for a throw-away machine only");
    const bool has_network = std::find(policy_.guarantee.begin(), policy_.guarantee.end(),
                                       Guarantee::network) != policy_.guarantee.end();
    if (policy_.sandbox == SandboxMode::none && !policy_.guarantee.empty())
      add_at("sandbox.mode",
             "without a sandbox nothing of 'sandbox.guarantee' is proved: runs end with code 7");
    else if (policy_.network == NetworkMode::full && has_network)
      add_risk("network.mode",
               "the network is open: 'network' of 'sandbox.guarantee' is not asked for");
    if (policy_.allow_all_three)
      add_risk("trust.allow_all_three", "a run may have untrusted input, secrets and open network");
    if (policy_.approver && policy_.approval != Approval::deny_by_default)
      add_at("approver", "the approver is never asked: the approval mode is " +
                             std::string(name_of(policy_.approval)));
  }

  const Policy& policy_;
  CommandRules rules_;
  const PolicySurroundings& surroundings_;
  std::optional<std::vector<std::filesystem::path>> path_{};
  std::vector<PolicyWarning> warnings_;
};

}  // namespace

std::vector<PolicyWarning> policy_warnings(const Policy& policy,
                                           const PolicySurroundings& surroundings) {
  return Search(policy, surroundings).run();
}

std::string warning_text(const Policy& policy, const PolicyWarning& warning) {
  const std::string place = warning.place.line > 0 ? place_text(warning.place) : policy.name;
  return place + ": warning: " + warning.text;
}

}  // namespace sortie

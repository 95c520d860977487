#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/secrets/redact.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The proxy's address in network mode `allow-list`: in the run's own network namespace, or,
/// without one, the address that the connect gate redirects to the proxy. The same in every run, so
/// that transcripts can be compared.
inline constexpr std::uint16_t kProxyPort = 3128;
inline constexpr const char* kProxyAddress = "127.0.0.1";

/// "http://127.0.0.1:3128".
inline std::string proxy_url() {
  return std::string("http://") + kProxyAddress + ":" + std::to_string(kProxyPort);
}

using Environment = std::map<std::string, std::string>;

/// A command's own folders, as it sees them.
struct EnvironmentPlaces {
  std::filesystem::path home;                ///< HOME
  std::filesystem::path temporary = "/tmp";  ///< TMPDIR; below HOME if /tmp is the machine's
  std::vector<std::filesystem::path> path;   ///< find_command_path()
};

/// The whole environment of a run's commands, built from nothing: the variables of sortie's own
/// that the policy passes on, its `set`, and settings that keep programs quiet. Variables that make
/// an interpreter, a shell or the loader run other code (BASH_ENV, LD_PRELOAD, exported functions
/// …) are never included, not even by `set`; PATH is always sortie's own. git works as usual: its
/// hooks run, and its global configuration is a file of the private HOME.
Environment command_environment(const Policy& policy, const Environment& own,
                                const EnvironmentPlaces& places);

/// Whether a variable of this name makes the loader, a shell or an interpreter run code that no
/// argument names.
bool makes_programs_run_code(const std::string& name);

/// Whether commands never get a variable of this name, whatever a policy says: it would make the loader
/// or a shell run other code, or is no name.
bool is_never_given(const std::string& name);

/// Variables added for a git command that its rules class as read-only, so that no configuration
/// can make it run another program: a repository made below the workspace would have a
/// configuration of its own, one that lacks objects would fetch them with programs that it names,
/// and an include of "~/…" would name a file that commands can write.
/// @param toplevel   the folder that contains `.git`, as the command sees it
/// @param overrides  further keys to override: those that name programs in its configuration
///                   (core/git/git_programs.h)
Environment one_repository(const std::filesystem::path& toplevel,
                           const std::vector<std::pair<std::string, std::string>>& overrides = {});

/// Removes the proxy's variables for a command that a rule lets use the machine's network, where
/// sortie's proxy does not listen. Proxies from `environment.set` stay.
void remove_proxy(Environment& environment);

/// The values that must not be shown: of each variable that `environment.exclude` matches, included
/// by name or not, and of each credential variable. Sorted by name, without empty values.
std::vector<Secret> environment_secrets(const Policy& policy, const Environment& own);

/// Whether `inherit: core` passes a variable of this name on.
bool is_core_variable(const std::string& name);

/// This process's environment as a map; the first value of duplicate names.
Environment own_environment();

}  // namespace sortie

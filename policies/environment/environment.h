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

/// Where commands find the proxy of network mode `allow-list`: in the run's own network namespace,
/// or, without one, where the connect gate takes it for the proxy. The same in every run, so that
/// what a run records can be compared with another's.
inline constexpr std::uint16_t kProxyPort = 3128;
inline constexpr const char* kProxyAddress = "127.0.0.1";

/// "http://127.0.0.1:3128".
inline std::string proxy_url() {
  return std::string("http://") + kProxyAddress + ":" + std::to_string(kProxyPort);
}

using Environment = std::map<std::string, std::string>;

/// Where a command finds its own places, as it sees them.
struct EnvironmentPlaces {
  std::filesystem::path home;                ///< HOME
  std::filesystem::path temporary = "/tmp";  ///< TMPDIR; below HOME where /tmp is the machine's
  std::vector<std::filesystem::path> path;   ///< find_command_path()
};

/// The whole environment of a run's commands, built from nothing: what the policy lets through of
/// sortie's own, its `set`, and the settings that keep programs quiet. Variables that make an
/// interpreter, a shell or the loader run other code (BASH_ENV, LD_PRELOAD, exported functions …)
/// never get in, by `set` neither; PATH is sortie's own in any case. git is as anywhere else: its
/// hooks run, and its global configuration is a file of the private HOME.
Environment command_environment(const Policy& policy, const Environment& own,
                                const EnvironmentPlaces& places);

/// Whether a variable of this name makes the loader, a shell or an interpreter run code that no
/// argument names.
bool makes_programs_run_code(const std::string& name);

/// Added where a command is git and its rules say that it only reads: what it reads must not say
/// otherwise. It then runs nothing but itself, whatever a configuration says. A repository that was
/// made below the workspace would have a configuration of its own, one that lacks objects would
/// have them fetched by programs that it names, and an include of "~/…" would name a file that
/// commands can write.
/// @param toplevel   the folder that holds `.git`, as the command sees it
/// @param overrides  of its configuration's keys, beyond those that always are: what it names as
///                   programs (core/git/git_programs.h)
Environment one_repository(const std::filesystem::path& toplevel,
                           const std::vector<std::pair<std::string, std::string>>& overrides = {});

/// For a command that a rule lets out of the run's own network: sortie's proxy listens there alone.
/// What `environment.set` names as proxies stays.
void remove_proxy(Environment& environment);

/// The values that must not be seen: of each variable that `environment.exclude` matches, included
/// by name or not, and of each credential variable. Sorted by name; empty values left out.
std::vector<Secret> environment_secrets(const Policy& policy, const Environment& own);

/// Whether `inherit: core` lets a variable of this name through.
bool is_core_variable(const std::string& name);

/// This process's environment as a map; of names that stand twice, the first.
Environment own_environment();

}  // namespace sortie

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/spelling.h"

namespace sortie {

/// What happens if no rule matches. `audit`: everything runs, inside the sandbox, and calls that
/// strict rules would have denied are recorded.
enum class Approval { deny_by_default, full_auto, audit };
template <>
inline constexpr auto kSpelling<Approval> =
    std::to_array<Spelled<Approval>>({{Approval::deny_by_default, "deny-by-default"},
                                      {Approval::full_auto, "full-auto"},
                                      {Approval::audit, "audit"}});

enum class Effect { allow, deny, forbid };
template <>
inline constexpr auto kSpelling<Effect> = std::to_array<Spelled<Effect>>(
    {{Effect::allow, "allow"}, {Effect::deny, "deny"}, {Effect::forbid, "forbid"}});

enum class SandboxMode { read_only, workspace_write, none };
template <>
inline constexpr auto kSpelling<SandboxMode> =
    std::to_array<Spelled<SandboxMode>>({{SandboxMode::read_only, "read-only"},
                                         {SandboxMode::workspace_write, "workspace-write"},
                                         {SandboxMode::none, "none"}});

/// Which processes a command may trace (ptrace(2)): its own are those that it started.
enum class Tracing { none, own };
template <>
inline constexpr auto kSpelling<Tracing> = std::to_array<Spelled<Tracing>>({{Tracing::none, "none"},
                                                                            {Tracing::own, "own"}});

enum class NetworkMode { none, allow_list, full };
template <>
inline constexpr auto kSpelling<NetworkMode> =
    std::to_array<Spelled<NetworkMode>>({{NetworkMode::none, "none"},
                                         {NetworkMode::allow_list, "allow-list"},
                                         {NetworkMode::full, "full"}});

enum class Guarantee { writes, secrets, network, processes, kernel };
template <>
inline constexpr auto kSpelling<Guarantee> =
    std::to_array<Spelled<Guarantee>>({{Guarantee::writes, "writes"},
                                       {Guarantee::secrets, "secrets"},
                                       {Guarantee::network, "network"},
                                       {Guarantee::processes, "processes"},
                                       {Guarantee::kernel, "kernel"}});

/// What a known secret in the diff or the final message does to the run.
enum class OnLeak { fail, report };
template <>
inline constexpr auto kSpelling<OnLeak> =
    std::to_array<Spelled<OnLeak>>({{OnLeak::fail, "fail"}, {OnLeak::report, "report"}});

/// What a changed file over limits.diff_file_size does to the run.
enum class OnLargeFile { fail, report };
template <>
inline constexpr auto kSpelling<OnLargeFile> = std::to_array<Spelled<OnLargeFile>>(
    {{OnLargeFile::fail, "fail"}, {OnLargeFile::report, "report"}});

/// Which of sortie's own variables commands get; `core`: those that programs need to run.
enum class InheritedVariables { none, core, all };
template <>
inline constexpr auto kSpelling<InheritedVariables> =
    std::to_array<Spelled<InheritedVariables>>({{InheritedVariables::none, "none"},
                                                {InheritedVariables::core, "core"},
                                                {InheritedVariables::all, "all"}});

/// The file and line of a rule.
struct RulePlace {
  std::string file;  ///< "policy.yaml", or "strict" for a preset
  int line = 0;      ///< from 1
  std::string text;  ///< the rule on one line: "allow: [cargo, test]"
  bool operator==(const RulePlace&) const = default;
};

/// A command line that a rule must match, or must not: checked when the policy is loaded.
struct RuleExample {
  std::string command;            ///< as written, on one line
  std::vector<std::string> argv;  ///< its words
  bool match = true;
  int line = 0;  ///< in the rule's file, from 1
  int column = 0;
  bool operator==(const RuleExample&) const = default;
};

/// The sandbox of an escalated call; members without a value: as the policy says.
struct RuleSandbox {
  std::optional<SandboxMode> mode;
  std::optional<NetworkMode> network;
  bool operator==(const RuleSandbox&) const = default;
};

/// One rule of `commands`: an argv prefix, where each place has one or more words, or a class, or
/// scripts of the workspace.
struct CommandRule {
  Effect effect = Effect::allow;
  std::vector<std::vector<std::string>> prefix;  ///< prefix[i]: the alternatives for word i
  std::string command_class;                     ///< "read-only", or ""
  std::string script{};                          ///< glob over executables of the workspace, or ""
  std::vector<std::string> but_not_args;         ///< globs over single words
  std::string why;
  std::vector<RuleExample> examples{};
  bool escalate = false;  ///< a call that asks for it runs with `sandbox`
  RuleSandbox sandbox{};
  RulePlace place;
  bool operator==(const CommandRule&) const = default;
};

/// One rule of `tools`: globs over tool names.
struct ToolRule {
  Effect effect = Effect::allow;
  std::vector<std::string> names;
  std::string why;
  RulePlace place;
  bool operator==(const ToolRule&) const = default;
};

struct PolicyLimits {
  std::chrono::milliseconds command_timeout{std::chrono::minutes(10)};
  std::uint64_t output = 64ull << 20;
  std::uint64_t memory = 0;  ///< bytes; 0 with memory_percent
  int memory_percent = 80;   ///< of the machine's or container's
  int processes = 512;
  std::uint64_t file_size = 1ull << 30;
  int open_files = 1024;
  std::uint64_t disk = 10ull << 30;
  std::uint64_t diff_file_size = 10ull << 20;
  OnLargeFile on_large_file = OnLargeFile::fail;
  std::uint64_t transcript = 200ull << 20;
};

/// A program that decides calls that no rule matches.
struct PolicyApprover {
  std::vector<std::string> command;  ///< argv; a relative program path starts at `folder`
  std::filesystem::path folder;      ///< of the file that names it: absolute
  std::chrono::milliseconds timeout{std::chrono::seconds(60)};
};

/// A policy file with the files it extends, every default filled in.
struct Policy {
  std::filesystem::path file;  ///< absolute; empty for a preset
  std::string name;
  std::string digest;  ///< "sha256:…" of the effective policy, of a run's; else ""
  /// All files read, and the approver's beside them: protected during the run.
  std::vector<std::filesystem::path> files;
  /// Where each value is set, by its dotted key ("bounds.models"): in the last file that sets it.
  std::map<std::string, RulePlace> places;
  Approval approval = Approval::deny_by_default;
  bool approval_override = false;
  bool abort_on_denied = false;   ///< on_denied: abort
  int max_denials = 20;           ///< in a row
  bool unreadable_allow = false;  ///< full-auto: scripts that the strict reader rejects may run
  std::vector<CommandRule> commands;
  std::vector<ToolRule> tools;
  /// variable → hosts that may get it; no other credential is sent
  std::map<std::string, std::vector<std::string>> credentials = {
      {"OPENAI_API_KEY", {"api.openai.com"}},
      {"ANTHROPIC_API_KEY", {"api.anthropic.com"}},
      {"CHATGPT", {"chatgpt.com"}}};  // a sign-in (core/provider/sign_in/auth_file.h)
  std::vector<std::string> models = {"*"};
  std::vector<std::string> vars_env = {"GITHUB_*", "CI_*"};
  /// Hosts and commands of MCP servers and programs of functions.json that a task may name.
  std::vector<std::string> mcp;
  /// Folders that a task may name as its workspace, absolute or "~/…", besides the caller's own and
  /// the task's repository.
  std::vector<std::string> workspaces;
  /// A task may ask for isolation none, in which it works in the user's tree.
  bool own_tree = true;
  std::vector<std::string> model_hosts;  ///< of models without a key, besides loopback
  std::vector<std::string> mcp_env;      ///< variables that a task may give to an MCP server
  std::vector<std::string> carry_over;   ///< file names that context.carry_over may have
  bool verify_by_rules = false;  ///< the rules of `commands` apply to verification commands too
  bool prices_of_task = false;   ///< a task may set prices, also for models that the table lacks
  std::optional<double> max_cost = 20;                        ///< USD that a task may ask for
  std::int64_t max_tokens = 20'000'000;                       ///< that a task may ask for
  std::chrono::milliseconds max_time{std::chrono::hours(6)};  ///< that a task may ask for
  std::vector<std::string> write = {"."};
  std::vector<std::string> read;
  /// Known tool folders under HOME are readable, with their variables; writes are discarded.
  bool toolchains = true;
  /// Not readable. A file's list is added to this one, under every policy. Inside the workspace,
  /// globs don't match files that git tracks. `master.key` matches `*.key`. Example files of `.env`
  /// hold no secrets; if such a name is a folder, its content is hidden.
  std::vector<std::string> hide = {"**/.env",
                                   "**/.env.!(example|sample|template|dist|defaults)",
                                   "**/.env.*/**",
                                   "**/.envrc",
                                   "**/*.pem",
                                   "**/*.key",
                                   "**/*.p12",
                                   "**/*.pfx",
                                   "**/id_rsa",
                                   "**/id_dsa",
                                   "**/id_ecdsa",
                                   "**/id_ed25519",
                                   "**/id_ecdsa_sk",
                                   "**/id_ed25519_sk",
                                   "**/.npmrc",
                                   "**/.pypirc",
                                   "**/.netrc",
                                   "**/.htpasswd",
                                   "**/*.tfstate",
                                   "**/*.tfstate.*",
                                   "~/.ssh",
                                   "~/.netrc",
                                   "~/.npmrc",
                                   "~/.pypirc",
                                   "~/.pgpass",
                                   "~/.aws",
                                   "~/.azure",
                                   "~/.config/gcloud",
                                   "~/.config/gh",
                                   "~/.docker",
                                   "~/.kube",
                                   "~/.gnupg",
                                   "~/.git-credentials",
                                   "/etc/shadow",
                                   "/etc/ssl/private"};
  /// Readable, not writable. A file's list is added; `protect: []` leaves only those that the run
  /// always protects (task and policy files, --out, .git).
  std::vector<std::string> protect = {".git",        ".github",     ".gitlab-ci.yml",
                                      "Jenkinsfile", ".gitmodules", "**/CODEOWNERS",
                                      "AGENTS.md"};
  NetworkMode network = NetworkMode::none;
  std::vector<std::string> network_allow;  ///< "host:port", "*.host:port"; of mode allow-list
  InheritedVariables environment_inherit = InheritedVariables::core;
  std::vector<std::string> environment_include;
  /// Never passed on unless listed in include. A file's list is added to this one.
  std::vector<std::string> environment_exclude = {
      "*KEY*", "*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*CREDENTIAL*",
      "PASS", "*_PASS", "*_PWD", "PAT", "*_PAT", "*JWT*", "*_AUTH", "*AUTH_CONFIG*",
      // Not GOPRIVATE, which names hosts.
      "PRIVATE*", "*_PRIVATE*", "*CONNECTION_STRING*", "*CONNECTIONSTRING*"};
  std::map<std::string, std::string> environment_set;
  PolicyLimits limits;
  SandboxMode sandbox = SandboxMode::workspace_write;
  Tracing tracing = Tracing::none;  ///< sandbox.ptrace
  std::vector<Guarantee> guarantee = {Guarantee::writes, Guarantee::secrets, Guarantee::network};
  bool escalation = false;  ///< `rules`: calls may ask for the sandbox of rules with `escalate`
  std::optional<PolicyApprover> approver;    ///< nothing: nobody is asked
  bool input_untrusted = true;               ///< trust.input
  bool allow_all_three = false;              ///< untrusted input, secrets and open network together
  std::vector<std::string> redact_patterns;  ///< RE2, added to the known secrets
  OnLeak on_leak = OnLeak::fail;
};

}  // namespace sortie

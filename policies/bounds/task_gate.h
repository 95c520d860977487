#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/task/task.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The folders that a task's paths are checked against; absolute, "" if not known.
struct GatePlaces {
  std::filesystem::path workspace{};    ///< links resolved; the policy's `paths` are relative to it
  std::filesystem::path caller{};       ///< the current folder of sortie
  std::filesystem::path task_folder{};  ///< of the task file; stdin: the caller's
  std::filesystem::path out{};          ///< --out
  std::filesystem::path home{};         ///< what "~" means
};

/// The host of a model.
struct ModelHost {
  std::string host{};  ///< lower case, an IPv6 address without its brackets
  int port = 443;
  bool secure = true;
  bool loopback = false;
};

/// Decides whether a task may use the files, folders, hosts, programs, variables and headers that it
/// names: every one of them is checked here. Each call returns the reason for a refusal, worded to
/// follow the name; "" if it is allowed.
class TaskGate {
 public:
  /// @param policy  outlives it
  TaskGate(const Policy& policy, GatePlaces places) : policy_(policy), places_(std::move(places)) {}

  /// A file that the task refers to: prompts, images, functions, schemas, cassettes. With links
  /// resolved, it must be in the workspace, the task's folder or `paths.read`, and not hidden by
  /// `paths.hide`.
  std::string file(const std::filesystem::path& file) const;
  /// A file that is inserted in the prompt ({{file:PATH}}, --var NAME@FILE): only `paths.read`.
  std::string quoted_file(const std::filesystem::path& file) const;
  /// A name that is looked up from the repository's root down to the workspace: project docs,
  /// ignored paths that belong in the diff.
  std::string file_of_workspace(const std::filesystem::path& name) const;
  /// The file next to --out for the model's notes.
  /// @param own  files of the run: the task, the policy, and the files that they name
  std::string notes(const std::string& name, const std::vector<std::filesystem::path>& own) const;
  /// The folders in which a task's workspace may be; links resolved.
  std::vector<std::filesystem::path> workspaces() const;
  /// The task's workspace, links resolved; one from -C is not checked.
  std::string folder(const std::filesystem::path& folder) const;
  /// The host of a model that gets no key.
  std::string keyless_host(const ModelHost& host) const;
  /// The address of an MCP server, "https://mcp.example.com:8443".
  std::string server_address(const std::string& address) const;
  /// A program of an MCP server or a function, with its arguments.
  std::string program(const std::vector<std::string>& argv) const;
  /// A verification command, if `bounds.verify` says that the rules decide on it.
  std::string verification(const std::vector<std::string>& argv, Approval approval) const;
  /// A variable that is inserted in a prompt.
  std::string prompt_variable(const std::string& name) const;
  /// A variable that is given to an MCP server's program.
  std::string server_variable(const std::string& name) const;
  /// A header of a request to a model.
  std::string header(const std::string& name) const;

  const GatePlaces& places() const noexcept { return places_; }

 private:
  enum class Own { counts, counts_not };
  std::string file_problem(const std::filesystem::path& file, Own own) const;
  std::filesystem::path without_tilde(const std::string& path) const;

  const Policy& policy_;
  GatePlaces places_;
};

/// "policy.yaml:7: bounds.models", or "bounds.models (the default)".
std::string policy_place(const Policy& policy, const std::string& key);

/// "; to allow it, …": how the policy lets a task ask for more, as it is written: a new entry in its
/// list, a new list in its `bounds`, or `bounds` themselves.
/// @param bound  a list: "model_hosts"
std::string to_allow(const Policy& policy, const std::string& bound, const std::string& entry);
/// The same for a host that a credential may go to.
std::string to_allow_key(const Policy& policy, const std::string& variable,
                         const std::string& host);

/// "[a, b]", shortened.
std::string entries_text(const std::vector<std::string>& entries);

}  // namespace sortie

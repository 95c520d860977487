#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/task/task.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Where a run is, for what a task names; all absolute, "" where it is not known.
struct GatePlaces {
  std::filesystem::path workspace{};  ///< links resolved; `paths` of the policy are relative to it
  std::filesystem::path caller{};     ///< the folder that sortie was started in
  std::filesystem::path task_folder{};  ///< of the task file; stdin: the caller's
  std::filesystem::path out{};          ///< --out
  std::filesystem::path home{};         ///< what "~" means
};

/// A host that a model is asked at.
struct ModelHost {
  std::string host{};  ///< lower case, an IPv6 address without its brackets
  int port = 443;
  bool secure = true;
  bool loopback = false;
};

/// What acts for the task asks first: the one place that every file, folder, host, program,
/// variable and header passes which a task names. Each call answers why not, in words that follow
/// the name; "" where it may.
class TaskGate {
 public:
  /// The policy has to outlive it.
  TaskGate(const Policy& policy, GatePlaces places) : policy_(policy), places_(std::move(places)) {}

  /// A file that the task brings in: prompts, images, functions, schemas, cassettes. It lies, all
  /// links resolved, in the workspace, the task's folder or `paths.read`; `paths.hide` does not
  /// hide it.
  std::string file(const std::filesystem::path& file) const;
  /// A file that goes into the prompt itself ({{file:PATH}}, --var NAME@FILE): `paths.read` alone.
  std::string quoted_file(const std::filesystem::path& file) const;
  /// A name that is looked up in the workspace or above it, down from the repository's root:
  /// project docs, ignored paths that belong into the diff.
  std::string file_of_workspace(const std::filesystem::path& name) const;
  /// A file beside --out that the model's notes are read from and written to.
  /// @param own  files that the run has already: the task, the policy, what they name
  std::string notes(const std::string& name, const std::vector<std::filesystem::path>& own) const;
  /// Folders that a task may name as its workspace, or folders in them; links resolved.
  std::vector<std::filesystem::path> workspaces() const;
  /// The workspace: links resolved. Whoever gives -C does not ask.
  std::string folder(const std::filesystem::path& folder) const;
  /// The host of a model that gets no key.
  std::string keyless_host(const ModelHost& host) const;
  /// The address of an MCP server, "https://mcp.example.com:8443".
  std::string server_address(const std::string& address) const;
  /// A program of an MCP server or a function, with its arguments.
  std::string program(const std::vector<std::string>& argv) const;
  /// A verification command, where `bounds.verify` has it judged.
  std::string verification(const std::vector<std::string>& argv, Approval approval) const;
  /// A variable that goes into a prompt.
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

/// The repository that holds a folder: the nearest one above it, or itself, with a `.git` in it.
/// The folder where there is none, or where that is HOME or "/". "" for "/".
std::filesystem::path repository_or_folder(const std::filesystem::path& folder,
                                           const std::filesystem::path& home);

/// "policy.yaml:7: bounds.models", or "bounds.models (the default)".
std::string policy_place(const Policy& policy, const std::string& key);

/// "[a, b]", shortened.
std::string entries_text(const std::vector<std::string>& entries);

}  // namespace sortie

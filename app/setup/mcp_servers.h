#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/confinement/confinement.h"
#include "app/inputs/inputs.h"
#include "app/inputs/run_inputs.h"
#include "core/agent/budget.h"
#include "core/files/files.h"
#include "core/net/proxy.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"
#include "core/workspace/workspace.h"
#include "policies/bounds/bounds.h"
#include "policies/environment/environment.h"
#include "tools/mcp/servers.h"

namespace sortie {

/// What the MCP servers of a run use; everything in it outlives them.
struct McpParts {
  const RunInputs& inputs;
  Confinement& confinement;
  const Budget& budget;
  EventSink& events;
  const ProxySettings& proxy;
  const Redactor& redactor;
  const Environment& own;  ///< sortie's own environment, with the tokens
  /// The changes of the workspace since the start of the run.
  std::function<std::vector<ChangedPath>()> changed_paths;
  std::function<int()> turn;  ///< the current one
};

/// The task's MCP servers, not started yet; null if it has none.
std::unique_ptr<mcp::Servers> make_mcp_servers(const McpParts& parts);

/// A note for the operator if script rules have no effect while MCP servers run; or "".
/// @param servers  the started ones
std::string script_rules_note(const RunInputs& inputs, const mcp::Servers& servers);

/// A changed path of the workspace that a program could be or load when it is started again there; ""
/// if there is none.
///
/// For an installed program, only the paths in its words count, with or without a suffix, or through
/// links. A program in the workspace, and one that runs others (shells, interpreters, package
/// runners), may load anything there, unless its first argument is an absolute path elsewhere.
///
/// @param workspace  absolute; the program's working folder
/// @param view       the tree as it is now
std::string changed_under(const std::vector<std::string>& argv,
                          const std::filesystem::path& workspace,
                          const std::vector<ChangedPath>& changed, const Files& view);

}  // namespace sortie

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

/// What the servers of a run work with; all of it outlives them.
struct McpParts {
  const RunInputs& inputs;
  Confinement& confinement;
  const Budget& budget;
  EventSink& events;
  const ProxySettings& proxy;
  const Redactor& redactor;
  const Environment& own;  ///< sortie's own, with the tokens
  /// Of the workspace, since the start of the run.
  std::function<std::vector<ChangedPath>()> changed_paths;
  std::function<int()> turn;  ///< the one that is under way
};

/// The servers that the task names, none of them started; nothing where it names none.
std::unique_ptr<mcp::Servers> make_mcp_servers(const McpParts& parts);

/// What the operator has to know where script rules and programs of servers don't go together.
/// @param servers  that were started
std::string script_rules_note(const RunInputs& inputs, const mcp::Servers& servers);

/// What of a workspace's changes a program could be, or load, that is started again there: the path
/// that says most to people, or "" where none of them.
///
/// Of an installed program only what its words name, with or without a suffix, or lead to by links.
/// One that lies in the workspace, and one that runs others (shells, interpreters, package
/// runners), may load anything there, unless its first argument is what it runs, and lies
/// elsewhere.
///
/// @param workspace  absolute; the program's working folder
/// @param view       the tree as it is now
std::string changed_under(const std::vector<std::string>& argv,
                          const std::filesystem::path& workspace,
                          const std::vector<ChangedPath>& changed, const Files& view);

}  // namespace sortie

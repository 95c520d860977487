#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/agent/tool_host.h"
#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/process/launcher.h"
#include "core/record/call_events.h"
#include "core/record/workspace_events.h"
#include "core/text/output_buffer.h"
#include "policies/rules/action.h"

namespace sortie {

/// What a tool did, before redaction and truncation.
struct ToolResult {
  std::string head{};  ///< lines before the output: "Exit code: 0\n…"
  std::string text{};  ///< the output; this part is truncated
  /// Output that the tool redacted and cut itself, instead of `text`: a command's output may be too
  /// long for memory.
  std::optional<CollectedOutput> collected{};
  std::string whole{};          ///< file with the whole output if `text` shows only a part, or ""
  std::vector<Image> images{};  ///< for the model, after the text
  bool success = true;
  std::optional<ExitStatus> exit{};          ///< set for commands
  bool worked_on_files = false;              ///< a program may have changed files of the workspace
  std::vector<std::string> changed_files{};  ///< "A path", "M path", "D path"
  std::vector<FileChange> file_changes{};    ///< the same, for the transcript
  std::string note{};                        ///< for the model, after the output
  std::optional<int> session{};              ///< number of the session of a command that still runs
  std::optional<PlanUpdated> plan{};         ///< the new plan
  /// The answer of an MCP server, for the transcript: {"content","structured_content"?,"_meta"?}; else
  /// null.
  Json server_answer{};
};

/// Something the model can call.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolSpec& spec() const { return spec_; }
  /// Replaces aliases that models use for argument names by the schema's names.
  virtual Json renamed(Json arguments) const { return arguments; }
  /// {"server","tool"} for a tool of another program, in that program's own names; null for ours.
  virtual Json origin() const { return {}; }
  /// How policy rules refer to the tool.
  virtual CallTool identity() const { return {.name = spec().name}; }
  /// What the call would do, for the engine. The arguments are valid for the schema; a custom
  /// tool's text is {"input": TEXT}. @throws ToolError
  virtual std::vector<Action> actions(const Json& arguments) const = 0;
  /// @throws ToolError  worded for the model
  virtual ToolResult run(const Json& arguments, std::stop_token stop) = 0;
  /// Whether a call changes nothing and run() is thread-safe: such calls of one response run in
  /// parallel.
  virtual bool reads_only() const { return false; }

 protected:
  ToolSpec spec_;
};

/// Why a call finds no such tool: its MCP server could not be started. "" for a tool of another.
inline std::string why_not_started(const std::string& tool, const std::string& server) {
  if (!tool.starts_with("mcp__" + server + "__")) return "";
  return "the MCP server " + server + " could not be started";
}

/// Tools from other programs, which may change during the run.
class ToolSource {
 public:
  virtual ~ToolSource() = default;
  /// Updates the tools. @return  whether any changed
  virtual bool renew(std::stop_token stop) = 0;
  /// The current tools, in a stable order, valid as long as the source. A call of a tool that no
  /// longer exists fails.
  virtual std::vector<std::unique_ptr<Tool>> tools() = 0;
  /// Why the tool of this name is not there, in words for the model; "" if this source can't know.
  virtual std::string why_missing(const std::string& name) const = 0;
};

}  // namespace sortie

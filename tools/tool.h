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
#include "core/record/events.h"
#include "core/text/output_buffer.h"
#include "policies/rules/action.h"

namespace sortie {

/// What a tool did, before redaction and truncation.
struct ToolResult {
  std::string head{};  ///< lines before the output: "Exit code: 0\n…"
  std::string text{};  ///< the output; this part is truncated
  /// Output that the tool has redacted and cut itself, in place of `text`: a command's may be too
  /// long to be held in memory.
  std::optional<CollectedOutput> collected{};
  std::string whole{};          ///< the file that has all of what `text` shows a part of, or ""
  std::vector<Image> images{};  ///< for the model, after the text
  bool success = true;
  std::optional<ExitStatus> exit{};          ///< of a command
  bool worked_on_files = false;              ///< a program of the run's had its hands on the tree
  std::vector<std::string> changed_files{};  ///< "A path", "M path", "D path"
  std::vector<FileChange> file_changes{};    ///< the same, for the transcript
  std::string note{};                        ///< for the model, after the output
  std::optional<int> session{};              ///< of a command that went on: its number
  std::optional<PlanUpdated> plan{};         ///< that the call told
  /// Of a server's answer, for the transcript: {"content","structured_content"?}; else null.
  Json server_answer{};
};

/// Something the model can call.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolSpec& spec() const { return spec_; }
  /// The arguments with other names that models use replaced by the schema's own.
  virtual Json renamed(Json arguments) const { return arguments; }
  /// Of a tool that another program offers: {"server","tool"}, each as that program calls itself
  /// and it; null for tools of ours.
  virtual Json origin() const { return {}; }
  /// By what rules know it.
  virtual CallTool identity() const { return {.name = spec().name}; }
  /// What the call wants to do, for the engine. Arguments fit the schema; a custom tool's text
  /// stands as {"input": TEXT}. @throws ToolError
  virtual std::vector<Action> actions(const Json& arguments) const = 0;
  /// @throws ToolError  worded for the model
  virtual ToolResult run(const Json& arguments, std::stop_token stop) = 0;
  /// Whether a call changes nothing and run() may be called by several threads at once: such calls
  /// of one response run at the same time.
  virtual bool reads_only() const { return false; }

 protected:
  ToolSpec spec_;
};

/// Tools that come from elsewhere, and may become others while the run is under way.
class ToolSource {
 public:
  virtual ~ToolSource() = default;
  /// Looks whether the tools are others than they were.
  virtual bool renew(std::stop_token stop) = 0;
  /// Of now, in a stable order. They are good until the source goes; a call of one that is there no
  /// more fails.
  virtual std::vector<std::unique_ptr<Tool>> tools() = 0;
};

}  // namespace sortie

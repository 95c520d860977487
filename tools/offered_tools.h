#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/json/json.h"
#include "core/json/json_schema.h"
#include "policies/engine/engine.h"
#include "tools/tool.h"

namespace sortie {

struct OfferOptions {
  /// Tools that may change during the run; listed after the run's own. May be null.
  ToolSource* source = nullptr;
  std::function<bool(const std::string&)> keeps{};  ///< filter by name; not set: all
  std::map<std::string, std::string> absent{};      ///< tools that this run lacks, and why
};

struct OfferedTool {
  explicit OfferedTool(std::unique_ptr<Tool> given);
  std::unique_ptr<Tool> tool;
  bool foreign;  ///< provided by another program, with a schema that is not ours
  /// The schema of the arguments; null if a foreign one can't be read: then its provider has to
  /// check them. It is compiled at the first call, as most runs call few of their tools.
  const JsonSchema* schema() const;

 private:
  mutable std::once_flag compiled_{};
  mutable std::optional<JsonSchema> schema_{};
};

/// The tools of a run, by name.
class OfferedTools {
 public:
  /// @param own  in the order in which the model sees them
  OfferedTools(std::vector<std::unique_ptr<Tool>> own, const Engine& engine, OfferOptions options);

  /// Updates the tools of the source. @return  whether any changed
  bool renew(std::stop_token stop);
  /// The tools that the policy lets the model see.
  std::vector<ToolSpec> specs() const;
  /// All names, including those of tools that the model does not see.
  std::vector<std::string> names() const;
  const OfferedTool* find(const std::string& name) const;
  /// The answer to a call of an unknown tool.
  std::string why_unknown(const std::string& name) const;

 private:
  void load_source();

  std::vector<std::unique_ptr<OfferedTool>> tools_;
  std::size_t own_;  ///< how many are the run's own; the rest are the source's
  const Engine& engine_;
  OfferOptions options_;
};

/// The arguments of a call.
struct CallArguments {
  Json values;                           ///< an object, valid for the tool's schema
  std::vector<std::string> ignored{};    ///< members that the schema does not allow: "plan[].id"
  std::vector<std::string> corrected{};  ///< slips that were taken as meant, in words
};

/// The arguments of a call are not a JSON object.
class UnusableArguments : public ToolError {
  using ToolError::ToolError;
};

/// Reads the call's arguments: aliases are renamed, and members that the schema does not allow are
/// dropped on all levels that its `properties` and `items` describe. For our own tools, members
/// that the schema does not name are dropped too. Slips are corrected (argument_slips.h). A custom
/// tool's text becomes {"input": TEXT}.
/// @throws UnusableArguments
/// @throws ToolError  each invalid argument, and what the schema expects there: "/limit: wrong type
///                    (expected: a whole number from 1 to 5000)"
CallArguments read_arguments(const ToolCall& call, const OfferedTool& offered);

}  // namespace sortie

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/json/json_schema.h"
#include "policies/engine/engine.h"
#include "tools/tool.h"

namespace sortie {

struct OfferOptions {
  /// Of tools that may become others; they stand behind the run's own. May be null.
  ToolSource* source = nullptr;
  std::function<bool(const std::string&)> keeps{};  ///< which of them, by name; not set: all
  std::map<std::string, std::string> absent{};      ///< tools that the run does not have, and why
};

struct OfferedTool {
  explicit OfferedTool(std::unique_ptr<Tool> given);
  std::unique_ptr<Tool> tool;
  bool foreign;  ///< another program's, with a schema of its own making
  /// Of the arguments; nothing where a foreign one can't be read: then who offers the tool has to
  /// check what it is given.
  std::optional<JsonSchema> schema{};
};

/// The tools of a run, by name.
class OfferedTools {
 public:
  /// @param own  in the order in which the model is shown them
  OfferedTools(std::vector<std::unique_ptr<Tool>> own, const Engine& engine, OfferOptions options);

  /// Takes over what has become of the source's tools. @return  whether anything has
  bool renew(std::stop_token stop);
  /// Those that the policy lets the model see.
  std::vector<ToolSpec> specs() const;
  /// Of all, also of those that the model is not shown.
  std::vector<std::string> names() const;
  const OfferedTool* find(const std::string& name) const;
  /// For the model, of a name that there is no tool of.
  std::string why_unknown(const std::string& name) const;

 private:
  void take_from_source();

  std::vector<std::unique_ptr<OfferedTool>> tools_;
  std::size_t own_;  ///< of them; the rest is the source's
  const Engine& engine_;
  OfferOptions options_;
};

}  // namespace sortie

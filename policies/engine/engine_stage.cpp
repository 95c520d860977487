#include <algorithm>

#include "core/text/text.h"
#include "policies/engine/engine.h"

namespace sortie {

/// Of commands it is the sandbox that holds what a stage may write; nothing can be told from their
/// words.
std::optional<Decision> Engine::refused_by_stage(const Action& action) const {
  if (const auto* call = std::get_if<CallTool>(&action)) {
    if (call->may_write && limits_.read_only)
      return Decision{.effect = Effect::deny,
                      .part = one_line(call->name),
                      .reason = "the stage '" + limits_.stage +
                                "' is read-only, and this tool's server may write all the time",
                      .instead = "saying in your message what is to be changed"};
    const auto& tools = limits_.tools;
    if (tools.empty() || std::find(tools.begin(), tools.end(), call->name) != tools.end())
      return std::nullopt;
    std::string names;
    for (auto name = tools.begin(); name != tools.end(); ++name)
      if (std::find(tools.begin(), name, *name) == name)
        names += (names.empty() ? "" : ", ") + *name;
    return Decision{.effect = Effect::deny,
                    .part = one_line(call->name),
                    .reason = "the stage '" + limits_.stage + "' does not have this tool",
                    .instead = "the tools of this stage: " + names};
  }
  const auto* write = std::get_if<WritePath>(&action);
  if (write == nullptr || !limits_.read_only) return std::nullopt;
  return Decision{
      .effect = Effect::deny,
      .part = write->path.string(),
      .reason = "the stage '" + limits_.stage + "' is read-only: nothing may be written",
      .instead = "saying in your message what is to be changed"};
}

}  // namespace sortie

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/catalog/item.h"

namespace sortie {

/// Tool calls that stand in a message as text: the inference server did not parse the model's own
/// form of them.
struct LeakedCalls {
  std::string form;               ///< the models with this form, for messages: "Hermes and Qwen"
  std::string before{};           ///< the message's text before the calls
  std::vector<ToolCall> calls{};  ///< without ids; empty: it is not certain what is meant
  std::string doubt{};            ///< why there are none, as a sentence
};

/// Whether a message that is JSON and nothing else may be a call: not where the task asks for JSON.
enum class BareJson { may_be_call, is_answer };

/// Finds calls in the forms that the chat templates of open models have.
///
/// Code blocks and quoted words are left out: there a message shows a call, and makes none. The
/// calls are certain if each is complete, names one of the tools and has an object of arguments, and
/// if nothing follows. Forms without special tokens count only as the whole message.
///
/// Source: the chat templates of the models, as docs/models.md lists them.
std::optional<LeakedCalls> find_leaked_calls(std::string_view message,
                                             const std::vector<ToolSpec>& tools,
                                             BareJson bare = BareJson::may_be_call);

}  // namespace sortie

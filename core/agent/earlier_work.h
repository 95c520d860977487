#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "core/record/run_history.h"

namespace sortie {

/// A conversation of an earlier process, as of its last request.
struct EarlierConversation {
  std::vector<Item> items{};                   ///< of that request
  std::vector<std::string> corrections{};      ///< user messages that are no prompts
  int turn = 0;                                ///< the turns that were used
  int source = 0;                              ///< the model that answered last; see Item::source
  std::unordered_set<std::string> call_ids{};  ///< of all responses before the last one
  std::optional<Usage> usage{};                ///< of the response to that request
};

/// What is known of the effects of a call that was cut off.
struct CutOffEffects {
  std::string text{};                        ///< a sentence for the model, or ""
  std::vector<std::string> changed_files{};  ///< as ToolOutputRecord::changed_files
  std::vector<FileChange> changes{};
};

/// The last turn of an earlier process: the response, and how far it was acted on.
struct EarlierTurn {
  std::optional<Response> response{};  ///< nothing: its request is to be sent again
  std::vector<TurnCall> calls{};
  std::vector<CheckRecord> checks{};
  std::string message{};              ///< the last one of the responses before
  std::vector<std::string> pieces{};  ///< of a message that these left unfinished
  /// What the model has to know about the interruption; "": nothing.
  std::string note{};
  /// What is in the tree now and in no record: the effects of a call that has no output, or of what
  /// ran beside the calls. Each is returned once. May be empty.
  /// @param call  the one that is answered; null: all have an output
  std::function<CutOffEffects(const TurnCall* call)> effects{};
};

/// The items of a request, as recorded.
/// @param sent       each as to_json(Item) wrote it
/// @param responses  all that were recorded: their items have what the record of a request lacks
std::vector<Item> restored_items(const std::vector<const Json*>& sent,
                                 const std::vector<Response>& responses);

/// The output of a call that was under way when its run was interrupted.
/// @param effects  a sentence, or ""
std::string interrupted_text(const ToolCall& call, const std::string& effects);

}  // namespace sortie

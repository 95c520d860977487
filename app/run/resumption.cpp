#include "app/run/resumption.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/agent/conversation.h"
#include "core/agent/history.h"
#include "core/files/file_name.h"
#include "core/provider/recorded_response.h"

namespace sortie {
namespace {

/// Where the files outside of the workspace, and running commands, matter.
constexpr const char* kNote =
    "Note: the run was interrupted here, and goes on in a new process. The workspace is as the "
    "calls so far have left it. Files outside of it (/tmp, HOME) and commands that were still "
    "running are gone.";

constexpr std::size_t kManyTurns = 128;

/// Whether the turn is no part of the conversation: it asked for a summary, or for notes.
bool is_aside(const RunHistory& history, std::size_t index) {
  const RecordedTurn& turn = history.turns[index];
  if (turn.response) return turn.response->aside;
  const auto sent = items_sent(history, index);
  if (sent.empty()) return false;
  const std::string text = sent.back()->string_at("text");
  return text == kSummaryRequest || text == kRunNotesRequest;
}

/// The last turn of the conversation with a request; nothing if there is none.
std::optional<std::size_t> last_turn(const RunHistory& history) {
  for (std::size_t i = history.turns.size(); i-- > 0;)
    if (!history.turns[i].requests.empty() && !is_aside(history, i)) return i;
  return {};
}

Response response_of(const RecordedTurn& turn, const ModelSettings& settings,
                     const TaskModel& model) {
  const std::string wire = turn.requests.empty() ? "responses" : turn.requests.back().wire;
  const ModelAnswered& answered = *turn.response;
  RecordedResponse recorded(answered.id, answered.served_model,
                            answered.output.is_null() ? answered.items : answered.output,
                            answered.usage);
  recorded.reason = answered.stop_reason;
  recorded.repeated = answered.repeated;
  recorded.incomplete = answered.incomplete;
  return recorded_response(wire, recorded, settings,
                           {.legacy_functions = model.legacy_functions, .source = answered.source});
}

/// The responses of the turns before one; those that can't be read have no items.
std::vector<Response> responses_before(const RunHistory& history, std::size_t end,
                                       const ModelSettings& settings, const TaskModel& model) {
  std::vector<Response> responses(end);
  const auto read = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const RecordedTurn& turn = history.turns[i];
      if (turn.response && !turn.response->aside) responses[i] = response_of(turn, settings, model);
    }
  };
  // Of a long run, one half beside the other: its request waits for them.
  const std::size_t half = end < kManyTurns ? end : end / 2;
  std::future<void> others;
  if (half < end) others = std::async(read, half, end);
  read(0, half);
  if (others.valid()) others.get();
  return responses;
}

bool has_calls(const Response& response) {
  return std::any_of(response.items.begin(), response.items.end(), [](const Item& item) {
    return std::holds_alternative<ToolCall>(item.content);
  });
}

/// Adds the last message, and the pieces of one that was cut off at its length limit.
void add_message(const std::vector<Response>& responses, EarlierTurn& turn) {
  bool in_pieces = true;
  for (auto at = responses.rbegin(); at != responses.rend(); ++at) {
    const std::string text = message_of(*at);
    if (at->items.empty()) continue;
    in_pieces = in_pieces && at->incomplete && !has_calls(*at) && !text.empty();
    if (in_pieces) turn.pieces.insert(turn.pieces.begin(), text);
    if (turn.message.empty()) turn.message = text;
    if (!in_pieces && !turn.message.empty()) break;
  }
  if (turn.pieces.empty()) return;
  turn.message.clear();
  for (const std::string& piece : turn.pieces) turn.message += piece;
}

/// Whether a command ran, which may have left something outside of the workspace.
bool ran_commands(const RunHistory& history) {
  for (const RecordedTurn& turn : history.turns)
    for (const TurnCall& call : turn.calls)
      if (call.called && (!call.output || call.output->exit || call.output->details.session_id))
        return true;
  return false;
}

void replace_all(std::string& text, const std::string& old, const std::string& with) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + 1))
    text.replace(at, old.size(), with);
}

}  // namespace

std::vector<Response> responses_of(const RunHistory& history, const ModelSettings& settings,
                                   const TaskModel& model) {
  return responses_before(history, history.turns.size(), settings, model);
}

Resumption resumption_of(const RunHistory& history, const ModelSettings& settings,
                         const TaskModel& model, const std::vector<Response>& older) {
  Resumption found;
  EarlierConversation& conversation = found.conversation;
  conversation.turn = history.used.turns;
  const auto last = last_turn(history);
  if (!last) return found;
  const RecordedTurn& turn = history.turns[*last];
  found.number = turn.number;
  std::vector<Response> responses = responses_before(history, *last, settings, model);
  add_message(responses, found.turn.emplace());
  std::vector<Response> known = older;
  std::move(responses.begin(), responses.end(), std::back_inserter(known));
  conversation.items = restored_items(items_sent(history, *last), known);
  for (std::size_t i = 0; i < history.turns.size(); ++i) {
    const RecordedTurn& one = history.turns[i];
    for (const CheckRecord& check : one.checks)
      if (!check.sent.empty()) conversation.corrections.push_back(check.sent);
    if (one.response && !one.response->aside) conversation.source = one.response->source;
    if (i < *last)
      for (const TurnCall& call : one.calls) conversation.call_ids.insert(call.call_id);
  }
  for (const Response& response : known)
    for (const Item& item : response.items)
      if (const auto* call = std::get_if<ToolCall>(&item.content))
        conversation.call_ids.insert(call->call_id);
  if (turn.response && !turn.response->tokens_estimated) conversation.usage = turn.response->tokens;
  EarlierTurn& earlier = *found.turn;
  if (turn.response) earlier.response = response_of(turn, settings, model);
  earlier.calls = turn.calls;
  earlier.checks = turn.checks;
  if (ran_commands(history)) earlier.note = kNote;
  return found;
}

std::string restored_note(const RunHistory& history, int turn,
                          const std::vector<std::string>& left_out, const std::string& place) {
  std::vector<std::string> lost;
  for (const RecordedTurn& one : history.turns)
    for (const TurnCall& call : one.calls)
      if (one.number > turn && call.called && call.output)
        lost.push_back(call.called->call.name + " (" + call.call_id + ")");
  std::string text =
      "Note: the run was interrupted here, and goes on in a new process from a checkpoint. The "
      "workspace is " +
      place + ", as it was at the end of turn " + std::to_string(turn) + ".";
  if (!lost.empty())
    text += " What these later calls changed in it is not kept: " + some_of(lost, 20) + ".";
  if (!left_out.empty())
    text += " These files were too large for the checkpoint, and are as at the start: " +
            some_of(left_out, 20) + ".";
  return text +
         " Empty folders, files outside of the workspace (/tmp, HOME) and commands that were still "
         "running are gone. Look at the state of things before you go on.";
}

void set_run_id(RunInputs& inputs, const std::string& id) {
  const std::string before = std::exchange(inputs.run_id, id);
  replace_all(inputs.prompts.prompt, before, id);
  for (std::string& prompt : inputs.prompts.stages) replace_all(prompt, before, id);
}

void take_up_inputs(const RunHistory& history, RunInputs& inputs) {
  set_run_id(inputs, history.starts.front().run_id);
  if (!replays(inputs)) return;
  const std::size_t had = std::min(history.answers, inputs.recorded.size());
  inputs.recorded.erase(inputs.recorded.begin(),
                        inputs.recorded.begin() + static_cast<std::ptrdiff_t>(had));
}

}  // namespace sortie

#include "app/run/thread_history.h"

#include <algorithm>
#include <utility>

#include "app/run/resumption.h"
#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "core/task/placeholders.h"

namespace sortie {
namespace {

const TurnCall* call_named(const std::vector<TurnCall>& calls, const std::string& id) {
  const auto found = std::find_if(calls.begin(), calls.end(),
                                  [&id](const TurnCall& one) { return one.call_id == id; });
  return found == calls.end() ? nullptr : &*found;
}

ToolOutput output_of(const ToolCall& call, const TurnCall* recorded) {
  ToolOutput output{.call_id = call.call_id, .text = {}, .success = false, .form = call.form};
  if (recorded == nullptr || !recorded->output) {
    output.text = interrupted_text(call, "");
    return output;
  }
  output.text = recorded->output->shown.value_or(recorded->output->output);
  output.success = recorded->output->success;
  return output;
}

/// Whether the provider that a run asked last is the one that is asked now.
bool is_of(const RunHistory& history, const TaskModel& model) {
  for (auto turn = history.turns.rbegin(); turn != history.turns.rend(); ++turn)
    if (!turn->requests.empty()) return turn->requests.back().provider == model.provider;
  return false;
}

/// The prompt of a run's task, as it would have been sent. Its images are in no record.
std::string prompt_of(const RunHistory& history) {
  if (history.starts.empty()) return "";
  try {
    const Json task = parse_json(history.starts.back().task.text);
    std::string prompt;
    for (const PromptPart& part : split_prompt(task.string_at("prompt"))) prompt += part.text;
    if (!prompt.empty() && !task["images"].items().empty())
      prompt += "\n\n(The images of this message were not kept.)";
    return prompt;
  } catch (const JsonError&) {
    return "";
  }
}

/// Only the provider that sent them can read an item's own form.
void make_plain(std::vector<Item>& items) {
  std::erase_if(items, [](const Item& item) {
    return std::holds_alternative<Reasoning>(item.content) ||
           std::holds_alternative<ProviderItem>(item.content);
  });
  for (Item& item : items) item.received.clear();
}

}  // namespace

std::optional<EarlierConversation> conversation_of(const RunHistory& history,
                                                   const std::vector<Response>& older,
                                                   const ModelSettings& settings,
                                                   const TaskModel& model) {
  Resumption found = resumption_of(history, settings, model, older);
  if (!found.turn) return std::nullopt;
  EarlierConversation& earlier = found.conversation;
  earlier.turn = 0;
  earlier.source = 0;
  if (found.turn->response) {
    std::vector<ToolOutput> outputs;
    for (Item& item : found.turn->response->items) {
      if (const auto* call = std::get_if<ToolCall>(&item.content)) {
        earlier.call_ids.insert(call->call_id);
        outputs.push_back(output_of(*call, call_named(found.turn->calls, call->call_id)));
      }
      earlier.items.push_back(std::move(item));
    }
    for (ToolOutput& output : outputs) earlier.items.push_back({std::move(output)});
  }
  if (!is_of(history, model)) make_plain(earlier.items);
  for (Item& item : earlier.items) item.source = 0;
  return std::move(earlier);
}

ThreadConversation thread_conversation(const std::vector<std::filesystem::path>& transcripts,
                                       const ModelSettings& settings, const TaskModel& model) {
  std::vector<Response> older;
  std::vector<RunHistory> runs;
  for (const std::filesystem::path& transcript : transcripts)
    if (beginning_of(transcript) == Beginning::record) runs.push_back(read_run_history(transcript));
  ThreadConversation thread;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (auto conversation = conversation_of(*run, older, settings, model))
      thread = {.sent = std::move(conversation)};
    else if (std::string prompt = prompt_of(*run); !prompt.empty())
      thread.unsent.push_back(std::move(prompt));
    for (Response& response : responses_of(*run, settings, model))
      older.push_back(std::move(response));
  }
  return thread;
}

}  // namespace sortie

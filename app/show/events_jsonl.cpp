#include "app/show/events_jsonl.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/show/event_items.h"
#include "core/provider/wires.h"
#include "core/record/event_codec.h"

namespace sortie {
namespace {

/// Whether a call shows by its effect: the plan, the commands of the verification, the output of a
/// session. It is an item itself only if it fails.
bool is_seen_by_effect(const std::string& tool) {
  return tool == "update_plan" || tool == "run_tests" || tool == "write_stdin";
}

/// The most bytes of a session's output in an update.
constexpr std::size_t kMostOfUpdate = 16u << 10;

/// The session that a call of write_stdin is for.
std::int64_t named_session(const ToolCall& call) {
  try {
    return parse_json(call.arguments).integer_at("session_id", -1);
  } catch (const JsonError&) {
    return -1;
  }
}

// Events that are shown as a warning: the overload for its struct says it, "" for none.

template <class Other>
std::string warning_of(const Other&) {
  return {};
}

std::string warning_of(const CompactionRecord& record) {
  const std::string how = record.method == CompactionMethod::summary
                              ? "a summary replaces its older turns"
                              : "old outputs were cut";
  return "The conversation was shortened (" + record.cause + "): " + how + "; about " +
         std::to_string(record.tokens_before) + " tokens became " +
         std::to_string(record.tokens_after) + ".";
}

std::string warning_of(const FallbackRecord& record) {
  const std::string left_out = left_out_text(record);
  return record.to + " takes over from " + record.from + ": " + record.reason +
         (left_out.empty() ? "" : " (without " + left_out + ")");
}

std::string warning_of(const McpServerRecord& server) { return server.problem(); }

/// In codex's order, which the record does not have.
Json usage_json(const Usage& usage) {
  return Json::object({{"input_tokens", usage.input_tokens},
                       {"cached_input_tokens", usage.cached_input_tokens},
                       {"cache_write_input_tokens", usage.cache_write_input_tokens},
                       {"output_tokens", usage.output_tokens},
                       {"reasoning_output_tokens", usage.reasoning_output_tokens}});
}

/// U+0085, U+2028 and U+2029 may stand in JSON as they are; readers that take each of Unicode's
/// line breaks for the end of a line (str.splitlines() of Python) would get halves.
std::string with_escaped_breaks(std::string json) {
  constexpr std::pair<std::string_view, std::string_view> kBreaks[] = {
      {"\xc2\x85", "\\u0085"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}};
  for (const auto& [character, escape] : kBreaks) {
    std::size_t at = json.find(character);
    if (at == std::string::npos) continue;
    std::string escaped;
    std::size_t done = 0;
    for (; at != std::string::npos; at = json.find(character, done)) {
      escaped.append(json, done, at - done).append(escape);
      done = at + character.size();
    }
    json = std::move(escaped.append(json, done));
  }
  return json;
}

}  // namespace

EventsJsonl::EventsJsonl(Options options, const Redactor& redactor,
                         std::function<void(std::string)> write)
    : options_(std::move(options)), redactor_(redactor), write_(std::move(write)) {}

void EventsJsonl::on(const RunEvent& event) {
  begin();
  turn_ = event.turn;
  std::visit(
      [this](const auto& what) {
        take(what);
        if (const std::string warning = warning_of(what); !warning.empty()) warn(warning);
      },
      event.what);
}

void EventsJsonl::begin() {
  if (std::exchange(begun_, true)) return;
  line(Json::object({{"type", "thread.started"}, {"thread_id", options_.thread_id}}));
  line(Json::object({{"type", "turn.started"}}));
}

void EventsJsonl::take(const RunStart& start) {
  workspace_ = start.workspace.commands_see();
  for (const auto& missing : start.sandbox.missing) warn("The sandbox lacks a layer: " + missing);
  if (!options_.own_events) return;
  for (const auto& warning : start.warnings) warn(warning);
}

void EventsJsonl::take(const ModelAnswered& answer) {
  if (answer.tokens) usage_ += *answer.tokens;
  if (answer.aside) return;  // a summary or notes: no word of the conversation
  for (const Json& item : answer.items.items())
    for (const Said& said : said_in(item))
      show_at_once(said_item(said), said.kind == Said::Kind::web_search);
}

void EventsJsonl::take(const ModelCutOff& answer) { usage_ += answer.tokens; }

void EventsJsonl::take(const RetryRecord& retry) {
  const std::string status =
      retry.status == 0 ? "" : "status " + std::to_string(retry.status) + ", ";
  const std::string text = "Reconnecting... " + std::to_string(retry.attempt) + "/" +
                           std::to_string(std::max(options_.retries, retry.attempt)) + " (" +
                           status + retry.kind + ": " + retry.message + ")";
  line(Json::object({{"type", "error"}, {"message", redactor_.text(text, Audience::people)}}));
}

void EventsJsonl::take(const CallDecided& call) { actions_[call.call_id] = call.actions; }

void EventsJsonl::take(const ToolCalled& called) {
  const std::string& call_id = called.call.call_id;
  const auto decided = actions_.extract(call_id);
  patches_[call_id] = patch_lines(called, workspace_);
  if (is_seen_by_effect(called.call.name))
    quiet_[call_id] = called;
  else
    start(started_item(called, decided ? decided.mapped() : std::vector<RecordedAction>(),
                       workspace_),
          call_id);
}

void EventsJsonl::take(ToolOutputRecord output) {
  count_changes(output);
  // Before it is cut, which could split a secret.
  output.output = redactor_.text(std::move(output.output), Audience::people);
  if (const auto quiet = quiet_.extract(output.call_id)) return take_quiet(quiet.mapped(), output);
  const auto open = std::find_if(open_.begin(), open_.end(), [&](const Open& each) {
    return !each.done && each.call_id == output.call_id;
  });
  if (open == open_.end()) return;
  const auto& session = output.details.session_id;
  if (session && *session >= 0 && !output.exit && output.success) {
    Session begun{std::move(*open), HeadTail(kMostItemText)};
    open_.erase(open);
    update_session(begun, output.output);
    sessions_.insert_or_assign(*session, std::move(begun));
  } else {
    complete_item(open->item, output);
    open->done = true;
  }
  show_completed();
}

void EventsJsonl::take_quiet(const ToolCalled& called, const ToolOutputRecord& output) {
  const std::string& tool = called.call.name;
  if (tool == "write_stdin") {
    const std::int64_t session = output.details.session_id.value_or(-1);
    if (take_session(session < 0 ? named_session(called.call) : session, output)) return;
  } else if (output.success || (tool == "run_tests" && output.exit)) {
    return;
  }
  const auto open = start(started_item(called, {}, workspace_), called.call.call_id);
  complete_item(open->item, output);
  open->done = true;
  show_completed();
}

/// Shows the session with its output so far; shortened, since each update repeats it.
void EventsJsonl::update_session(Session& session, const std::string& printed) {
  session.output.feed(printed);
  Json& item = session.open.item;
  item.set("aggregated_output", session.output.narrowed(kMostOfUpdate).render());
  item_line("item.updated", session.open.id, item);
}

/// Takes new output of a session, and maybe its end.
/// @return  whether there is such a session and the call succeeded
bool EventsJsonl::take_session(std::int64_t id, const ToolOutputRecord& output) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end() || (!output.exit && !output.success)) return false;
  if (!output.exit) {
    update_session(session->second, output.output);
    return true;
  }
  auto& [open, printed] = session->second;
  printed.feed(output.output);
  open.item.set("aggregated_output", printed.render());
  set_exit(open.item, *output.exit);
  item_line("item.completed", open.id, open.item);
  sessions_.erase(session);
  return true;
}

void EventsJsonl::take(const PlanUpdated& plan) {
  const bool first = !plan_;
  if (first) plan_ = Open{.id = new_id(), .call_id = {}, .item = {}};
  plan_->item = todo_item(plan);
  item_line(first ? "item.started" : "item.updated", plan_->id, plan_->item);
}

void EventsJsonl::take(const VerificationRecord& record) { start(verification_item(record)); }

void EventsJsonl::take(const VerificationCompleted& record) {
  const auto open = std::find_if(open_.begin(), open_.end(), [](const Open& each) {
    return !each.done && each.item.find("verification") != nullptr;
  });
  if (open == open_.end()) return;
  complete_verification(open->item, record, redactor_.text(record.output, Audience::people));
  open->done = true;
  show_completed();
}

void EventsJsonl::warn(const std::string& message) { show_at_once(warning_item(message), false); }

EventsJsonl::OpenItems::iterator EventsJsonl::start(Json item, std::string call_id) {
  open_.push_back({new_id(), std::move(call_id), std::move(item)});
  item_line("item.started", open_.back().id, open_.back().item);
  return std::prev(open_.end());
}

/// Shows an item that is complete from the start.
void EventsJsonl::show_at_once(Json item, bool started) {
  const std::string id = new_id();
  if (started) item_line("item.started", id, item);
  item_line("item.completed", id, item);
}

/// Completes items in their order: parallel calls wait for the ones before them.
void EventsJsonl::show_completed() {
  while (!open_.empty() && open_.front().done) {
    item_line("item.completed", open_.front().id, open_.front().item);
    open_.pop_front();
  }
}

void EventsJsonl::complete_all() {
  for (Open& open : open_)
    if (!open.done) {
      abandon_item(open.item);
      open.done = true;
    }
  show_completed();
  for (auto& [id, session] : sessions_) {
    auto& [open, output] = session;
    open.item.set("aggregated_output", output.render());
    abandon_item(open.item);
    item_line("item.completed", open.id, open.item);
  }
  sessions_.clear();
  if (plan_) item_line("item.completed", plan_->id, plan_->item);
  plan_.reset();
}

void EventsJsonl::end(RunEnd end, const Closing& closing) {
  begin();
  complete_all();
  end.reason = redactor_.text(std::move(end.reason), Audience::people);
  if (end.code == ExitCode::success)
    line(Json::object({{"type", "turn.completed"}, {"usage", usage_json(usage_)}}));
  else
    line(Json::object(
        {{"type", "turn.failed"}, {"error", Json::object({{"message", end.reason}})}}));
  if (!options_.own_events) return;
  std::map<std::string, std::string> artifacts;
  for (const auto& [name, digest] : end.artifacts)
    artifacts[redactor_.text(name)] = redactor_.text(digest);
  end.artifacts = std::move(artifacts);
  Json last = Json::object({{"type", "run.completed"}});
  Record record = to_record({0, std::move(end)});
  for (auto& [name, value] : record.data.members()) last.set(name, std::move(value));
  last.set("next",
           closing.next.empty() ? Json() : Json(redactor_.text(closing.next, Audience::people)));
  last.set("retry_after_s", closing.retry_after_s ? Json(*closing.retry_after_s) : Json());
  last.set("out", closing.out);
  line(last);
}

void EventsJsonl::count_changes(const ToolOutputRecord& output) {
  for (const std::string& touched : output.changed_files)
    changed_.insert(touched.substr(std::min<std::size_t>(2, touched.size())));
  const auto patch = patches_.extract(output.call_id);
  if (!patch || !output.success || !output.declined.empty()) return;
  patched_.added += patch.mapped().added;
  patched_.removed += patch.mapped().removed;
}

/// How far the run has come, for who watches it.
Json EventsJsonl::progress() const {
  return Json::object({{"turn", turn_},
                       {"input_tokens", usage_.input_tokens},
                       {"output_tokens", usage_.output_tokens},
                       {"changed_files", static_cast<std::int64_t>(changed_.size())},
                       {"patched_lines",
                        Json::object({{"added", patched_.added}, {"removed", patched_.removed}})}});
}

/// Redacts the item's text; numbers and the words of the format are unchanged.
void EventsJsonl::item_line(const char* type, const std::string& id, const Json& item) {
  Json shown = Json::object({{"id", id}});
  for (const auto& [name, value] : item.members()) {
    const bool word = name == "type" || name == "status" || value.is_number() || value.is_null();
    shown.set(name, word ? value : redactor_.json(value, Audience::people));
  }
  Json event = Json::object({{"type", type}, {"item", std::move(shown)}});
  if (options_.own_events && std::string_view(type) == "item.completed")
    event.set("progress", progress());
  line(event);
}

void EventsJsonl::line(const Json& event) {
  write_(with_escaped_breaks(write_large_json(event)) + "\n");
}

std::string EventsJsonl::new_id() { return "item_" + std::to_string(next_id_++); }

}  // namespace sortie

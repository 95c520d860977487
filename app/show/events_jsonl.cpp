#include "app/show/events_jsonl.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/show/event_items.h"
#include "core/agent/recorded_usage.h"
#include "core/agent/server_trouble.h"

namespace sortie {
namespace {

/// Calls that are seen by what they do: the plan, the commands of the verification, what a session
/// prints. They are items themselves only where they fail.
bool is_seen_by_effect(const std::string& tool) {
  return tool == "update_plan" || tool == "run_tests" || tool == "write_stdin";
}

/// Bytes of a session's output in a line that is not its last.
constexpr std::size_t kMostOfUpdate = 16u << 10;

std::int64_t session_of(const Json& value) { return value.integer_at("session_id", -1); }

/// The session that a call of write_stdin is for.
std::int64_t named_session(const Json& call) {
  try {
    return session_of(parse_json(call.string_at("arguments")));
  } catch (const JsonError&) {
    return -1;
  }
}

std::string compaction_text(const Json& data) {
  const std::string how = data.string_at("method") == "summary"
                              ? "a summary stands in the place of its older turns"
                              : "old outputs were cut";
  return "The conversation was shortened (" + data.string_at("cause") + "): " + how + "; about " +
         data["tokens_before"].text() + " tokens became " + data["tokens_after"].text() + ".";
}

std::string fallback_text(const Json& data) {
  const std::int64_t dropped = data.integer_at("dropped_items");
  return data.string_at("to") + " takes over from " + data.string_at("from") + ": " +
         data.string_at("reason") +
         (dropped == 0 ? "" : " (" + std::to_string(dropped) + " items of reasoning left out)");
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
  const std::string& type = event.type;
  const Json& data = event.data;
  if (type == "run.started") {
    on_run_started(data);
  } else if (type == "model.response") {
    on_response(data);
  } else if (type == "model.cut_off") {
    usage_ += recorded_usage(data["tokens"]);
  } else if (type == "model.retry") {
    on_retry(data);
  } else if (type == "model.fallback") {
    warn(fallback_text(data));
  } else if (type == "context.compacted") {
    warn(compaction_text(data));
  } else if (type == "approval") {
    actions_[data.string_at("call_id")] = data["actions"];
  } else if (type == "tool.call") {
    on_call(data);
  } else if (type == "tool.output") {
    on_output(data);
  } else if (type == "mcp.server") {
    if (const auto trouble = server_trouble(data); !trouble.empty()) warn(trouble);
  } else if (type == "plan.updated") {
    on_plan(data);
  } else if (type == "verification.started") {
    on_verification_started(data);
  } else if (type == "verification.completed") {
    on_verification_completed(data);
  }
}

void EventsJsonl::begin() {
  if (std::exchange(begun_, true)) return;
  line(Json::object({{"type", "thread.started"}, {"thread_id", options_.thread_id}}));
  line(Json::object({{"type", "turn.started"}}));
}

void EventsJsonl::on_run_started(const Json& data) {
  workspace_ = data["workspace"].string_at("seen_as", data["workspace"].string_at("path"));
  for (const Json& missing : data["sandbox"]["missing"].items())
    warn("The sandbox lacks a layer: " + missing.text());
  for (const Json& warning : data["warnings"].items()) warn(warning.text());
}

void EventsJsonl::on_response(const Json& data) {
  usage_ += recorded_usage(data["tokens"]);
  if (data["aside"].boolean()) return;  // a summary or notes: no word of the conversation
  for (const Json& received : data["items"].items()) {
    for (Json& item : response_items(received)) {
      const bool started = item.string_at("type") == "web_search";
      show_at_once(std::move(item), started);
    }
  }
}

void EventsJsonl::on_retry(const Json& data) {
  const Json& failure = data["failure"];
  const std::int64_t attempt = data.integer_at("attempt");
  const std::string status =
      failure.integer_at("status") == 0 ? "" : "status " + failure["status"].text() + ", ";
  const std::string text = "Reconnecting... " + std::to_string(attempt) + "/" +
                           std::to_string(std::max<std::int64_t>(options_.retries, attempt)) +
                           " (" + status + failure.string_at("kind") + ": " +
                           failure.string_at("message") + ")";
  line(Json::object({{"type", "error"}, {"message", redactor_.text(text, Audience::people)}}));
}

void EventsJsonl::on_call(const Json& data) {
  const std::string call_id = data.string_at("call_id");
  const auto found = actions_.find(call_id);
  const Json actions = found == actions_.end() ? Json() : std::move(found->second);
  if (found != actions_.end()) actions_.erase(found);
  if (is_seen_by_effect(data.string_at("tool")))
    quiet_[call_id] = data;
  else
    start(started_item(data, actions, workspace_), call_id);
}

/// The record with its output redacted for people: before it is cut, which could split a secret.
Json EventsJsonl::shown(const Json& data) const {
  Json copy = data;
  copy.set("output", redactor_.text(copy.find("output")->take_text(), Audience::people));
  return copy;
}

void EventsJsonl::on_output(const Json& record) {
  const Json data = shown(record);
  const std::string call_id = data.string_at("call_id");
  if (const auto quiet = quiet_.find(call_id); quiet != quiet_.end()) {
    const Json call = std::move(quiet->second);
    quiet_.erase(quiet);
    return on_quiet_output(call, data);
  }
  const auto open = std::find_if(open_.begin(), open_.end(), [&](const Open& each) {
    return !each.done && each.call_id == call_id;
  });
  if (open == open_.end()) return;
  const std::int64_t session = session_of(data["details"]);
  const bool goes_on = session >= 0 && !data["exit"].is_object() && data["success"].boolean();
  if (goes_on) {
    Session begun{std::move(*open), HeadTail(kMostItemText)};
    open_.erase(open);
    update_session(begun, data.string_at("output"));
    sessions_.insert_or_assign(session, std::move(begun));
  } else {
    complete_item(open->item, data);
    open->done = true;
  }
  show_completed();
}

void EventsJsonl::on_quiet_output(const Json& call, const Json& data) {
  const std::string tool = call.string_at("tool");
  if (tool == "write_stdin") {
    const std::int64_t session = session_of(data["details"]);
    if (on_session_output(session < 0 ? named_session(call) : session, data)) return;
  } else if (data["success"].boolean() || (tool == "run_tests" && data["exit"].is_object())) {
    return;
  }
  const auto open = start(started_item(call, Json(), workspace_), call.string_at("call_id"));
  complete_item(open->item, data);
  open->done = true;
  show_completed();
}

/// Shows the session with what it has printed until now: little of it, since that is told again
/// each time.
void EventsJsonl::update_session(Session& session, const std::string& printed) {
  session.output.feed(printed);
  Json& item = session.open.item;
  item.set("aggregated_output", session.output.narrowed(kMostOfUpdate).render());
  item_line("item.updated", session.open.id, item);
}

/// What a session has printed since it was last looked at, and maybe its end.
/// @return  whether there is such a session, and it was spoken to
bool EventsJsonl::on_session_output(std::int64_t id, const Json& data) {
  const auto session = sessions_.find(id);
  const bool ended = data["exit"].is_object();
  if (session == sessions_.end() || (!ended && !data["success"].boolean())) return false;
  if (!ended) {
    update_session(session->second, data.string_at("output"));
    return true;
  }
  auto& [open, output] = session->second;
  output.feed(data.string_at("output"));
  open.item.set("aggregated_output", output.render());
  set_exit(open.item, data["exit"]);
  item_line("item.completed", open.id, open.item);
  sessions_.erase(session);
  return true;
}

void EventsJsonl::on_plan(const Json& data) {
  const bool first = !plan_;
  if (first) plan_ = Open{.id = new_id(), .call_id = {}, .item = {}};
  plan_->item = todo_item(data);
  item_line(first ? "item.started" : "item.updated", plan_->id, plan_->item);
}

void EventsJsonl::on_verification_started(const Json& data) { start(verification_item(data)); }

void EventsJsonl::on_verification_completed(const Json& data) {
  const auto open = std::find_if(open_.begin(), open_.end(), [](const Open& each) {
    return !each.done && each.item.find("verification") != nullptr;
  });
  if (open == open_.end()) return;
  complete_verification(open->item, shown(data));
  open->done = true;
  show_completed();
}

void EventsJsonl::warn(const std::string& message) { show_at_once(warning_item(message), false); }

EventsJsonl::OpenItems::iterator EventsJsonl::start(Json item, std::string call_id) {
  open_.push_back({new_id(), std::move(call_id), std::move(item)});
  item_line("item.started", open_.back().id, open_.back().item);
  return std::prev(open_.end());
}

/// An item that is complete as soon as it is known.
void EventsJsonl::show_at_once(Json item, bool started) {
  const std::string id = new_id();
  if (started) item_line("item.started", id, item);
  item_line("item.completed", id, item);
}

/// Of calls that run side by side the first one is completed first.
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

void EventsJsonl::end(const RunEvent& end) {
  begin();
  complete_all();
  const Json& data = end.data;
  const std::string reason = redactor_.text(data.string_at("reason"), Audience::people);
  if (data.integer_at("exit_code", -1) == 0)
    line(Json::object({{"type", "turn.completed"}, {"usage", to_json(usage_)}}));
  else
    line(Json::object({{"type", "turn.failed"}, {"error", Json::object({{"message", reason}})}}));
  Json last = Json::object({{"type", "run.completed"}});
  for (const auto& [name, value] : data.members())
    last.set(name, name == "reason" || name == "next"
                       ? Json(redactor_.text(value.text(), Audience::people))
                   : name == "artifacts" ? redactor_.json(value)
                                         : value);
  line(last);
}

/// Redacts all that the item says; its numbers and the words of the format stay what they are.
void EventsJsonl::item_line(const char* type, const std::string& id, const Json& item) {
  Json shown = Json::object({{"id", id}});
  for (const auto& [name, value] : item.members()) {
    const bool word = name == "type" || name == "status" || value.is_number() || value.is_null();
    shown.set(name, word ? value : redactor_.json(value, Audience::people));
  }
  line(Json::object({{"type", type}, {"item", std::move(shown)}}));
}

void EventsJsonl::line(const Json& event) {
  write_(with_escaped_breaks(write_large_json(event)) + "\n");
}

std::string EventsJsonl::new_id() { return "item_" + std::to_string(next_id_++); }

}  // namespace sortie

#include "core/agent/events.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sortie {
namespace {

Json in_milliseconds(std::chrono::milliseconds duration) {
  return Json(static_cast<std::int64_t>(duration.count()));
}

Json strings(const std::vector<std::string>& texts) {
  Json array = Json::array();
  for (const auto& text : texts) array.push_back(text);
  return array;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

const char* role_of(Message::Role role) {
  return role == Message::Role::user ? "user" : "assistant";
}

const char* form_of(ToolCall::Form form) {
  switch (form) {
    case ToolCall::Form::function:
      break;
    case ToolCall::Form::custom:
      return "custom";
    case ToolCall::Form::local_shell:
      return "local_shell";
    case ToolCall::Form::web_search:
      return "web_search";
  }
  return "function";
}

Json images_json(const std::vector<Image>& images) {
  Json list = Json::array();
  for (const Image& image : images)
    list.push_back(Json::object({{"media_type", image.media_type},
                                 {"base64", image.base64},
                                 {"width", image.width},
                                 {"height", image.height}}));
  return list;
}

Json neutral(const Message& message) {
  Json json =
      Json::object({{"type", "message"}, {"role", role_of(message.role)}, {"text", message.text}});
  if (!message.images.empty()) json.set("images", images_json(message.images));
  return json;
}
Json neutral(const ProviderItem& item) {
  return Json::object({{"type", item.type}, {"summary", item.summary}});
}
Json neutral(const Reasoning& reasoning) {
  return Json::object({{"type", "reasoning"}, {"summary", reasoning.summary}});
}
Json neutral(const ToolCall& call) {
  return Json::object({{"type", "tool_call"},
                       {"call_id", call.call_id},
                       {"name", call.name},
                       {"arguments", call.arguments},
                       {"form", form_of(call.form)}});
}
Json neutral(const ToolOutput& output) {
  Json json = Json::object({{"type", "tool_output"},
                            {"call_id", output.call_id},
                            {"text", output.text},
                            {"success", output.success},
                            {"form", form_of(output.form)}});
  if (!output.images.empty()) json.set("images", images_json(output.images));
  return json;
}

/// Items in the wire's own JSON.
Json received_json(const std::vector<std::string>& items) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(parse_json(item));
  return array;
}

std::string octal(unsigned mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3)
    digits += static_cast<char>('0' + (mode >> shift & 7));
  return digits;
}

Json verification_json(const VerificationRecord& record) {
  return Json::object({{"phase", record.phase},
                       {"round", record.round},
                       {"command", record.command},
                       {"argv", strings(record.argv)}});
}

}  // namespace

void EventFanout::on(const RunEvent& event) {
  const std::lock_guard lock(mutex_);
  turn_ = event.turn;
  auto changed = redactor_.changed(event.data);
  if (!changed) {
    for (EventSink* sink : sinks_) sink->on(event);
    return;
  }
  const RunEvent redacted{event.type, event.turn, std::move(*changed)};
  for (EventSink* sink : sinks_) sink->on(redacted);
}

Json source_json(const std::string& digest, const std::string& path, const std::string& text) {
  return Json::object({{"digest", digest}, {"path", path}, {"text", text}});
}

RunEvent run_started_event(const RunStart& start) {
  Json data = Json::object({{"version", 1},
                            {"run_id", start.run_id},
                            {"run_key", start.run_key},
                            {"sortie", SORTIE_VERSION},
                            {"task", start.task},
                            {"policy", start.policy},
                            {"workspace", start.workspace},
                            {"model", start.model},
                            {"sandbox", start.sandbox},
                            {"budget", start.budget},
                            {"resumed_from", text_or_null(start.resumed_from)}});
  if (!start.warnings.empty()) {
    Json warnings = Json::array();
    for (const auto& warning : start.warnings) warnings.push_back(warning);
    data.set("warnings", std::move(warnings));
  }
  return {"run.started", 0, std::move(data)};
}

RunEvent turn_started_event(int turn, std::size_t items, std::int64_t estimated_tokens,
                            Json budget_left) {
  return {"turn.started", turn,
          Json::object({{"items", static_cast<std::uint64_t>(items)},
                        {"estimated_tokens", estimated_tokens},
                        {"budget_left", std::move(budget_left)}})};
}

RunEvent model_request_event(int turn, const RequestRecord& request, int attempt,
                             const std::vector<Item>& items) {
  Json sent = Json::array();
  if (attempt == 1)
    for (std::size_t i = request.first_new_item; i < items.size(); ++i)
      sent.push_back(to_json(items[i]));
  return {"model.request", turn,
          Json::object({{"provider", request.provider},
                        {"wire", request.wire},
                        {"attempt", attempt},
                        {"bytes", request.bytes},
                        {"sha256", request.body_sha256},
                        {"prefix_bytes", request.prefix_bytes},
                        {"first_new_item", static_cast<std::uint64_t>(request.first_new_item)},
                        {"items", std::move(sent)}})};
}

RunEvent model_retry_event(int turn, const RetryRecord& retry) {
  return {"model.retry", turn,
          Json::object({{"attempt", retry.attempt},
                        {"failure", Json::object({{"status", retry.status},
                                                  {"kind", retry.kind},
                                                  {"message", retry.message}})},
                        {"delay_ms", in_milliseconds(retry.delay)},
                        {"retry_after_ms",
                         retry.retry_after ? in_milliseconds(*retry.retry_after) : Json()}})};
}

RunEvent model_cut_off_event(int turn, int attempt, const Usage& usage, const std::string& model,
                             const std::optional<Cost>& cost) {
  return {"model.cut_off", turn,
          Json::object({{"attempt", attempt},
                        {"model", model},
                        {"tokens", to_json(usage)},
                        {"cost_usd", cost ? Json::number(cost->exact()) : Json()}})};
}

RunEvent model_fallback_event(int turn, const FallbackRecord& fallback) {
  return {"model.fallback", turn,
          Json::object({{"from", fallback.from},
                        {"to", fallback.to},
                        {"reason", fallback.reason},
                        {"dropped_items", fallback.dropped}})};
}

RunEvent model_response_event(int turn, const Response& response, const std::string& model,
                              const std::optional<Cost>& cost, bool estimated) {
  // A wire whose items have no JSON of their own has one for all of them.
  const bool apart = response.output.empty() || response.items.empty() ||
                     std::any_of(response.items.begin(), response.items.end(),
                                 [](const Item& item) { return !item.received.empty(); });
  Json items = apart ? Json::array() : received_json(response.output);
  if (apart)
    for (const Item& item : response.items) items.push_back(to_json(item));
  Json data = Json::object({{"id", response.id},
                            {"served_model", response.served_model},
                            {"items", Json()},
                            {"usage", response.raw_usage},
                            {"tokens", response.usage ? to_json(*response.usage) : Json()},
                            {"cost_usd", cost ? Json::number(cost->exact()) : Json()},
                            {"incomplete", response.incomplete},
                            {"stop_reason", response.stop_reason},
                            {"first_event_ms", in_milliseconds(response.first_event)},
                            {"duration_ms", in_milliseconds(response.duration)}});
  if (!model.empty()) data.set("model", model);
  data.set("source", response.source);
  data.set("items", std::move(items));  // large: an initializer list would copy them
  if (estimated) data.set("tokens_estimated", true);
  if (!response.repeated.empty()) data.set("repeated", response.repeated);
  if (apart && !response.findings.empty() && !response.output.empty())
    data.set("output", received_json(response.output));
  return {"model.response", turn, std::move(data)};
}

RunEvent check_hit_event(int turn, const std::string& check, const std::string& saw,
                         const std::string& sent) {
  return {"check.hit", turn,
          Json::object({{"check", check}, {"saw", saw}, {"sent", text_or_null(sent)}})};
}

RunEvent approval_event(int turn, const ToolCall& call, Json actions, Json decision,
                        Json audit_flags) {
  Json data = Json::object(
      {{"call_id", call.call_id}, {"tool", call.name}, {"actions", std::move(actions)}});
  for (auto& [name, value] : decision.members()) data.set(name, std::move(value));
  data.set("audit_flags", std::move(audit_flags));
  return {"approval", turn, std::move(data)};
}

RunEvent tool_call_event(int turn, const ToolCall& call, Json origin) {
  Json data = Json::object({{"call_id", call.call_id},
                            {"tool", call.name},
                            {"form", form_of(call.form)},
                            {"arguments", call.arguments}});
  if (origin.is_object()) data.set("origin", std::move(origin));
  return {"tool.call", turn, std::move(data)};
}

RunEvent tool_output_event(int turn, const ToolOutputRecord& record) {
  Json data = Json::object({{"call_id", record.call_id},
                            {"tool", record.tool},
                            {"success", record.success},
                            {"status", !record.declined.empty() ? "declined"
                                       : record.success         ? "completed"
                                                                : "failed"},
                            {"exit", record.exit ? to_json(*record.exit) : Json()},
                            {"duration_ms", in_milliseconds(record.duration)},
                            {"output", Json()},
                            {"dropped_bytes", record.dropped_bytes},
                            {"changed_files", strings(record.changed_files)},
                            {"verdict", text_or_null(record.verdict)}});
  data.set("output", record.output);  // large: an initializer list would copy it once more
  if (record.shown) data.set("shown", *record.shown);
  if (!record.declined.empty()) data.set("reason", record.declined);
  if (record.details.is_object()) data.set("details", record.details);
  return {"tool.output", turn, std::move(data)};
}

RunEvent plan_updated_event(int turn, const std::string& explanation, Json steps) {
  return {"plan.updated", turn,
          Json::object({{"explanation", explanation}, {"steps", std::move(steps)}})};
}

RunEvent network_connection_event(int turn, const NetworkRecord& record) {
  return {"network.connection", turn,
          Json::object({{"id", record.id},
                        {"state", record.state},
                        {"allowed", record.state != "denied"},
                        {"host", record.host},
                        {"port", record.port},
                        {"method", record.method},
                        {"address", text_or_null(record.address)},
                        {"rule", text_or_null(record.rule)},
                        {"reason", text_or_null(record.reason)},
                        {"sent_bytes", record.sent},
                        {"received_bytes", record.received},
                        {"duration_ms", in_milliseconds(record.duration)}})};
}

RunEvent mcp_server_event(int turn, const McpServerRecord& record) {
  return {"mcp.server", turn,
          Json::object({{"server", record.server},
                        {"state", record.state},
                        {"detail", text_or_null(record.detail)},
                        {"protocol_version", text_or_null(record.protocol_version)},
                        {"identity", text_or_null(record.identity)},
                        {"tools", record.tools},
                        {"pin", text_or_null(record.pin)}})};
}

RunEvent mcp_message_event(int turn, const std::string& server, const std::string& kind,
                           const std::string& text) {
  return {"mcp.message", turn, Json::object({{"server", server}, {"kind", kind}, {"text", text}})};
}

RunEvent file_changed_event(int turn, const FileChange& change) {
  Json data = Json::object({{"path", change.path},
                            {"kind", change.kind},
                            {"mode", octal(change.mode)},
                            {"sha256_before", text_or_null(change.sha256_before)},
                            {"sha256_after", text_or_null(change.sha256_after)}});
  if (!change.moved_from.empty()) data.set("moved_from", change.moved_from);
  return {"file.changed", turn, std::move(data)};
}

RunEvent verification_started_event(int turn, const VerificationRecord& record) {
  return {"verification.started", turn, verification_json(record)};
}

RunEvent verification_completed_event(int turn, const VerificationRecord& record,
                                      const ExitStatus& exit, const std::string& output,
                                      std::uint64_t dropped_bytes, bool passed) {
  Json data = verification_json(record);
  data.set("exit", to_json(exit));
  data.set("output", output);
  data.set("dropped_bytes", dropped_bytes);
  data.set("passed", passed);
  return {"verification.completed", turn, std::move(data)};
}

RunEvent stage_started_event(int turn, const StageRecord& stage) {
  Json tools = Json::array();
  for (const auto& tool : stage.tools) tools.push_back(tool);
  return {"stage.started", turn,
          Json::object({{"name", stage.name},
                        {"prompt", text_or_null(stage.prompt)},
                        {"tools", std::move(tools)},
                        {"sandbox", stage.sandbox}})};
}

RunEvent stage_completed_event(int turn, const std::string& name, const std::string& reason,
                               int turns) {
  return {"stage.completed", turn,
          Json::object({{"name", name}, {"reason", text_or_null(reason)}, {"turns", turns}})};
}

RunEvent context_compacted_event(int turn, const CompactionRecord& record) {
  Json data = Json::object({{"cause", record.cause},
                            {"method", record.method},
                            {"turns_before", record.turns_before},
                            {"turns_after", record.turns_after},
                            {"tokens_before", record.tokens_before},
                            {"tokens_after", record.tokens_after},
                            {"summary", text_or_null(record.summary)}});
  if (record.summary.empty()) data.set("reason", record.reason);
  return {"context.compacted", turn, std::move(data)};
}

RunEvent budget_exhausted_event(int turn, const std::string& which, std::int64_t limit,
                                std::int64_t used) {
  return {"budget.exhausted", turn,
          Json::object({{"which", which}, {"limit", limit}, {"used", used}})};
}

RunEvent run_completed_event(int turn, const RunEnd& end) {
  Json artifacts = Json::object();
  for (const auto& [name, digest] : end.artifacts) artifacts.set(name, digest);
  return {"run.completed", turn,
          Json::object({{"status", end.status.empty() ? status_word(end.code) : end.status},
                        {"exit_code", static_cast<int>(end.code)},
                        {"reason", end.reason},
                        {"retryable", is_retryable(end.code)},
                        {"usage", end.usage},
                        {"durations", end.durations},
                        {"counts", end.counts},
                        {"artifacts", std::move(artifacts)}})};
}

Json to_json(const ExitStatus& exit) {
  Json json = Json::object({{"ending", name_of(exit.ending)},
                            {"code", exit.code},
                            {"duration_ms", in_milliseconds(exit.duration)}});
  if (!exit.detail.empty()) json.set("detail", exit.detail);
  if (exit.ended_background) json.set("ended_background", true);
  return json;
}

const char* name_of(Ending ending) noexcept {
  switch (ending) {
    case Ending::exited:
      return "exited";
    case Ending::signalled:
      return "signalled";
    case Ending::timed_out:
      return "timed_out";
    case Ending::output_limit:
      return "output_limit";
    case Ending::memory_limit:
      return "memory_limit";
    case Ending::process_limit:
      return "process_limit";
    case Ending::disk_limit:
      return "disk_limit";
    case Ending::cancelled:
      return "cancelled";
    case Ending::not_started:
      return "not_started";
  }
  return "not_started";
}

Json to_json(const Item& item) {
  if (!item.received.empty()) {
    try {
      return parse_json(item.received);
    } catch (const JsonError&) {
      // No provider's JSON after all: what was understood of it is on record.
    }
  }
  return std::visit([](const auto& content) { return neutral(content); }, item.content);
}

Json to_json(const Usage& usage) {
  return Json::object({{"input_tokens", usage.input_tokens},
                       {"cached_input_tokens", usage.cached_input_tokens},
                       {"output_tokens", usage.output_tokens},
                       {"reasoning_output_tokens", usage.reasoning_output_tokens},
                       {"cache_write_input_tokens", usage.cache_write_input_tokens}});
}

}  // namespace sortie

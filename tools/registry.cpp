#include "tools/registry.h"

#include <csignal>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

#include "core/base/error.h"
#include "core/text/text.h"
#include "policies/engine/explain.h"
#include "tools/arguments.h"
#include "tools/secret_images.h"
#include "tools/whole_outputs.h"

namespace sortie {
namespace {

/// The line that the model gets of a denied call.
std::string denial_text(const Decision& decision) {
  std::string text = decision.effect == Effect::forbid ? "Forbidden" : "Denied";
  if (!decision.part.empty()) text += ": " + one_line(decision.part, 400);
  if (!decision.reason.empty()) text += ": " + one_line(decision.reason, 400);
  if (decision.rule.line > 0)
    text += " (" + decision.rule.file + ":" + std::to_string(decision.rule.line) + ", " +
            one_line(decision.rule.text) + ")";
  if (!decision.instead.empty()) text += ". Instead: " + one_line(decision.instead, 600);
  return text;
}

/// Of the tools that run at the same time.
constexpr std::size_t kMostThreads = 4;

/// Threads that are started meanwhile get no signals.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

std::string note_on(const std::vector<std::string>& unknown) {
  if (unknown.empty()) return "";
  std::string text = "arguments that are not known were ignored:";
  for (const auto& name : unknown) text += " " + one_line(name, 60);
  return text;
}

/// A text as the model and the transcript get it, whole in a file where it is shown in part.
CollectedOutput collected(const std::string& text, const RegistryOptions& options) {
  OutputBuffer buffer(options.shown_output);
  buffer.feed(text);
  CollectedOutput output = buffer.finish();
  if (output.left_out_bytes == 0 || options.outputs == nullptr) return output;
  const auto file = options.outputs->begin();
  if (!file) return output;
  file->write(text);
  return buffer.finish(file->keep());
}

/// Cuts the output to the room that there is, and puts what the model gets on record.
void fit_to(ToolOutput& output, ToolOutputRecord& record, const FitOutput& fit) {
  if (fit) record.dropped_bytes += fit(output);
  if (output.text != record.output) record.shown = output.text;
}

std::string words_on_changes(const std::vector<std::string>& changed) {
  std::string words = "a command changed protected paths:";
  for (const auto& path : changed) words += " " + one_line(path);
  return words;
}

/// Whole: what stands above a command's output is on record as its exit and duration.
std::string recorded_output(ToolResult& result, const std::string& head) {
  const bool is_command = result.exit || result.details.find("session_id") != nullptr;
  std::string recorded = std::move(result.collected->recorded);
  if (!is_command) recorded.insert(0, head);
  return recorded;
}

}  // namespace

struct ToolRegistry::Entry {
  explicit Entry(std::unique_ptr<Tool> given)
      : tool(std::move(given)), foreign(!tool->origin().is_null()) {
    const Json& parameters = tool->spec().parameters;
    try {
      schema.emplace(parameters);
    } catch (const InputError&) {
      if (!foreign) throw;  // else who offers the tool has to check what it is given
    }
  }
  std::unique_ptr<Tool> tool;
  bool foreign;  ///< another program's, with a schema of its own making
  std::optional<JsonSchema> schema{};
};

/// A call between its judgement and its output.
struct ToolRegistry::Pending {
  const ToolCall* call = nullptr;
  int turn = 0;
  Entry* entry = nullptr;  ///< to be run; nothing: `answer` is there already
  Json arguments{};
  std::string note{};
  ToolResult result{};
  std::exception_ptr failure{};
  std::chrono::milliseconds duration{0};
  ToolOutputRecord record{};  ///< of a call that is not run
  CallResult answer{};
};

ToolRegistry::ToolRegistry(std::vector<std::unique_ptr<Tool>> tools, const Engine& engine,
                           EventSink& events, const Redactor& redactor, const Clock& clock,
                           RegistryOptions options)
    : engine_(engine),
      events_(events),
      redactor_(redactor),
      clock_(clock),
      options_(std::move(options)),
      judge_(engine, options_.judge) {
  for (auto& tool : tools) entries_.push_back(std::make_unique<Entry>(std::move(tool)));
  own_ = entries_.size();
  take_from_source();
}

ToolRegistry::~ToolRegistry() = default;

/// In place of what came from there before.
void ToolRegistry::take_from_source() {
  entries_.resize(own_);
  if (options_.source == nullptr) return;
  for (auto& tool : options_.source->tools()) {
    if (find(tool->spec().name) != nullptr) continue;
    if (options_.keeps && !options_.keeps(tool->spec().name)) continue;
    entries_.push_back(std::make_unique<Entry>(std::move(tool)));
  }
}

bool ToolRegistry::renew(std::stop_token stop) {
  if (options_.source == nullptr || !options_.source->renew(std::move(stop))) return false;
  take_from_source();
  return true;
}

std::vector<ToolSpec> ToolRegistry::specs() const {
  std::vector<ToolSpec> specs;
  for (const auto& entry : entries_)
    if (engine_.shows_tool(entry->tool->identity())) specs.push_back(entry->tool->spec());
  return specs;
}

std::vector<std::string> ToolRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry->tool->spec().name);
  return names;
}

ToolRegistry::Entry* ToolRegistry::find(const std::string& name) const {
  for (const auto& entry : entries_)
    if (entry->tool->spec().name == name) return entry.get();
  return nullptr;
}

std::string ToolRegistry::unknown_tool(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& spec : specs()) names.push_back(spec.name);
  std::string text = "There is no tool \"" + one_line(name, 80) + "\"";
  const auto absent = options_.absent.find(name);
  text += absent == options_.absent.end() ? "." : " in this run: " + absent->second + ".";
  const std::string nearest =
      absent == options_.absent.end() ? nearest_name(name, names) : std::string();
  if (!nearest.empty()) return text + " Did you mean \"" + nearest + "\"?";
  text += " There are:";
  for (const auto& known : names) text += " " + known;
  return text;
}

Json ToolRegistry::origin(const ToolCall& call) const {
  const Entry* entry = find(call.name);
  return entry ? entry->tool->origin() : Json();
}

void ToolRegistry::tell_call(const ToolCall& call, int turn) {
  events_.on(tool_call_event(turn, call, origin(call)));
}

CallResult ToolRegistry::dispatch(const ToolCall& call, int turn, const FitOutput& fit,
                                  std::stop_token stop) {
  look_for_made_paths();
  Pending pending = prepare(call, turn, stop);
  perform(pending, stop);
  return settle(pending, fit);
}

bool ToolRegistry::reads_only(const ToolCall& call) const {
  const Entry* entry = find(call.name);
  return entry != nullptr && entry->tool->reads_only();
}

void ToolRegistry::dispatch_together(std::span<const ToolCall> calls, int turn,
                                     const FitOutput& fit,
                                     const std::function<void(CallResult)>& take,
                                     std::stop_token stop) {
  look_for_made_paths();
  std::vector<Pending> pending;
  for (const ToolCall& call : calls) {
    pending.push_back(prepare(call, turn, stop));
    if (pending.back().answer.verdict != CallVerdict::go_on) break;
  }
  perform_all(pending, stop);
  for (Pending& one : pending) take(settle(one, fit));
}

ToolRegistry::Pending ToolRegistry::prepare(const ToolCall& call, int turn, std::stop_token stop) {
  Entry* entry = find(call.name);
  if (!entry) return unusable(call, turn, "unknown_tool", unknown_tool(call.name));

  Json arguments;
  if (call.form == ToolCall::Form::custom) {
    arguments = Json::object({{"input", call.arguments}});
  } else {
    try {
      arguments = parse_json(call.arguments.empty() ? "{}" : call.arguments);
    } catch (const JsonError& error) {
      return unusable(call, turn, "unusable_arguments",
                      std::string("The arguments are not valid JSON: ") + error.what() +
                          " at byte " + std::to_string(error.offset()) +
                          " (wanted: one JSON object)");
    }
    if (!arguments.is_object())
      return unusable(call, turn, "unusable_arguments", "The arguments are no JSON object.");
  }
  arguments = entry->tool->renamed(std::move(arguments));
  const Json& parameters = entry->tool->spec().parameters;
  const auto unknown = drop_unknown(arguments, parameters,
                                    entry->foreign ? OtherMembers::kept : OtherMembers::dropped);
  std::vector<SchemaFinding> findings;
  if (entry->schema) findings = entry->schema->check(arguments);
  if (!findings.empty())
    return misfit(
        call, turn,
        "The arguments of " + call.name + " do not fit: " + describe_misfit(findings, parameters));

  std::optional<CallJudgement> judgement;
  try {
    judgement = judge_.judge(*entry->tool, call, arguments, turn, stop);
  } catch (const ToolError& error) {
    return misfit(call, turn, error.what());
  }
  Json actions = Json::array();
  for (const auto& action : judgement->actions) actions.push_back(to_json(action, engine_));
  events_.on(approval_event(turn, call, std::move(actions), std::move(judgement->record),
                            std::move(judgement->flags)));
  if (judgement->decision.effect != Effect::allow) return refuse(call, turn, judgement->decision);
  denials_ = 0;
  tell_call(call, turn);
  // A session may have changed what those obey, and the last look at it is some time ago.
  if (judgement->decision.escalation || entry->foreign)
    if (auto ended = ended_by_change(call, turn)) return std::move(*ended);
  return {.call = &call,
          .turn = turn,
          .entry = entry,
          .arguments = std::move(arguments),
          .note = note_on(unknown)};
}

ToolRegistry::Pending ToolRegistry::unusable(const ToolCall& call, int turn,
                                             const std::string& check, const std::string& text) {
  events_.on(check_hit_event(turn, check, one_line(call.name, 80) + " (" + call.call_id + ")",
                             redactor_.text(text, Audience::tools)));
  return misfit(call, turn, text);
}

std::optional<ToolRegistry::Pending> ToolRegistry::ended_by_change(const ToolCall& call, int turn) {
  const auto changed =
      options_.protected_changes ? options_.protected_changes() : std::vector<std::string>();
  if (changed.empty()) return std::nullopt;
  const std::string reason = words_on_changes(changed);
  const std::string text = redactor_.text("Not run: " + reason, Audience::tools);
  Pending pending{.call = &call, .turn = turn};
  pending.record = {.call_id = call.call_id,
                    .tool = call.name,
                    .success = false,
                    .output = text,
                    .verdict = "protected_path_changed"};
  pending.answer.output = {call.call_id, text, false, call.form};
  pending.answer.verdict = CallVerdict::protected_path_changed;
  pending.answer.reason = reason;
  return pending;
}

ToolRegistry::Pending ToolRegistry::misfit(const ToolCall& call, int turn,
                                           const std::string& text) {
  tell_call(call, turn);
  Pending pending{.call = &call, .turn = turn};
  pending.record = {.call_id = call.call_id,
                    .tool = call.name,
                    .success = false,
                    .output = redactor_.text(text, Audience::tools)};
  pending.answer.output = {call.call_id, pending.record.output, false, call.form};
  return pending;
}

ToolRegistry::Pending ToolRegistry::refuse(const ToolCall& call, int turn,
                                           const Decision& decision) {
  const bool forbidden = decision.effect == Effect::forbid;
  const std::string text = redactor_.text(denial_text(decision), Audience::tools);
  tell_call(call, turn);
  Pending pending{.call = &call, .turn = turn};
  pending.record = {.call_id = call.call_id,
                    .tool = call.name,
                    .success = false,
                    .output = text,
                    .verdict = forbidden ? "forbidden" : "denied",
                    .declined = redactor_.text(decision.reason)};
  CallResult& answer = pending.answer;
  answer.output = {call.call_id, text, false, call.form};
  answer.denied = true;
  ++denials_;
  if (forbidden || options_.abort_on_denied) {
    answer.verdict = CallVerdict::forbidden;
    answer.reason = text;
  } else if (denials_ >= options_.max_denials) {
    answer.verdict = CallVerdict::too_many_denials;
    answer.reason = std::to_string(denials_) + " calls in a row were denied; the last: " + text;
  }
  return pending;
}

void ToolRegistry::perform(Pending& pending, std::stop_token stop) const {
  if (pending.entry == nullptr) return;
  const auto start = clock_.steady();
  try {
    if (stop.stop_requested()) throw ToolError("Not run: the run is to end");
    pending.result = pending.entry->tool->run(pending.arguments, stop);
  } catch (const ToolError& error) {
    pending.result.text = error.what();
    pending.result.success = false;
  } catch (...) {  // what ends the run is thrown in the thread of the run
    pending.failure = std::current_exception();
  }
  pending.duration = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady() - start);
}

void ToolRegistry::perform_all(std::vector<Pending>& pending, std::stop_token stop) const {
  const auto calls = static_cast<std::size_t>(
      std::count_if(pending.begin(), pending.end(), [](const Pending& one) { return one.entry; }));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < pending.size(); i = next++) perform(pending[i], stop);
  };
  std::vector<std::jthread> threads;
  {
    // Signals are the business of the thread that the run is in.
    const AllSignalsBlocked blocked;
    for (std::size_t i = 1; i < std::min(calls, kMostThreads); ++i) {
      try {
        threads.emplace_back(work);
      } catch (const std::system_error&) {  // no more to be had: those that are there do it
        break;
      }
    }
  }
  work();
}

CallResult ToolRegistry::settle(Pending& pending, const FitOutput& fit) {
  if (pending.failure) std::rethrow_exception(pending.failure);
  if (pending.entry != nullptr) return settle_run(pending, fit);
  fit_to(pending.answer.output, pending.record, fit);
  events_.on(tool_output_event(pending.turn, pending.record));
  return std::move(pending.answer);
}

bool ToolRegistry::look_for_made_paths() {
  if (!options_.made_paths) return false;
  auto made = options_.made_paths();
  const bool any = !made.empty();
  std::move(made.begin(), made.end(), std::back_inserter(made_paths_));
  return any;
}

std::string ToolRegistry::note_on_made_paths() {
  std::string names;
  for (const std::string& path : std::exchange(made_paths_, {}))
    names += (names.empty() ? "" : ", ") + one_line(path);
  if (names.empty()) return names;
  return "protected by the policy, so that nothing may make it, and removed again: " + names;
}

std::string ToolRegistry::note_on_led_elsewhere() {
  if (!options_.led_elsewhere) return "";
  const auto now = options_.led_elsewhere();
  std::string names;
  for (const std::string& path : now)
    if (led_elsewhere_.count(path) == 0) names += (names.empty() ? "" : ", ") + one_line(path);
  led_elsewhere_ = {now.begin(), now.end()};
  if (names.empty()) return names;
  return "protected by the policy, and leading through a link to other content than at the "
         "start: " +
         names + ". Take that back: the run fails as long as it is so";
}

CallResult ToolRegistry::settle_run(Pending& pending, const FitOutput& fit) {
  const ToolCall& call = *pending.call;
  const int turn = pending.turn;
  ToolResult& result = pending.result;
  if (!result.collected)
    result.collected = collected(redactor_.text(result.text, Audience::tools), options_);
  // A call that reads has made nothing, whatever came up meanwhile.
  const bool worked = result.exit || result.worked_on_files;
  const bool made = look_for_made_paths();
  const bool wrote = worked || !result.changed_files.empty();
  const std::string led = wrote ? note_on_led_elsewhere() : "";
  if ((made && worked) || !led.empty()) result.success = false;
  const std::string on_images = take_out_secret_images(result.images, redactor_);
  std::string tail;
  for (const std::string& remark :
       {result.note, on_images, pending.note, note_on_made_paths(), led})
    if (!remark.empty()) tail += "\nNote: " + remark;
  const std::string head = redactor_.text(result.head, Audience::tools);
  std::string shown = head + redactor_.text(result.collected->shown, Audience::tools) +
                      redactor_.text(tail, Audience::tools);

  ToolOutputRecord record{.call_id = call.call_id,
                          .tool = call.name,
                          .success = result.success,
                          .exit = result.exit,
                          .duration = pending.duration,
                          .output = recorded_output(result, head),
                          .dropped_bytes = result.collected->left_out_bytes,
                          .changed_files = result.changed_files};
  if (result.details.is_object() && !result.details.find("steps"))
    record.details = redactor_.json(result.details, Audience::tools);
  CallResult answer{.output = {call.call_id, std::move(shown), result.success, call.form,
                               std::move(result.images)}};
  fit_to(answer.output, record, fit);
  if (!led.empty()) record.verdict = "protected_path_led_elsewhere";
  if (made && worked) record.verdict = "protected_path_made";
  if (worked && options_.protected_changes) {
    const auto changed = options_.protected_changes();
    if (!changed.empty()) {
      answer.verdict = CallVerdict::protected_path_changed;
      answer.reason = words_on_changes(changed);
      record.verdict = "protected_path_changed";
    }
  }
  const bool could_write = result.exit || result.worked_on_files || !result.changed_files.empty() ||
                           result.details.find("session_id");
  if (could_write && options_.touched_paths) {
    auto touched = options_.touched_paths();
    // A tool that says itself what it did knows better.
    if (record.changed_files.empty()) record.changed_files = std::move(touched);
  }
  RunEvent event = tool_output_event(turn, record);
  if (const std::string& path = result.collected->whole; !path.empty() && options_.outputs)
    if (const auto whole = options_.outputs->find(path)) set_whole_output(event, *whole);
  events_.on(event);
  for (const auto& change : result.file_changes) events_.on(file_changed_event(turn, change));
  if (result.details["steps"].is_array())
    events_.on(
        plan_updated_event(turn, result.details.string_at("explanation"), result.details["steps"]));
  return answer;
}

}  // namespace sortie

#include "tools/recorded_calls.h"

#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/record/transcript_reader.h"
#include "core/text/base64.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr const char* kInterrupted = "interrupted";  // ToolOutputRecord::verdict

/// The session that a call goes on with, by its arguments.
std::optional<std::int64_t> session_in(const ToolCall& call) {
  if (call.name != "write_stdin") return std::nullopt;
  try {
    return parse_json(call.arguments)["session_id"].integer();
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

ToolResult result_of(const ToolOutputRecord& output) {
  ToolResult result;
  result.text = output.output;
  result.success = output.success;
  result.exit = output.exit;
  result.changed_files = output.changed_files;
  if (output.details.session_id) result.session = static_cast<int>(*output.details.session_id);
  if (output.details.content.is_array()) {
    result.server_answer = Json::object({{"content", output.details.content}});
    if (output.details.structured_content.is_object())
      result.server_answer.set("structured_content", output.details.structured_content);
  }
  return result;
}

/// A tool whose calls are all answered from the record.
class RecordedTool : public Tool {
 public:
  RecordedTool(const std::string& name, ToolOrigin origin, std::vector<std::string> other_names)
      : origin_(std::move(origin)), other_names_(std::move(other_names)) {
    spec_ = {.name = name,
             .description = "a tool of the server " + origin_.server + ", from the record",
             .parameters = Json::object({{"type", "object"}})};
  }
  Json origin() const override {
    return Json::object({{"server", origin_.server}, {"tool", origin_.tool}});
  }
  CallTool identity() const override { return {.name = spec_.name, .other_names = other_names_}; }
  std::vector<Action> actions(const Json&) const override { return {}; }
  ToolResult run(const Json&, std::stop_token) override {
    throw ToolError("the record does not have this call");
  }

 private:
  ToolOrigin origin_;
  std::vector<std::string> other_names_;
};

}  // namespace

RecordedCalls::RecordedCalls(const std::filesystem::path& transcript) {
  bool network = false;
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    const auto seen = record.event();
    if (!seen) return;
    if (const auto* connection = std::get_if<NetworkRecord>(&seen->what))
      network = network || connection->state == ConnectionState::opened;
    const bool whole = std::holds_alternative<ToolCalled>(seen->what) ||
                       std::holds_alternative<ToolOutputRecord>(seen->what) ||
                       std::holds_alternative<FileChange>(seen->what) ||
                       std::holds_alternative<CallDecided>(seen->what);
    if (std::holds_alternative<RunStart>(seen->what)) take_resumption();
    if (!whole) return;
    take(event_with_blobs(record, transcript));
    if (std::holds_alternative<ToolOutputRecord>(seen->what) && std::exchange(network, false) &&
        last_output_ < calls_.size())
      calls_[last_output_].from_record = true;
  });
  choose();
  used_.resize(calls_.size());
}

void RecordedCalls::take(const RunEvent& event) {
  if (const auto* decided = std::get_if<CallDecided>(&event.what)) {
    for (const RecordedAction& action : decided->actions)
      if (action.kind == ActionKind::call_tool) other_names_[decided->call_id] = action.other_names;
    if (decided->approver && !decided->approver->remembered)
      approver_.by_call[decided->call_id].push_back(*decided->approver);
  } else if (const auto* called = std::get_if<ToolCalled>(&event.what)) {
    open_[called->call.call_id] = calls_.size();
    calls_.push_back({.call = called->call,
                      .origin = called->origin,
                      .session = session_in(called->call),
                      .from_record = called->origin.has_value()});
    if (called->origin)
      tools_[called->call.name] = {*called->origin, other_names_[called->call.call_id]};
  } else if (const auto* output = std::get_if<ToolOutputRecord>(&event.what)) {
    const auto found = open_.find(output->call_id);
    last_output_ = found == open_.end() ? calls_.size() : found->second;
    if (found == open_.end()) return;
    Call& call = calls_[last_output_];
    call.output = *output;
    if (output->details.session_id) call.session = output->details.session_id;
    if (output->verdict == kInterrupted) call.from_record = true;
    open_.erase(found);
  } else if (const auto* change = std::get_if<FileChange>(&event.what)) {
    if (last_output_ < calls_.size()) calls_[last_output_].changes.push_back(*change);
  }
}

/// A new process of the run: the sessions of the one before are gone.
void RecordedCalls::take_resumption() {
  for (Call& call : calls_)
    if (call.session) call.from_record = true;
}

/// All calls of a session come from the record if one does.
void RecordedCalls::choose() {
  std::set<std::int64_t> sessions;
  for (const Call& call : calls_)
    if (call.from_record && call.session) sessions.insert(*call.session);
  for (Call& call : calls_)
    if (call.session && sessions.count(*call.session) != 0) call.from_record = true;
}

std::optional<ToolResult> RecordedCalls::answer(const ToolCall& call, Files& files) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Call& one = calls_[i];
    if (used_[i] || one.call.call_id != call.call_id || one.call.name != call.name) continue;
    used_[i] = true;
    if (!one.from_record || !one.output) return std::nullopt;
    if (one.output->verdict == kInterrupted)
      gaps_.push_back("what " + one_line(call.name, 60) + " (" + one_line(call.call_id, 60) +
                      ") had done when the run was cut off");
    for (const FileChange& changed : one.changes) change(changed, files);
    return result_of(*one.output);
  }
  return std::nullopt;
}

/// Makes a recorded change again.
void RecordedCalls::change(const FileChange& change, Files& files) {
  try {
    if (change.kind == ChangeKind::remove) {
      if (files.status(change.path)) files.remove(change.path);
      return;
    }
    const bool empty =
        change.content.empty() &&
        change.sha256_after == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    if (!change.content.empty() || empty) {
      files.write(change.path, base64_decoded(change.content), change.mode);
      return;
    }
  } catch (const ToolError&) {
  }
  gaps_.push_back("the change of " + one_line(change.path) +
                  (change.link_target.empty() ? "" : ", a link"));
}

std::vector<std::string> RecordedCalls::take_gaps() {
  const std::lock_guard lock(mutex_);
  return std::exchange(gaps_, {});
}

std::vector<std::unique_ptr<Tool>> RecordedCalls::Source::tools() {
  std::vector<std::unique_ptr<Tool>> tools;
  for (const auto& [name, tool] : calls_.tools_)
    tools.push_back(std::make_unique<RecordedTool>(name, tool.origin, tool.other_names));
  return tools;
}

ApproverAnswer RecordedCalls::Answers::ask(const Json& request, std::chrono::milliseconds,
                                           std::stop_token) {
  using Verdict = ApproverAnswer::Verdict;
  const auto found = by_call.find(request["call"].string_at("id"));
  if (found == by_call.end() || found->second.empty())
    return {.failure = "the record has no answer for this call"};
  const RecordedApprover recorded = std::move(found->second.front());
  found->second.pop_front();
  ApproverAnswer answer{.reason = recorded.reason.value_or(""),
                        .failure = recorded.failure.value_or("")};
  switch (recorded.decision) {
    case ApproverRuling::allow:
      answer.verdict = Verdict::allow;
      break;
    case ApproverRuling::always:
      answer.verdict = Verdict::always;
      break;
    case ApproverRuling::abort:
      answer.verdict = Verdict::abort;
      break;
    case ApproverRuling::deny:
      break;
  }
  return answer;
}

}  // namespace sortie

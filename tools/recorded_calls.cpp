#include "tools/recorded_calls.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/disk_place.h"
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
    if (output.details.meta.is_object()) result.server_answer.set("_meta", output.details.meta);
  }
  return result;
}

/// How many changes the lines stand for: "… N more" for N.
std::size_t listed_changes(const std::vector<std::string>& lines) {
  constexpr std::string_view kMore = "… ";
  if (lines.empty() || !lines.back().starts_with(kMore)) return lines.size();
  return lines.size() - 1 + std::strtoull(lines.back().c_str() + kMore.size(), nullptr, 10);
}

bool may_write(const std::string& path, const RecordedCalls::Tree& tree) {
  return !tree.engine.is_protected(tree.files.resolve(path));
}

/// Whether the file or link is as the change leaves it.
bool is_already(const FileChange& change, const std::optional<FileStatus>& there,
                const DiskFiles& files) {
  constexpr std::uint64_t kMostRead = 16u << 20;
  if (!there) return false;
  if (!change.link_target.empty())
    return there->kind == FileStatus::Kind::symlink &&
           files.read_link(change.path) == change.link_target;
  if (there->kind != FileStatus::Kind::file || (there->mode & 0777) != (change.mode & 0777) ||
      there->size > kMostRead)
    return false;
  return sha256_hex(files.read(change.path).value_or("")) == change.sha256_after;
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
    if (const auto* server = std::get_if<McpServerRecord>(&seen->what)) {
      if (server->state == ServerState::started) started_.insert(server->server);
      if (server->state == ServerState::failed && started_.count(server->server) == 0)
        failed_.insert(server->server);
    }
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
    decided_[decided->call_id] = decided->actions;
    if (decided->approver && !decided->approver->remembered)
      approver_.by_call[decided->call_id].push_back(*decided->approver);
  } else if (const auto* called = std::get_if<ToolCalled>(&event.what)) {
    open_[called->call.call_id] = calls_.size();
    calls_.push_back({.call = called->call,
                      .origin = called->origin,
                      .actions = std::exchange(decided_[called->call.call_id], {}),
                      .process = process_,
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
    goes_on_ = false;
    if (output->details.session_id) call.session = output->details.session_id;
    if (output->verdict == kInterrupted) call.from_record = true;
    open_.erase(found);
  } else if (const auto* change = std::get_if<FileChange>(&event.what)) {
    if (last_output_ >= calls_.size()) return;
    Call& call = calls_[last_output_];
    (goes_on_ ? call.later_changes : call.changes).push_back(*change);
  }
}

/// A new process of the run: the sessions of the one before are gone, unless they had ended.
void RecordedCalls::take_resumption() {
  std::set<std::int64_t> ended;
  for (auto call = calls_.rbegin(); call != calls_.rend() && call->process == process_; ++call) {
    if (!call->session) continue;
    if (call->output && call->output->exit) ended.insert(*call->session);
    if (ended.count(*call->session) == 0) call->from_record = true;
  }
  ++process_;
  goes_on_ = true;
}

/// All calls of a session come from the record if one does.
void RecordedCalls::choose() {
  std::set<std::pair<int, std::int64_t>> sessions;  // each process numbers its own
  for (const Call& call : calls_)
    if (call.from_record && call.session) sessions.emplace(call.process, *call.session);
  for (Call& call : calls_)
    if (call.session && sessions.count({call.process, *call.session}) != 0) call.from_record = true;
}

std::optional<ToolResult> RecordedCalls::answer(const ToolCall& call, Tree tree) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Call& one = calls_[i];
    if (used_[i] || one.call.call_id != call.call_id || one.call.name != call.name) continue;
    used_[i] = true;
    answered_[call.call_id] = i;
    if (!one.from_record || !one.output) return std::nullopt;
    const bool cut_off = one.output->verdict == kInterrupted;
    const std::size_t lines = listed_changes(one.output->changed_files);
    if (cut_off && lines > one.changes.size())
      gaps_.push_back(std::to_string(lines - one.changes.size()) + " more changes of " +
                      one_line(call.name, 60) + " (" + one_line(call.call_id, 60) +
                      "), which was cut off");
    change_all(one.changes, tree);
    ToolResult result = result_of(*one.output);
    // The record may have more of them than are looked for after a call.
    if (cut_off) result.file_changes = one.changes;
    return result;
  }
  return std::nullopt;
}

std::optional<std::vector<Action>> RecordedCalls::actions(const ToolCall& call) const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Call& one = calls_[i];
    if (used_[i] || one.call.call_id != call.call_id || one.call.name != call.name) continue;
    if (!one.from_record || !session_in(call) || one.actions.empty()) return std::nullopt;
    std::vector<Action> actions;
    for (const RecordedAction& action : one.actions)
      if (action.kind == ActionKind::run_command && action.argv)
        actions.push_back(RunCommand{
            .argv = *action.argv, .workdir = action.workdir.value_or(""), .input = action.input});
    return actions;
  }
  return std::nullopt;
}

bool RecordedCalls::add_later_changes(const ToolCall& call, std::vector<FileChange>& changes,
                                      Tree tree) {
  const std::lock_guard lock(mutex_);
  const auto found = answered_.find(call.call_id);
  if (found == answered_.end()) return false;
  bool any = false;
  for (const FileChange& later : calls_[found->second].later_changes) {
    const bool changed = change(later, tree);
    any = any || changed;
    const bool has_it = std::any_of(changes.begin(), changes.end(),
                                    [&](const FileChange& one) { return one.path == later.path; });
    if (changed || !has_it) changes.push_back(later);
  }
  return any;
}

/// Those first that make room for others.
bool RecordedCalls::change_all(const std::vector<FileChange>& changes, Tree tree) {
  bool any = false;
  for (const bool removal : {true, false})
    for (const FileChange& one : changes)
      if ((one.kind == ChangeKind::remove) == removal) any = change(one, tree) || any;
  return any;
}

/// Makes a recorded change again. @return  whether the tree was changed
bool RecordedCalls::change(const FileChange& change, Tree tree) {
  DiskFiles& files = tree.files;
  const std::string gap =
      "the change of " + one_line(change.path) + (change.link_target.empty() ? "" : ", a link");
  try {
    const auto there = files.status(change.path);
    if (change.kind == ChangeKind::remove) {
      if (!there || there->kind == FileStatus::Kind::folder) return false;
      if (!may_write(change.path, tree)) throw ToolError("protected");
      files.remove(change.path);
      return true;
    }
    if (is_already(change, there, files)) return false;
    const std::string content =
        change.link_target.empty() ? base64_decoded(change.content) : change.link_target;
    if (!may_write(change.path, tree) || sha256_hex(content) != change.sha256_after)
      throw ToolError("not recorded");
    if (there && there->kind == FileStatus::Kind::folder) disk::remove_hollow(files, change.path);
    if (change.link_target.empty())
      files.write(change.path, content, change.mode);
    else
      disk::write_link(files.root(), change.path, change.link_target);
    return true;
  } catch (const ToolError&) {
    gaps_.push_back(gap);
  }
  return false;
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

std::string RecordedCalls::Source::why_missing(const std::string& name) const {
  for (const std::string& server : calls_.failed_)
    if (std::string why = why_not_started(name, server); !why.empty()) return why;
  return "";
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

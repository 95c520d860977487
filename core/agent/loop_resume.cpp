#include <algorithm>
#include <utility>

#include "core/agent/loop.h"

// Going on with the last turn of an earlier process.

namespace sortie {
namespace {

/// Whether the last item is this message of the user.
bool ends_with(const History& history, const std::string& text) {
  if (history.items().empty()) return false;
  const auto* message = std::get_if<Message>(&history.items().back().content);
  return message != nullptr && message->role == Message::Role::user && message->text == text;
}

/// The images of a call's recorded content, in the form of an MCP server's answer.
std::vector<Image> recorded_images(const Json& content) {
  std::vector<Image> images;
  for (const Json& block : content.items())
    if (block.string_at("type") == "image" && !block.string_at("data").empty())
      images.push_back({.media_type = block.string_at("mimeType"),
                        .base64 = block.string_at("data"),
                        .width = static_cast<int>(block.integer_at("width")),
                        .height = static_cast<int>(block.integer_at("height"))});
  return images;
}

}  // namespace

void CheckFilter::on(const RunEvent& event) {
  if (const auto* hit = std::get_if<CheckRecord>(&event.what)) {
    const auto same = std::find_if(
        recorded_.begin(), recorded_.end(),
        [hit](const CheckRecord& one) { return one.check == hit->check && one.sent == hit->sent; });
    if (same != recorded_.end()) {
      recorded_.erase(same);
      return;
    }
  }
  to_.on(event);
}

void CheckFilter::consume(RunEvent&& event) {
  if (std::holds_alternative<CheckRecord>(event.what)) return on(event);
  to_.consume(std::move(event));
}

LoopResult Loop::resume(EarlierTurn earlier, std::stop_token stop) {
  begin_run();
  last_message_ = std::move(earlier.message);
  pieces_ = std::move(earlier.pieces);
  continues_ = !pieces_.empty();
  events_.leave_out(std::move(earlier.checks));
  earlier_ = std::move(earlier);
  return go_on(std::move(stop));
}

/// Records what nobody has: a call that is answered as cut off has it in its own record.
void Loop::record_unseen_changes() {
  const auto& calls = earlier_->calls;
  if (!earlier_->effects || std::any_of(calls.begin(), calls.end(), [](const TurnCall& call) {
        return call.called && !call.output;
      }))
    return;
  for (FileChange& change : earlier_->effects(nullptr).changes)
    parts_.events.on({turn(), std::move(change)});
}

/// Acts on the response of an earlier process, as far as that one did not.
std::optional<LoopResult> Loop::take_up(std::stop_token stop) {
  std::optional<LoopResult> end;
  record_unseen_changes();
  if (earlier_->response) {
    Response response = std::move(*earlier_->response);
    conversation_.take_again(response);
    end = handle(std::move(response), std::move(stop));
  }
  const std::string note = std::move(earlier_->note);
  earlier_.reset();
  events_.leave_out({});
  if (!end && !note.empty() && !ends_with(conversation_.history(), note))
    conversation_.add_user_message(note);
  return end;
}

const TurnCall* Loop::earlier_call(const ToolCall& call) const {
  if (!earlier_ || answered_.count(call.call_id) != 0) return nullptr;
  for (const TurnCall& one : earlier_->calls)
    if (one.call_id == call.call_id && one.called) return &one;
  return nullptr;
}

/// Answers a call that an earlier process has made, without running it.
std::optional<LoopResult> Loop::give_earlier(const ToolCall& call, const TurnCall& earlier) {
  if (!earlier.output) {
    CutOffEffects effects = earlier_->effects ? earlier_->effects(&earlier) : CutOffEffects();
    CallRecord done = not_run(call, interrupted_text(call, effects.text), "interrupted");
    done.record.changed_files = std::move(effects.changed_files);
    done.file_changes = std::move(effects.changes);
    parts_.budget.count_tool_call();
    give_output(call, std::move(done));
    return {};
  }
  const ToolOutputRecord& output = *earlier.output;
  std::string text = output.shown.value_or(output.output);
  std::vector<Image> images = recorded_images(output.details.content);
  if (call.name == "view_image" && output.success && images.empty())
    text +=
        "\nNote: the image was lost when the run was interrupted; ask for it again if you need it";
  CallRecord done{.reason = output.declined.empty() ? output.output : output.declined};
  answered_.insert(call.call_id);
  conversation_.add({ToolOutput{.call_id = call.call_id,
                                .text = std::move(text),
                                .success = output.success,
                                .form = call.form,
                                .images = std::move(images)}});
  if (output.verdict == "forbidden") done.verdict = CallVerdict::forbidden;
  if (output.verdict == "protected_path_changed")
    done.verdict = CallVerdict::protected_path_changed;
  return end_by(done);
}

std::optional<LoopResult> Loop::end_by(const CallRecord& result) {
  switch (result.verdict) {
    case CallVerdict::go_on:
      return {};
    case CallVerdict::forbidden:
      return LoopResult{.code = ExitCode::denied, .reason = result.reason, .kind = "forbidden"};
    case CallVerdict::too_many_denials:
      return LoopResult{
          .code = ExitCode::denied, .reason = result.reason, .kind = "too_many_denials"};
    case CallVerdict::protected_path_changed:
      return LoopResult{
          .code = ExitCode::integrity, .reason = result.reason, .kind = "protected_path_changed"};
  }
  return LoopResult{.code = ExitCode::internal, .reason = "unknown verdict of a tool call"};
}

}  // namespace sortie

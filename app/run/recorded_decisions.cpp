#include "app/run/recorded_decisions.h"

#include <optional>

#include "core/base/error.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

Effect effect_of(Ruling ruling) {
  switch (ruling) {
    case Ruling::allow:
      return Effect::allow;
    case Ruling::deny:
      return Effect::deny;
    case Ruling::forbid:
      break;
  }
  return Effect::forbid;
}

/// Nothing for one that is not known.
std::optional<Action> action_of(const RecordedAction& recorded) {
  if (!recorded.kind) return {};
  switch (*recorded.kind) {
    case ActionKind::run_command:
      return RunCommand{.argv = recorded.argv.value_or(std::vector<std::string>()),
                        .workdir = recorded.workdir.value_or(""),
                        .input = recorded.input};
    case ActionKind::read_path:
      return ReadPath{recorded.path.value_or("")};
    case ActionKind::write_path:
      return WritePath{recorded.path.value_or("")};
    case ActionKind::call_tool:
      return CallTool{.name = recorded.name.value_or(""), .other_names = recorded.other_names};
  }
  return {};
}

bool has_refused(const RecordedApprover& approver) {
  return (approver.decision == ApproverRuling::deny ||
          approver.decision == ApproverRuling::abort) &&
         !approver.failure;
}

RecordedCall call_of(int turn, const CallDecided& decided) {
  RecordedCall call;
  call.turn = turn;
  call.tool = decided.tool;
  for (const RecordedAction& recorded : decided.actions)
    if (auto action = action_of(recorded)) call.actions.push_back(std::move(*action));
  call.effect = effect_of(decided.decision);
  if (decided.rule)
    call.rule = {
        .file = decided.rule->file, .line = decided.rule->line, .text = decided.rule->text};
  call.reason = decided.reason;
  call.audited = decided.audited;
  call.depends = decided.approver.has_value();
  const bool denied = call.effect != Effect::allow || call.audited;
  call.refused =
      denied && (call.rule.line > 0 || (decided.approver && has_refused(*decided.approver)));
  return call;
}

}  // namespace

RecordedRun read_recorded_run(const std::string& path) {
  std::error_code error;
  const fs::path transcript =
      fs::is_directory(path, error) ? fs::path(path) / "transcript.jsonl" : fs::path(path);
  const VerifyResult verified = verify_run(transcript);
  if (!verified.ok) throw Error(path + ": " + verified.problem, ExitCode::integrity);
  RecordedRun run;
  run.name = path;
  run.out = fs::absolute(transcript).lexically_normal().parent_path();
  std::string sandbox;  // the run's, and the current stage's
  std::string stage;
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    const auto event = record.event();
    if (!event) return;
    if (const auto* start = std::get_if<RunStart>(&event->what)) {
      run.workspace = start->workspace.commands_see();
      run.task = start->task.path;
      stage = sandbox = start->sandbox.mode;
    } else if (const auto* entered = std::get_if<StageRecord>(&event->what)) {
      stage = entered->sandbox;
    } else if (std::holds_alternative<StageCompleted>(event->what)) {
      stage = sandbox;
    } else if (std::holds_alternative<CallDecided>(event->what)) {
      run.calls.push_back(
          call_of(record.turn, std::get<CallDecided>(event_with_blobs(record, transcript).what)));
      if (stage != sandbox) run.calls.back().depends = true;
    } else if (const auto* connection = std::get_if<NetworkRecord>(&event->what)) {
      if (connection->state == ConnectionState::denied)
        run.denied_connections.push_back(
            {.place = connection->host + ":" + std::to_string(connection->port),
             .entry = connection->would_allow,
             .reason = connection->reason});
    }
  });
  if (!run.workspace.is_absolute())
    throw Error(path + ": the transcript names no workspace", ExitCode::integrity);
  return run;
}

}  // namespace sortie

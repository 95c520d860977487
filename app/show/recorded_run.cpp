#include "app/show/recorded_run.h"

#include "core/base/error.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

Effect effect_of(const std::string& name) {
  for (const Effect effect : {Effect::allow, Effect::forbid})
    if (name == name_of(effect)) return effect;
  return Effect::deny;
}

/// One action of an approval record; what is not known is left out by the caller.
std::vector<Action> actions_of(const Json& list) {
  std::vector<Action> actions;
  for (const Json& json : list.items()) {
    const std::string kind = json.string_at("kind");
    if (kind == "run_command") {
      RunCommand command{.argv = {}, .workdir = json.string_at("workdir")};
      for (const Json& word : json["argv"].items()) command.argv.push_back(word.text());
      if (json["input"].is_string()) command.input = json["input"].text();
      actions.emplace_back(std::move(command));
    } else if (kind == "read_path") {
      actions.emplace_back(ReadPath{json.string_at("path")});
    } else if (kind == "write_path") {
      actions.emplace_back(WritePath{json.string_at("path")});
    } else if (kind == "call_tool") {
      CallTool call{.name = json.string_at("name")};
      for (const Json& name : json["other_names"].items()) call.other_names.push_back(name.text());
      actions.emplace_back(std::move(call));
    }
  }
  return actions;
}

bool approver_refused(const Json& approver) {
  const std::string decision = approver.string_at("decision");
  return (decision == "deny" || decision == "abort") && approver["failure"].is_null();
}

RecordedCall call_of(const TranscriptRecord& record, const Json& data) {
  RecordedCall call;
  call.turn = record.turn;
  call.tool = data.string_at("tool");
  call.actions = actions_of(data["actions"]);
  call.effect = effect_of(data.string_at("decision"));
  const Json& rule = data["rule"];
  if (rule.is_object())
    call.rule = {.file = rule.string_at("file"),
                 .line = static_cast<int>(rule.integer_at("line")),
                 .text = rule.string_at("text")};
  call.reason = data.string_at("reason");
  call.audited = data["audited"].boolean();
  const bool denied = call.effect != Effect::allow || call.audited;
  call.refused = denied && (call.rule.line > 0 || approver_refused(data["approver"]));
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
  read_transcript(transcript, [&](const TranscriptRecord& record) {
    if (record.type == "run.started") {
      const Json& workspace = record.data["workspace"];
      run.workspace = workspace.string_at("seen_as", workspace.string_at("path"));
      run.task = record.data["task"].string_at("path");
    } else if (record.type == "approval") {
      run.calls.push_back(call_of(record, with_blobs(record.data, transcript)));
    }
  });
  if (!run.workspace.is_absolute())
    throw Error(path + ": the transcript names no workspace", ExitCode::integrity);
  return run;
}

std::vector<RecordedRun> read_recorded_runs(const std::vector<std::string>& paths) {
  std::vector<RecordedRun> runs;
  for (const std::string& path : paths) runs.push_back(read_recorded_run(path));
  return runs;
}

}  // namespace sortie

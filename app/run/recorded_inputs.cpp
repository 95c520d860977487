#include "app/run/recorded_inputs.h"

#include <initializer_list>
#include <optional>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace recorded_inputs {

namespace fs = std::filesystem;

Json parsed(const std::string& text, const char* what) {
  try {
    return parse_json(text);
  } catch (const JsonError& error) {
    throw Error(std::string("the recorded ") + what + " can't be read: " + error.what(),
                ExitCode::integrity);
  }
}

/// Without the members that are null, on all levels: a key without a value is an error in a file.
Json without_nulls(const Json& value) {
  Json copy = value;
  if (value.is_array())
    for (Json& item : copy.items()) item = without_nulls(item);
  if (!value.is_object()) return copy;
  copy = Json::object();
  for (const auto& [name, member] : value.members())
    if (!member.is_null()) copy.set(name, without_nulls(member));
  return copy;
}

void leave_out(Json& object, std::initializer_list<std::string_view> names) {
  if (!object.is_object()) return;
  for (const std::string_view name : names)
    std::erase_if(object.members(),
                  [&](const Json::Member& member) { return member.first == name; });
}

/// The prompt without anything that would be read as a variable: the responses are recorded.
void make_plain(Json& prompt) {
  if (!prompt.is_string()) return;
  std::string text = prompt.text();
  for (std::size_t at = text.find("{{"); at != text.npos; at = text.find("{{", at))
    text.replace(at, 2, "{ {");
  prompt = Json(text.empty() ? " " : text);
}

/// The functions' manifest. Their schemas may hold nulls that mean something.
Json manifest(const Json& functions) {
  Json list = functions;
  for (Json& function : list.items())
    std::erase_if(function.members(),
                  [](const Json::Member& member) { return member.second.is_null(); });
  return list;
}

Json task_for_replay(const RunStart& start, const fs::path& folder) {
  Json task = without_nulls(parsed(start.task.text, "task"));
  leave_out(task, {"requires", "policy", "vars", "images", "prompt_file", "best_of"});
  if (Json* prompt = task.find("prompt")) make_plain(*prompt);
  if (Json* stages = task.find("stages"))
    for (Json& stage : stages->items())
      if (Json* prompt = stage.find("prompt")) make_plain(*prompt);
  if (Json* workspace = task.find("workspace")) leave_out(*workspace, {"path", "isolation"});
  if (Json* model = task.find("model")) {
    leave_out(*model, {"cassette", "base_url", "api_key_env", "headers", "fallback"});
    model->set("provider", "replay");
    if (model->find("price") == nullptr)
      if (Json* budget = task.find("budget")) leave_out(*budget, {"cost"});
  }
  if (Json* tools = task.find("tools")) {
    leave_out(*tools, {"mcp", "functions"});
    if (start.task_files["functions"].is_array()) tools->set("functions", "functions.json");
  }
  if (Json* output = task.find("output")) {
    leave_out(*output, {"schema"});
    if (start.task_files.find("output_schema") != nullptr)
      output->set("schema", (folder / "schema.json").string());
  }
  return task;
}

}  // namespace recorded_inputs

RecordedInputs read_recorded_inputs(const std::filesystem::path& path) {
  std::error_code error;
  RecordedInputs recorded;
  recorded.transcript = std::filesystem::is_directory(path, error) ? path / kTranscriptName : path;
  recorded.transcript = std::filesystem::absolute(recorded.transcript, error);
  std::optional<RunStart> start;
  read_transcript(recorded.transcript, [&](const TranscriptRecord& record) {
    if (record.type != "run.started" && record.type != "run.completed") return;
    const RunEvent event = event_with_blobs(record, recorded.transcript);
    // Each time that the run is gone on with it has the same key, but may have a larger budget.
    if (const auto* one = std::get_if<RunStart>(&event.what)) {
      if (!start) start = *one;
      start->task = one->task;
    }
    if (const auto* end = std::get_if<RunEnd>(&event.what))
      recorded.approval = end->result.string_at("approval");
  });
  if (!start) throw Error("the transcript has no run.started", ExitCode::integrity);
  recorded.start = std::move(*start);
  return recorded;
}

void write_recorded_inputs(const RecordedInputs& recorded, const std::filesystem::path& folder) {
  const RunStart& start = recorded.start;
  const auto write = [&](const char* name, const Json& content) {
    write_file(folder / name, write_json_pretty(content));
  };
  write("task.yaml", recorded_inputs::task_for_replay(start, folder));
  write("policy.yaml",
        recorded_inputs::without_nulls(recorded_inputs::parsed(start.policy.text, "policy")));
  if (start.task_files["functions"].is_array())
    write("functions.json", recorded_inputs::manifest(start.task_files["functions"]));
  if (const Json* schema = start.task_files.find("output_schema")) write("schema.json", *schema);
}

}  // namespace sortie

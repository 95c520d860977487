#include "app/inputs/run_key.h"

#include "core/base/hash.h"
#include "core/text/text.h"

namespace sortie {
namespace {

struct PartName {
  const char* member;
  const char* name;  ///< for people
  bool shown;        ///< its values say something
};
constexpr PartName kParts[] = {{"task", "the task", false},
                               {"policy", "the policy", false},
                               {"approval", "the approval mode", true},
                               {"provider", "the provider", true},
                               {"model", "the model", true},
                               {"recording", "the recorded responses", false},
                               {"head", "the HEAD commit", true},
                               {"version", "sortie's version", true}};

void add_difference(std::string what, std::string& text) {
  text += (text.empty() ? "" : ", ") + what;
}

std::string shown(const std::string& value) { return value.empty() ? "none" : one_line(value, 60); }

std::string recording_digest(const std::vector<RecordedStream>& streams) {
  Sha256 hash;
  for (const RecordedStream& stream : streams) {
    hash.update(stream.wire + '\n' + std::to_string(stream.status) + '\n' +
                std::to_string(stream.sse.size()) + '\n');
    hash.update(stream.sse);
  }
  return "sha256:" + hash.finish();
}

}  // namespace

Json run_key_parts(const RunInputs& inputs, const std::string& head_commit) {
  Json parts = Json::object({{"task", inputs.task.digest},
                             {"policy", inputs.policy.digest},
                             {"approval", name_of(inputs.approval)},
                             {"variables", inputs.variables},
                             {"provider", inputs.task.model.provider},
                             {"model", inputs.task.model.name},
                             {"head", head_commit},
                             {"version", SORTIE_VERSION}});
  if (replays(inputs)) parts.set("recording", recording_digest(inputs.recorded));
  return parts;
}

std::string run_key(const Json& parts) { return "sha256:" + sha256_hex(write_json(parts)); }

std::string differing_parts(const Json& before, const Json& now) {
  std::string text;
  for (const PartName& part : kParts) {
    const std::string was = before.string_at(part.member);
    const std::string is = now.string_at(part.member);
    if (was == is) continue;
    add_difference(
        part.name + (part.shown ? " (" + shown(was) + ", now " + shown(is) + ")" : std::string()),
        text);
  }
  const Json& old_variables = before["variables"];
  const Json& variables = now["variables"];
  for (const auto& [name, digest] : variables.members())
    if (old_variables.string_at(name) != digest.text())
      add_difference("the variable " + in_quotes(name), text);
  for (const auto& [name, digest] : old_variables.members())
    if (variables.find(name) == nullptr) add_difference("the variable " + in_quotes(name), text);
  return text;
}

}  // namespace sortie

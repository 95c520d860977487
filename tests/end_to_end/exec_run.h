#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/text/text.h"
#include "tests/end_to_end/provider_run.h"

namespace sortie::test {

/// `sortie exec` in a repository, with a model on loopback and a home for its threads.
class ExecRun : public ProviderRun {
 public:
  ExecRun() { write("home/config.toml", "[profiles.ci]\nmodel = \"gpt-5.1-codex\"\n"); }

  /// @param words  behind `exec`
  ProgramStart exec(const std::vector<std::string>& words, const std::string& url = {},
                    const std::string& input = {}) const {
    ProgramStart start = ProviderRun::start("");
    start.shows_events = false;
    start.argv = {sortie_binary(), "exec"};
    if (!url.empty()) start.argv.insert(start.argv.end(), {"-c", "openai_base_url=" + url});
    start.argv.insert(start.argv.end(), words.begin(), words.end());
    start.folder = workspace();
    start.input = input;
    start.environment["CODEX_HOME"] = path("home").string();
    start.environment["CODEX_API_KEY"] = "sk-test-of-exec-0123456789";
    for (const char* name : {"SORTIE_HOME", "XDG_STATE_HOME", "SORTIE_BASE_URL"})
      start.environment[name] = "";
    return start;
  }
  ProgramEnd exec(const ModelServer& server, const std::vector<std::string>& words,
                  const std::string& input = {}) const {
    return run_program(exec(words, base_url(server), input));
  }
  /// The ids of the threads that are kept.
  std::vector<std::string> threads() const {
    std::vector<std::string> ids;
    std::error_code error;
    for (std::filesystem::directory_iterator it(path("home/threads"), error), end; it != end; ++it)
      ids.push_back(it->path().filename().string());
    return ids;
  }
};

/// The events of a stream.
inline std::vector<Json> events_of(const std::string& stream) {
  std::vector<Json> events;
  for (const auto line : split_lines(stream)) events.push_back(parse_json(line));
  return events;
}

/// "thread.started turn.started item.completed:agent_message …", without what this machine's sandbox
/// lacks.
inline std::string story_of(const std::string& stream) {
  std::string story;
  for (const Json& event : events_of(stream)) {
    const Json& item = event["item"];
    if (item.string_at("type") == "error") continue;
    story += (story.empty() ? "" : " ") + event.string_at("type");
    if (item.is_object()) story += ":" + item.string_at("type");
    if (!item.string_at("status").empty()) story += "(" + item.string_at("status") + ")";
  }
  return story;
}

/// The items of a type that were completed.
inline std::vector<Json> completed(const std::string& stream, const std::string& type) {
  std::vector<Json> items;
  for (const Json& event : events_of(stream))
    if (event.string_at("type") == "item.completed" && event["item"].string_at("type") == type)
      items.push_back(event["item"]);
  return items;
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The output of each shell call that the model was given.
inline std::string outputs_in(const ReceivedRequest& request) {
  std::string text;
  const Json body = parse_json(request.body);
  for (const Json& item : body["input"].items())
    if (item.string_at("type").ends_with("_output")) text += write_json(item["output"]) + "\n";
  return text;
}

}  // namespace sortie::test

#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"

namespace sortie::test {

/// A model that answers from a list and keeps what it was asked.
class ScriptedModel : public Model {
 public:
  /// One answer; it may throw ModelError or Stopped instead.
  using Answer = std::function<Response()>;
  std::deque<Answer> answers;
  std::vector<std::vector<Item>> requests;  ///< the items of each request
  std::vector<ModelSettings> settings;      ///< of each request
  std::vector<int> epochs;
  std::vector<bool> may_repeat;
  std::vector<std::chrono::steady_clock::time_point> deadlines;

  Response ask(const Request& request, StreamSink& stream,
               std::chrono::steady_clock::time_point deadline, std::stop_token) override {
    const std::size_t known = requests.empty() ? 0 : requests.back().size();
    requests.push_back(request.items);
    settings.push_back(request.settings);
    epochs.push_back(request.epoch);
    may_repeat.push_back(request.may_repeat);
    deadlines.push_back(deadline);
    stream.on_request({.provider = "scripted",
                       .wire = "none",
                       .bytes = request.items.size(),
                       .body_sha256 = std::string(64, 'a'),
                       .first_new_item = known},
                      1);
    if (answers.empty()) throw ModelError("no answer is left", ExitCode::unavailable, "cassette");
    const Answer answer = std::move(answers.front());
    answers.pop_front();
    return answer();
  }

  void add(Response response) {
    answers.push_back([response = std::move(response)] { return response; });
  }
};

inline Item assistant(std::string text) {
  return {Message{Message::Role::assistant, std::move(text)}};
}
inline Item user(std::string text) { return {Message{Message::Role::user, std::move(text)}}; }
inline Item call(std::string call_id, std::string name = "shell", std::string arguments = "{}") {
  return {ToolCall{std::move(call_id), std::move(name), std::move(arguments)}};
}

/// A complete response of these items.
inline Response response(std::vector<Item> items, std::optional<Usage> usage = Usage{
                                                      .input_tokens = 20, .output_tokens = 5}) {
  Response made;
  made.id = "resp_1";
  made.served_model = "scripted-1";
  made.items = std::move(items);
  made.usage = usage;
  made.stop_reason = "completed";
  return made;
}

}  // namespace sortie::test

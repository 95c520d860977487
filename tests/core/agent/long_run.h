#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"
#include "core/model/wire.h"
#include "core/provider/request_body.h"

namespace sortie::test {

/// The forms that requests have: "responses", "chat", "messages", and "functions", the older one
/// of chat.
extern const std::vector<std::string> kForms;

/// A model of one form of requests without a network: encodes each request as a provider's model
/// does, and decodes a recorded answer with reasoning, a message and calls.
class FormModel : public Model {
 public:
  /// @param turns  with tool calls, before the message that ends the run
  FormModel(const std::string& form, int turns);

  /// Hears of each request: its body, and what of it the next one has to begin with.
  std::function<void(std::string_view body, std::uint64_t prefix_bytes)> on_body{};

  Response ask(const Request& request, StreamSink& stream, std::chrono::steady_clock::time_point,
               std::stop_token) override;

 private:
  bool legacy_;
  std::unique_ptr<Wire> wire_;
  RequestBody body_;
  int turns_;
  int turn_ = 0;
};

/// The agent loop with this model from its prompt to its end, against tools that answer at once.
/// @return  the number of turns, or 0 where it did not end well
int run_long(FormModel& model);

}  // namespace sortie::test

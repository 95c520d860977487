#pragma once

#include <string>

namespace sortie {

/// A message's text without the reasoning that the server left in it.
struct Thoughts {
  std::string reasoning{};
  std::string message{};
};

/// Takes the reasoning from the beginning of a message: <think>…</think> and the like, of which the
/// template may have written the opening itself, or the channels of gpt-oss. A tag further on is
/// part of the message.
Thoughts split_thoughts(std::string content);

}  // namespace sortie

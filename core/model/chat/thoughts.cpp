#include "core/model/chat/thoughts.h"

#include <array>
#include <string_view>

#include "core/text/text.h"

namespace sortie {
namespace {

struct Tags {
  std::string_view opening;
  std::string_view closing;
};
constexpr std::array<Tags, 8> kTags = {{{"<think>", "</think>"},
                                        {"<thinking>", "</thinking>"},
                                        {"<thought>", "</thought>"},
                                        {"[THINK]", "[/THINK]"},
                                        {"<seed:think>", "</seed:think>"},
                                        {"◁think▷", "◁/think▷"},
                                        {"<|START_THINKING|>", "<|END_THINKING|>"},
                                        {"<|channel|>analysis<|message|>", "<|end|>"}}};

std::string_view without_first_blanks(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

void add_thought(std::string_view text, Thoughts& to) {
  text = trimmed(text);
  if (text.empty()) return;
  if (!to.reasoning.empty()) to.reasoning += "\n\n";
  to.reasoning += text;
}

/// Takes one thought with its tags off the text. @return  whether there is one
bool take_thought(std::string_view& text, Thoughts& to) {
  for (const auto& [opening, closing] : kTags) {
    if (!text.starts_with(opening)) continue;
    const std::size_t end = text.find(closing, opening.size());
    add_thought(text.substr(opening.size(), end - opening.size()), to);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + closing.size());
    return true;
  }
  return false;
}

/// The end of a thought whose opening the template wrote: a closing tag on a line of its own, or at
/// the end of one, before an empty line or the end.
std::size_t end_of_unopened(std::string_view text, std::string_view closing) {
  const std::size_t at = text.find(closing);
  if (at == std::string_view::npos) return at;
  const std::string_view rest = text.substr(at + closing.size());
  const bool ends = rest.empty() || rest.starts_with("\n");
  const bool alone = at == 0 || text[at - 1] == '\n' || rest.starts_with("\n\n");
  return ends && alone ? at : std::string_view::npos;
}

}  // namespace

Thoughts split_thoughts(std::string content) {
  constexpr std::string_view kFinal = "<|channel|>final<|message|>";
  constexpr std::string_view kNext = "<|start|>assistant";
  Thoughts thoughts;
  std::string_view text = without_first_blanks(content);
  bool any = false;
  while (take_thought(text, thoughts)) {
    any = true;
    text = without_first_blanks(text);
    // Only a thought or the final message: a call has its own form, which begins with this.
    for (const std::string_view follows : {kTags.back().opening, kFinal})
      if (text.starts_with(kNext) && text.substr(kNext.size()).starts_with(follows))
        text.remove_prefix(kNext.size());
  }
  if (text.starts_with(kFinal)) {
    any = true;
    text.remove_prefix(kFinal.size());
    for (const std::string_view end : {"<|return|>", "<|end|>"})
      if (text.ends_with(end)) text.remove_suffix(end.size());
  }
  for (const auto& [opening, closing] : kTags) {
    if (any || closing == "<|end|>" || text.find(opening) != std::string_view::npos) continue;
    const std::size_t end = end_of_unopened(text, closing);
    if (end == std::string_view::npos) continue;
    any = true;
    add_thought(text.substr(0, end), thoughts);
    text = without_first_blanks(text.substr(end + closing.size()));
  }
  thoughts.message = any ? std::string(text) : std::move(content);
  return thoughts;
}

}  // namespace sortie

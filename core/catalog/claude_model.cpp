#include "core/catalog/claude_model.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

namespace sortie {

namespace {

constexpr std::int64_t kLeastBudget = 1024;

std::vector<std::string_view> words_of(std::string_view name) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0; };
  std::vector<std::string_view> words;
  for (auto at = name.begin(); at != name.end();) {
    const auto begin = std::find_if(at, name.end(), is_word);
    at = std::find_if_not(begin, name.end(), is_word);
    if (begin != at)
      words.push_back(name.substr(static_cast<std::size_t>(begin - name.begin()),
                                  static_cast<std::size_t>(at - begin)));
  }
  return words;
}

/// One or two digits; a date has more.
std::optional<int> version_part(std::string_view word) {
  if (word.empty() || word.size() > 2) return std::nullopt;
  if (!std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
    return std::nullopt;
  return std::stoi(std::string(word));
}

/// 405 for 4.5; 0 where the name has none.
int version_of(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto major = version_part(words[i]);
    if (!major) continue;
    const auto minor = i + 1 < words.size() ? version_part(words[i + 1]) : std::nullopt;
    return *major * 100 + minor.value_or(0);
  }
  return 0;
}

}  // namespace

ClaudeModel claude_model(std::string_view name) {
  auto words = words_of(name);
  const auto claude = std::find(words.begin(), words.end(), "claude");
  if (claude == words.end()) return {};
  words.erase(words.begin(), claude + 1);
  const int version = version_of(words);
  const bool opus = std::find(words.begin(), words.end(), "opus") != words.end();
  ClaudeModel model;
  if (version == 0 || version >= 406) {
    model.thinking = ClaudeModel::Thinking::adaptive;
    model.takes_temperature = version == 406;
    model.omits_thinking = version != 406;
  } else if (version < 307) {
    model.thinking = ClaudeModel::Thinking::none;
    model.max_output_tokens = version < 305 ? 4096 : 8192;
  } else if (opus && version < 405) {
    model.max_output_tokens = 32000;
  }
  return model;
}

ThinkingConfig thinking_config(const ClaudeModel& model, std::string_view effort,
                               std::int64_t max_tokens) {
  ThinkingConfig config;
  const bool thinks = effort == "low" || effort == "medium" || effort == "high";
  if (model.thinking == ClaudeModel::Thinking::adaptive) {
    if (thinks) {
      config.thinking = Json::object({{"type", "adaptive"}});
      if (model.omits_thinking) config.thinking.set("display", "summarized");
    }
    if (!effort.empty())
      config.output_config = Json::object({{"effort", effort == "minimal" ? "low" : effort}});
  } else if (model.thinking == ClaudeModel::Thinking::budget && thinks) {
    const std::int64_t wanted = effort == "low" ? 4096 : effort == "medium" ? 12288 : 24576;
    const std::int64_t budget = std::min(wanted, max_tokens / 4 * 3);
    if (budget >= kLeastBudget)
      config.thinking = Json::object({{"type", "enabled"}, {"budget_tokens", budget}});
  }
  return config;
}

}  // namespace sortie

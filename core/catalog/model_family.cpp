#include "core/catalog/model_family.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::int64_t kMinBudget = 1024;

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

/// In lower case, without anything before the last '/'.
std::string bare_name(std::string_view model) {
  if (const std::size_t slash = model.rfind('/'); slash != std::string_view::npos)
    model.remove_prefix(slash + 1);
  return ascii_lower(model);
}

template <std::size_t size>
bool starts_with_one_of(const std::string& name, const std::array<const char*, size>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return name.starts_with(prefix); });
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
  const bool least = effort == "none" || effort == "minimal";
  const bool thinks = !effort.empty() && !least;
  if (model.thinking == ClaudeModel::Thinking::adaptive) {
    if (thinks) {
      config.thinking = Json::object({{"type", "adaptive"}});
      if (model.omits_thinking) config.thinking.set("display", "summarized");
    }
    const bool unknown = effort == "xhigh" && !model.omits_thinking;  // which came with 4.7
    if (!effort.empty())
      config.output_config = Json::object({{"effort", least     ? "low"
                                                      : unknown ? "high"
                                                                : std::string(effort)}});
  } else if (model.thinking == ClaudeModel::Thinking::budget && thinks) {
    const std::int64_t wanted = effort == "low"      ? 4096
                                : effort == "medium" ? 12288
                                : effort == "high"   ? 24576
                                : effort == "xhigh"  ? 49152
                                                     : max_tokens;
    const std::int64_t budget = std::min(wanted, max_tokens / 4 * 3);
    if (budget >= kMinBudget)
      config.thinking = Json::object({{"type", "enabled"}, {"budget_tokens", budget}});
  }
  return config;
}

bool is_openai_plain_model(std::string_view model) noexcept {
  return model.starts_with("gpt-5-chat") || model.starts_with("gpt-4") ||
         model.starts_with("gpt-3") || model.starts_with("chatgpt-");
}

bool is_openai_reasoning_model(std::string_view model) noexcept {
  if (is_openai_plain_model(model)) return false;
  const bool o_series = model.size() >= 2 && model[0] == 'o' && model[1] >= '1' && model[1] <= '9';
  // gpt-5, gpt-6 …; not gpt-oss, which runs on other servers.
  const bool gpt =
      model.size() > 4 && model.starts_with("gpt-") && model[4] >= '5' && model[4] <= '9';
  return o_series || gpt || model.starts_with("codex");
}

bool knows_local_shell(std::string_view model) noexcept { return model.starts_with("codex-mini"); }

std::string data_url(const Image& image) {
  return "data:" + image.media_type + ";base64," + image.base64;
}

ModelFamily family_of(std::string_view provider, std::string_view model) {
  constexpr std::array<const char*, 2> kCodex = {"gpt-5", "codex"};
  constexpr std::array<const char*, 6> kOpenAi = {"gpt-", "chatgpt-", "o1",
                                                  "o3",   "o4",       "computer-"};
  const std::string name = bare_name(model);
  if (starts_with_one_of(name, kCodex)) return ModelFamily::codex;
  if (starts_with_one_of(name, kOpenAi)) return ModelFamily::openai;
  // Other clouds add a prefix: "us.anthropic.claude-…".
  if (name.find("claude") != std::string::npos) return ModelFamily::claude;
  const ProviderInfo* known = find_provider(provider);
  return known == nullptr ? ModelFamily::other : known->family;
}

TakesImages takes_images(std::string_view provider, std::string_view model) {
  constexpr std::array<const char*, 21> kTextOnly = {
      "gpt-3",      "gpt-oss",   "gpt-4-0",       "gpt-4-1106-preview", "gpt-4-32k",  "o1-mini",
      "o1-preview", "o3-mini",   "text-",         "codellama",          "code-llama", "codestral",
      "devstral",   "starcoder", "deepseek-chat", "deepseek-coder",     "deepseek-r", "deepseek-v",
      "qwq",        "claude-2",  "claude-instant"};
  // Parts of the names of models that accept images.
  constexpr std::array<const char*, 8> kSeeing = {"vision", "-vl",     "llava",  "pixtral",
                                                  "gemini", "gemma-3", "gemma3", "multimodal"};
  if (provider == "replay") return TakesImages::yes;
  const std::string name = bare_name(model);
  if (std::any_of(kSeeing.begin(), kSeeing.end(),
                  [&](const char* part) { return name.find(part) != std::string::npos; }))
    return TakesImages::yes;
  if (name == "gpt-4" || starts_with_one_of(name, kTextOnly)) return TakesImages::no;
  if (name.starts_with("qwen") && name.find("coder") != std::string::npos) return TakesImages::no;
  return family_of(provider, model) == ModelFamily::other ? TakesImages::unknown : TakesImages::yes;
}

bool takes_free_text_tools(std::string_view provider, std::string_view model) {
  const ProviderInfo* known = find_provider(provider);
  const bool responses = known == nullptr ? provider == "replay" : known->wire == "responses";
  return responses && family_of(provider, model) == ModelFamily::codex;
}

}  // namespace sortie

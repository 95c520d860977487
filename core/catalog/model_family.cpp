#include "core/catalog/model_family.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace sortie {
namespace {

/// In lower case, without what stands before the last '/'.
std::string bare_name(std::string_view model) {
  if (const std::size_t slash = model.rfind('/'); slash != std::string_view::npos)
    model.remove_prefix(slash + 1);
  std::string name(model);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

template <std::size_t size>
bool starts_with_one_of(const std::string& name, const std::array<const char*, size>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const char* prefix) { return name.starts_with(prefix); });
}

}  // namespace

ModelFamily family_of(std::string_view provider, std::string_view model) {
  constexpr std::array<const char*, 2> kCodex = {"gpt-5", "codex"};
  constexpr std::array<const char*, 6> kOpenAi = {"gpt-", "chatgpt-", "o1",
                                                  "o3",   "o4",       "computer-"};
  const std::string name = bare_name(model);
  if (starts_with_one_of(name, kCodex)) return ModelFamily::codex;
  if (starts_with_one_of(name, kOpenAi)) return ModelFamily::openai;
  // Other clouds put theirs before it: "us.anthropic.claude-…".
  if (name.find("claude") != std::string::npos) return ModelFamily::claude;
  // Deployments on Azure have any name.
  if (provider == "openai" || provider == "azure") return ModelFamily::openai;
  if (provider == "anthropic") return ModelFamily::claude;
  return ModelFamily::other;
}

TakesImages takes_images(std::string_view provider, std::string_view model) {
  constexpr std::array<const char*, 21> kTextOnly = {
      "gpt-3",      "gpt-oss",   "gpt-4-0",       "gpt-4-1106-preview", "gpt-4-32k",  "o1-mini",
      "o1-preview", "o3-mini",   "text-",         "codellama",          "code-llama", "codestral",
      "devstral",   "starcoder", "deepseek-chat", "deepseek-coder",     "deepseek-r", "deepseek-v",
      "qwq",        "claude-2",  "claude-instant"};
  // Parts of a name that stand for images in it.
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
  const bool responses = provider == "openai" || provider == "azure" || provider == "replay";
  return responses && family_of(provider, model) == ModelFamily::codex;
}

}  // namespace sortie

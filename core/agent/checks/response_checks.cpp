#include "core/agent/checks/response_checks.h"

#include <algorithm>
#include <filesystem>
#include <variant>

#include "core/agent/checks/mentioned_paths.h"
#include "core/agent/checks/risky_intents.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostShown = 10;
constexpr std::size_t kCheckedBytes = 32u << 10;  ///< at each end of a text

/// Both ends of a long text; all of a short one.
std::string ends_of(std::string_view text) {
  if (text.size() <= 2 * kCheckedBytes) return std::string(text);
  return std::string(utf8_prefix(text, kCheckedBytes)) + "\n" +
         std::string(utf8_suffix(text, kCheckedBytes));
}

std::string text_of(const Response& response) {
  std::string text;
  for (const Item& item : response.items)
    if (const auto* message = std::get_if<Message>(&item.content);
        message && message->role == Message::Role::assistant)
      text.append(ends_of(message->text)).push_back('\n');
  return ends_of(text);
}

/// Whether a call of the response mentions the path's last part: it may create it, or look for it.
bool is_in_calls(const std::string& path, const Response& response) {
  const std::string name = std::filesystem::path(path).lexically_normal().filename();
  return std::any_of(response.items.begin(), response.items.end(), [&](const Item& item) {
    const auto* call = std::get_if<ToolCall>(&item.content);
    return call && call->arguments.find(name.empty() ? path : name) != std::string::npos;
  });
}

}  // namespace

std::vector<CheckHit> ResponseChecks::check(const Response& response) const {
  std::vector<CheckHit> hits;
  const std::string text = text_of(response);
  if (checks_.missing_paths != TextCheck::off) {
    if (const auto missing = missing_paths(text, response); !missing.empty())
      hits.push_back({"missing_paths", joined(missing, ", "),
                      "Your message mentions paths that do not exist in the workspace: " +
                          joined(missing, ", ") + ". Find the right path before you continue.",
                      checks_.missing_paths == TextCheck::correct});
  }
  if (checks_.dangerous_words != TextCheck::off) {
    CheckHit hit{.check = "dangerous_words",
                 .message = "Your message announces something that is not allowed here:\n",
                 .correct = checks_.dangerous_words == TextCheck::correct};
    for (const auto& [name, words, reason] : find_risky_intents(text)) {
      hit.saw += (hit.saw.empty() ? "" : "; ") + name + ": " + words;
      hit.message += "- \"" + words + "\": " + reason + "\n";
    }
    hit.message += "Find another way, or end with a message that says what can't be done and why.";
    if (!hit.saw.empty()) hits.push_back(std::move(hit));
  }
  return hits;
}

std::vector<std::string> ResponseChecks::missing_paths(const std::string& text,
                                                       const Response& response) const {
  std::vector<std::string> missing;
  const auto mentioned = mentioned_paths(text);
  if (mentioned.empty()) return missing;
  const MayExist may_exist = lookup_();
  for (const auto& [path, needs_first_folder] : mentioned) {
    if (missing.size() == kMostShown) break;
    if (needs_first_folder && !may_exist(path.substr(0, path.find('/', 1)))) continue;
    if (!may_exist(path) && !is_in_calls(path, response)) missing.push_back(path);
  }
  return missing;
}

}  // namespace sortie

#include "core/agent/history.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sortie {
namespace {

constexpr double kBytesPerToken = 4.0;
/// A ratio outside of this says more of a provider's counting than of the text.
constexpr double kLeastRatio = 0.25;
constexpr double kMostRatio = 4.0;
/// What the wire puts around an item: names, braces, quotes.
constexpr std::size_t kItemOverhead = 40;

std::size_t bytes_of(const Message& message) { return message.text.size(); }
std::size_t bytes_of(const Reasoning& reasoning) { return reasoning.summary.size(); }
std::size_t bytes_of(const ProviderItem& item) { return item.type.size() + item.summary.size(); }
std::size_t bytes_of(const ToolCall& call) {
  return call.call_id.size() + call.name.size() + call.arguments.size();
}
std::size_t bytes_of(const ToolOutput& output) {
  return output.call_id.size() + output.text.size();
}

std::size_t bytes_of(const Item& item) {
  if (!item.received.empty()) return item.received.size();
  return kItemOverhead +
         std::visit([](const auto& content) { return bytes_of(content); }, item.content);
}

}  // namespace

void History::add(Item item) {
  bytes_ += bytes_of(item);
  items_.push_back(std::move(item));
}

std::int64_t History::estimated_tokens(std::size_t fixed_bytes) const noexcept {
  const double bytes = static_cast<double>(bytes_ + fixed_bytes);
  return static_cast<std::int64_t>(bytes / kBytesPerToken * ratio_ + 0.5);
}

void History::measured(std::int64_t input_tokens, std::int64_t estimate) noexcept {
  if (input_tokens <= 0 || estimate <= 0) return;
  const double measured = static_cast<double>(input_tokens);
  ratio_ = std::clamp(ratio_ * measured / static_cast<double>(estimate), kLeastRatio, kMostRatio);
}

}  // namespace sortie

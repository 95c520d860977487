#include "core/agent/whole_output.h"

#include <utility>

namespace sortie {
namespace {

constexpr const char* kMember = "whole_output";

}  // namespace

void set_whole_output(RunEvent& event, const WholeOutput& whole) {
  event.data.set(
      kMember,
      Json::object({{"path", whole.path}, {"sha256", whole.sha256}, {"bytes", whole.bytes}}));
}

std::optional<WholeOutput> whole_output_of(const RunEvent& event) {
  const Json* whole = event.data.find(kMember);
  if (whole == nullptr) return {};
  return WholeOutput{.path = whole->string_at("path"),
                     .sha256 = whole->string_at("sha256"),
                     .bytes = static_cast<std::uint64_t>(whole->integer_at("bytes"))};
}

Json without_whole_output(const RunEvent& event, std::optional<Json> output) {
  Json data = Json::object();
  for (const auto& [name, value] : event.data.members()) {
    if (name == kMember) continue;
    data.members().emplace_back(name, name == "output" && output ? std::move(*output) : value);
  }
  return data;
}

}  // namespace sortie

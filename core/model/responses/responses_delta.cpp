#include "core/model/responses/responses_delta.h"

#include "core/model/escaped_text.h"

namespace sortie {

std::string_view quick_type(std::string_view event_line, std::string_view data) {
  if (!event_line.empty()) return event_line;
  constexpr std::string_view kBegin = "{\"type\":\"";
  if (!data.starts_with(kBegin)) return {};
  const auto rest = data.substr(kBegin.size());
  const auto end = rest.find_first_of("\"\\");
  return end == std::string_view::npos || rest[end] != '"' ? std::string_view()
                                                           : rest.substr(0, end);
}

std::string_view delta_of(std::string_view data) {
  constexpr std::string_view kBegin = "\"delta\":";
  // Only ids precede this member, so the search can't find the name inside a text.
  std::size_t at = data.find(kBegin);
  if (at == std::string_view::npos) return {};
  at += kBegin.size();
  while (at < data.size() && data[at] == ' ') ++at;
  if (at >= data.size() || data[at] != '"') return {};
  const std::size_t end = escaped_end(data, at + 1);
  if (end == std::string_view::npos) return {};
  return data.substr(at + 1, end - at - 1);
}

}  // namespace sortie

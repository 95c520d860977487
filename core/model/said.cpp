#include "core/model/said.h"

#include <utility>

namespace sortie {

std::string content_text(const Json& content) {
  if (content.is_string()) return content.text();
  std::string text;
  for (const Json& part : content.items())
    text +=
        part.string_at("type") == "refusal" ? part.string_at("refusal") : part.string_at("text");
  return text;
}

void add_said(Said::Kind kind, std::string text, SaidList& list) {
  if (!text.empty()) list.push_back({kind, std::move(text)});
}

std::optional<SaidList> said_in_neutral(const Json& item) {
  const std::string type = item.string_at("type");
  SaidList list;
  if (type == "message" && item.find("text"))
    add_said(Said::Kind::message, content_text(item["text"]), list);
  else if (type == "reasoning" && item["summary"].is_string())
    add_said(Said::Kind::reasoning, item.string_at("summary"), list);
  else
    return {};
  return list;
}

}  // namespace sortie

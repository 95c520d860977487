#include "core/agent/checks/risky_intents.h"

#include "core/json/json.h"

namespace sortie {
namespace {

/// A text, or the list of its pieces, with `{{name}}` replaced by the part of that name.
std::string joined_text(const Json& json, const Json& parts) {
  std::string text = json.text();
  for (const Json& piece : json.items()) text += piece.text();
  for (const auto& [name, part] : parts.members()) {
    const std::string place = "{{" + name + "}}";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at))
      text.replace(at, place.size(), joined_text(part, Json()));
  }
  return text;
}

}  // namespace

const std::vector<RiskyIntent>& risky_intents() {
  static const std::vector<RiskyIntent> rows = [] {
    const Json table = parse_json(kRiskyIntentsJson);
    const Json& parts = table["parts"];
    std::vector<RiskyIntent> list;
    for (const Json& deed : table["risky_intents"].items()) {
      RiskyIntent row{.name = deed.string_at("name"),
                      .what = joined_text(deed["what"], parts),
                      .unless = joined_text(deed["unless"], parts),
                      .reason = deed.string_at("reason")};
      for (const Json& sign : deed["signs"].items()) row.signs.push_back(sign.text());
      list.push_back(std::move(row));
    }
    return list;
  }();
  return rows;
}

}  // namespace sortie

#include "core/task/required_version.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/text/text.h"

namespace sortie {
namespace {

/// "1.4.0" → {1, 4, 0}
std::vector<int> parts_of(std::string_view version) {
  std::vector<int> parts;
  while (!version.empty()) {
    int part = 0;
    const auto [end, error] =
        std::from_chars(version.data(), version.data() + version.size(), part);
    parts.push_back(error == std::errc() ? part : 0);
    version.remove_prefix(static_cast<std::size_t>(end - version.data()));
    if (!version.starts_with('.')) break;
    version.remove_prefix(1);
  }
  return parts;
}

bool meets_one(std::string_view condition, std::string_view version) {
  const std::size_t digits = condition.find_first_of("0123456789");
  const std::string_view sign = condition.substr(0, digits);
  const std::vector<int> wanted = parts_of(condition.substr(digits));
  std::vector<int> own = parts_of(version);
  own.resize(wanted.size());
  if (sign == ">=") return own >= wanted;
  if (sign == "<=") return own <= wanted;
  if (sign == ">") return own > wanted;
  if (sign == "<") return own < wanted;
  return own == wanted;
}

}  // namespace

bool meets(std::string_view conditions, std::string_view version) {
  while (!(conditions = without_blanks(conditions)).empty()) {
    const std::size_t end = std::min(conditions.find(' '), conditions.size());
    if (!meets_one(conditions.substr(0, end), version)) return false;
    conditions.remove_prefix(end);
  }
  return true;
}

FieldValue required_version_value(std::string& target) {
  static const std::string pattern =
      std::string(kVersionCondition) + "( +" + kVersionCondition + "){0,7}";
  FieldValue value = text_value(
      target,
      {.pattern = pattern.c_str(), .meaning = "conditions on versions, such as \">=1.0 <2\""});
  value.read = [read = std::move(value.read), &target](
                   const YamlNode& node, const std::string& name, Diagnostics& findings) {
    const std::string before = std::exchange(target, "");
    read(node, name, findings);
    if (target.empty())
      target = before;
    else if (!meets(target, SORTIE_VERSION))
      findings.error(node.place,
                     "the task requires sortie " + target + ", and this is sortie " SORTIE_VERSION);
  };
  return value;
}

}  // namespace sortie

#include "core/json/schema_visit.h"

#include <cmath>
#include <map>

#include "core/json/json_pointer.h"

namespace sortie::json_schema {

std::string Path::pointer() const {
  if (!parent) return "";
  return parent->pointer() + "/" + (name ? escape_pointer(*name) : std::to_string(index));
}

void Visit::add(const SchemaFinding& finding) const {
  const bool known = std::find(findings->begin(), findings->end(), finding) != findings->end();
  if (!known && findings->size() < kMaxFindings) findings->push_back(finding);
}

namespace {

constexpr unsigned kInteger = 1u << 6;

bool is_whole(const Json& value) {
  if (value.integer()) return true;
  const auto real = value.real();
  return real && std::isfinite(*real) && std::trunc(*real) == *real;
}

}  // namespace

bool Visit::fits(const Node& node, Findings* to) const {
  work.enter();
  const Visit visit{value, path, work, to};
  bool all = true;
  const unsigned type = 1u << static_cast<unsigned>(value.type());
  const bool type_fits = node.types == 0 || (node.types & type) != 0 ||
                         ((node.types & kInteger) != 0 && value.is_number() && is_whole(value));
  if (node.nullable && value.is_null()) {
    all = true;
  } else if (!type_fits) {
    all = visit.fail("wrong type: expected " + node.type_words + ", got " +
                     kTypeNames[static_cast<std::size_t>(value.type())]);
  } else {
    for (const Check& check : node.checks)
      if (!check(visit) && (all = false, !to)) break;
  }
  work.leave();
  return all;
}

std::string canonical(const Json& value) {
  std::string text;
  switch (value.type()) {
    case Json::Type::number: {
      const std::string& spelling = value.text();
      if (const auto integer = value.integer()) return std::to_string(*integer);
      const auto real = value.real();
      if (!real || spelling.find_first_of(".eE") == std::string::npos) return spelling;
      return number_text(*real);
    }
    case Json::Type::array:
      for (const Json& item : value.items()) text += canonical(item) + ",";
      return "[" + text + "]";
    case Json::Type::object: {
      std::map<std::string, std::string> members;
      for (const auto& [name, member] : value.members()) members[name] = canonical(member);
      for (const auto& [name, member] : members) {
        write_json_string(name, text);
        text += ":" + member + ",";
      }
      return "{" + text + "}";
    }
    default:
      return write_json(value);
  }
}

int compare_numbers(const Json& a, const Json& b) {
  const auto order = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (a.integer() && b.integer()) return order(*a.integer(), *b.integer());
  return order(a.real().value_or(0), b.real().value_or(0));
}

bool is_multiple(const Json& value, const Json& of) {
  if (value.integer() && of.integer()) return *value.integer() % *of.integer() == 0;
  const double quotient = value.real().value_or(0) / of.real().value_or(1);
  // 0.0075 is a multiple of 0.0001, though no double says so exactly.
  return std::isfinite(quotient) &&
         std::abs(quotient - std::round(quotient)) <= 1e-15 * std::abs(quotient);
}

std::size_t size_of(const Json& value) {
  if (value.is_array()) return value.items().size();
  if (value.is_object()) return value.members().size();
  return static_cast<std::size_t>(
      std::count_if(value.text().begin(), value.text().end(),
                    [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool explain_misfit(const Visit& visit, const std::vector<const Node*>& nodes,
                    const std::string& keyword) {
  if (!visit.findings) return false;
  Findings all;
  std::vector<Findings> near;
  for (const Node* node : nodes) {
    Findings found;
    visit.fits(*node, &found);
    all.insert(all.end(), found.begin(), found.end());
    const bool other_type = !found.empty() && found[0].path == visit.path.pointer() &&
                            found[0].message.starts_with("wrong type");
    if (!other_type) near.push_back(std::move(found));
  }
  if (near.size() == 1)
    all = std::move(near[0]);
  else if (near.size() > 1)
    visit.fail("fits none of the " + std::to_string(nodes.size()) + " schemas of " + keyword);
  for (const SchemaFinding& finding : all) visit.add(finding);
  return false;
}

}  // namespace sortie::json_schema

// valijson aborts the process on a bad schema unless it is told to throw.
#define VALIJSON_USE_EXCEPTIONS 1

#include "core/json/json_schema.h"

#include <re2/re2.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <valijson/adapters/rapidjson_adapter.hpp>
#include <valijson/constraint_builder.hpp>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop

#include <algorithm>
#include <new>

#include "core/base/error.h"
#include "core/json/json_pointer.h"
#include "core/json/schema_translation.h"

namespace sortie {
namespace {

constexpr std::size_t kMaxFindings = 20;

/// valijson counts characters up to the first NUL: such strings would slip through `maxLength`.
std::string without_nul(std::string text) {
  for (char& c : text)
    if (c == '\0') c = '\x01';
  return text;
}

rapidjson::Value to_rapidjson(const Json& value, rapidjson::Document::AllocatorType& memory) {
  rapidjson::Value out;
  const auto string = [&](const std::string& text) {
    const std::string clean = without_nul(text);
    return rapidjson::Value(clean.data(), static_cast<rapidjson::SizeType>(clean.size()), memory);
  };
  switch (value.type()) {
    case Json::Type::null:
      break;
    case Json::Type::boolean:
      out.SetBool(value.boolean());
      break;
    case Json::Type::number:
      if (const auto integer = value.integer())  // 1.0 is an integer too (draft 7 §6.1.1)
        out.SetInt64(*integer);
      else
        out.SetDouble(value.real().value_or(0));
      break;
    case Json::Type::string:
      out = string(value.text());
      break;
    case Json::Type::array:
      out.SetArray();
      for (const auto& item : value.items()) out.PushBack(to_rapidjson(item, memory), memory);
      break;
    case Json::Type::object:
      out.SetObject();
      for (const auto& [name, member] : value.members())
        out.AddMember(string(name), to_rapidjson(member, memory), memory);
      break;
  }
  return out;
}

/// `pattern`, by RE2.
class PatternConstraint : public valijson::constraints::PolyConstraint {
 public:
  explicit PatternConstraint(std::string pattern)
      : pattern_(std::move(pattern)), compiled_(pattern_, RE2::Quiet) {}
  PatternConstraint(const PatternConstraint& other) : PatternConstraint(other.pattern_) {}

  bool validate(const valijson::adapters::Adapter& target, const std::vector<std::string>& context,
                valijson::ValidationResults* results) const override {
    if (!target.isString() || RE2::PartialMatch(target.asString(), compiled_)) return true;
    if (results) results->pushError(context, "does not match the pattern " + pattern_);
    return false;
  }

 private:
  Constraint* cloneInto(void* place) const override { return new (place) PatternConstraint(*this); }
  std::size_t sizeOf() const override { return sizeof(PatternConstraint); }

  std::string pattern_;
  RE2 compiled_;
};

class PatternBuilder : public valijson::ConstraintBuilder {
 public:
  valijson::constraints::Constraint* make(const valijson::adapters::Adapter& node) const override {
    return new PatternConstraint(node.asString());
  }
};

/// What is left of the visits that a check may make to the schemas that are referred to.
thread_local std::uint64_t visits_left = 0;
constexpr std::uint64_t kMostVisits = 5'000'000;
constexpr std::size_t kMostErrors = 10'000;  ///< of one branch
constexpr const char* kVisitKeyword = "sortie-visit";

struct TooManyVisits {};

/// Counts the visits to a schema that others refer to. One that refers to itself from two branches
/// of an `anyOf` is visited twice as often with each level of the value: no check would come to
/// its end.
class VisitConstraint : public valijson::constraints::PolyConstraint {
 public:
  bool validate(const valijson::adapters::Adapter&, const std::vector<std::string>&,
                valijson::ValidationResults* results) const override {
    if (visits_left == 0 || (results && results->numErrors() > kMostErrors)) throw TooManyVisits();
    --visits_left;
    return true;
  }

 private:
  Constraint* cloneInto(void* place) const override { return new (place) VisitConstraint(*this); }
  std::size_t sizeOf() const override { return sizeof(VisitConstraint); }
};

class VisitBuilder : public valijson::ConstraintBuilder {
 public:
  valijson::constraints::Constraint* make(const valijson::adapters::Adapter&) const override {
    return new VisitConstraint;
  }
};

/// All references lead to `definitions`.
void count_visits(Json& schema) {
  Json* definitions = schema.find("definitions");
  if (definitions == nullptr) return;
  for (auto& [name, definition] : definitions->members())
    if (definition.is_object() && !definition.find("$ref")) definition.set(kVisitKeyword, true);
}

std::uint64_t values_in(const Json& value) {
  std::uint64_t count = 1;
  for (const auto& item : value.items()) count += values_in(item);
  for (const auto& [name, member] : value.members()) count += values_in(member);
  return count;
}

/// Pairs of items that `uniqueItems` may have to compare, in all lists together: each with each.
constexpr double kMostPairs = 20e6;

double pairs_in(const Json& value) {
  double pairs = 0;
  for (const auto& item : value.items()) pairs += pairs_in(item);
  for (const auto& [name, member] : value.members()) pairs += pairs_in(member);
  const auto items = static_cast<double>(value.items().size());
  return pairs + items * items / 2;
}

/// {"<root>", "[a]", "[0]"} → "/a/0".
std::string pointer_of(const std::vector<std::string>& context) {
  std::string pointer;
  for (std::size_t i = 1; i < context.size(); ++i) {
    std::string_view name = context[i];
    if (name.size() >= 2 && name.front() == '[' && name.back() == ']')
      name = name.substr(1, name.size() - 2);
    pointer += '/' + escape_pointer(name);
  }
  return pointer;
}

/// "16.000000" → "16".
std::string number_in_words(const std::string& text, std::size_t at) {
  std::string number = text.substr(at);
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

/// valijson's sentence in fewer words; "" for one that only repeats what stands deeper.
std::string message_of(const std::string& description) {
  const auto quoted = [&] {
    const auto begin = description.find(
        '\'', description.rfind(": '") == std::string::npos ? 0 : description.rfind(": '"));
    const auto end = description.rfind('\'');
    return begin < end ? description.substr(begin, end - begin + 1) : std::string();
  };
  if (description.starts_with("Missing required property")) return "missing property " + quoted();
  if (description.starts_with("Object contains a property that could not"))
    return "unknown property " + quoted();
  if (description.starts_with("Value type not permitted")) return "wrong type";
  static constexpr std::pair<std::string_view, const char*> kLimits[] = {
      {"Expected number less than or equal to ", "more than "},
      {"Expected number greater than or equal to ", "less than "},
      {"Expected number less than ", "not less than "},
      {"Expected number greater than ", "not more than "},
      {"Value should be a multiple of ", "no multiple of "}};
  for (const auto& [begin, words] : kLimits)
    if (description.starts_with(begin)) return words + number_in_words(description, begin.size());
  if (description.starts_with("Failed to match against any enum"))
    return "not one of the values allowed";
  if (description.starts_with("Failed to match expected value")) return "not the value expected";
  if (description.starts_with("Failed to validate item #") ||
      description.starts_with("Failed to validate against schema associated with property") ||
      description.starts_with("Failed to validate against additional properties") ||
      description.starts_with("Failed to validate against child schema"))
    return "";
  return description;
}

bool has_long_name(const Json& value) {
  for (const auto& item : value.items())
    if (has_long_name(item)) return true;
  for (const auto& [name, member] : value.members())
    if (name.size() > kMaxPatternedName || has_long_name(member)) return true;
  return false;
}

bool names_keyword(const Json& value, std::string_view keyword) {
  for (const auto& item : value.items())
    if (names_keyword(item, keyword)) return true;
  for (const auto& [name, member] : value.members())
    if (name == keyword || names_keyword(member, keyword)) return true;
  return false;
}

}  // namespace

struct JsonSchema::Compiled {
  valijson::Schema schema;
  bool bounds_names = false;  ///< names are matched against patterns
  bool compares_items = false;
};

JsonSchema::JsonSchema(const Json& root, std::string_view pointer)
    : compiled_(std::make_unique<Compiled>()) {
  Json translated = translate_schema(root, pointer);
  compiled_->bounds_names = names_keyword(translated, "patternProperties");
  compiled_->compares_items = names_keyword(translated, "uniqueItems");
  count_visits(translated);
  rapidjson::Document document;
  static_cast<rapidjson::Value&>(document) = to_rapidjson(translated, document.GetAllocator());
  try {
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.addConstraintBuilder(std::string(kPatternKeyword), new PatternBuilder);  // takes it
    parser.addConstraintBuilder(kVisitKeyword, new VisitBuilder);
    parser.populateSchema(valijson::adapters::RapidJsonAdapter(document), compiled_->schema);
  } catch (const std::exception& error) {
    throw InputError(std::string("JSON schema: ") + error.what());
  }
}

JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;
JsonSchema::~JsonSchema() = default;

std::vector<SchemaFinding> JsonSchema::check(const Json& value) const {
  if (compiled_->bounds_names && has_long_name(value))
    return {{"", "a property's name is longer than " + std::to_string(kMaxPatternedName)}};
  if (compiled_->compares_items && pairs_in(value) > kMostPairs)
    return {{"", "the lists are too long to be checked for items that are the same"}};
  rapidjson::Document document;
  static_cast<rapidjson::Value&>(document) = to_rapidjson(value, document.GetAllocator());
  const valijson::adapters::RapidJsonAdapter target(document);
  valijson::ValidationResults results;
  visits_left = std::min(kMostVisits, 20'000 + 200 * values_in(value));
  try {
    if (valijson::Validator().validate(compiled_->schema, target, &results)) return {};
  } catch (const TooManyVisits&) {
    return {{"",
             "the value can't be checked in reasonable time: the schema refers to itself from "
             "several branches (anyOf, oneOf, allOf)"}};
  }

  std::vector<SchemaFinding> findings;
  for (const auto& error : results) {
    SchemaFinding finding{pointer_of(error.context), message_of(error.description)};
    const bool known = std::find(findings.begin(), findings.end(), finding) != findings.end();
    if (finding.message.empty() || known || findings.size() == kMaxFindings) continue;
    findings.push_back(std::move(finding));
  }
  if (findings.empty()) findings.push_back({"", "does not fit the schema"});
  return findings;
}

std::string describe(const std::vector<SchemaFinding>& findings) {
  std::string text;
  for (const auto& [path, message] : findings) {
    if (!text.empty()) text += "; ";
    if (!path.empty()) text += path + ": ";
    text += message;
  }
  return text;
}

}  // namespace sortie

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/json/schema_finding.h"

namespace sortie::json_schema {

using Findings = std::vector<SchemaFinding>;

/// The most findings of one check.
inline constexpr std::size_t kMaxFindings = 20;
/// Schemas that may apply one inside another, in a chain of references or along the value.
inline constexpr std::size_t kMaxSchemaDepth = 1000;
/// In the order of Json::Type, and "integer".
inline constexpr const char* kTypeNames[] = {"null",  "boolean", "number", "string",
                                             "array", "object",  "integer"};

/// Why a value could not be checked to its end.
struct Unchecked {
  std::string_view why;
};

/// The steps that one check may still take. A schema that refers to itself from two branches is
/// visited twice as often with each level of the value: such a check would never end.
class Work {
 public:
  explicit Work(std::uint64_t steps) : left_(steps) {}
  void spend(std::uint64_t steps) {
    if (steps > left_)
      throw Unchecked{
          "the value can't be checked in reasonable time: the schema refers to itself "
          "from several branches (anyOf, oneOf, allOf), or compares too much"};
    left_ -= steps;
  }
  void enter() {
    if (++depth_ > kMaxSchemaDepth)
      throw Unchecked{"the value and its schema are nested too deeply"};
    spend(1);
  }
  void leave() { --depth_; }

 private:
  std::uint64_t left_;
  std::size_t depth_ = 0;
};

/// A place in the value; its pointer is written out only for a finding.
struct Path {
  const Path* parent = nullptr;
  const std::string* name = nullptr;  ///< null: an item
  std::size_t index = 0;

  std::string pointer() const;
};

struct Node;

/// One value against one schema. Without `findings` only the outcome matters.
struct Visit {
  const Json& value;
  const Path& path;
  Work& work;
  Findings* findings = nullptr;

  bool fail(const std::string& message) const {
    if (findings && findings->size() < kMaxFindings) add({path.pointer(), message});
    return false;
  }
  void add(const SchemaFinding& finding) const;
  bool fits(const Node& node, Findings* to) const;
  bool fits(const Node& node) const { return fits(node, findings); }
  bool item_fits(const Node& node, std::size_t i) const {
    return part_fits(node, value.items()[i], {&path, nullptr, i});
  }
  bool part_fits(const Node& node, const Json& part, const Path& place) const {
    return Visit{part, place, work, findings}.fits(node);
  }
  /// Whether all of the parts fit; the first that does not ends it where nothing is collected.
  template <typename Fits>
  bool all_fit(std::size_t begin, std::size_t end, const Fits& fits) const {
    bool all = true;
    for (std::size_t i = begin; i < end && (all || findings); ++i)
      if (!fits(i)) all = false;
    return all;
  }
  const Json* member(const std::string& name) const {
    work.spend(1 + value.members().size() / 8);
    return value.find(name);
  }
};

using Check = std::function<bool(const Visit&)>;

/// A schema, compiled.
struct Node {
  std::string place;   ///< JSON pointer into the document
  unsigned types = 0;  ///< bits in the order of kTypeNames; 0: all
  std::string type_words{};
  bool nullable = false;  ///< OpenAPI 3.0: null is valid too
  std::vector<Check> checks{};
  std::vector<const Node*> same_value{};  ///< schemas that apply to the same value
  enum class Walk { no, under_way, done } mutable walk = Walk::no;
};

/// A text that is the same for equal values (1 and 1.0, members in any order) and for no others.
std::string canonical(const Json& value);
/// Less than 0, 0 or more than 0.
int compare_numbers(const Json& a, const Json& b);
bool is_multiple(const Json& value, const Json& of);
/// Items, members, or characters of a string.
std::size_t size_of(const Json& value);

/// Adds why the value fits none of the schemas: the findings of all of them, or of the only one
/// that is for a value of this type.
/// @param keyword  "anyOf" or "oneOf"
/// @return         false
bool explain_misfit(const Visit& visit, const std::vector<const Node*>& nodes,
                    const std::string& keyword);

}  // namespace sortie::json_schema

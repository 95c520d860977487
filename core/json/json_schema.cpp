#include "core/json/json_schema.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/json/json_pointer.h"
#include "core/json/schema_visit.h"
#include "core/text/text.h"

namespace sortie {

using namespace json_schema;

struct JsonSchema::Compiled {
  std::map<const Json*, Node> nodes;  ///< by where the schema is in the document
  const Node* start = nullptr;
};

namespace {

/// Keywords that say nothing of validity, and those that are read together with another one.
constexpr std::string_view kPassedOver =
    " title description default examples example deprecated readOnly writeOnly $comment $schema $id "
    "$anchor $vocabulary discriminator externalDocs xml format $defs definitions $recursiveAnchor "
    "contentEncoding contentMediaType contentSchema markdownDescription "
    "nullable then else additionalItems ";

constexpr std::size_t kMaxReferences = 10'000;

/// A keyword of a schema, while it is compiled.
struct Keyword {
  const Json& schema;
  const std::string& name;
  const Json& value;
  std::string place;
  Node& node;

  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError("JSON schema, at \"" + place + "\": " + what);
  }
  void expect(bool holds, const char* what) const {
    if (!holds) refuse(std::string("expected ") + what);
  }
  void add(Check check) const { node.checks.push_back(std::move(check)); }
  Keyword part(const std::string& part_name, const Json& part_value) const {
    return {schema, name, part_value, place + "/" + escape_pointer(part_name), node};
  }
};

/// Whether text matches; patterns are RE2's: linear in time.
using Matcher = std::function<bool(const std::string&, Work&)>;

Matcher matcher(const Keyword& at, const std::string& pattern) {
  auto compiled = std::make_shared<const RE2>(pattern, RE2::Quiet);
  if (!compiled->ok()) at.refuse("the pattern is not one of RE2's: " + compiled->error());
  return [compiled](const std::string& text, Work& work) {
    work.spend(1 + text.size() / 32);
    return RE2::PartialMatch(text, *compiled);
  };
}

void type(const Keyword& at) {
  const auto types = at.value.is_array() ? at.value.items() : std::vector<Json>{at.value};
  at.expect(!types.empty(), "the name of a type");
  for (const Json& each : types) {
    const auto found = std::find(std::begin(kTypeNames), std::end(kTypeNames), each.text());
    at.expect(each.is_string() && found != std::end(kTypeNames), "the name of a type");
    at.node.types |= 1u << (found - std::begin(kTypeNames));
  }
  at.node.type_words = joined(types, " or ", &Json::text);
}

/// "("a", "b", …)": the first of them.
std::string words_of_values(const std::vector<Json>& values) {
  constexpr std::size_t kMost = 10;
  constexpr std::size_t kMostBytes = 60;
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), kMost); ++i)
    text += (i == 0 ? "" : ", ") + one_line(write_json(values[i]), kMostBytes);
  return "(" + text + (values.size() > kMost ? ", …)" : ")");
}

void allowed_values(const Keyword& at) {
  const bool list = at.name == "enum";
  at.expect(!list || at.value.is_array(), "a list of values");
  std::unordered_set<std::string> allowed;
  const auto values = list ? at.value.items() : std::vector<Json>{at.value};
  for (const Json& each : values) allowed.insert(canonical(each));
  const std::string words = (list ? "not one of the values allowed " : "not the value expected ") +
                            words_of_values(values);
  at.add([allowed, words](const Visit& v) {
    const std::string text = canonical(v.value);
    v.work.spend(text.size() / 8);
    return allowed.contains(text) || v.fail(words);
  });
}

struct Limit {
  std::string_view keyword;
  Json::Type type;
  bool least;
  bool exclusive;
  const char* words;
  const char* unit;
};
constexpr Limit kLimits[] = {
    {"minimum", Json::Type::number, true, false, "less than ", ""},
    {"maximum", Json::Type::number, false, false, "more than ", ""},
    {"exclusiveMinimum", Json::Type::number, true, true, "not more than ", ""},
    {"exclusiveMaximum", Json::Type::number, false, true, "not less than ", ""},
    {"minLength", Json::Type::string, true, false, "shorter than ", " characters"},
    {"maxLength", Json::Type::string, false, false, "longer than ", " characters"},
    {"minItems", Json::Type::array, true, false, "fewer than ", " items"},
    {"maxItems", Json::Type::array, false, false, "more than ", " items"},
    {"minProperties", Json::Type::object, true, false, "fewer than ", " properties"},
    {"maxProperties", Json::Type::object, false, false, "more than ", " properties"}};

void limit(const Keyword& at, const Limit& kind) {
  Json bound = at.value;
  if (kind.exclusive && bound.is_boolean()) {  // draft 4 and OpenAPI 3.0: beside `minimum`
    bound = at.schema[kind.least ? "minimum" : "maximum"];
    if (!at.value.boolean() || bound.is_null()) return;
  }
  at.expect(bound.is_number(), "a number");
  if (kind.type != Json::Type::number)
    at.expect(bound.integer().value_or(-1) >= 0, "a whole number, 0 or more");
  at.add([kind, bound](const Visit& v) {
    if (v.value.type() != kind.type) return true;
    v.work.spend(v.value.text().size() / 64);
    const Json size = v.value.is_number() ? v.value : Json(size_of(v.value));
    const int order = compare_numbers(size, bound) * (kind.least ? 1 : -1);
    return order > 0 || (order == 0 && !kind.exclusive) ||
           v.fail(kind.words + bound.text() + kind.unit);
  });
}

void multiple_of(const Keyword& at) {
  at.expect(at.value.real().value_or(0) > 0, "a number greater than 0");
  at.add([of = at.value](const Visit& v) {
    return !v.value.is_number() || is_multiple(v.value, of) ||
           v.fail("not a multiple of " + of.text());
  });
}

void pattern(const Keyword& at) {
  at.expect(at.value.is_string(), "a pattern");
  at.add([matches = matcher(at, at.value.text()), text = at.value.text()](const Visit& v) {
    return !v.value.is_string() || matches(v.value.text(), v.work) ||
           v.fail("does not match the pattern " + text);
  });
}

void unique_items(const Keyword& at) {
  at.expect(at.value.is_boolean(), "true or false");
  if (!at.value.boolean()) return;
  at.add([](const Visit& v) {
    std::unordered_map<std::string, std::size_t> seen;
    return v.all_fit(0, v.value.items().size(), [&](std::size_t i) {
      const auto [first, is_new] = seen.try_emplace(canonical(v.value.items()[i]), i);
      v.work.spend(1 + first->first.size() / 8);
      return is_new || v.fail("items " + std::to_string(first->second) + " and " +
                              std::to_string(i) + " are the same");
    });
  });
}

/// @param cause  the property whose presence asks for the others; "": they are asked for anyway
void require(const Keyword& at, const std::string& cause) {
  const auto& items = at.value.items();
  at.expect(at.value.is_array() && std::all_of(items.begin(), items.end(),
                                               [](const Json& each) { return each.is_string(); }),
            "a list of names");
  at.add([cause, names = at.value.texts()](const Visit& v) {
    if (!v.value.is_object() || (!cause.empty() && !v.member(cause))) return true;
    return v.all_fit(0, names.size(), [&](std::size_t i) {
      return v.member(names[i]) || v.fail("missing property '" + names[i] + "'");
    });
  });
}

void required(const Keyword& at) { require(at, ""); }

class Compiler {
 public:
  Compiler(const Json& root, std::map<const Json*, Node>& nodes) : root_(root), nodes_(nodes) {}

  const Node* run(const std::string& pointer) {
    const Node* start = target(pointer, nullptr);
    while (!waiting_.empty()) {
      const Json* schema = waiting_.back();
      waiting_.pop_back();
      fill(*schema, nodes_.at(schema));
    }
    for (const auto& [schema, node] : nodes_) refuse_cycles(node, 0);
    return start;
  }

 private:
  using Nodes = std::vector<const Node*>;

  /// The schema that a pointer leads to. It is compiled later, so that references don't nest.
  const Node* target(const std::string& pointer, const Keyword* from) {
    // Each is searched for among all that the document has.
    if (++references_ > kMaxReferences) throw InputError("JSON schema: too many references");
    const Json* schema = at_pointer(root_, pointer);
    if (!schema && from) from->refuse("there is nothing at \"#" + pointer + "\"");
    if (!schema) throw InputError("JSON schema: there is nothing at \"#" + pointer + "\"");
    const auto [node, is_new] = nodes_.try_emplace(schema, Node{pointer});
    if (is_new) waiting_.push_back(schema);
    return &node->second;
  }

  const Node* schema_at(const Json& schema, const std::string& place) {
    const auto [node, is_new] = nodes_.try_emplace(&schema, Node{place});
    if (is_new) fill(schema, node->second);
    return &node->second;
  }
  const Node* schema_at(const Keyword& at) { return schema_at(at.value, at.place); }

  Nodes list_at(const Keyword& at) {
    at.expect(!at.value.items().empty(), "a list of schemas");
    Nodes nodes;
    for (const Json& each : at.value.items())
      nodes.push_back(schema_at(at.part(std::to_string(nodes.size()), each)));
    return nodes;
  }

  const Node* applied(const Keyword& at, const Node* to) {
    at.node.same_value.push_back(to);
    return to;
  }

  void fill(const Json& schema, Node& node) {
    if (schema.is_boolean()) {
      if (!schema.boolean())
        node.checks.push_back([](const Visit& v) { return v.fail("no value is allowed here"); });
      return;
    }
    if (!schema.is_object())
      throw InputError("JSON schema, at \"" + node.place +
                       "\": expected a schema: an object, true or false");
    node.nullable = schema["nullable"].boolean();
    for (const auto& [name, value] : schema.members())
      keyword({schema, name, value, node.place + "/" + escape_pointer(name), node});
  }

  void keyword(const Keyword& at) {
    using C = Compiler;
    static const std::map<std::string_view, void (*)(const Keyword&)> kSimple = {
        {"type", type},
        {"enum", allowed_values},
        {"const", allowed_values},
        {"multipleOf", multiple_of},
        {"pattern", pattern},
        {"uniqueItems", unique_items},
        {"required", required}};
    static const std::map<std::string_view, void (Compiler::*)(const Keyword&)> kNested = {
        {"$ref", &C::reference},
        {"$recursiveRef", &C::reference},
        {"allOf", &C::all_of},
        {"anyOf", &C::branches},
        {"oneOf", &C::branches},
        {"not", &C::negation},
        {"if", &C::condition},
        {"contains", &C::contains},
        {"items", &C::items},
        {"prefixItems", &C::items},
        {"properties", &C::properties},
        {"patternProperties", &C::properties},
        {"propertyNames", &C::names},
        {"additionalProperties", &C::properties},
        {"dependencies", &C::dependent},
        {"dependentSchemas", &C::dependent},
        {"dependentRequired", &C::dependent}};
    if (const auto simple = kSimple.find(at.name); simple != kSimple.end())
      return simple->second(at);
    if (const auto nested = kNested.find(at.name); nested != kNested.end())
      return (this->*nested->second)(at);
    for (const Limit& each : kLimits)
      if (each.keyword == at.name) return limit(at, each);
    const bool known = kPassedOver.find(" " + at.name + " ") != std::string_view::npos;
    if (!known && !at.name.starts_with("x-")) at.refuse("keyword \"" + at.name + "\" is not known");
  }

  void reference(const Keyword& at) {
    at.expect(at.value.text().starts_with('#'), "a reference into the same document, \"#/…\"");
    std::string pointer = percent_decoded(std::string_view(at.value.text()).substr(1));
    if (at.name == "$recursiveRef") {  // the nearest schema around it that is marked, else the root
      pointer = at.place;
      while (!pointer.empty() && !(*at_pointer(root_, pointer))["$recursiveAnchor"].boolean())
        pointer.resize(pointer.rfind('/'));
    } else if (!pointer.empty() && pointer[0] != '/') {
      at.refuse("references by anchor are not known: \"#" + pointer + "\"");
    }
    at.add([to = applied(at, target(pointer, &at))](const Visit& v) { return v.fits(*to); });
  }

  void all_of(const Keyword& at) {
    const Nodes nodes = list_at(at);
    for (const Node* each : nodes) applied(at, each);
    at.add([nodes](const Visit& v) {
      return v.all_fit(0, nodes.size(), [&](std::size_t i) { return v.fits(*nodes[i]); });
    });
  }

  void branches(const Keyword& at) {
    const Nodes nodes = list_at(at);
    for (const Node* each : nodes) applied(at, each);
    at.add([nodes, name = at.name](const Visit& v) {
      const int most = name == "oneOf" ? 1 : 0;  // more than one need not be counted
      int count = 0;
      for (const Node* each : nodes)
        if (v.fits(*each, nullptr) && ++count > most) break;
      if (count == 0) return explain_misfit(v, nodes, name);
      return most == 0 || count == 1 || v.fail("fits more than one of the schemas of oneOf");
    });
  }

  void negation(const Keyword& at) {
    at.add([other = applied(at, schema_at(at))](const Visit& v) {
      return !v.fits(*other, nullptr) || v.fail("fits a schema that is ruled out (not)");
    });
  }

  void condition(const Keyword& at) {
    const auto branch = [&](const std::string& name) {
      const Json* found = at.schema.find(name);
      return found ? applied(at, schema_at(*found, at.node.place + "/" + name)) : nullptr;
    };
    const Node* when = applied(at, schema_at(at));
    at.add([when, yes = branch("then"), no = branch("else")](const Visit& v) {
      const Node* next = v.fits(*when, nullptr) ? yes : no;
      return !next || v.fits(*next);
    });
  }

  void contains(const Keyword& at) {
    at.add([wanted = schema_at(at)](const Visit& v) {
      const auto fits = [&](const Json& item) { return Visit{item, v.path, v.work}.fits(*wanted); };
      const auto& all = v.value.items();
      return !v.value.is_array() || std::any_of(all.begin(), all.end(), fits) ||
             v.fail("no item fits the schema of contains");
    });
  }

  /// 2020-12: prefixItems and items; draft 7: items as a list and additionalItems.
  void items(const Keyword& at) {
    if (at.name == "items" && !at.value.is_array())
      return other_items(at, at.schema["prefixItems"].items().size(), schema_at(at));
    const Nodes first = list_at(at);
    at.add([first](const Visit& v) {
      return v.all_fit(0, std::min(first.size(), v.value.items().size()),
                       [&](std::size_t i) { return v.item_fits(*first[i], i); });
    });
    const Json* others = at.name == "items" ? at.schema.find("additionalItems") : nullptr;
    if (others)
      other_items(at, first.size(), schema_at(*others, at.node.place + "/additionalItems"));
  }
  static void other_items(const Keyword& at, std::size_t begin, const Node* item) {
    at.add([begin, item](const Visit& v) {
      return v.all_fit(begin, v.value.items().size(),
                       [&](std::size_t i) { return v.item_fits(*item, i); });
    });
  }

  void names(const Keyword& at) {
    at.add([wanted = schema_at(at)](const Visit& v) {
      const auto& members = v.value.members();
      return v.all_fit(0, members.size(), [&](std::size_t i) {
        Findings found;
        const Json name(members[i].first);
        return Visit{name, v.path, v.work, v.findings ? &found : nullptr}.fits(*wanted) ||
               v.fail("property name " + in_quotes(name.text()) + ": " +
                      (found.empty() ? "not allowed" : found[0].message));
      });
    });
  }

  void dependent(const Keyword& at) {
    at.expect(at.value.is_object(), "an object");
    for (const auto& [name, value] : at.value.members()) {
      const Keyword part = at.part(name, value);
      if (value.is_array())
        require(part, name);
      else
        at.add([name = name, to = applied(at, schema_at(part))](const Visit& v) {
          return !v.member(name) || v.fits(*to);
        });
    }
  }

  /// Three keywords that are one rule: `additionalProperties` is for what the others leave.
  void properties(const Keyword& at) {
    const Json& named = at.schema["properties"];
    const Json& patterned = at.schema["patternProperties"];
    const Json* others = at.schema.find("additionalProperties");
    at.expect(&at.value == others || at.value.is_object(), "an object of schemas");
    const bool is_first = &at.value == &named || (&at.value == &patterned && named.is_null()) ||
                          (named.is_null() && patterned.is_null());
    if (!is_first) return;
    std::map<std::string, const Node*> by_name;
    for (const auto& [name, schema] : named.members())
      by_name[name] = schema_at(schema, at.node.place + "/properties/" + escape_pointer(name));
    std::vector<std::pair<Matcher, const Node*>> by_pattern;
    for (const auto& [text, schema] : patterned.members())
      by_pattern.emplace_back(
          matcher(at, text),
          schema_at(schema, at.node.place + "/patternProperties/" + escape_pointer(text)));
    const bool closed = others && others->is_boolean() && !others->boolean();
    const Node* rest =
        others ? schema_at(*others, at.node.place + "/additionalProperties") : nullptr;
    at.add([by_name, by_pattern, closed, rest](const Visit& v) {
      const auto& members = v.value.members();
      return v.all_fit(0, members.size(), [&](std::size_t i) {
        const std::string& name = members[i].first;
        bool known = false;
        bool fits = true;
        const auto apply = [&](const Node& to) {
          known = true;
          if (!v.part_fits(to, members[i].second, {&v.path, &name})) fits = false;
        };
        v.work.spend(1);
        if (const auto found = by_name.find(name); found != by_name.end()) apply(*found->second);
        for (const auto& [matches, to] : by_pattern)
          if (matches(name, v.work)) apply(*to);
        if (!known && closed) return v.fail("unknown property " + in_quotes(name));
        if (!known && rest) apply(*rest);
        return fits;
      });
    });
  }

  /// A schema that refers to itself for the same value says nothing and never ends.
  static void refuse_cycles(const Node& node, std::size_t depth) {
    using Walk = Node::Walk;
    if (node.walk == Walk::done) return;
    const char* problem = node.walk == Walk::under_way
                              ? "refers to itself without reading any of the value"
                          : depth > kMaxSchemaDepth ? "too many schemas refer to one another"
                                                    : nullptr;
    if (problem) throw InputError("JSON schema, at \"" + node.place + "\": " + problem);
    node.walk = Walk::under_way;
    for (const Node* next : node.same_value) refuse_cycles(*next, depth + 1);
    node.walk = Walk::done;
  }

  const Json& root_;
  std::map<const Json*, Node>& nodes_;
  std::vector<const Json*> waiting_;
  std::size_t references_ = 0;
};

std::uint64_t values_in(const Json& value) {
  std::uint64_t count = 1;
  for (const auto& item : value.items()) count += values_in(item);
  for (const auto& [name, member] : value.members()) count += values_in(member);
  return count;
}

}  // namespace

JsonSchema::JsonSchema(const Json& root, std::string_view pointer)
    : compiled_(std::make_unique<Compiled>()) {
  compiled_->start = Compiler(root, compiled_->nodes).run(std::string(pointer));
}

JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;
JsonSchema::~JsonSchema() = default;

std::vector<SchemaFinding> JsonSchema::check(const Json& value) const {
  const std::uint64_t steps =
      std::min<std::uint64_t>(20'000'000, 100'000 + 1'000 * values_in(value));
  Findings findings;
  try {
    Work work(steps);
    if (Visit{value, Path{}, work}.fits(*compiled_->start)) return {};
    Work again(steps);
    Visit{value, Path{}, again, &findings}.fits(*compiled_->start);
  } catch (const Unchecked& unchecked) {
    if (findings.empty()) findings.push_back({"", std::string(unchecked.why)});
  }
  return findings;
}

std::string describe(const std::vector<SchemaFinding>& findings) {
  return joined(findings, "; ", [](const SchemaFinding& finding) {
    return finding.path.empty() ? finding.message : finding.path + ": " + finding.message;
  });
}

}  // namespace sortie

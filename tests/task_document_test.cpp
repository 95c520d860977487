// docs/task.md has tables of every key of a task file, made from the loader's own table.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/task/task_loader.h"
#include "core/text/text.h"
#include "tests/support/document_part.h"
#include "tests/support/schema_keys.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// The form of a value that has keys of its own: a mapping, where there are several forms.
const Json& with_keys(const Json& schema) {
  for (const Json& form : schema["anyOf"].items())
    if (form["properties"].is_object()) return form;
  return schema;
}

/// The schema of what stands below a key, and how it is written: "" for a key itself, "[]", ".NAME".
struct Below {
  const Json* schema;
  std::string suffix;
};
Below below(const Json& value) {
  const Json& schema = with_keys(value);
  if (schema["properties"].is_object()) return {&schema, ""};
  if (schema["additionalProperties"].is_object() &&
      with_keys(schema["additionalProperties"])["properties"].is_object())
    return {&with_keys(schema["additionalProperties"]), ".NAME"};
  if (const Json& items = with_keys(schema["items"]); items["properties"].is_object())
    return {&items, "[]"};
  return {nullptr, ""};
}

std::string number(const Json& value) {
  const double real = std::stod(value.text());
  if (real >= 1e5 && real == static_cast<double>(static_cast<std::int64_t>(real)))
    return std::to_string(static_cast<std::int64_t>(real));
  return write_json(value);
}

std::string code(const std::string& text) { return "`" + text + "`"; }

std::string type_of(const Json& schema);

std::string type_of_text(const Json& schema) {
  const std::string pattern = schema.string_at("pattern");
  if (pattern.find("ms|s|m|h") != std::string::npos) return "duration";
  if (pattern.find("[KMGT]iB") != std::string::npos) return "size";
  return "text";
}

std::string type_of_forms(const Json& forms) {
  std::vector<std::string> types;
  for (const Json& form : forms.items()) {
    const std::string type = type_of(form);
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return joined(types, " or ");
}

std::string type_of(const Json& schema) {
  if (!schema["const"].is_null()) return code(schema["const"].text());
  if (schema["anyOf"].is_array()) return type_of_forms(schema["anyOf"]);
  if (schema["enum"].is_array()) {
    // The tools have a page of their own.
    if (schema["enum"].items().size() > 8) return "a tool's name";
    std::vector<std::string> names;
    for (const Json& name : schema["enum"].items()) names.push_back(code(name.text()));
    return joined(names, ", ");
  }
  const std::string type = schema.string_at("type");
  if (type == "string") return type_of_text(schema);
  if (type == "boolean") return "`true`, `false`";
  if (type == "integer" || type == "number")
    return (type == "integer" ? "whole number, " : "number, ") + number(schema["minimum"]) +
           " to " + number(schema["maximum"]);
  if (type == "array") return "list of " + type_of(schema["items"]);
  if (schema["additionalProperties"].is_object()) return "mapping of names";
  return "mapping";
}

bool is_required(const Json& mapping, const std::string& name) {
  const auto& required = mapping["required"].items();
  return std::any_of(required.begin(), required.end(),
                     [&](const Json& one) { return one.text() == name; });
}

std::string default_of(const Json& mapping, const std::string& name, const Json& schema) {
  if (is_required(mapping, name)) return "must be given";
  const Json& value = schema["default"];
  // An empty list is not to be written: what its absence means, the key's text says.
  if (value.is_null() || (value.is_array() && value.items().empty())) return "";
  return code(value.is_string() ? value.text() : write_json(value));
}

std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text;
}

/// Whether every member of a mapping stands in the other one too, with the same schema but for what
/// is chosen.
bool is_part_of(const Json& mapping, const Json& other) {
  const auto& members = mapping["properties"].members();
  return std::all_of(members.begin(), members.end(), [&](const auto& member) {
    return !other["properties"][member.first].is_null();
  });
}

/// "`cassette`, `fallback`": members of the mapping that the part does not have.
std::string missing_in(const Json& part, const Json& mapping) {
  std::vector<std::string> names;
  for (const auto& [name, schema] : mapping["properties"].members())
    if (part["properties"][name].is_null()) names.push_back(code(name));
  return joined(names, ", ");
}

/// A line for each key of the mapping and, below it, for the keys of its values.
void add_rows(const Json& mapping, const std::string& prefix, std::string& rows) {
  for (const auto& [name, schema] : mapping["properties"].members()) {
    const std::string key = prefix + name;
    const Below under = below(schema);
    std::string meaning = schema.string_at("description");
    const bool same =
        under.schema != nullptr && under.suffix == "[]" && is_part_of(*under.schema, mapping);
    if (same)
      meaning += " Each has the keys of this table but " + missing_in(*under.schema, mapping) + ".";
    rows += "| " + code(key) + " | " + cell(type_of(schema)) + " | " +
            cell(default_of(mapping, name, schema)) + " | " + cell(meaning) + " |\n";
    if (under.schema != nullptr && !same) add_rows(*under.schema, key + under.suffix + ".", rows);
  }
}

const char* const kHead = "| key | type | default | meaning |\n|---|---|---|---|\n";

/// Keys at the top whose values have keys of their own; each has a section.
std::vector<std::string> sections() {
  const Json task = task_schema();
  std::vector<std::string> names;
  for (const auto& [name, schema] : task["properties"].members())
    if (below(schema).schema != nullptr) names.push_back(name);
  return names;
}

/// All keys at the top, one line each.
std::string top_table() {
  const Json schema = task_schema();
  std::string rows = kHead;
  for (const auto& [name, value] : schema["properties"].members()) {
    const bool has_section = below(value).schema != nullptr;
    rows += "| " + code(name) + " | " +
            cell(has_section ? "[below](#" + name + ")" : type_of(value)) + " | " +
            default_of(schema, name, value) + " | " + cell(value.string_at("description")) + " |\n";
  }
  return rows;
}

std::string table(const std::string& section) {
  const Json schema = task_schema();
  const Below under = below(schema["properties"][section]);
  std::string rows = kHead;
  add_rows(*under.schema,
           under.suffix.empty()               ? ""
           : under.suffix.substr(1) == "NAME" ? "NAME."
                                              : "[].",
           rows);
  return rows;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(task_document)

BOOST_AUTO_TEST_CASE(docs_list_every_key_of_a_task_as_the_loader_has_it) {
  const char* const program = "docs_test -t task_document";
  check_document_part("docs/task.md", "keys of the file", top_table(), program);
  for (const std::string& section : sections())
    check_document_part("docs/task.md", "keys of " + section, table(section), program);
}

// Independent of how the tables are made: each key that a schema's reader finds is in the page.
BOOST_AUTO_TEST_CASE(no_key_of_the_schema_is_missing_in_the_tables) {
  const std::string page = read_file(std::filesystem::path(SORTIE_SOURCE_DIR) / "docs/task.md");
  std::set<std::string> keys;
  collect_keys(task_schema(), "", keys);
  BOOST_TEST(keys.size() > 80u);
  for (std::string key : keys) {
    while (key.ends_with("[]") || key.ends_with(".*")) key.resize(key.size() - 2);
    const std::string last = key.substr(key.rfind('.') + 1);
    const bool listed = page.find("| `" + last + "` |") != std::string::npos ||
                        page.find("." + last + "` |") != std::string::npos;
    BOOST_TEST(listed, key);
  }
}

BOOST_AUTO_TEST_SUITE_END()

#include "core/config/fields.h"

#include <algorithm>
#include <memory>

#include "core/text/text.h"

namespace sortie {
Fields& Fields::add(std::string name, FieldValue value, std::string description) {
  fields_.push_back({std::move(name), std::move(value), std::move(description)});
  return *this;
}

Fields& Fields::require(std::string name, FieldValue value, std::string description) {
  add(std::move(name), std::move(value), std::move(description));
  fields_.back().required = true;
  return *this;
}

Fields& Fields::later(std::initializer_list<const char*> names) {
  later_.insert(later_.end(), names.begin(), names.end());
  return *this;
}

std::vector<std::string> Fields::names() const {
  std::vector<std::string> names;
  for (const auto& field : fields_) names.push_back(field.name);
  return names;
}

void Fields::read(const YamlNode& node, Diagnostics& findings) const {
  if (node.kind == YamlNode::Kind::refused) return;
  if (!node.is_mapping()) {
    findings.error(node.place, title_ + ": expected a mapping of keys, got " + kind_in_words(node));
    return;
  }
  for (const auto& member : node.members) read_member(member, findings);
  for (const auto& field : fields_)
    if (field.required && node.find(field.name) == nullptr)
      findings.error(node.place, "key " + in_quotes(field.name) + " is missing in " + title_);
}

void Fields::read_member(const YamlMember& member, Diagnostics& findings) const {
  const std::string& name = member.key.text;
  const auto field = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const Field& each) { return each.name == name; });
  if (field == fields_.end()) {
    if (is_one_of(name, later_)) {
      findings.error(member.key.place, in_quotes(name) + " is not supported yet");
    } else {
      findings.error(member.key.place, "unknown key " + in_quotes(name) + " in " + title_,
                     nearest_name(name, names()));
    }
  } else if (member.value.kind == YamlNode::Kind::null) {
    findings.error(member.key.place, in_quotes(name) + " needs a value");
  } else if (member.value.kind != YamlNode::Kind::refused) {
    field->value.read(member.value, name, findings);
  }
}

Json Fields::write() const {
  Json json = Json::object();
  for (const auto& field : fields_)
    if (auto value = field.value.write()) json.set(field.name, std::move(*value));
  return json;
}

Json Fields::schema() const {
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& field : fields_) {
    Json property = Json::object({{"description", field.description}});
    const Json schema = field.value.schema();
    for (const auto& [name, value] : schema.members()) property.set(name, value);
    properties.set(field.name, std::move(property));
    if (field.required) required.push_back(field.name);
  }
  Json schema = Json::object({{"type", "object"}, {"properties", std::move(properties)}});
  if (!required.items().empty()) schema.set("required", std::move(required));
  schema.set("additionalProperties", false);
  return schema;
}

Json with_one_of(Json schema, std::initializer_list<const char*> keys) {
  Json forms = Json::array();
  for (const char* key : keys) forms.push_back(Json::object({{"required", Json::array({key})}}));
  schema.set("oneOf", std::move(forms));
  return schema;
}

Json file_schema(const Fields& fields, const std::string& title) {
  Json schema =
      Json::object({{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}});
  const Json table = fields.schema();
  for (const auto& [name, value] : table.members()) schema.set(name, value);
  return schema;
}

FieldValue mapping_value(Fields fields) {
  // Shared with copies of the reader only; the table itself is never changed.
  const auto table = std::make_shared<const Fields>(std::move(fields));
  return {.schema = [table] { return table->schema(); },
          .read = [table](const YamlNode& node, const std::string&,
                          Diagnostics& findings) { table->read(node, findings); },
          .write = [table] { return table->write(); }};
}

FieldValue with_keyword(FieldValue value, std::string keyword, Json setting) {
  value.schema = [schema = std::move(value.schema), keyword = std::move(keyword),
                  setting = std::move(setting)] {
    Json changed = schema();
    changed.set(keyword, setting);
    return changed;
  };
  return value;
}

FieldValue where_given(FieldValue value) {
  value.write = [write = std::move(value.write)] {
    std::optional<Json> json = write();
    if (json && (json->is_null() || (json->is_array() && json->items().empty()) ||
                 (json->is_object() && json->members().empty())))
      json.reset();
    return json;
  };
  return value;
}

std::string kind_in_words(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::mapping:
      return "a mapping";
    case YamlNode::Kind::scalar:
      return node.plain ? "'" + one_line(node.text, 40) + "'" : "text in quotes";
    case YamlNode::Kind::refused:
      break;
  }
  return "this";
}

}  // namespace sortie

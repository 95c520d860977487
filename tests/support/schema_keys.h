#pragma once

#include <set>
#include <string>

#include "core/json/json.h"

namespace sortie::test {

/// The keys of a JSON Schema that stand for a value: "model.fallback[].base_url", "vars.*.env".
inline void collect_keys(const Json& schema, const std::string& key, std::set<std::string>& keys) {
  bool has_more = false;
  for (const char* several : {"anyOf", "oneOf", "allOf"}) {
    const Json* forms = schema.find(several);
    for (std::size_t i = 0; forms && i < forms->items().size(); ++i) {
      const Json& form = forms->items()[i];
      if (form.find("type") || form.find("anyOf")) collect_keys(form, key, keys);
      has_more = has_more || form.find("type") || form.find("anyOf");
    }
  }
  const std::string prefix = key.empty() ? "" : key + ".";
  if (const Json* properties = schema.find("properties")) {
    for (const auto& [name, value] : properties->members())
      collect_keys(value, prefix + name, keys);
    has_more = true;
  }
  if (const Json* any = schema.find("additionalProperties"); any && any->is_object()) {
    collect_keys(*any, prefix + "*", keys);
    has_more = true;
  }
  if (const Json* items = schema.find("items")) {
    collect_keys(*items, key + "[]", keys);
    has_more = true;
  }
  if (!has_more) keys.insert(key);
}

/// Those of them that a document gives a value.
inline void collect_given(const Json& schema, const Json& value, const std::string& key,
                          std::set<std::string>& keys) {
  for (const Json& form : schema["anyOf"].items()) collect_given(form, value, key, keys);
  const std::string prefix = key.empty() ? "" : key + ".";
  for (const auto& [name, member] : value.members()) {
    const Json* known = schema["properties"].find(name);
    if (known)
      collect_given(*known, member, prefix + name, keys);
    else if (schema["additionalProperties"].is_object())
      collect_given(schema["additionalProperties"], member, prefix + "*", keys);
  }
  for (const Json& item : value.items()) collect_given(schema["items"], item, key + "[]", keys);
  if (!value.is_object() && !value.is_array()) keys.insert(key);
}

}  // namespace sortie::test

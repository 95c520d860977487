#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// A value in YAML flow style on one line; ambiguous texts are quoted.
std::string flow_yaml(const Json& value);

/// An object as lines of a YAML file, one for each key: `commands: [{allow: [cargo, test]}]`; "" for
/// null.
std::string flow_yaml_lines(const Json& lines);

/// Such objects as one: lists of the same key are joined, each entry once. A key that has anything
/// else in two of them keeps the first.
Json joined_lists(const std::vector<Json>& objects);

/// The names of the lists in such an object: "commands", "network.allow".
std::vector<std::string> names_of_lists(const Json& object);

}  // namespace sortie

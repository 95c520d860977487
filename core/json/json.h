#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/json/json_value.h"

namespace sortie {

/// What is wrong with a JSON text, and at which byte.
class JsonError : public std::runtime_error {
 public:
  JsonError(const std::string& what, std::size_t offset)
      : std::runtime_error(what), offset_(offset) {}
  std::size_t offset() const noexcept { return offset_; }

 private:
  std::size_t offset_;
};

/// Parses one JSON text: UTF-8 checked, nothing after it but white space, no duplicate names, a
/// million values at most.
/// @param max_depth  nesting beyond it is an error
/// @throws JsonError
Json parse_json(std::string_view text, std::size_t max_depth = 128);

/// As parse_json, but without the members of that name in objects which are members of the root:
/// their text is checked, and they are not kept. For large members that are known already.
Json parse_json_without(std::string_view text, std::string_view left_out);

/// Whether the text is one JSON value in UTF-8 and nothing else, without building it; nested to any
/// depth, and names may repeat.
bool is_json(std::string_view text);

/// Writes compact JSON: no white space, members in their order, non-ASCII as it is. Bytes that are
/// not UTF-8 become U+FFFD.
std::string write_json(const Json& value);
/// The same, appended.
void write_json(const Json& value, std::string& to);
/// The same, for values with megabytes of text: memory is allocated once.
std::string write_large_json(const Json& value);
/// The bytes that write_json() would write.
std::size_t written_size(const Json& value);
/// With two blanks of indentation, for people.
std::string write_json_pretty(const Json& value);
/// One string as a JSON string, with its quotes.
void write_json_string(std::string_view text, std::string& to);

}  // namespace sortie

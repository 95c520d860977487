#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/json/schema_finding.h"

namespace sortie {

/// A compiled JSON Schema: draft 2020-12 and draft 7, and the schemas of OpenAPI documents.
///
/// Keywords that say nothing about validity (title, default, format, x-…) are passed over. A
/// keyword that is not known here is refused, since a rule that is not checked would let wrong
/// values through. Patterns are RE2's: linear in time, without look-around.
class JsonSchema {
 public:
  /// @param root     the schema, or the document that holds it; references are "#/…" into it
  /// @param pointer  JSON pointer of the schema in the document: "/components/schemas/Response"
  /// @throws InputError  names the place: an unknown keyword, a reference that leads nowhere or
  ///                     only back to itself, a pattern that RE2 does not take
  explicit JsonSchema(const Json& root, std::string_view pointer = {});
  JsonSchema(JsonSchema&&) noexcept;
  JsonSchema& operator=(JsonSchema&&) noexcept;
  ~JsonSchema();

  /// Everything that does not fit, at most 20 findings; none when the value is valid. Work is
  /// bounded: where a schema's references to itself multiply it beyond that, that is the finding.
  std::vector<SchemaFinding> check(const Json& value) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace sortie

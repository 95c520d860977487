#pragma once

#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// Receives the parts of a JSON text in their order, without a tree being built. Each call returns
/// whether to go on. Views are valid until the call returns.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  /// An object or an array begins.
  virtual bool begin(Json::Type type) = 0;
  virtual bool end() = 0;
  /// The name of the member that comes next.
  virtual bool name(std::string_view text) = 0;
  /// @param text  a string, decoded; a number's spelling; "true" or "false"; "" for null
  virtual bool value(Json::Type type, std::string_view text) = 0;
};

/// Reads one JSON text for deltas by the hundred thousand, where parse_json() would cost too much.
/// UTF-8 is checked; duplicate names are for the visitor to notice.
/// @return  whether it is one JSON text, and the visitor read it to its end
bool visit_json(std::string_view text, JsonVisitor& visitor);

}  // namespace sortie

#pragma once

#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// Hears of the parts of a JSON text in their order, without a tree being built. Each answers
/// whether to go on. Views are good until the call returns.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  /// An object or an array begins.
  virtual bool begin(Json::Type type) = 0;
  virtual bool end() = 0;
  /// The name of the member that comes next.
  virtual bool name(std::string_view text) = 0;
  /// @param text  of a string, decoded; a number's spelling; "true" or "false"; "" for null
  virtual bool value(Json::Type type, std::string_view text) = 0;
};

/// Reads one JSON text for deltas by the hundred thousand, where parse_json() would cost too much.
/// UTF-8 is checked; names that stand twice are the visitor's to notice.
/// @return  whether it is one JSON text, and the visitor went along to its end
bool visit_json(std::string_view text, JsonVisitor& visitor);

}  // namespace sortie

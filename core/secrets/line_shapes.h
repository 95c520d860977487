#pragma once

#include <string>
#include <vector>

#include "core/text/pattern.h"

namespace sortie {

/// An expression that is looked for in single lines.
struct LineShape {
  std::string name;
  Pattern pattern;
  int group = 0;  ///< what is replaced of a match: 0 is the whole of it
};

/// Shapes that test data and programs have too, so that they are replaced only in what people read:
/// "password=…", "Authorization: Bearer …", JSON web tokens, "scheme://user:password@host".
const std::vector<LineShape>& loose_shapes();

}  // namespace sortie

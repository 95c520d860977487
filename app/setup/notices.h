#pragma once

#include <string>

namespace sortie {

/// Takes lines for the operator.
class Notices {
 public:
  virtual ~Notices() = default;
  virtual void say(const std::string& line) = 0;
  /// Shown also where quiet was asked for, and kept in result.json.
  virtual void warn(const std::string& line) = 0;
};

}  // namespace sortie

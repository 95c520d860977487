#pragma once

#include <string>
#include <vector>

namespace sortie {

/// Where a value does not fit its schema, and how.
struct SchemaFinding {
  std::string path;     ///< JSON pointer into the value (RFC 6901); "" is the whole value
  std::string message;  ///< "missing property 'command'"
  bool operator==(const SchemaFinding&) const = default;
};

/// One line: "/plan/0: missing property 'step'; …".
std::string describe(const std::vector<SchemaFinding>& findings);

}  // namespace sortie

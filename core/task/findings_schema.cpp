#include "core/task/findings_schema.h"

namespace sortie {

Json findings_schema() {
  return parse_json(R"({
    "type": "object",
    "properties": {
      "findings": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "file": {"type": "string", "description": "relative to the repository"},
            "line": {"type": "integer", "description": "in the new file, from 1"},
            "severity": {"type": "string", "enum": ["error", "warning", "note"]},
            "message": {"type": "string"},
            "suggestion": {"type": ["string", "null"]}
          },
          "required": ["file", "line", "severity", "message", "suggestion"],
          "additionalProperties": false
        }
      }
    },
    "required": ["findings"],
    "additionalProperties": false
  })");
}

}  // namespace sortie

#include "ci/result.h"

#include <string>
#include <string_view>

#include "core/base/exit_code.h"

namespace sortie {
namespace {

constexpr const char* kSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "result.json of a sortie run",
  "type": "object",
  "required": ["status", "version", "sortie", "run_id", "run_key"],
  "properties": {
    "status": {"enum": STATUS_WORDS},
    "version": {"const": 1},
    "sortie": {"type": "string"},
    "run_id": {"type": "string"},
    "run_key": {"type": "string"},
    "saves": {"type": "array", "items": {"type": "string"}}
  },
  "anyOf": [
    {"properties": {"status": {"const": "running"}}},
    {"$ref": "#/$defs/finished"}
  ],
  "$defs": {
    "finished": {
      "required": ["exit_code", "reason", "next", "retryable", "retry_after_s", "name", "started",
                   "model", "usage", "durations", "counts", "verified", "verification",
                   "stages", "changed_files", "added_lines", "removed_lines", "ignored_changes", "applies_to", "applied",
                   "applied_paths", "base", "head_commit",
                   "left_out", "conflicts", "kept",
                   "denials", "audited", "approval", "guarantees", "layers", "isolation",
                   "survivors_excluded", "digests", "artifacts", "attestation", "warnings"],
      "properties": {
        "exit_code": {"enum": EXIT_CODES},
        "reason": {"type": "string"},
        "next": {"type": ["string", "null"]},
        "retryable": {"type": "boolean"},
        "retry_after_s": {"type": ["integer", "null"], "minimum": 0},
        "name": {"type": "string"},
        "started": {"type": "string"},
        "model": {
          "type": "object",
          "required": ["requested", "served"],
          "properties": {
            "requested": {"type": "string"},
            "served": {"type": ["string", "null"]}
          }
        },
        "usage": {
          "type": "object",
          "required": ["total", "by_model", "cost_usd"],
          "properties": {
            "total": {"$ref": "#/$defs/tokens"},
            "by_model": {
              "type": "object",
              "additionalProperties": {"$ref": "#/$defs/model_tokens"}
            },
            "cost_usd": {"$ref": "#/$defs/cost"}
          }
        },
        "durations": {
          "type": "object",
          "required": ["total_ms", "model_ms", "tools_ms", "verification_ms", "own_ms"],
          "additionalProperties": {"$ref": "#/$defs/count"}
        },
        "counts": {
          "type": "object",
          "required": ["turns", "tool_calls", "denials", "audited", "retries", "connections",
                       "denied_connections"],
          "additionalProperties": {"$ref": "#/$defs/count"}
        },
        "verified": {"type": ["boolean", "null"]},
        "verification": {
          "type": "object",
          "required": ["before", "after", "rounds", "in", "diff", "restored", "changed"],
          "properties": {
            "before": {"$ref": "#/$defs/round"},
            "after": {"$ref": "#/$defs/round"},
            "rounds": {"$ref": "#/$defs/count"},
            "in": {"enum": ["fresh", "run", null]},
            "diff": {"type": ["string", "null"]},
            "restored": {"$ref": "#/$defs/strings"},
            "changed": {"$ref": "#/$defs/strings"}
          }
        },
        "stages": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["name", "turns", "ended"],
            "properties": {
              "name": {"type": "string"},
              "turns": {"$ref": "#/$defs/count"},
              "ended": {"enum": ["completed", "failed", "not-started"]}
            }
          }
        },
        "changed_files": {"$ref": "#/$defs/count"},
        "added_lines": {"$ref": "#/$defs/count"},
        "removed_lines": {"$ref": "#/$defs/count"},
        "ignored_changes": {"$ref": "#/$defs/strings"},
        "applies_to": {"$ref": "#/$defs/strings"},
        "applied": {"type": ["boolean", "null"]},
        "applied_paths": {"$ref": "#/$defs/strings"},
        "base": {"type": ["string", "null"]},
        "head_commit": {"type": ["string", "null"]},
        "submodules": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["path", "diff", "changed_files", "added_lines", "removed_lines",
                         "applies_to", "base", "head_commit"],
            "properties": {
              "path": {"type": "string"},
              "diff": {"type": "string"},
              "changed_files": {"$ref": "#/$defs/count"},
              "added_lines": {"$ref": "#/$defs/count"},
              "removed_lines": {"$ref": "#/$defs/count"},
              "applies_to": {"$ref": "#/$defs/strings"},
              "base": {"type": ["string", "null"]},
              "head_commit": {"type": ["string", "null"]}
            }
          }
        },
        "left_out": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["path", "reason", "detail"],
            "properties": {
              "path": {"type": "string"},
              "reason": {"enum": ["lfs", "submodule", "unreadable", "bad-name", "too-much",
                                  "too-large", "link-loop", "missing",
                                  "no-diff", "git-folder", "product"]},
              "detail": {"type": "string"}
            }
          }
        },
        "conflicts": {"$ref": "#/$defs/strings"},
        "cached": {"const": true, "description": "A later command with the same inputs returned this result; the run was not run again."},
        "kept": {"$ref": "#/$defs/digests"},
        "denials": {"$ref": "#/$defs/denials"},
        "audited": {"$ref": "#/$defs/denials"},
        "network_denials": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["host", "port", "reason", "count", "would_allow", "would_allow_yaml"],
            "properties": {
              "host": {"type": "string"},
              "port": {"$ref": "#/$defs/count"},
              "reason": {"type": "string"},
              "count": {"type": "integer", "minimum": 1},
              "would_allow": {"type": ["object", "null"]},
              "would_allow_yaml": {"type": ["string", "null"]}
            }
          }
        },
        "approval": {"type": "string"},
        "guarantees": {"type": "object"},
        "layers": {"type": "object"},
        "isolation": {
          "type": "object",
          "required": ["mode", "reason"],
          "properties": {"mode": {"type": "string"}, "reason": {"type": "string"}}
        },
        "survivors_excluded": {"type": "boolean"},
        "digests": {"$ref": "#/$defs/digests"},
        "artifacts": {"$ref": "#/$defs/digests"},
        "attestation": {"enum": ["attestation.json", null]},
        "warnings": {"$ref": "#/$defs/strings"},
        "best_of": {"$ref": "#/$defs/best_of"},
        "attempts": {"type": "array", "items": {"$ref": "#/$defs/attempt"}}
      }
    },
    "best_of": {
      "type": "object",
      "required": ["count", "parallel", "pick", "picked", "turns", "tool_calls", "tokens",
                   "cost_usd", "duration_ms"],
      "properties": {
        "count": {"type": "integer", "minimum": 2},
        "parallel": {"type": "integer", "minimum": 1},
        "pick": {"enum": ["first-passing", "smallest-diff"]},
        "picked": {"type": "integer", "minimum": 1},
        "turns": {"$ref": "#/$defs/count"},
        "tool_calls": {"$ref": "#/$defs/count"},
        "tokens": {"$ref": "#/$defs/count"},
        "cost_usd": {"$ref": "#/$defs/cost"},
        "duration_ms": {"$ref": "#/$defs/count"},
        "lost": {"$ref": "#/$defs/lost"}
      }
    },
    "lost": {
      "type": "object",
      "description": "What attempts used that were begun again, since their state was lost.",
      "required": ["turns", "tool_calls", "tokens", "cost_usd", "time_ms"],
      "properties": {
        "turns": {"$ref": "#/$defs/count"},
        "tool_calls": {"$ref": "#/$defs/count"},
        "tokens": {"$ref": "#/$defs/count"},
        "cost_usd": {"type": "number", "minimum": 0},
        "time_ms": {"$ref": "#/$defs/count"}
      }
    },
    "attempt": {
      "type": "object",
      "required": ["n", "status", "exit_code", "verified", "files", "lines", "turns",
                   "tool_calls", "tokens", "cost_usd", "duration_ms", "transcript", "picked",
                   "why"],
      "properties": {
        "n": {"type": "integer", "minimum": 1},
        "status": {"type": "string"},
        "exit_code": {"type": ["integer", "null"]},
        "verified": {"type": ["boolean", "null"]},
        "files": {"$ref": "#/$defs/count"},
        "lines": {"$ref": "#/$defs/count"},
        "turns": {"$ref": "#/$defs/count"},
        "tool_calls": {"$ref": "#/$defs/count"},
        "tokens": {"$ref": "#/$defs/count"},
        "cost_usd": {"$ref": "#/$defs/cost"},
        "duration_ms": {"$ref": "#/$defs/count"},
        "transcript": {"type": ["string", "null"]},
        "picked": {"type": "boolean"},
        "why": {"type": "string"}
      }
    },
    "count": {"type": "integer", "minimum": 0},
    "strings": {"type": "array", "items": {"type": "string"}},
    "digests": {"type": "object", "additionalProperties": {"type": "string"}},
    "denials": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["tool", "decision", "actions", "rule", "reason", "count", "would_allow",
                     "would_allow_yaml"],
        "properties": {
          "tool": {"type": "string"},
          "decision": {"enum": ["deny", "forbid"]},
          "actions": {"type": "array"},
          "rule": {"type": ["object", "null"]},
          "reason": {"type": "string"},
          "count": {"type": "integer", "minimum": 1},
          "would_allow": {"type": ["object", "null"]},
          "would_allow_yaml": {"type": ["string", "null"]},
          "part": {"type": "string"}
        }
      }
    },
    "tokens": {
      "type": "object",
      "required": ["input_tokens", "cached_input_tokens", "output_tokens",
                   "reasoning_output_tokens"],
      "additionalProperties": {"type": "integer"}
    },
    "model_tokens": {
      "type": "object",
      "required": ["input_tokens", "cached_input_tokens", "output_tokens",
                   "reasoning_output_tokens", "cost_usd"],
      "properties": {"cost_usd": {"$ref": "#/$defs/cost"}},
      "additionalProperties": {"type": "integer"}
    },
    "cost": {"type": ["number", "null"], "minimum": 0},
    "round": {
      "type": ["object", "null"],
      "required": ["passed", "commands"],
      "properties": {
        "passed": {"type": "boolean"},
        "commands": {
          "type": "array",
          "items": {
            "type": "object",
            "required": ["command", "ending", "exit_code", "passed", "duration_ms", "output"],
            "properties": {
              "command": {"type": "string"},
              "ending": {"type": "string"},
              "exit_code": {"type": "integer"},
              "passed": {"type": "boolean"},
              "duration_ms": {"$ref": "#/$defs/count"},
              "output": {"type": "string"},
              "compared": {"type": "string"}
            }
          }
        }
      }
    }
  }
})";

/// "nothing-to-do" is a success of its own.
Json status_words() {
  Json words = Json::array();
  std::string before = "running";
  words.push_back(before);
  for (const ExitCodeRow& row : exit_code_table()) {
    if (row.status == before) continue;
    before = row.status;
    words.push_back(before);
    if (row.code == ExitCode::success) words.push_back("nothing-to-do");
  }
  return words;
}

Json exit_codes() {
  Json codes = Json::array();
  for (const ExitCodeRow& row : exit_code_table()) codes.push_back(static_cast<int>(row.code));
  return codes;
}

/// @param name  a word that occurs once in the text
void put(std::string& text, std::string_view name, const Json& value) {
  text.replace(text.find(name), name.size(), write_json(value));
}

}  // namespace

Json result_schema() {
  std::string text = kSchema;
  put(text, "STATUS_WORDS", status_words());
  put(text, "EXIT_CODES", exit_codes());
  return parse_json(text);
}

}  // namespace sortie

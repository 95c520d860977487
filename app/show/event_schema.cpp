#include "app/show/events_jsonl.h"

namespace sortie {
namespace {

// Members that are not named here may be added: readers ignore what they do not know.
constexpr const char* kEventSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "A line of sortie's event stream",
  "type": "object",
  "required": ["type"],
  "oneOf": [
    {"$ref": "#/$defs/thread_started"},
    {"$ref": "#/$defs/turn_started"},
    {"$ref": "#/$defs/item_started"},
    {"$ref": "#/$defs/item_updated"},
    {"$ref": "#/$defs/item_completed"},
    {"$ref": "#/$defs/turn_completed"},
    {"$ref": "#/$defs/turn_failed"},
    {"$ref": "#/$defs/error"},
    {"$ref": "#/$defs/run_completed"}
  ],
  "$defs": {
    "thread_started": {
      "description": "The first line.",
      "properties": {
        "type": {"const": "thread.started"},
        "thread_id": {
          "type": "string",
          "description": "The run's id, a UUID of version 7.",
          "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
        }
      },
      "required": ["type", "thread_id"]
    },
    "turn_started": {
      "description": "The second line: a run is one turn, with its stages and rounds of verification.",
      "properties": {"type": {"const": "turn.started"}},
      "required": ["type"]
    },
    "item_started": {
      "description": "An item has started.",
      "properties": {
        "type": {"const": "item.started"},
        "item": {
          "oneOf": [
            {"$ref": "#/$defs/command_running"},
            {"$ref": "#/$defs/change_running"},
            {"$ref": "#/$defs/server_call_running"},
            {"$ref": "#/$defs/web_search"},
            {"$ref": "#/$defs/todo_list"}
          ]
        }
      },
      "required": ["type", "item"]
    },
    "item_updated": {
      "description": "Progress of an item that is still running.",
      "properties": {
        "type": {"const": "item.updated"},
        "item": {"oneOf": [{"$ref": "#/$defs/command_running"}, {"$ref": "#/$defs/todo_list"}]}
      },
      "required": ["type", "item"]
    },
    "item_completed": {
      "description": "An item is complete. No later line is about it.",
      "properties": {
        "type": {"const": "item.completed"},
        "progress": {"$ref": "#/$defs/progress"},
        "item": {
          "oneOf": [
            {"$ref": "#/$defs/agent_message"},
            {"$ref": "#/$defs/reasoning"},
            {"$ref": "#/$defs/command_completed"},
            {"$ref": "#/$defs/change_completed"},
            {"$ref": "#/$defs/server_call_completed"},
            {"$ref": "#/$defs/web_search"},
            {"$ref": "#/$defs/todo_list"},
            {"$ref": "#/$defs/warning"}
          ]
        }
      },
      "required": ["type", "item"]
    },
    "turn_completed": {
      "description": "The run has succeeded.",
      "properties": {"type": {"const": "turn.completed"}, "usage": {"$ref": "#/$defs/usage"}},
      "required": ["type", "usage"]
    },
    "turn_failed": {
      "description": "The run has not succeeded.",
      "properties": {
        "type": {"const": "turn.failed"},
        "error": {"$ref": "#/$defs/message"}
      },
      "required": ["type", "error"]
    },
    "error": {
      "description": "A request to the model failed and is sent again: Reconnecting... 1/5 (…).",
      "properties": {"type": {"const": "error"}, "message": {"type": "string"}},
      "required": ["type", "message"]
    },
    "run_completed": {
      "description": "The last line. Its members are those of the transcript's last record.",
      "properties": {
        "type": {"const": "run.completed"},
        "status": {"type": "string"},
        "exit_code": {"type": "integer", "minimum": 0, "maximum": 255},
        "reason": {"type": "string"},
        "next": {"type": ["string", "null"]},
        "retryable": {"type": "boolean"},
        "retry_after_s": {"type": ["integer", "null"], "minimum": 0},
        "usage": {"type": "object"},
        "durations": {"type": "object"},
        "counts": {"type": "object"},
        "artifacts": {
          "type": "object",
          "description": "Name in the output folder to digest.",
          "additionalProperties": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
        },
        "out": {"type": "string", "description": "The output folder."}
      },
      "required": ["type", "status", "exit_code", "reason", "next", "retryable", "retry_after_s",
                   "usage", "durations", "counts", "artifacts", "out"]
    },
    "progress": {
      "description": "How far the run has come.",
      "type": "object",
      "properties": {
        "turn": {"type": "integer", "minimum": 0, "description": "Requests to the model so far."},
        "input_tokens": {"type": "integer", "minimum": 0},
        "output_tokens": {"type": "integer", "minimum": 0},
        "changed_files": {
          "type": "integer",
          "minimum": 0,
          "description": "Files that calls have touched so far."
        },
        "patched_lines": {
          "type": "object",
          "description": "Lines of the patches that were applied; not those of commands.",
          "properties": {
            "added": {"type": "integer", "minimum": 0},
            "removed": {"type": "integer", "minimum": 0}
          },
          "required": ["added", "removed"]
        }
      },
      "required": ["turn", "input_tokens", "output_tokens", "changed_files", "patched_lines"]
    },
    "id": {
      "type": "string",
      "description": "Counted from item_0 in the order in which items begin.",
      "pattern": "^item_(0|[1-9][0-9]*)$"
    },
    "message": {
      "type": "object",
      "properties": {"message": {"type": "string"}},
      "required": ["message"]
    },
    "message_or_null": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/message"}]},
    "end_status": {"enum": ["completed", "failed", "declined"]},
    "reason": {
      "type": "string",
      "description": "Why a declined item was not run, else what ended it."
    },
    "agent_message": {
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "type": {"const": "agent_message"},
        "text": {"type": "string"}
      },
      "required": ["id", "type", "text"]
    },
    "reasoning": {
      "description": "The model's summary of what it thought.",
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "type": {"const": "reasoning"},
        "text": {"type": "string"}
      },
      "required": ["id", "type", "text"]
    },
    "command": {
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "type": {"const": "command_execution"},
        "command": {"type": "string", "description": "Its words, quoted as for a shell."},
        "aggregated_output": {
          "type": "string",
          "description": "stdout and stderr in the order they came; if it is over 1 MiB, its head and tail."
        },
        "verification": {
          "type": "object",
          "description": "When a command of the task's verification was run.",
          "properties": {
            "phase": {"enum": ["before", "after", "run_tests"]},
            "round": {"type": "integer", "minimum": 1}
          },
          "required": ["phase", "round"]
        },
        "reason": {"$ref": "#/$defs/reason"}
      },
      "required": ["id", "type", "command", "aggregated_output", "exit_code", "status"]
    },
    "command_running": {
      "allOf": [{"$ref": "#/$defs/command"}],
      "properties": {"exit_code": {"type": "null"}, "status": {"const": "in_progress"}}
    },
    "command_completed": {
      "allOf": [{"$ref": "#/$defs/command"}],
      "properties": {
        "exit_code": {
          "type": "integer",
          "minimum": -1,
          "maximum": 255,
          "description": "128 + n: ended by signal n; 124: at its time limit; -1: not started."
        },
        "status": {"$ref": "#/$defs/end_status"}
      }
    },
    "change": {
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "type": {"const": "file_change"},
        "changes": {
          "type": "array",
          "description": "As the patch has them; none where it is not valid.",
          "items": {
            "type": "object",
            "properties": {
              "path": {"type": "string"},
              "kind": {"enum": ["add", "update", "delete"]},
              "move_path": {"type": "string", "description": "Where an updated file goes."}
            },
            "required": ["path", "kind"]
          }
        },
        "reason": {"$ref": "#/$defs/reason"}
      },
      "required": ["id", "type", "changes", "status"]
    },
    "change_running": {
      "allOf": [{"$ref": "#/$defs/change"}],
      "properties": {"status": {"const": "in_progress"}}
    },
    "change_completed": {
      "allOf": [{"$ref": "#/$defs/change"}],
      "properties": {"status": {"$ref": "#/$defs/end_status"}}
    },
    "server_call": {
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "type": {"const": "mcp_tool_call"},
        "server": {"type": "string", "description": "sortie: a built-in tool."},
        "tool": {"type": "string"},
        "arguments": {"description": "As the model gave them; a string if they are not JSON."},
        "result": {
          "oneOf": [
            {"type": "null"},
            {
              "type": "object",
              "properties": {
                "content": {"type": "array"},
                "_meta": {"type": "object"},
                "structured_content": {}
              },
              "required": ["content", "structured_content"]
            }
          ]
        },
        "error": {"$ref": "#/$defs/message_or_null"},
        "reason": {"$ref": "#/$defs/reason"}
      },
      "required": ["id", "type", "server", "tool", "arguments", "result", "error", "status"]
    },
    "server_call_running": {
      "allOf": [{"$ref": "#/$defs/server_call"}],
      "properties": {
        "result": {"type": "null"},
        "error": {"type": "null"},
        "status": {"const": "in_progress"}
      }
    },
    "server_call_completed": {
      "allOf": [{"$ref": "#/$defs/server_call"}],
      "properties": {"status": {"$ref": "#/$defs/end_status"}}
    },
    "web_search": {
      "description": "Done by the model's provider.",
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "type": {"const": "web_search"},
        "query": {"type": "string"},
        "action": {"type": "object"}
      },
      "required": ["id", "type", "query", "action"]
    },
    "todo_list": {
      "description": "The agent's plan. It begins with the first one and ends with the turn.",
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "type": {"const": "todo_list"},
        "items": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "completed": {"type": "boolean"}},
            "required": ["text", "completed"]
          }
        }
      },
      "required": ["id", "type", "items"]
    },
    "warning": {
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "type": {"const": "error"},
        "message": {"type": "string"}
      },
      "required": ["id", "type", "message"]
    },
    "usage": {
      "type": "object",
      "description": "Tokens of the whole run, as the provider counts them.",
      "properties": {
        "input_tokens": {"type": "integer", "minimum": 0},
        "cached_input_tokens": {"type": "integer", "minimum": 0},
        "cache_write_input_tokens": {"type": "integer", "minimum": 0},
        "output_tokens": {"type": "integer", "minimum": 0},
        "reasoning_output_tokens": {"type": "integer", "minimum": 0}
      },
      "required": ["input_tokens", "cached_input_tokens", "cache_write_input_tokens",
                   "output_tokens", "reasoning_output_tokens"]
    }
  }
})";

}  // namespace

Json event_schema() { return parse_json(kEventSchema); }

}  // namespace sortie

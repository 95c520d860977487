#include "core/record/schema.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace sortie {
namespace {

// One row a record type; each member is NAME or NAME? (may be absent) and the name of its type
// below. More members than these are let through: readers ignore what they do not know.
struct MemberRow {
  const char* name;
  const char* type;
};
struct RecordRow {
  const char* type;
  std::initializer_list<MemberRow> members;
};

const RecordRow kRecords[] = {
    {"run.started",
     {{"version", "count"},
      {"run_id", "text"},
      {"run_key", "text"},
      {"sortie", "text"},
      {"task", "source"},
      {"policy", "source"},
      {"workspace", "object"},
      {"model", "object"},
      {"sandbox", "object"},
      {"budget", "object"},
      {"resumed_from", "text_or_null"},
      {"warnings?", "list"}}},
    {"turn.started",
     {{"items", "count"}, {"estimated_tokens", "count"}, {"budget_left", "object"}}},
    {"model.request",
     {{"provider", "text"},
      {"wire", "text"},
      {"attempt", "count"},
      {"bytes", "count"},
      {"sha256", "text"},
      {"prefix_bytes", "count"},
      {"first_new_item", "count"},
      {"items", "list"}}},
    {"model.cut_off",
     {{"attempt", "count"}, {"model", "text"}, {"tokens", "tokens_or_null"}, {"cost_usd", "any"}}},
    {"model.retry",
     {{"attempt", "count"},
      {"failure", "failure"},
      {"delay_ms", "count"},
      {"retry_after_ms", "count_or_null"}}},
    {"model.fallback",
     {{"from", "text"}, {"to", "text"}, {"reason", "text"}, {"dropped_items", "count"}}},
    {"model.response",
     {{"id", "text"},
      {"served_model", "text"},
      {"model?", "text"},
      {"source?", "count"},
      {"items", "list"},
      {"output?", "list"},
      {"usage", "any"},
      {"tokens", "tokens_or_null"},
      {"tokens_estimated?", "boolean"},
      {"cost_usd", "any"},
      {"incomplete", "boolean"},
      {"stop_reason", "text"},
      {"repeated?", "text"},
      {"aside?", "boolean"},
      {"first_event_ms", "count"},
      {"duration_ms", "count"}}},
    {"check.hit",
     {{"check", "text"}, {"saw", "text"}, {"sent", "text_or_null"}, {"calls?", "list"}}},
    {"approval",
     {{"call_id", "text"},
      {"tool", "text"},
      {"actions", "list"},
      {"decision", "decision"},
      {"rule?", "rule"},
      {"part?", "text"},
      {"reason?", "text"},
      {"instead?", "text"},
      {"audited?", "boolean"},
      {"strict?", "decision"},
      {"approver?", "approver"},
      {"would_allow?", "object"},
      {"would_allow_yaml?", "text"},
      {"escalation?", "object"},
      {"audit_flags", "list"}}},
    {"tool.call",
     {{"call_id", "text"},
      {"tool", "text"},
      {"form", "form"},
      {"arguments", "text"},
      {"origin?", "origin"}}},
    {"tool.output",
     {{"call_id", "text"},
      {"tool", "text"},
      {"success", "boolean"},
      {"status", "call_status"},
      {"reason?", "text"},
      {"exit", "exit_or_null"},
      {"duration_ms", "count"},
      {"output", "text"},
      {"shown?", "text"},
      {"dropped_bytes", "count"},
      {"changed_files", "list"},
      {"verdict", "text_or_null"},
      {"details?", "object"},
      {"cut?", "boolean"}}},
    {"plan.updated", {{"explanation", "text"}, {"steps", "list"}}},
    {"file.changed",
     {{"path", "text"},
      {"kind", "change"},
      {"mode", "mode"},
      {"sha256_before", "text_or_null"},
      {"sha256_after", "text_or_null"},
      {"moved_from?", "text"}}},
    {"network.connection",
     {{"id", "count"},
      {"state", "connection_state"},
      {"allowed", "boolean"},
      {"host", "text"},
      {"port", "count"},
      {"method", "text"},
      {"address", "text_or_null"},
      {"rule", "text_or_null"},
      {"reason", "text_or_null"},
      {"sent_bytes", "count"},
      {"received_bytes", "count"},
      {"duration_ms", "count"}}},
    {"mcp.server",
     {{"server", "text"},
      {"state", "server_state"},
      {"detail", "text_or_null"},
      {"protocol_version", "text_or_null"},
      {"identity", "text_or_null"},
      {"tools", "list_or_null"},
      {"pin", "text_or_null"}}},
    {"mcp.message", {{"server", "text"}, {"kind", "server_words"}, {"text", "text"}}},
    {"verification.started",
     {{"phase", "phase"}, {"round", "count"}, {"command", "text"}, {"argv", "list"}}},
    {"verification.completed",
     {{"phase", "phase"},
      {"round", "count"},
      {"command", "text"},
      {"argv", "list"},
      {"exit", "exit"},
      {"output", "text"},
      {"shown?", "text"},
      {"dropped_bytes", "count"},
      {"passed", "boolean"},
      {"cut?", "boolean"}}},
    {"stage.started",
     {{"name", "text"}, {"prompt", "text_or_null"}, {"tools", "list"}, {"sandbox", "text"}}},
    {"stage.completed", {{"name", "text"}, {"reason", "text_or_null"}, {"turns", "count"}}},
    {"context.compacted",
     {{"cause", "text"},
      {"method", "compaction"},
      {"turns_before", "count"},
      {"turns_after", "count"},
      {"tokens_before", "count"},
      {"tokens_after", "count"},
      {"summary", "text_or_null"},
      {"reason?", "text"}}},
    {"budget.exhausted", {{"which", "budget"}, {"limit", "count"}, {"used", "count"}}},
    {"run.completed",
     {{"status", "text"},
      {"exit_code", "count"},
      {"reason", "text"},
      {"retryable", "boolean"},
      {"usage", "object"},
      {"durations", "object"},
      {"counts", "object"},
      {"artifacts", "object"},
      {"result?", "object"}}},
};

// Where a string, list or object may stand, a blob may stand in for it.
constexpr const char* kTypes = R"({
  "any": true,
  "boolean": {"type": "boolean"},
  "count": {"type": "integer", "minimum": 0},
  "count_or_null": {"type": ["integer", "null"], "minimum": 0},
  "blob": {
    "type": "object",
    "required": ["blob", "bytes", "head"],
    "properties": {
      "blob": {"type": "string", "pattern": "^sha256-[0-9a-f]{64}$"},
      "bytes": {"type": "integer", "minimum": 0},
      "head": {"type": "string"},
      "json": {"type": "boolean"}
    }
  },
  "text": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/blob"}]},
  "text_or_null": {"anyOf": [{"type": ["string", "null"]}, {"$ref": "#/$defs/blob"}]},
  "list": {"anyOf": [{"type": "array"}, {"$ref": "#/$defs/blob"}]},
  "object": {"type": "object"},
  "origin": {
    "type": "object",
    "required": ["server", "tool"],
    "properties": {"server": {"type": "string"}, "tool": {"type": "string"}}
  },
  "list_or_null": {"anyOf": [{"type": ["array", "null"]}, {"$ref": "#/$defs/blob"}]},
  "server_state": {
    "enum": ["started", "failed", "died", "restarted", "tools_changed", "ended"]
  },
  "server_words": {"enum": ["stderr", "log", "bad_message", "warning"]},
  "connection_state": {"enum": ["denied", "opened", "closed"]},
  "source": {
    "type": "object",
    "required": ["digest", "path", "text"],
    "properties": {
      "digest": {"type": "string"},
      "path": {"type": "string"},
      "text": {"$ref": "#/$defs/text"}
    }
  },
  "failure": {
    "type": "object",
    "required": ["status", "kind", "message"],
    "properties": {
      "status": {"type": "integer", "minimum": 0},
      "kind": {"type": "string"},
      "message": {"$ref": "#/$defs/text"}
    }
  },
  "tokens_or_null": {
    "type": ["object", "null"],
    "required": ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"],
    "properties": {
      "input_tokens": {"type": "integer"},
      "cached_input_tokens": {"type": "integer"},
      "output_tokens": {"type": "integer"},
      "reasoning_output_tokens": {"type": "integer"},
      "cache_write_input_tokens": {"type": "integer"}
    }
  },
  "decision": {"enum": ["allow", "deny", "forbid"]},
  "approver": {
    "type": "object",
    "required": ["decision"],
    "properties": {
      "decision": {"enum": ["allow", "deny", "always", "abort"]},
      "reason": {"$ref": "#/$defs/text"},
      "failure": {"$ref": "#/$defs/text"},
      "duration_ms": {"type": "integer", "minimum": 0},
      "remembered": {"type": "boolean"}
    }
  },
  "call_status": {"enum": ["completed", "failed", "declined"]},
  "rule": {
    "type": "object",
    "required": ["file", "line", "text"],
    "properties": {
      "file": {"type": "string"},
      "line": {"type": "integer", "minimum": 1},
      "text": {"$ref": "#/$defs/text"}
    }
  },
  "exit": {
    "type": "object",
    "required": ["ending", "code", "duration_ms"],
    "properties": {
      "ending": {
        "enum": ["exited", "signalled", "timed_out", "output_limit", "memory_limit",
                 "process_limit", "disk_limit", "cancelled", "not_started"]
      },
      "code": {"type": "integer"},
      "duration_ms": {"type": "integer", "minimum": 0},
      "detail": {"type": "string"},
      "ended_background": {"type": "boolean"}
    }
  },
  "exit_or_null": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/exit"}]},
  "form": {"enum": ["function", "custom", "local_shell", "web_search"]},
  "compaction": {"enum": ["summary", "cut"]},
  "change": {"enum": ["add", "delete", "update", "move"]},
  "mode": {"type": "string", "pattern": "^[0-7]{4}$"},
  "phase": {"enum": ["before", "after", "run_tests"]},
  "budget": {"enum": ["turns", "stage_turns", "tool_calls", "tokens", "time", "cost"]}
})";

Json reference(const std::string& name) { return Json::object({{"$ref", "#/$defs/" + name}}); }

Json data_schema(const RecordRow& record) {
  Json required = Json::array();
  Json properties = Json::object();
  for (const MemberRow& member : record.members) {
    std::string name = member.name;
    if (name.ends_with('?'))
      name.pop_back();
    else
      required.push_back(name);
    properties.set(name, reference(member.type));
  }
  return Json::object({{"type", "object"},
                       {"required", std::move(required)},
                       {"properties", std::move(properties)}});
}

/// A record of this type.
Json record_schema(const RecordRow& record) {
  return Json::object(
      {{"properties", Json::object({{"type", Json::object({{"const", record.type}})},
                                    {"data", data_schema(record)}})}});
}

/// A record of a type that is not known here.
Json other_schema() {
  Json known = Json::array();
  for (const RecordRow& record : kRecords) known.push_back(record.type);
  Json type = Json::object({{"not", Json::object({{"enum", std::move(known)}})}});
  return Json::object({{"properties", Json::object({{"type", std::move(type)}})}});
}

}  // namespace

Json transcript_schema() {
  Json kinds = Json::array();
  for (const RecordRow& record : kRecords) kinds.push_back(record_schema(record));
  kinds.push_back(other_schema());
  return Json::object({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "A record of a sortie transcript"},
                       {"type", "object"},
                       {"required", Json::array({"seq", "ts", "type", "turn", "prev", "data"})},
                       {"properties", parse_json(R"({
          "seq": {"type": "integer", "minimum": 0},
          "ts": {"type": "string",
                 "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"},
          "type": {"type": "string", "pattern": "^[a-z._]+$"},
          "turn": {"type": "integer", "minimum": 0},
          "prev": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
          "data": {"type": "object"}
        })")},
                       {"anyOf", std::move(kinds)},
                       {"$defs", parse_json(kTypes)}});
}

}  // namespace sortie

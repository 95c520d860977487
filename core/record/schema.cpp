
#include <string>
#include <utility>

#include "core/record/event_codec.h"

namespace sortie {
namespace {

// A blob can replace any string or list.
constexpr const char* kTypes = R"({
  "any": true,
  "boolean": {"type": "boolean"},
  "integer": {"type": "integer"},
  "count": {"type": "integer", "minimum": 0},
  "count_or_null": {"type": ["integer", "null"], "minimum": 0},
  "line": {"type": "integer", "minimum": 1},
  "string": {"type": "string"},
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
  "list_or_null": {"anyOf": [{"type": ["array", "null"]}, {"$ref": "#/$defs/blob"}]},
  "object": {"type": "object"},
  "failure": {
    "type": "object",
    "required": ["status", "kind", "message"],
    "properties": {
      "status": {"type": "integer", "minimum": 0},
      "kind": {"type": "string"},
      "message": {"$ref": "#/$defs/text"}
    }
  },
  "tokens_or_null": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/tokens"}]},
  "exit_or_null": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/exit"}]},

  "server_words": {"enum": ["stderr", "log", "bad_message", "warning"]},

  "call_status": {"enum": ["completed", "failed", "declined"]},
  "mode": {"type": "string", "pattern": "^[0-7]{4}$"}
})";

Json reference(const std::string& name) { return Json::object({{"$ref", "#/$defs/" + name}}); }

Json object_schema(const RecordRow& row) {
  Json required = Json::array();
  Json properties = Json::object();
  for (const MemberRow& member : row.members) {
    if (member.required) required.push_back(member.name);
    properties.set(member.name, reference(member.type));
  }
  return Json::object({{"type", "object"},
                       {"required", std::move(required)},
                       {"properties", std::move(properties)}});
}

/// The $defs that members refer to.
Json types() {
  Json types = parse_json(kTypes);
  for (const RecordRow& row : object_rows()) types.set(row.type, object_schema(row));
  for (const WordsRow& row : words_rows()) {
    Json words = Json::array();
    for (const std::string& word : row.words) words.push_back(word);
    types.set(row.type, Json::object({{"enum", std::move(words)}}));
  }
  return types;
}

/// A record of this type.
Json record_schema(const RecordRow& record) {
  return Json::object(
      {{"properties", Json::object({{"type", Json::object({{"const", record.type}})},
                                    {"data", object_schema(record)}})}});
}

/// A record of an unknown type.
Json other_schema() {
  Json known = Json::array();
  for (const RecordRow& record : record_rows()) known.push_back(record.type);
  Json type = Json::object({{"not", Json::object({{"enum", std::move(known)}})}});
  return Json::object({{"properties", Json::object({{"type", std::move(type)}})}});
}

}  // namespace

Json transcript_schema() {
  Json kinds = Json::array();
  for (const RecordRow& record : record_rows()) kinds.push_back(record_schema(record));
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
                       {"$defs", types()}});
}

std::string transcript_table() {
  std::string table = "| type | members of data |\n|---|---|\n";
  for (const RecordRow& row : record_rows()) {
    table += std::string("| `") + row.type + "`" + (row.synced ? " ●" : "") + " | ";
    for (const MemberRow& member : row.members) {
      const std::string doc = member.doc;
      const bool joined = doc.empty() || doc[0] == ',' || doc[0] == ':';
      table += std::string("`") + member.name + "`" + (joined ? "" : " ") + doc;
      if (&member != &row.members.back()) table += doc == "and" ? " " : ", ";
    }
    table += std::string(row.note) + " |\n";
  }
  return table;
}

}  // namespace sortie

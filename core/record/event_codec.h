#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/record/events.h"

namespace sortie {

/// An event as JSON, for the transcript.
struct Record {
  std::string type;  ///< "tool.output"
  int turn = 0;
  Json data;                           ///< object
  std::optional<SavedOutput> whole{};  ///< recorded in place of data's `output`
};

Record to_record(const RunEvent& event);

/// The event of a record. Never fails: a member that the record lacks, or that is of another kind,
/// keeps the struct's default.
/// @return  nothing for an unknown type
std::optional<RunEvent> read_event(std::string_view type, int turn, Json data);

/// A member of a record, or of an object in one.
struct MemberRow {
  const char* name;
  const char* type;  ///< one of the $defs of the schema
  const char* doc;
  bool required;
};
struct RecordRow {
  const char* type;
  bool synced;       ///< written to disk at once: its effect is visible outside, or can't be undone
  const char* note;  ///< follows the members in docs/formats.md
  std::vector<MemberRow> members;
};
/// All types, in the order of their structs.
const std::vector<RecordRow>& record_rows();
/// The objects in records, by the name in $defs.
const std::vector<RecordRow>& object_rows();
/// The words of enumerations, by the name in $defs.
struct WordsRow {
  const char* type;
  std::vector<std::string> words;
};
const std::vector<WordsRow>& words_rows();

bool is_synced(std::string_view type);

/// JSON Schema (draft 2020-12) of one transcript record, of any type. It accepts unknown types and
/// members, since readers ignore them.
Json transcript_schema();

/// The table of docs/formats.md: each type, its members and their meanings.
std::string transcript_table();

}  // namespace sortie

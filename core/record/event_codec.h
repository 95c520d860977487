#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/record/events.h"

namespace sortie {

/// An event as the transcript has it.
struct Record {
  std::string type;  ///< "tool.output"
  int turn = 0;
  Json data;  ///< object
  /// What is to stand for data's `output`.
  std::optional<SavedOutput> whole{};
};

Record to_record(const RunEvent& event);

/// The event of a record, as it was read or redacted. It never fails: a member that the record
/// lacks, or that is of another kind there, is what the struct begins with.
/// @return  nothing for a type that is not known
std::optional<RunEvent> read_event(std::string_view type, int turn, const Json& data);

/// A member of a type of records, or of an object in them.
struct MemberRow {
  const char* name;
  const char* type;  ///< one of the $defs of the schema
  const char* doc;
  bool required;
};
struct RecordRow {
  const char* type;
  bool synced;  ///< is on disk before what follows it: it can be seen outside, or not be undone
  const char* note;  ///< follows the members in docs/formats.md
  std::vector<MemberRow> members;
};
/// All types, in the order of their structs.
const std::vector<RecordRow>& record_rows();
/// What objects in records hold, by the name in $defs.
const std::vector<RecordRow>& object_rows();
/// The words of enums, by the name in $defs.
struct WordsRow {
  const char* type;
  std::vector<std::string> words;
};
const std::vector<WordsRow>& words_rows();

bool is_synced(std::string_view type);

/// JSON Schema (draft 2020-12) of one transcript record, of any type. Unknown types and members
/// are let through: readers ignore them.
Json transcript_schema();

/// The table of docs/formats.md: each type with its members and what they mean.
std::string transcript_table();

}  // namespace sortie

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json/json.h"
#include "core/record/transcript.h"

namespace sortie {

/// A line of a transcript, as far as it can be judged without those before it.
struct RecordLine {
  Envelope envelope{};         ///< views of the line
  std::string sha256{};        ///< of the line
  std::string problem{};       ///< why it is no record; "": it is one
  std::optional<Json> data{};  ///< where it was asked for, and can be read
  /// Why data that is JSON can't be read: names repeat, or it is too large. No matter for the chain.
  std::string unreadable{};
  bool has_blob = false;  ///< it has the text by which records name blobs
};

enum class RecordData { checked, read };

/// @param line  without its newline; outlives the result
RecordLine read_record_line(std::string_view line, RecordData data);

/// The data of a record. @return  nothing: `unreadable` is set
std::optional<Json> read_data(const Envelope& envelope, std::string& unreadable);

}  // namespace sortie

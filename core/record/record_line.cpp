#include "core/record/record_line.h"

#include <cstring>

#include "core/base/hash.h"
#include "core/record/transcript_lines.h"

namespace sortie {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

}  // namespace

std::optional<Json> read_data(const Envelope& envelope, std::string& unreadable) {
  try {
    return parse_json(envelope.data);
  } catch (const JsonError& error) {
    unreadable = error.what();
    return std::nullopt;
  }
}

RecordLine read_record_line(std::string_view line, RecordData data) {
  RecordLine read;
  if (line.size() > kLongestLine) {
    read.problem = kRecordTooLong;
    return read;
  }
  if (const std::string wrong = split_envelope(line, read.envelope); !wrong.empty()) {
    read.problem = "not a valid record: " + wrong;
    return read;
  }
  if (data == RecordData::read) read.data = read_data(read.envelope, read.unreadable);
  if (!read.data && !is_json(read.envelope.data)) {
    read.problem = "not a valid record: data is not valid JSON";
    return read;
  }
  read.has_blob = contains(read.envelope.data, "\"blob\":\"sha256-");
  read.sha256 = sha256_hex(line);
  return read;
}

}  // namespace sortie

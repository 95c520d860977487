#include "ci/start_check.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/hash.h"
#include "core/record/event_codec.h"
#include "core/record/transcript_reader.h"

namespace sortie {
namespace {

constexpr const char* kType = "workspace.state";

}  // namespace

std::optional<StartChanges> read_start_changes(const std::filesystem::path& transcript) {
  std::optional<StartChanges> found;
  each_record_line(transcript, [&](std::string_view line) {
    if (line.find(kType) == line.npos) return true;
    const TranscriptRecord record = parse_record(line);
    if (record.type != kType) return true;
    const auto event = event_with_blobs(record, transcript);
    found = std::get<StartChanges>(event.what);
    return false;
  });
  return found;
}

std::string start_changes_mismatch(const std::filesystem::path& transcript) {
  const auto start = read_start_changes(transcript);
  if (!start || start->digest.empty() || start->more) return "";
  if ("sha256:" + sha256_hex(start->list) != start->digest)
    return std::string(kType) + ": the digest is not that of its list";
  const auto lines = std::count(start->list.begin(), start->list.end(), '\n');
  return static_cast<std::uint64_t>(lines) == start->changes
             ? ""
             : std::string(kType) + ": its list has another number of changes than it says";
}

}  // namespace sortie

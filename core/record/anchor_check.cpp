#include "core/record/anchor_check.h"

#include <cstdint>
#include <map>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostAnchorBytes = 256u << 20;

/// A line of an anchor file.
struct AnchorLine {
  std::size_t number = 0;  ///< from 1
  std::string sha256;
};

/// The lines of one run, by their seq.
std::multimap<std::uint64_t, AnchorLine> lines_of(const fs::path& anchor,
                                                  const std::string& run_id) {
  const TextFile file = read_bytes_file(anchor, kMostAnchorBytes);
  if (!file.problem.empty()) throw Error(path_text(anchor) + ": " + file.problem, ExitCode::usage);
  std::multimap<std::uint64_t, AnchorLine> lines;
  std::string_view rest = file.text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) break;  // the run was killed while it wrote
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    Json line;
    try {
      line = parse_json(text);
    } catch (const JsonError&) {
    }
    if (line.integer_at("anchor") != 1)
      throw Error(path_text(anchor) + ":" + std::to_string(number) + ": not an anchor line",
                  ExitCode::usage);
    const auto seq = line["seq"].integer();
    if (line.string_at("run_id") == run_id && seq && *seq >= 0)
      lines.emplace(static_cast<std::uint64_t>(*seq), AnchorLine{number, line.string_at("sha256")});
  }
  return lines;
}

}  // namespace

AnchorCheck check_anchor(const fs::path& anchor, const fs::path& transcript) {
  const std::string name = path_text(anchor);
  const auto line_of = [&name](const AnchorLine& line) {
    return name + ":" + std::to_string(line.number) + ": ";
  };
  std::string run_id;
  std::multimap<std::uint64_t, AnchorLine> lines;
  std::string last;
  AnchorCheck check;
  std::string& mismatch = check.mismatch;
  each_record_line(transcript, [&](std::string_view text) {
    last = text;
    if (check.records == 0) {
      run_id = parse_record(text).data.string_at("run_id");
      lines = lines_of(anchor, run_id);
    }
    const auto [first, end] = lines.equal_range(check.records);
    for (auto line = first; line != end && mismatch.empty(); ++line)
      if (line->second.sha256 != sha256_hex(text))
        mismatch = line_of(line->second) + "record " + std::to_string(check.records) +
                   " of the run was another one when it was anchored";
    ++check.records;
    return mismatch.empty();
  });
  if (!mismatch.empty()) return check;
  if (lines.empty()) {
    mismatch = name + ": has no line of run '" + one_line(run_id, 100) +
               "': the run was not anchored there, or its record was made anew";
    return check;
  }
  const auto& [seq, line] = *lines.rbegin();
  check.known = seq + 1;
  if (check.known > check.records)
    mismatch =
        line_of(line) + "record " + std::to_string(seq) + " is missing: the transcript was cut";
  else if (check.known < check.records && parse_record(last).type == "run.completed")
    mismatch = line_of(line) + "is of record " + std::to_string(seq) +
               ", and the run's end, record " + std::to_string(check.records - 1) +
               ", was not anchored: what follows may have been made anew";
  return check;
}

}  // namespace sortie

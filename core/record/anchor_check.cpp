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

std::string anchor_mismatch(const fs::path& anchor, const fs::path& transcript) {
  const std::string name = path_text(anchor);
  std::string run_id;
  std::multimap<std::uint64_t, AnchorLine> lines;
  std::string mismatch;
  std::uint64_t records = 0;
  each_record_line(transcript, [&](std::string_view text) {
    if (records == 0) {
      run_id = parse_record(text).data.string_at("run_id");
      lines = lines_of(anchor, run_id);
    }
    const auto [first, last] = lines.equal_range(records);
    for (auto line = first; line != last && mismatch.empty(); ++line)
      if (line->second.sha256 != sha256_hex(text))
        mismatch = name + ":" + std::to_string(line->second.number) + ": record " +
                   std::to_string(records) + " of the run was another one when it was anchored";
    ++records;
    return mismatch.empty();
  });
  if (!mismatch.empty()) return mismatch;
  if (lines.empty())
    return name + ": has no line of run '" + one_line(run_id, 100) +
           "': the run was not anchored there, or its record was made anew";
  if (lines.rbegin()->first >= records)
    return name + ":" + std::to_string(lines.rbegin()->second.number) + ": record " +
           std::to_string(lines.rbegin()->first) + " is missing: the transcript was cut";
  return "";
}

}  // namespace sortie

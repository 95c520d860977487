#include "tests/support/transcript_check.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"
#include "tests/support/program.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

/// Larger ones are made to be large, of records like any others.
constexpr std::uintmax_t kMostChecked = 8u << 20;

const JsonSchema& record_schema() {
  static const JsonSchema schema(
      parse_json(run_program({.argv = {sortie_binary(), "schema", "transcript"}}).output));
  return schema;
}

void check_transcript(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) return;
  if (fs::file_size(file, error) > kMostChecked || error) return;
  const std::string text = read_file(file);
  if (!verify_transcript(text).ok) return;
  for (const auto line : split_lines(text)) {
    Json record;
    try {
      record = parse_json(line);
    } catch (const JsonError&) {  // the last one, torn by a kill
      continue;
    }
    const std::string findings = describe(record_schema().check(record));
    BOOST_TEST(findings == "", findings << " in " << utf8_prefix(line, 2000));
  }
}

}  // namespace

void check_transcripts(const fs::path& folder) try {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() || entry.is_symlink()) continue;
    check_transcript(entry.path() / kTranscriptName);
    for (const auto& below : fs::directory_iterator(entry.path()))
      if (below.path().filename().string().starts_with("attempt-") && below.is_directory())
        check_transcript(below.path() / kTranscriptName);
  }
} catch (const fs::filesystem_error&) {  // a folder that the test made unreadable
}

}  // namespace sortie::test

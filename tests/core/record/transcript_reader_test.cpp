#include "core/record/transcript_reader.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include <functional>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/record/event_codec.h"
#include "core/record/transcript.h"
#include "core/text/text.h"
#include "tests/core/record/sample_run.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

using Lines = std::vector<std::string>;

Lines sample_lines() {
  TemporaryFolder folder;
  record_sample_run(folder.path());
  const std::string text = read_file(folder / kTranscriptName);
  Lines lines;
  for (const auto line : split_lines(text)) lines.emplace_back(line);
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

/// An event with its time, to compare with.
std::string shown(const RunEvent& event, std::string_view timestamp) {
  const Record record = to_record(event);
  return std::string(timestamp) + " " + record.type + " " + std::to_string(record.turn) + " " +
         write_json(record.data);
}

/// What verify_events() makes of a text, and what each line by itself says.
struct Passed {
  VerifyResult result;
  Lines events{};
  Lines lines{};
};
Passed passed_on(const std::string& text) {
  TemporaryFolder folder;
  record_sample_run(folder.path());  // for the blobs
  write_file(folder / kTranscriptName, text);
  Passed passed;
  passed.result = verify_events(folder / kTranscriptName,
                                [&](const RunEvent& event, std::string_view timestamp) {
                                  passed.events.push_back(shown(event, timestamp));
                                });
  if (!passed.result.ok) return passed;
  read_transcript(folder / kTranscriptName, [&](const TranscriptRecord& record) {
    passed.lines.push_back(
        shown(event_with_blobs(record, folder / kTranscriptName), record.timestamp));
  });
  return passed;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transcript_reader)

BOOST_AUTO_TEST_CASE(the_first_record_that_does_not_fit_is_named) {
  const struct {
    const char* name;
    std::function<void(Lines&)> change;
    std::string problem;
  } rows[] = {
      {"edited", [](Lines& lines) { lines[4].replace(lines[4].find("cut"), 3, "CUT"); },
       "transcript.jsonl:6: prev is "},
      {"swapped", [](Lines& lines) { std::swap(lines[3], lines[4]); },
       "transcript.jsonl:4: seq is 4 instead of 3"},
      {"left out", [](Lines& lines) { lines.erase(lines.begin() + 7); },
       "transcript.jsonl:8: seq is 8 instead of 7"},
      {"doubled", [](Lines& lines) { lines.insert(lines.begin() + 2, lines[1]); },
       "transcript.jsonl:3: seq is 1 instead of 2"},
      {"beginning cut off", [](Lines& lines) { lines.erase(lines.begin()); },
       "transcript.jsonl:1: seq is 1 instead of 0"},
      {"not a record", [](Lines& lines) { lines[2] = "{}"; },
       "transcript.jsonl:3: not a valid record: no sequence number"},
      {"empty line", [](Lines& lines) { lines[2] = ""; }, "transcript.jsonl:3: not a valid record"},
      {"data no JSON", [](Lines& lines) { lines[5].insert(lines[5].size() - 2, ","); },
       "transcript.jsonl:6: not a valid record: data is not valid JSON"},
      {"another first prev", [](Lines& lines) { lines[0].replace(lines[0].find("0000"), 1, "1"); },
       "transcript.jsonl:1: prev is 100000000000… instead of 64 zeros"},
      {"all gone", [](Lines& lines) { lines.clear(); }, "transcript.jsonl: holds no whole record"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Lines lines = sample_lines();
      row.change(lines);

      const VerifyResult result = verify_transcript(joined(lines));

      BOOST_TEST(!result.ok);
      BOOST_TEST(has(result.problem, row.problem), result.problem);
      const Passed passed = passed_on(joined(lines));
      BOOST_TEST(passed.result.problem == result.problem);
      BOOST_TEST(passed.result.records == result.records);
      BOOST_TEST(passed.events.size() == result.records);
    }
  }
}

BOOST_AUTO_TEST_CASE(events_are_passed_on_as_their_records_are_checked) {
  const Lines lines = sample_lines();

  const Passed passed = passed_on(joined(lines) + "{\"seq\":");

  const VerifyResult whole = verify_transcript(joined(lines));
  BOOST_TEST(passed.result.ok, passed.result.problem);
  BOOST_TEST(passed.result.last_digest == whole.last_digest);
  BOOST_TEST(passed.result.bytes == whole.bytes);
  BOOST_TEST(passed.result.torn_bytes == 7);
  BOOST_TEST(passed.events.size() == lines.size());
  BOOST_TEST(passed.events == passed.lines, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lines_are_whole_however_long_they_are) {
  TemporaryFolder folder;
  const std::filesystem::path file = folder / kTranscriptName;
  Lines written;
  for (const std::size_t bytes : {0u, 1u, 65535u, 65536u, 65537u, 3u, 700000u, 200000u, 5u})
    written.emplace_back(bytes, static_cast<char>('a' + written.size()));
  Lines read;
  const auto keep = [&read](std::string_view line) {
    read.emplace_back(line);
    return true;
  };
  write_file(file, joined(written) + "torn");
  BOOST_TEST(each_line(file, keep) == 4u);
  BOOST_TEST((read == written));

  read.clear();
  write_file(file, "one\n" + std::string(kLongestLine + 1, 'x'));
  BOOST_TEST(each_line(file, keep) == 0u);
  BOOST_REQUIRE(read.size() == 2u);
  BOOST_TEST(read.back().size() > kLongestLine);
}

BOOST_AUTO_TEST_CASE(a_record_with_a_name_twice_is_a_link_of_the_chain_and_no_record) {
  Lines lines = sample_lines();
  lines.resize(2);
  std::string& last = lines.back();
  last.replace(last.size() - 2, 2, ",\"x\":1,\"x\":2}}");

  BOOST_TEST(verify_transcript(joined(lines)).ok);
  BOOST_TEST(passed_on(joined(lines)).result.problem ==
             "transcript.jsonl:2: not a valid record: duplicate name in an object");
}

BOOST_AUTO_TEST_CASE(a_transcript_cut_anywhere_is_a_valid_prefix) {
  const Lines all = sample_lines();
  const Lines lines(all.begin(), all.begin() + 4);
  const std::string text = joined(lines);
  for (std::size_t size = lines[0].size() + 1; size < text.size(); ++size) {
    const VerifyResult result = verify_transcript(std::string_view(text).substr(0, size));

    BOOST_REQUIRE(result.ok);
    BOOST_REQUIRE(!result.finished);
    BOOST_REQUIRE(result.bytes + result.torn_bytes == size);
  }
  const VerifyResult torn = verify_transcript(std::string_view(text).substr(0, text.size() - 5));
  BOOST_TEST(has(torn.text(), "valid prefix, torn last record"));
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_of_a_run_is_found) {
  TemporaryFolder folder;
  const auto events = sample_events();
  record_run(folder.path(), {events.front(), events[7], events.back()});
  BOOST_TEST(verify_run(folder.path()).text() == "3 records, 0 blobs, 1 artifacts: all fit");
  // The bytes alone: all but the last record, which nothing follows. A flip in a newline joins or
  // parts lines; in the very last one it is a torn record.
  const std::string text = read_file(folder / kTranscriptName);
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  for (std::size_t bit = 0; bit < last * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    BOOST_REQUIRE_MESSAGE(!verify_transcript(flipped).ok, "bit " << bit);
  }
  // The last record is bound by its digest, which result.json names.
  const std::string digest = verify_transcript(text).last_digest;
  for (std::size_t bit = last * 8; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const VerifyResult result = verify_transcript(flipped);
    BOOST_REQUIRE_MESSAGE(!result.finished || !result.ok || result.last_digest != digest,
                          "bit " << bit);
  }
}

BOOST_AUTO_TEST_CASE(artifacts_are_compared_with_what_the_run_recorded) {
  const struct {
    const char* name;
    std::function<void(const std::filesystem::path&)> change;
    std::string problem;
  } rows[] = {
      {"as it was", [](const auto&) {}, ""},
      {"changed", [](const auto& out) { write_file(out / "changes.diff", "else"); },
       "changes.diff was changed"},
      {"gone", [](const auto& out) { std::filesystem::remove(out / "changes.diff"); },
       "changes.diff is missing"},
      {"a link in its place",
       [](const auto& out) {
         std::filesystem::rename(out / "changes.diff", out / "real");
         std::filesystem::create_symlink("real", out / "changes.diff");
       },
       "changes.diff is missing"},
      {"one more", [](const auto& out) { write_file(out / "last-message.txt", "hi"); },
       "last-message.txt was added"},
      {"result of another run",
       [](const auto& out) { write_file(out / "result.json", R"({"run_id":"x"})"); },
       "result.json is of run 'x'"},
      {"result with another code",
       [](const auto& out) {
         write_file(out / "result.json", R"({"run_id":"run-1","status":"success","exit_code":1})");
       },
       "result.json has exit_code 1, the transcript 0"},
      {"last record edited",
       [](const auto& out) {
         std::string text = read_file(out / kTranscriptName);
         write_file(out / kTranscriptName, text.replace(text.rfind("done"), 4, "DONE"));
       },
       "the transcript's last record has not the SHA-256"},
      {"no result", [](const auto& out) { std::filesystem::remove(out / "result.json"); }, ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      TemporaryFolder folder;
      record_sample_run(folder.path());
      row.change(folder.path());

      const VerifyResult result = verify_run(folder.path());

      BOOST_TEST(result.ok == row.problem.empty());
      BOOST_TEST(has(result.problem, row.problem), result.problem);
      BOOST_TEST(verify_run(folder / kTranscriptName).ok);  // no artifact is looked at
    }
  }
}

BOOST_AUTO_TEST_CASE(a_blob_that_differs_is_found) {
  TemporaryFolder folder;
  FakeClock clock;
  Transcript transcript(folder.path(), clock);
  transcript.on(to_record(sample_events().front()));
  transcript.on(to_record(
      RunEvent{1, ToolOutputRecord{.call_id = "c", .output = std::string(2 << 20, 'x')}}));
  const auto blob = std::filesystem::directory_iterator(folder / "blobs")->path();
  BOOST_TEST(verify_run(folder.path()).ok);

  std::string other(2 << 20, 'x');
  other[1000] = 'y';
  write_file(blob, other);
  BOOST_TEST(has(verify_run(folder.path()).problem, "was changed"));
  write_file(blob, "x");
  BOOST_TEST(has(verify_run(folder.path()).problem, "has 1 bytes instead of 2097152"));
  std::filesystem::remove(blob);
  BOOST_TEST(has(verify_run(folder.path()).problem, "is missing"));
}

BOOST_AUTO_TEST_CASE(a_blob_that_no_record_names_is_found) {
  TemporaryFolder folder;
  Lines lines = sample_lines();
  write_file(folder / kTranscriptName, joined(lines));
  BOOST_REQUIRE(verify_run(folder.path()).problem.find("blobs/") == std::string::npos);
  const std::string right = "sha256-" + sha256_hex("late");
  std::filesystem::create_directories(folder / "blobs");
  write_file(folder / "blobs" / right, "late");
  BOOST_TEST(has(verify_run(folder.path()).problem, "blobs/" + right + " was added"));

  // As a run leaves it that was killed between a blob and its record.
  lines.pop_back();
  write_file(folder / kTranscriptName, joined(lines));
  BOOST_TEST(verify_run(folder.path()).problem == "");
  write_file(folder / "blobs" / right, "other");
  BOOST_TEST(has(verify_run(folder.path()).problem, "is not what its name says"));
}

BOOST_AUTO_TEST_CASE(hostile_lines_are_refused_without_harm) {
  const std::string before =
      R"({"seq":0,"ts":"2026-11-21T03:14:15.926Z","type":"run.started","turn":0,"prev":")" +
      std::string(64, '0') + R"(","data":)";
  const struct {
    const char* name;
    std::string line;
  } rows[] = {
      {"deep", before + R"({"a":)" + std::string(1 << 20, '[') + std::string(1 << 20, ']') + "}}"},
      {"NUL", before + std::string("{\"a\":\"\0\"}}", 10)},
      {"bad UTF-8", before + "{\"a\":\"\xff\"}}"},
      {"bytes after the data", before + "{}{}}"},
      {"huge seq", R"({"seq":99999999999999999999,"ts":")"},
      {"later version", before + R"({"version":2}})"},
      {"no newline for long", std::string(9 << 20, 'a')},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) { BOOST_TEST(!verify_transcript(row.line + "\n").ok); }
  }
}

BOOST_AUTO_TEST_CASE(records_are_read_back_as_they_were_written) {
  TemporaryFolder folder;
  record_sample_run(folder.path());
  const auto events = sample_events();
  std::size_t at = 0;

  read_transcript(folder / kTranscriptName, [&](const TranscriptRecord& record) {
    BOOST_TEST(record.seq == at);
    BOOST_TEST(record.type == to_record(events[at]).type);
    BOOST_TEST(record.turn == events[at].turn);
    BOOST_TEST(write_json(record.data) == write_json(to_record(events[at]).data));
    ++at;
  });

  BOOST_TEST(at == events.size());
  BOOST_CHECK_THROW(read_transcript(folder / "missing", [](const auto&) {}), Error);
  BOOST_CHECK_THROW(parse_record("{}"), Error);
}

BOOST_AUTO_TEST_CASE(the_schema_finds_a_record_that_lacks_a_member) {
  const JsonSchema schema(transcript_schema());
  for (const std::string& line : sample_lines()) {
    Json record = parse_json(line);
    Json& data = *record.find("data");
    BOOST_TEST(schema.check(record).empty());
    data.members().erase(data.members().begin());
    BOOST_TEST(!schema.check(record).empty(), line.substr(0, 200));
  }
  Json unknown = parse_json(sample_lines()[0]);
  unknown.set("type", "later.kind");
  unknown.set("data", Json::object());
  BOOST_TEST(schema.check(unknown).empty());
}

BOOST_AUTO_TEST_CASE(a_cut_off_end_beside_a_success_is_a_problem) {
  TemporaryFolder folder;
  Lines lines = sample_lines();
  lines.pop_back();
  write_file(folder / kTranscriptName, joined(lines));
  BOOST_TEST(verify_run(folder.path()).ok);  // as a killed run leaves it

  write_file(folder / "changes.diff", "anything");
  BOOST_TEST(has(verify_run(folder.path()).problem, "changes.diff is there"));

  std::filesystem::remove(folder / "changes.diff");
  const Json started = parse_record(lines[0]).data;
  Json running = Json::object({{"status", "running"},
                               {"sortie", started.string_at("sortie")},
                               {"run_id", started.string_at("run_id")}});
  const auto problem = [&](const Json& result) {
    write_file(folder / "result.json", write_json(result));
    return verify_run(folder.path()).problem;
  };
  BOOST_TEST(problem(running) == "");
  running.set("verified", true);
  BOOST_TEST(has(problem(running), "result.json says success"));
  running.set("verified", false);
  BOOST_TEST(has(problem(running), "has 'verified', which only a run that ended knows"));
  BOOST_TEST(has(problem(Json::object({{"status", "running"}})), "result.json is of run ''"));
  write_file(folder / "result.json", R"({"status": "success"})");
  BOOST_TEST(has(verify_run(folder.path()).problem, "result.json says success"));
}

BOOST_AUTO_TEST_CASE(a_pipe_is_no_transcript_and_is_not_waited_for) {
  TemporaryFolder folder;
  BOOST_REQUIRE(::mkfifo((folder / kTranscriptName).c_str(), 0644) == 0);
  BOOST_CHECK_THROW(verify_run(folder.path()), Error);
}

BOOST_AUTO_TEST_SUITE_END()

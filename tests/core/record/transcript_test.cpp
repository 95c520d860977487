#include "core/record/transcript.h"

#include <sys/resource.h>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/record/event_codec.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"
#include "tests/core/record/sample_run.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

std::vector<TranscriptRecord> records_of(const std::filesystem::path& folder) {
  std::vector<TranscriptRecord> records;
  read_transcript(folder / kTranscriptName,
                  [&](const TranscriptRecord& record) { records.push_back(record); });
  return records;
}

/// Files of this process may not grow beyond a size, as on a full disk; until it is destroyed.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

Record output_event(const std::string& text) {
  return to_record(RunEvent{1, ToolOutputRecord{.call_id = "c", .tool = "shell", .output = text}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transcript)

BOOST_AUTO_TEST_CASE(a_record_has_the_envelope_and_the_digest_of_the_line_before) {
  TemporaryFolder folder;
  FakeClock clock;
  Transcript transcript(folder.path(), clock);

  transcript.on({"plan.updated", 1, Json::object({{"a", 1}})});
  transcript.on({"plan.updated", 2, Json::object({{"b", "\xff"}})});

  const std::string first =
      R"({"seq":0,"ts":"2027-01-15T08:00:00.000Z","type":"plan.updated","turn":1,"prev":")" +
      std::string(64, '0') + R"(","data":{"a":1}})";
  const std::string second =
      R"({"seq":1,"ts":"2027-01-15T08:00:00.000Z","type":"plan.updated","turn":2,"prev":")" +
      sha256_hex(first) + R"(","data":{"b":"�"}})";
  BOOST_TEST(read_file(folder / kTranscriptName) == first + "\n" + second + "\n");
  BOOST_TEST(transcript.records() == 2u);
  BOOST_TEST(transcript.last_digest() == sha256_hex(second));
}

BOOST_AUTO_TEST_CASE(the_sample_run_has_an_event_of_each_type) {
  std::set<std::string> types;
  for (const RunEvent& event : sample_events()) types.insert(to_record(event).type);
  for (const RecordRow& row : record_rows()) BOOST_TEST(types.contains(row.type), row.type);
}

BOOST_AUTO_TEST_CASE(every_record_type_fits_the_schema_and_the_chain) {
  TemporaryFolder folder;

  record_sample_run(folder.path());

  const VerifyResult result = verify_run(folder.path());
  BOOST_TEST(result.problem == "");
  BOOST_TEST(result.ok);
  BOOST_TEST(result.finished);
  BOOST_TEST(result.records == sample_events().size());
  BOOST_TEST(result.run_id == "run-1");
  check_schema(folder.path());
}

BOOST_AUTO_TEST_CASE(a_long_string_becomes_a_blob) {
  TemporaryFolder folder;
  FakeClock clock;
  Transcript transcript(folder.path(), clock);
  std::string whole;
  while (whole.size() < (3u << 20)) whole += "line " + std::to_string(whole.size()) + "\n";

  transcript.on(to_record(sample_events().front()));
  transcript.on(output_event(whole));

  const Json data = records_of(folder.path())[1].data;
  BOOST_TEST(data["output"].string_at("blob") == "sha256-" + sha256_hex(whole));
  BOOST_TEST(data["output"].integer_at("bytes") == static_cast<std::int64_t>(whole.size()));
  BOOST_TEST(whole.starts_with(data["output"].string_at("head")));
  BOOST_TEST(data.string_at("call_id") == "c");
  BOOST_TEST(read_file(folder / "blobs" / data["output"].string_at("blob")) == whole);
  BOOST_TEST(verify_run(folder.path()).blobs == 1u);
  check_schema(folder.path());
}

BOOST_AUTO_TEST_CASE(an_output_that_stands_whole_in_a_file_becomes_a_blob_of_its_own) {
  const std::string whole(3u << 20, 'w');
  const std::uint64_t bytes = whole.size();
  const struct {
    const char* name;
    SavedOutput of;       ///< path: of the folder
    std::uint64_t limit;  ///< of the transcript
    bool taken;
  } rows[] = {
      {"as it is", {"whole.txt", sha256_hex(whole), bytes}, 200u << 20, true},
      {"it has gone meanwhile", {"none.txt", sha256_hex(whole), bytes}, 200u << 20, false},
      {"it has another size", {"whole.txt", sha256_hex(whole), bytes + 1}, 200u << 20, false},
      {"it is a link", {"link.txt", sha256_hex(whole), bytes}, 200u << 20, false},
      {"it leaves a quarter of the limit", {"whole.txt", sha256_hex(whole), bytes}, 5u << 20, true},
      {"it leaves too little", {"whole.txt", sha256_hex(whole), bytes}, 4u << 20, false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      TemporaryFolder folder;
      write_file(folder / "whole.txt", whole);
      std::filesystem::create_symlink("whole.txt", folder / "link.txt");
      FakeClock clock;
      Transcript transcript(folder.path(), clock, row.limit);
      transcript.on(to_record(sample_events().front()));
      Record event = output_event("head … tail");
      event.whole = row.of;
      event.whole->path = (folder / row.of.path).string();

      for (int i = 0; i < 2; ++i) transcript.on(event);

      // What the file became afterwards is nothing to the record.
      std::filesystem::remove(folder / "whole.txt");
      const Json data = records_of(folder.path())[1].data;
      BOOST_TEST(data.find("whole_output") == nullptr);
      BOOST_TEST(data.members().size() == output_event("").data.members().size());
      const VerifyResult verified = verify_run(folder.path() / kTranscriptName);
      BOOST_TEST(verified.ok, verified.problem);
      check_schema(folder.path());
      if (!row.taken) {
        BOOST_TEST(data.string_at("output") == "head … tail");
        continue;
      }
      const std::string name = "sha256-" + sha256_hex(whole);
      BOOST_TEST(data["output"].string_at("blob") == name);
      BOOST_TEST(data["output"].integer_at("bytes") == static_cast<std::int64_t>(bytes));
      BOOST_TEST(data["output"].string_at("head") == whole.substr(0, 1024));
      BOOST_TEST((with_blobs(data, folder / kTranscriptName)["output"].text() == whole));
      write_file(folder / "blobs" / name, whole.substr(1) + "x");
      BOOST_TEST(verify_run(folder.path() / kTranscriptName).problem ==
                 "transcript.jsonl:2: blobs/" + name + " was changed");
    }
  }
}

BOOST_AUTO_TEST_CASE(no_record_is_longer_than_a_mebibyte) {
  const std::string quotes(700'000, '"');
  Json words = Json::array();
  for (int i = 0; i < 300'000; ++i) words.push_back("word");
  const struct {
    const char* name;
    Json data;
  } rows[] = {
      {"escapes double it", Json::object({{"output", quotes}, {"success", true}})},
      {"two that fit alone",
       Json::object({{"output", std::string(600'000, 'a')}, {"shown", std::string(600'001, 'b')}})},
      {"many short strings", Json::object({{"items", words}, {"id", "x"}})},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      TemporaryFolder folder;
      FakeClock clock;
      Transcript transcript(folder.path(), clock);

      transcript.on({"model.response", 1, row.data});

      BOOST_TEST(read_file(folder / kTranscriptName).size() <= 1u << 20);
      BOOST_TEST(records_of(folder.path()).size() == 1u);
    }
  }
}

BOOST_AUTO_TEST_CASE(past_the_limit_outputs_are_cut_and_a_record_says_so_once) {
  TemporaryFolder folder;
  FakeClock clock;
  Transcript transcript(folder.path(), clock, 10'000);
  transcript.on(to_record(sample_events().front()));

  for (int i = 0; i < 20; ++i) transcript.on(output_event(std::string(4000, 'x')));

  int told = 0;
  int cut = 0;
  for (const auto& record : records_of(folder.path())) {
    told += record.data.string_at("check") == "transcript_limit" ? 1 : 0;
    cut += record.data["cut"].boolean() ? 1 : 0;
  }
  BOOST_TEST(told == 1);
  BOOST_TEST(cut >= 17);
  BOOST_TEST(verify_run(folder.path()).ok);
  check_schema(folder.path());
}

BOOST_AUTO_TEST_CASE(a_full_disk_ends_the_record_whole_and_for_good) {
  TemporaryFolder folder;
  FakeClock clock;
  Transcript transcript(folder.path(), clock);
  transcript.on(to_record(sample_events().front()));
  int written = 0;
  {
    const FileSizeLimit limit(8192);
    for (; written < 100; ++written) {
      try {
        transcript.on(output_event(std::string(1000, 'x')));
      } catch (const Error& error) {
        BOOST_TEST((error.code() == ExitCode::environment));
        BOOST_TEST(std::string(error.what()).find("can't be written") != std::string::npos);
        break;
      }
    }
  }

  BOOST_TEST(written > 1);
  BOOST_TEST(written < 8);
  // There is room again, but a record is missing: nothing may follow it.
  BOOST_CHECK_THROW(transcript.on(output_event("small")), Error);
  const VerifyResult result = verify_run(folder.path());
  BOOST_TEST(result.problem == "");
  BOOST_TEST(result.torn_bytes == 0u);
  BOOST_TEST(result.records == static_cast<std::uint64_t>(written) + 1);
}

BOOST_AUTO_TEST_CASE(a_blob_that_cannot_be_written_ends_the_record_too) {
  TemporaryFolder folder;
  FakeClock clock;
  Transcript transcript(folder.path(), clock);
  write_file(folder / "blobs", "in the way");

  BOOST_CHECK_THROW(transcript.on(output_event(std::string(2 << 20, 'x'))), Error);
  BOOST_CHECK_THROW(transcript.on(output_event("small")), Error);
  BOOST_TEST(read_file(folder / kTranscriptName) == "");
}

BOOST_AUTO_TEST_CASE(an_existing_transcript_is_never_written_over) {
  TemporaryFolder folder;
  FakeClock clock;
  write_file(folder / kTranscriptName, "precious");

  BOOST_CHECK_THROW(Transcript(folder.path(), clock), Error);
  BOOST_CHECK_THROW(Transcript(folder / "missing", clock), Error);
  BOOST_TEST(read_file(folder / kTranscriptName) == "precious");
}

BOOST_AUTO_TEST_SUITE_END()

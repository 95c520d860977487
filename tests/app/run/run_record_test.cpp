#include "app/run/run_record.h"

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/text/text.h"
#include "tests/app/show/stream_reader.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace {

/// A record whose stdout and stderr are pipes.
struct PipedRecord {
  test::TemporaryFolder folder;
  test::FakeClock clock;
  Redactor redactor{std::vector<Secret>{{"DB_PASSWORD", "s3cr3t-value"}}};
  RunResult result;
  Pipe lines = make_pipe();
  Pipe errors = make_pipe();
  std::unique_ptr<RunRecord> record;

  explicit PipedRecord(bool json = true, OutputStyle style = {}) {
    result.run_id = "0198";
    record = std::make_unique<RunRecord>(RunRecord::Options{.folder = folder.path(),
                                                            .json = json,
                                                            .style = style,
                                                            .lines = lines.write.get(),
                                                            .errors = errors.write.get()},
                                         redactor, result);
  }

  void begin() const { record->begin(clock, 1 << 20); }
  /// Ends the record, as a run does. @return  all of stdout
  std::string end() {
    record->end_progress(false);
    record->end_live_events({});
    record->say_last("the last line", {});
    record.reset();
    lines.write.reset();
    errors.write.reset();
    return test::read_all(lines.read.get());
  }
  std::string told() const { return test::read_all(errors.read.get()); }
  std::vector<Json> transcript() const {
    std::vector<Json> records;
    const std::string text = read_file(folder / kTranscriptName);
    for (const auto line : split_lines(text)) records.push_back(parse_json(std::string(line)));
    return records;
  }
};

Json last_line_of(const std::string& text) {
  const auto lines = split_lines(text);
  BOOST_REQUIRE(!lines.empty());
  return parse_json(std::string(lines.back()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_record)

BOOST_AUTO_TEST_CASE(a_run_that_fails_before_its_record_has_a_stream_and_a_last_line) {
  PipedRecord run;
  run.result.code = ExitCode::environment;
  run.result.reason = "no keeper";
  run.result.next = "sortie doctor";
  run.result.retry_after = std::chrono::milliseconds(1500);

  run.record->say("heard by nobody");
  run.record->close();
  const Json end = last_line_of(run.end());

  BOOST_TEST(end.string_at("type") == "run.completed");
  BOOST_TEST(end.string_at("next") == "sortie doctor");
  BOOST_TEST(end.integer_at("retry_after_s") == 2);
  BOOST_TEST(end.string_at("out") == run.folder.path().string());
  BOOST_TEST(run.told() == "the last line\n");
  BOOST_TEST(!std::filesystem::exists(run.folder / kTranscriptName));
}

BOOST_AUTO_TEST_CASE(an_event_is_recorded_redacted_and_counts) {
  PipedRecord run(false);
  run.begin();

  run.record->events().on(check_hit_event(3, "protected_path_made", "s3cr3t-value", ""));

  BOOST_TEST(run.record->turn() == 3);
  const auto records = run.transcript();
  BOOST_REQUIRE_EQUAL(records.size(), 1u);
  BOOST_TEST(records[0].string_at("type") == "check.hit");
  BOOST_TEST(write_json(records[0]).find("s3cr3t-value") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_record_may_end_twice_and_the_last_end_counts) {
  PipedRecord run(false);
  run.begin();

  run.record->close();
  const std::string first = run.result.digests.at("transcript");
  run.result.code = ExitCode::environment;
  run.result.reason = "the disk is full";
  run.record->close();

  const auto records = run.transcript();
  BOOST_REQUIRE_EQUAL(records.size(), 2u);
  BOOST_TEST(records[1]["data"].string_at("reason") == "the disk is full");
  BOOST_TEST(records[1]["data"]["result"]["digests"].find("transcript") == nullptr);
  BOOST_TEST(run.result.digests.at("transcript") != first);
}

BOOST_AUTO_TEST_CASE(quiet_shows_no_step_and_no_warning_and_keeps_both_in_the_result) {
  for (const bool quiet : {false, true}) {
    PipedRecord run(false, {.quiet = quiet});
    run.result.code = ExitCode::budget;
    run.begin();

    run.record->say("a step");
    run.record->warn("a risk with s3cr3t-value");
    run.record->show_warning("another");
    run.end();

    const std::string told = run.told();
    BOOST_TEST((told.find("a step") == told.npos) == quiet);
    BOOST_TEST((told.find("warning: a risk with [REDACTED:DB_PASSWORD]") == told.npos) == quiet);
    BOOST_TEST((told.find("another") == told.npos) == quiet);
    BOOST_TEST(told.ends_with("the last line\n"));
    BOOST_TEST(!quiet == (told != "the last line\n"));
    BOOST_REQUIRE_EQUAL(run.result.warnings.size(), 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_reader_of_events_that_went_away_is_told_of_on_stderr_and_the_run_goes_on) {
  PipedRecord run;
  std::signal(SIGPIPE, SIG_IGN);
  run.begin();
  run.lines.read.reset();

  run.record->events().on(check_hit_event(1, "protected_path_made", "a", ""));
  run.record->close();
  run.record->end_live_events({});
  run.record->say_last("the last line", {});
  run.record.reset();
  run.errors.write.reset();

  const std::string told = run.told();
  BOOST_TEST(told.find("stdout: ") != told.npos);
  BOOST_TEST(told.find("transcript.jsonl has all of it") != told.npos);
  BOOST_TEST(run.transcript().size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

#include "app/run/run_record.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/run/end_notes.h"
#include "app/show/standard_output.h"
#include "core/base/error.h"
#include "core/text/ci_commands.h"
#include "core/text/output_buffer.h"

namespace sortie {

namespace {

/// JSON for a terminal, which would act on DEL and the C1 controls: they come as escapes. What is below
/// U+0020 JSON escapes itself.
std::string for_terminal(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    const auto next = static_cast<unsigned char>(i + 1 < line.size() ? line[i + 1] : 0);
    const bool c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;
    if (byte != 0x7F && !c1) {
      text += line[i];
      continue;
    }
    constexpr const char* kDigits = "0123456789abcdef";
    const unsigned char code = c1 ? next : byte;
    text += "\\u00";
    text += kDigits[code >> 4];
    text += kDigits[code & 15];
    if (c1) ++i;
  }
  return text;
}

/// How long the end of a run waits for a reader that reads nothing.
constexpr std::chrono::seconds kPatience{30};
/// The same for the last line, after such a wait.
constexpr std::chrono::seconds kPatienceOnceLost{1};

/// The last line with its outcome, "sortie: budget (4)", and its "next:" coloured.
std::string with_outcome_tinted(const LogStyle& style, const std::string& line, bool fine) {
  const std::size_t end = line.find("): ");
  if (!style.colors || end == std::string::npos) return line;
  std::string text = tinted(style, fine ? Tint::good : Tint::bad, line.substr(0, end + 1));
  std::string rest = line.substr(end + 1);
  constexpr std::string_view kNext = "; next: ";
  const std::size_t next = rest.rfind(kNext);
  if (next == std::string::npos) return text + rest;
  return text + rest.substr(0, next) + "; " + tinted(style, Tint::caution, "next:") + " " +
         rest.substr(next + kNext.size());
}

}  // namespace

std::string events_for_stdout(std::string lines, bool terminal) {
  const CiSystems systems = ci_systems();
  if (systems.any()) lines = CiCommandFilter::json(lines, systems);
  return terminal ? for_terminal(lines) : lines;
}

RunRecord::RunRecord(Options options, const Redactor& redactor, RunResult& result)
    : options_(std::move(options)), redactor_(redactor), result_(result), events_(redactor) {}

ErrorStream& RunRecord::errors() {
  if (!errors_) errors_ = std::make_unique<ErrorStream>(options_.errors);
  return *errors_;
}

void RunRecord::TurnEnds::on(const RunEvent& event) {
  if (!std::holds_alternative<TurnStarted>(event.what)) return;
  records = (*transcript)->records() - 1;
  if (then) then(event.turn - 1);
}

const RunHistory& RunRecord::take_up() {
  if (!recorded_) recorded_ = read_earlier_run(options_.folder / kTranscriptName);
  earlier_ = std::move(recorded_->history);
  tally_ = std::move(recorded_->tally);
  for (const RunEvent& change : recorded_->changes) patched_.on(change);
  recorded_.reset();
  return *earlier_;
}

void RunRecord::say_taken_up() {
  say("resumed after record " + std::to_string(earlier_->records - 1) + ", turn " +
      std::to_string(earlier_->used.turns));
  if (earlier_->torn_bytes > 0)
    warn(std::string(kTranscriptName) + ": its last record was torn, and is cut off (" +
         std::to_string(earlier_->torn_bytes) + " bytes)");
}

void RunRecord::begin(const Clock& clock, std::uint64_t most_transcript_bytes) {
  if (earlier_)
    transcript_ = std::make_unique<Transcript>(
        options_.folder, clock,
        TranscriptEnd{earlier_->records, earlier_->bytes, earlier_->last_digest},
        most_transcript_bytes);
  else
    transcript_ = std::make_unique<Transcript>(options_.folder, clock, most_transcript_bytes);
  if (!options_.anchor.empty()) {
    anchor_ = std::make_unique<Anchor>(options_.anchor, result_.run_id);
    transcript_->anchor_to(*anchor_);
  }
  progress_ = std::make_unique<Progress>(options_.style, options_.log, redactor_, errors());
  events_.record_to(*transcript_);
  events_.add(tally_);
  events_.add(patched_);
  events_.add(connections_);
  turn_ends_.transcript = &transcript_;
  events_.add(turn_ends_);
  if (options_.json) open_live_events();
  if (live_events_) events_.add(*live_events_);
  if (!options_.style.quiet) events_.add(*progress_);
}

void RunRecord::sync() { events_.sync(); }

void RunRecord::show_again() {
  open_live_events();
  const std::filesystem::path transcript = options_.folder / kTranscriptName;
  read_run_history(transcript);  // nothing is shown of one that was changed
  read_run_history(transcript, live_events_.get());
}

void RunRecord::open_live_events() {
  if (live_events_) return;
  EventWriter::Options options;
  options.folder = options_.folder;
  const bool shared = errors().is_same_as(options_.lines);
  options.on_failure = [this, shared](int number) {
    if (hand_on_stdout_failure(number)) return;
    // If the writer is shared with stderr, that has failed too.
    if (!shared)
      warn_about_stdout(errno_text(number) + "; no more events are written, the run goes on");
  };
  event_writer_ = std::make_unique<EventWriter>(options_.lines, std::move(options));
  if (shared) errors().go_through(event_writer_.get());
  live_events_ = std::make_unique<EventsJsonl>(
      EventsJsonl::Options{.thread_id = options_.thread.empty() ? result_.run_id : options_.thread,
                           .retries = options_.retries,
                           .own_events = options_.own_events},
      redactor_, [this, terminal = ::isatty(options_.lines) == 1](std::string line) {
        if (event_writer_) event_writer_->write(events_for_stdout(std::move(line), terminal));
      });
}

void RunRecord::say(const std::string& line) {
  if (progress_) progress_->say(line);
}

void RunRecord::warn(const std::string& line) {
  show_warning(line);
  result_.warnings.push_back(line);
}

void RunRecord::show_warning(const std::string& line) {
  if (progress_) progress_->warn(line);
}

void RunRecord::write_error(const std::string& line) { errors().write(line + "\n"); }

RunEnd RunRecord::run_end() const {
  return {.code = result_.code,
          .status = status_of(result_),
          .reason = result_.reason,
          .usage = tally_.usage_json(),
          .durations = tally_.durations_json(result_.duration),
          .counts = tally_.counts_json(),
          .artifacts = result_.artifacts,
          .retryable = result_.retryable};
}

void RunRecord::close() {
  if (!transcript_) return;
  RunEnd end = run_end();
  result_.digests.erase("transcript");  // of an earlier end
  end.result = redactor_.json(result_json(result_, tally_), Audience::people);
  events_.on({turn(), std::move(end)});
  result_.digests["transcript"] = "sha256:" + transcript_->last_digest();
}

void RunRecord::show_lines(const std::vector<std::string>& lines) {
  if (progress_) progress_->print_lines(lines);
}

LogStyle RunRecord::log_style() const { return progress_ ? progress_->style() : LogStyle{}; }

void RunRecord::show_output(const void* output, std::string_view text) {
  if (progress_) progress_->on_output(output, text);
}

void RunRecord::end_progress(bool with_message) {
  if (progress_) progress_->finish(with_message);
}

void RunRecord::end_live_events(const std::stop_token& stop) noexcept {
  try {
    write_live_end(stop);
  } catch (const std::exception& error) {
    warn_about_stdout(error.what());  // everything else has been written by now
  }
}

void RunRecord::write_live_end(const std::stop_token& stop) {
  open_live_events();
  EventsJsonl::Closing closing{.next = result_.next, .out = options_.folder.string()};
  if (result_.retry_after)
    closing.retry_after_s = std::chrono::ceil<std::chrono::seconds>(*result_.retry_after).count();
  live_events_->end(run_end(), closing);
  const std::uint64_t lost = event_writer_->finish(kPatience, stop);
  reader_stalls_ = lost > 0;
  if (reader_stalls_)
    warn_about_stdout(size_in_words(lost) + " of events are not written, since " +
                      event_writer_->why_left());
}

bool RunRecord::hand_on_stdout_failure(int number) const {
  if (!options_.on_stdout_failure || !is_of_device(number)) return false;
  options_.on_stdout_failure(number);
  return true;
}

void RunRecord::take_stdout_failure(int number, const std::string& line) {
  if (!hand_on_stdout_failure(number)) write_error(line);
}

/// Says that the transcript has what stdout lacks.
void RunRecord::warn_about_stdout(const std::string& problem) {
  const std::string text =
      "stdout: " + problem + "; " + (options_.folder / kTranscriptName).string() + " has all of it";
  if (progress_)
    progress_->warn(text);
  else
    write_error("sortie: " + text);
}

void RunRecord::annotate() {
  const auto patched = patched_.paths();
  const NotedTree tree{.folder = options_.workspace,
                       .made = [&](const std::string& path) { return patched.contains(path); }};
  errors().write_commands(end_notes(CiLog(ci_systems()), result_, tally_, tree, redactor_));
}

void RunRecord::say_last(const std::string& line, const std::stop_token& stop) {
  const bool fine = result_.code == ExitCode::success;
  std::string last;
  if (!options_.style.quiet && !options_.style.relayed) annotate();
  if (!line.empty() && (!fine || !options_.style.quiet))
    last = with_outcome_tinted(log_style(), line, fine) + "\n";
  errors().finish(std::move(last), reader_stalls_ ? kPatienceOnceLost : kPatience, stop);
  errors().go_through(nullptr);
  event_writer_.reset();
}

}  // namespace sortie

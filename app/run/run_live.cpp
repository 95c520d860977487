#include <unistd.h>

#include "app/run/run_steps.h"
#include "core/text/output_buffer.h"

namespace sortie {
namespace {

/// So long the end of a run waits for a reader that takes nothing.
constexpr std::chrono::seconds kPatience{30};
/// One that took nothing for so long already gets no more than this for the last line.
constexpr std::chrono::seconds kPatienceOnceLost{1};

/// JSON for a terminal, which would act on DEL and the C1 controls: they come as escapes. What
/// is below U+0020 JSON escapes itself.
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

}  // namespace

/// A run that failed before its record began has a stream all the same.
void Run::open_live_events() {
  if (!options_.json || live_events_) return;
  EventWriter::Options options;
  options.folder = out_.path();
  const bool shared = errors_->is_same_as(STDOUT_FILENO);
  options.tell = [this, shared](const std::string& problem) {
    // Of a writer that failed stderr's own readers hear nothing either.
    if (!shared) say_of_stdout(problem + "; no more events are written, the run goes on");
  };
  event_writer_ = std::make_unique<EventWriter>(STDOUT_FILENO, std::move(options));
  if (shared) errors_->go_through(event_writer_.get());
  live_events_ = std::make_unique<EventsJsonl>(
      EventsJsonl::Options{result_.run_id, inputs_.task.model.retries}, redactor_,
      [this, terminal = ::isatty(STDOUT_FILENO) == 1](std::string line) {
        if (event_writer_) event_writer_->write(terminal ? for_terminal(line) : std::move(line));
      });
}

/// All that the record will ever say is said in it: the last lines, and the reader's time for them.
void Run::end_live_events() try {
  open_live_events();
  RunEvent end = run_completed_event(turn_, run_end());
  end.data.set("next", result_.next);
  Json wait;
  if (result_.retry_after)
    wait = static_cast<std::int64_t>(
        std::chrono::ceil<std::chrono::seconds>(*result_.retry_after).count());
  end.data.set("retry_after_s", std::move(wait));
  end.data.set("out", out_.path().string());
  live_events_->end(end);
  const std::stop_token stop = signals_ ? this->stop() : std::stop_token();
  const std::uint64_t lost = event_writer_->finish(kPatience, stop);
  reader_stalls_ = lost > 0;
  if (reader_stalls_)
    say_of_stdout(size_in_words(lost) + " of events are not written, since " +
                  event_writer_->why_left());
} catch (const std::exception& error) {
  say_of_stdout(error.what());  // all else is written and told by now
}

/// The record has all that stdout lacks.
void Run::say_of_stdout(const std::string& problem) const {
  const std::string text =
      "stdout: " + problem + "; " + (out_.path() / kTranscriptName).string() + " has all of it";
  if (progress_)
    progress_->warn(text);
  else
    errors_->write("sortie: " + text + "\n");
}

/// Nothing is written behind it.
void Run::say_last(const std::string& line) {
  errors_->finish(line + "\n", reader_stalls_ ? kPatienceOnceLost : kPatience,
                  signals_ ? stop() : std::stop_token());
  errors_->go_through(nullptr);
  event_writer_.reset();
}

}  // namespace sortie

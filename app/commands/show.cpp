#include <poll.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/command_line.h"
#include "app/commands/secret_flags.h"
#include "app/commands/shown_diff.h"
#include "app/run/later_secrets.h"
#include "app/show/log_lines.h"
#include "app/show/pager.h"
#include "ci/report/call_words.h"
#include "ci/report/read_story.h"
#include "ci/report/record_tail.h"
#include "core/base/error.h"
#include "core/files/files.h"
#include "core/record/transcript.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownDenials = 20;
constexpr std::size_t kShownFiles = 100;
constexpr int kFollowStepMs = 200;
/// After the end, for one more: --apply records what became of it.
constexpr int kStepsAfterEnd = 15;

/// The flags of `sortie show`.
struct ShowFlags {
  std::string run;
  bool follow = false;
  bool no_diff = false;
  LaterSecrets secrets{};
};

/// Whether the process that uses the folder is alive; nothing: it is not known.
std::optional<bool> is_at_work(const fs::path& folder) {
  const TextFile lock = read_bytes_file(folder / ".lock", 32);
  const int pid = lock.problem.empty() ? std::atoi(lock.text.c_str()) : 0;
  if (pid <= 0) return std::nullopt;
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

std::string plural(std::int64_t number, const char* noun) {
  return words_of_count(number) + " " + noun + (number == 1 ? "" : "s");
}

/// What the log of a run does not have: its end, as people ask for it.
class EndLines {
 public:
  /// @param diff  its lines
  EndLines(const RunStory& story, const LogStyle& style, std::vector<std::string> diff)
      : story_(story), style_(style), diff_(std::move(diff)) {}

  std::string text() {
    add_denials();
    add_changes();
    add_attempts();
    add_use();
    add_verdict();
    return std::move(text_);
  }

 private:
  void line(const std::string& text, Tint tint = Tint::plain) {
    text_ += tinted(style_, tint, text) + "\n";
  }
  void heading(const std::string& text) {
    text_ += "\n" + tinted(style_, Tint::caution, text) + "\n";
  }

  void add_denials() {
    if (story_.denials.empty()) return;
    heading("denied: " + story_.denied_words());
    for (std::size_t i = 0; i < std::min(story_.denials.size(), kShownDenials); ++i) {
      const StoryDenial& one = story_.denials[i];
      line("  " + std::to_string(one.count) + " x " + one.tool + " " + one.what + ": " +
           one.reason);
      for (const auto yaml : split_lines(one.yaml)) line("      " + std::string(yaml), Tint::faint);
    }
    if (story_.denials.size() > kShownDenials)
      line("  … and " + std::to_string(story_.denials.size() - kShownDenials) + " more");
    if (story_.allowing_all.empty()) return;
    line("  all these lines as one block:");
    for (const auto yaml : split_lines(story_.allowing_all))
      line("      " + std::string(yaml), Tint::faint);
  }

  void add_changes() {
    const StoryChanges& changes = story_.changes;
    const std::size_t files = changes.files.size() + changes.more_files;
    if (files == 0) return;
    heading(plural(static_cast<std::int64_t>(files), "file") + " changed, " +
            words_of_lines(changes.added, changes.removed));
    for (std::size_t i = 0; i < std::min(changes.files.size(), kShownFiles); ++i) {
      const StoryFile& file = changes.files[i];
      static const char* const kSigns[] = {"A", "D", "R", "M"};
      line(std::string("  ") + kSigns[static_cast<int>(file.kind)] + " " + file.path +
           (file.binary ? " (binary)" : " " + words_of_lines(file.added, file.removed)));
    }
    if (files > kShownFiles) line("  … and " + std::to_string(files - kShownFiles) + " more");
    for (const std::string& one : diff_) line(one);
  }

  void add_attempts() {
    if (story_.best_of.attempts.empty()) return;
    heading(plural(static_cast<std::int64_t>(story_.best_of.attempts.size()), "attempt"));
    for (const StoryAttempt& one : story_.best_of.attempts)
      line("  " + words_of_count(one.number) + (one.picked ? " (picked): " : ": ") + one.status +
           "; " + one.why);
  }

  void add_use() {
    const StoryUsage& usage = story_.usage;
    char usd[32] = "unknown";
    if (usage.usd) std::snprintf(usd, sizeof usd, "%.4f USD", *usage.usd);
    line("\n" + plural(static_cast<std::int64_t>(story_.turns.size()), "turn") + ", " +
         plural(story_.tool_calls, "call") + ", " + words_of_count(usage.total()) + " tokens (" +
         words_of_count(usage.cached) + " cached), cost " + usd + ", " +
         words_of_duration(story_.times.total()));
  }

  void add_verdict() {
    const StoryVerdict& verdict = story_.verdict;
    if (!story_.problem.empty()) line(story_.problem, Tint::bad);
    std::string text = verdict.status;
    if (verdict.ended) text += " (" + words_of_count(verdict.code) + ")";
    line(text + ": " + verdict.cause, verdict.code == 0 ? Tint::good : Tint::bad);
    if (!verdict.next.empty()) line("next: " + verdict.next);
  }

  const RunStory& story_;
  const LogStyle& style_;
  std::vector<std::string> diff_;
  std::string text_;
};

/// Prints one run.
class Shown {
 public:
  Shown(const ShowFlags& flags, const OutputStyle& style)
      : run_(flags.run),
        with_diff_(!flags.no_diff),
        style_{.colors = colors_on_stdout(style.color),
               .verbose = style.verbose,
               .columns = columns_of_stdout()},
        pager_(!flags.follow),
        tail_(transcript_of(flags.run), redactor_),
        lines_(LogLines::Options{}, redactor_) {
    learn_of_recorded_run(redactor_, run_, flags.secrets);
  }

  ExitCode print(bool follow) {
    if (!read_on() || (follow && !follow_on())) return ExitCode::success;
    put(lines_.finish(style_, true));
    const RunStory story = read_run_story(run_, {}, &redactor_);
    std::vector<std::string> diff;
    if (with_diff_) diff = shown_diff(story.changes, style_, transcript_of(run_).parent_path());
    pager_.write(EndLines(story, style_, std::move(diff)).text());
    return ExitCode::success;
  }

 private:
  static fs::path transcript_of(const fs::path& run) {
    std::error_code error;
    return fs::is_directory(run, error) ? run / kTranscriptName : run;
  }

  bool put(const std::vector<LogLine>& lines) {
    std::string text;
    for (const LogLine& line : lines)
      if (line.kind == LogLine::Kind::text) text += line.text + "\n";
    return text.empty() || pager_.write(text);
  }

  /// @return  false: nobody reads any more
  bool read_on() {
    bool wanted = true;
    try {
      const bool any = tail_.read([&](const RunEvent& event) {
        ended_ = std::holds_alternative<RunEnd>(event.what);
        if (wanted) wanted = put(lines_.on(style_, event));
      });
      still_ = any ? 0 : still_ + 1;
    } catch (const Error&) {
      broken_ = true;  // the story's end says it
    }
    return wanted;
  }

  /// Until the run has ended, or its process has.
  bool follow_on() {
    const fs::path folder = transcript_of(run_).parent_path();
    while (!broken_) {
      const std::optional<bool> at_work = is_at_work(folder);
      if (ended_ && (!at_work.value_or(true) || still_ >= kStepsAfterEnd)) return true;
      const bool gone = at_work.has_value() && !*at_work;
      if (!gone) ::poll(nullptr, 0, kFollowStepMs);
      if (!read_on() || stdout_is_unread()) return false;
      if (gone) return true;
    }
    return true;
  }

  fs::path run_;
  bool with_diff_;
  LogStyle style_;
  Redactor redactor_;
  Pager pager_;
  RecordTail tail_;
  LogLines lines_;
  bool ended_ = false;
  bool broken_ = false;
  int still_ = 0;  ///< looks since there was something new
};

ExitCode show(const ShowFlags& flags, const OutputStyle& style) {
  // Nothing has to be ended in order: Ctrl-C ends it as it ends any reader.
  for (const int one : {SIGINT, SIGTERM, SIGHUP}) ::signal(one, SIG_DFL);
  return Shown(flags, style).print(flags.follow);
}

}  // namespace

void add_show(CommandTable& table) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App& app = add_command(
      table, table.root, "show", "Show a run on the terminal: its log, its diff, and its end.",
      "sortie show sortie-out", [flags, &style = table.style] { return show(*flags, style); });
  app.add_option("RUN", flags->run, "a run's output folder, or its transcript")->required();
  app.add_flag("-f,--follow", flags->follow,
               "show what comes, until the run ends; without a pager");
  app.add_flag("--no-diff", flags->no_diff,
               "name the changed files only; the diff is cut unless -v is given");
  add_secret_flags(app, flags->secrets);
}

}  // namespace sortie

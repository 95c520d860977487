#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands/command_line.h"
#include "app/commands/secret_flags.h"
#include "app/land/review_comments.h"
#include "app/run/later_secrets.h"
#include "app/show/standard_output.h"
#include "ci/attempts.h"
#include "ci/report/junit.h"
#include "ci/report/page/page.h"
#include "ci/report/read_story.h"
#include "ci/report/sarif.h"
#include "ci/report/summary.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/record/transcript.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The flags of `sortie report`.
struct ReportFlags {
  std::string run;
  std::string format;  ///< "": the files for people
  std::string output;
  std::string diff;
  LaterSecrets secrets{};
};

/// One way to tell a run.
struct ReportFormat {
  const char* word;    ///< of --format
  const char* name;    ///< of its file in a run's folder; null: it has none
  const char* ending;  ///< of a file name that asks for it
  bool is_json;
  std::string (*text)(const RunStory& story, const ReportFlags& flags);
};

std::string page(const RunStory& story, const ReportFlags&) { return page_text(story); }
std::string summary(const RunStory& story, const ReportFlags&) { return summary_text(story); }
std::string junit(const RunStory& story, const ReportFlags&) { return junit_text(story); }
std::string sarif(const RunStory& story, const ReportFlags&) { return sarif_text(story); }

/// The findings as comments of a review, on lines of --diff.
std::string review(const RunStory& story, const ReportFlags& flags) {
  std::optional<ShownLines> shown;
  if (!flags.diff.empty()) {
    const TextFile diff = read_bytes_file(flags.diff, kMostFileBytes, Pipes::accepted);
    if (!diff.problem.empty()) throw InputError("--diff " + flags.diff + ": " + diff.problem);
    shown = shown_lines_of(diff.text);
  }
  Json findings = Json::array();
  for (const StoryFinding& one : story.findings)
    findings.push_back(Json::object({{"file", one.file},
                                     {"line", one.line},
                                     {"severity", one.severity},
                                     {"message", one.message},
                                     {"suggestion", one.suggestion}}));
  return write_json_pretty(review_of_diff(findings, shown ? &*shown : nullptr)) + "\n";
}

constexpr ReportFormat kFormats[] = {
    {"html", kPageName, ".html", false, page},  {"summary", kSummaryName, ".md", false, summary},
    {"junit", nullptr, ".xml", false, junit},   {"sarif", nullptr, ".sarif", true, sarif},
    {"review", nullptr, nullptr, true, review},
};

fs::path folder_of(const fs::path& run) {
  std::error_code error;
  return fs::is_directory(run, error) ? run : run.parent_path();
}

/// @throws Error  usage: it has no record of its own
RunStory story_of(const ReportFlags& flags) {
  const fs::path run = flags.run;
  std::error_code error;
  const fs::path attempt = run / attempt_folder(1);
  if (!fs::exists(run / kTranscriptName, error) && fs::exists(attempt / kTranscriptName, error))
    throw InputError(run.string() +
                     ": no attempt was picked (yet); name one of them: " + attempt.string());
  // The record is redacted; the diff is what it is.
  Redactor redactor;
  learn_of_recorded_run(redactor, run, flags.secrets);
  return read_run_story(run, {}, &redactor);
}

void write_one(const std::string& text, const fs::path& to) {
  write_file(to, text, new_file_mode());
  print_out(to.string() + "\n");
}

/// Writes a report where the run's own belongs, but not over it: another version of sortie makes
/// another one.
void write_own(const ReportFormat& format, const RunStory& story, const fs::path& to) {
  const auto recorded = story.artifacts.find(format.name);
  const auto is_recorded = [&](const std::string& text) {
    return recorded != story.artifacts.end() && "sha256:" + sha256_hex(text) == recorded->second;
  };
  const TextFile there = read_bytes_file(to, kMostFileBytes);
  if (there.problem.empty() && is_recorded(there.text)) return print_out(to.string() + "\n");
  const std::string text = format.text(story, {});
  if (recorded != story.artifacts.end() && !is_recorded(text))
    print_error("sortie: warning: " + to.string() + " is not what the run recorded, which sortie " +
                one_line(story.setting.sortie) + " made: 'sortie verify' will say so\n");
  write_one(text, to);
}

/// Both files for people.
void write_all(const RunStory& story, const fs::path& folder, bool is_own) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw path_error(folder.string(), error.value());
  for (const ReportFormat& format : kFormats) {
    if (format.name == nullptr) continue;
    if (is_own)
      write_own(format, story, folder / format.name);
    else
      write_one(format.text(story, {}), folder / format.name);
  }
}

/// The format that the flags name; null: the files for people.
const ReportFormat* chosen_format(const ReportFlags& flags) {
  const fs::path to = flags.output;
  for (const ReportFormat& format : kFormats) {
    if (flags.format == format.word) return &format;
    if (!flags.format.empty()) continue;
    if (to == "-" && format.text == summary) return &format;
    if (format.ending != nullptr && to.extension() == format.ending) return &format;
  }
  return nullptr;
}

ExitCode report(const ReportFlags& flags) {
  const ReportFormat* format = chosen_format(flags);
  if (!flags.diff.empty() && (format == nullptr || format->text != review))
    throw InputError("--diff belongs to --format review");
  const RunStory story = story_of(flags);
  const fs::path to = flags.output;
  if (format == nullptr) {
    write_all(story, to.empty() ? folder_of(flags.run) : to, to.empty());
    return ExitCode::success;
  }
  const std::string text = format->text(story, flags);
  if (!to.empty() && to != "-")
    write_one(text, to);
  else if (format->is_json)
    print_document(text);
  else
    print_out(text);
  return ExitCode::success;
}

}  // namespace

void add_report(CommandTable& table) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App& app =
      add_command(table, table.root, "report",
                  "Write a run for people, as report.html and summary.md, or for a CI system.",
                  "sortie report sortie-out", [flags] { return report(*flags); });
  app.add_option("RUN", flags->run, "a run's output folder, or its transcript")->required();
  std::vector<std::string> words;
  for (const ReportFormat& format : kFormats) words.emplace_back(format.word);
  app.add_option("--format", flags->format,
                 "print one alone: html, summary, junit (XML), sarif (findings of the answer), "
                 "review (the same as a review of GitHub)")
      ->check(CLI::IsMember(words));
  app.add_option(
      "-o,--output", flags->output,
      "another folder for both; with --format, or one of the endings .html, .md, .xml and "
      ".sarif, the file of one; - is stdout");
  app.add_option(
      "--diff", flags->diff,
      "with --format review: the diff of the pull request; findings on lines that it does "
      "not show stand in the body");
  add_secret_flags(app, flags->secrets);
}

}  // namespace sortie

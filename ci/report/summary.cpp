#include "ci/report/summary.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "ci/report/call_words.h"
#include "ci/report/markdown.h"
#include "core/text/ci_commands.h"
#include "core/text/display_width.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kShownDenials = 10;
constexpr std::size_t kShownFiles = 100;
constexpr std::size_t kShownTurns = 100;
constexpr std::size_t kShownNotes = 30;

std::string how_many(std::int64_t number, const std::string& noun) {
  return words_of_count(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string dollars_text(const std::optional<double>& usd) {
  if (!usd) return "unknown";
  char text[32];
  std::snprintf(text, sizeof text, *usd < 1 ? "%.4f USD" : "%.2f USD", *usd);
  return text;
}

std::string more_line(std::size_t all, std::size_t shown) {
  return all > shown ? "- … and " + std::to_string(all - shown) + " more\n" : "";
}

/// A command in it stands as one.
std::string next_words(const std::string& next) {
  const std::size_t command = command_in_next(next);
  if (command == 0) return plain_words(next);
  const std::string rest = plain_words(next.substr(command));
  return code_span(next.substr(0, command)) + (rest.empty() ? "" : " " + rest);
}

std::string verdict_part(const RunStory& story) {
  const StoryVerdict& verdict = story.verdict;
  std::string text = "# sortie: " + plain_words(verdict.status);
  if (verdict.ended) text += " (" + words_of_count(verdict.code) + ")";
  text += "\n\n";
  if (!verdict.cause.empty()) text += plain_words(verdict.cause) + "\n\n";
  if (!verdict.next.empty()) text += "**Next:** " + next_words(verdict.next) + "\n\n";
  if (verdict.retry_after_s && *verdict.retry_after_s > 0)
    text += "A retry may succeed after " + std::to_string(*verdict.retry_after_s) + " s.\n\n";
  if (!story.problem.empty())
    text += "The record can be read only in part: " + code_span(story.problem) + "\n\n";
  return text;
}

std::string verification_part(const RunStory& story) {
  const auto is_check = [](const StoryRound& round) {
    return round.phase != VerificationPhase::run_tests;
  };
  const auto last = std::find_if(story.rounds.rbegin(), story.rounds.rend(), is_check);
  if (last == story.rounds.rend()) return {};
  const bool before = last->phase == VerificationPhase::before;
  std::string text = std::string("## Verification ") + (last->passed ? "passed" : "failed") +
                     (before ? " on the start state" : ", round " + words_of_count(last->number)) +
                     "\n\n";
  for (const StoryCommand& command : last->commands) {
    text += "- " + code_span(command.command) + ": " +
            (!command.done            ? "cut off"
             : command.ending.empty() ? "passed"
                                      : plain_words(command.ending)) +
            ", " + words_of_duration(command.duration) +
            (command.compared.empty() ? "" : "; " + plain_words(command.compared)) + "\n";
  }
  text += "\n";
  const auto has_output = [](const StoryCommand& command) {
    return command.done && !command.passed && !command.output.empty();
  };
  const auto failed = std::count_if(last->commands.begin(), last->commands.end(), has_output);
  for (const StoryCommand& command : last->commands) {
    if (!has_output(command)) continue;
    if (failed > 1) text += code_span(command.command) + ":\n\n";
    text += code_block(command.output) + "\n";
  }
  return text;
}

/// "`commands`, `network.allow`": the lists of a policy that the lines of these denials add to.
std::string lists_of(std::span<const StoryDenial> denials) {
  std::vector<std::string> names;
  for (const StoryDenial& denial : denials)
    for (const std::string& list : denial.lists)
      if (!is_one_of(code_span(list), names)) names.push_back(code_span(list));
  return joined(names, ", ");
}

/// What stands before the lines of each denial; a policy has each key once.
std::string head_of_lines(const RunStory& story, std::span<const StoryDenial> shown) {
  if (!story.allowing_all.empty())
    return "\nLines of a policy for all that such lines can allow, as one block:\n\n" +
           code_block(story.allowing_all, "yaml") + "\nOr some of them, each added to its list (" +
           lists_of(shown) + "):\n\n";
  const std::string lists = lists_of(shown);
  return "\nLines of a policy that would allow it" +
         (lists.empty() ? "" : ", to be added to its list if it has one (" + lists + ")") + ":\n\n";
}

std::string denials_part(const RunStory& story) {
  if (story.denials.empty()) return {};
  std::string text = "## Denied: " + story.denied_words() + "\n\n";
  const auto shown = std::span(story.denials).first(std::min(story.denials.size(), kShownDenials));
  for (const StoryDenial& denial : shown) {
    text += "- " + std::to_string(denial.count) + " × " + code_span(denial.tool) + " " +
            code_span(denial.what) + (denial.audited ? " (was run: audit)" : "") + ": " +
            plain_words(denial.reason) +
            (denial.rule.empty() ? "" : ", by " + code_span(denial.rule)) + "\n";
  }
  text += more_line(story.denials.size(), kShownDenials);
  std::vector<std::string> told;
  for (const StoryDenial& denial : shown) {
    if (denial.yaml.empty() || is_one_of(denial.yaml, told)) continue;
    if (told.empty()) text += head_of_lines(story, shown);
    text += code_block(denial.yaml, "yaml") + "\n";
    told.push_back(denial.yaml);
  }
  return text + "\n";
}

std::string writers_text(const StoryFile& file) {
  std::vector<std::string> who;
  if (file.by_agent) who.push_back("the agent's patch");
  if (file.by_command) who.push_back("a command");
  if (file.by_verification) who.push_back("**the verification**");
  return who.empty() ? "" : ", by " + joined(who, " and ");
}

std::string file_line(const StoryFile& file) {
  static const char* const kKinds[] = {"added", "deleted", "renamed", "modified"};
  std::string text = "- " +
                     code_span((file.submodule.empty() ? "" : file.submodule + "/") + file.path) +
                     " " + kKinds[static_cast<int>(file.kind)];
  if (!file.old_path.empty()) text += " from " + code_span(file.old_path);
  text += file.binary ? ", binary" : ", " + words_of_lines(file.added, file.removed);
  return text + writers_text(file) + "\n";
}

std::string changes_part(const RunStory& story) {
  const StoryChanges& changes = story.changes;
  const std::size_t files = changes.files.size() + changes.more_files;
  if (files == 0 && changes.left_out.empty() && changes.problem.empty()) return {};
  std::string text = "## " + how_many(static_cast<std::int64_t>(files), "file") + " changed, " +
                     words_of_lines(changes.added, changes.removed) + "\n\n";
  if (!changes.problem.empty()) text += plain_words(changes.problem) + "\n\n";
  for (std::size_t i = 0; i < std::min(changes.files.size(), kShownFiles); ++i)
    text += file_line(changes.files[i]);
  text += more_line(files, std::min(changes.files.size(), kShownFiles));
  if (!changes.left_out.empty()) text += "\nNot in the diff:\n\n";
  for (std::size_t i = 0; i < std::min(changes.left_out.size(), kShownFiles); ++i)
    text +=
        "- " + code_span(changes.left_out[i].path) + ": " + plain_words(changes.left_out[i].why) +
        (changes.left_out[i].detail.empty() ? "" : ", " + plain_words(changes.left_out[i].detail)) +
        "\n";
  text += more_line(changes.left_out.size(), kShownFiles);
  return text + "\n";
}

std::string message_part(const RunStory& story) {
  return story.message.empty() ? "" : "## Final message\n\n" + code_block(story.message) + "\n";
}

std::string attempts_part(const RunStory& story) {
  if (story.best_of.attempts.empty()) return {};
  std::string text = "## " +
                     how_many(static_cast<std::int64_t>(story.best_of.attempts.size()), "attempt") +
                     "\n\n";
  for (const StoryAttempt& one : story.best_of.attempts)
    text += "- " + words_of_count(one.number) + (one.picked ? ", **picked**" : "") + ": " +
            plain_words(one.status) + ", " + how_many(one.files, "file") + ", " +
            how_many(one.lines, "line") + ", " + how_many(one.turns, "turn") + ", " +
            words_of_count(one.tokens) + " tokens, " + dollars_text(one.usd) + ", " +
            words_of_duration(one.duration) + (one.why.empty() ? "" : "; " + plain_words(one.why)) +
            "\n";
  return text + "\nPicked by " + code_span(story.best_of.pick) +
         ". All of them: " + words_of_count(story.best_of.tokens) + " tokens, " +
         dollars_text(story.best_of.usd) + ", " + words_of_duration(story.best_of.duration) +
         ". The rest of this page is about the picked one.\n\n";
}

std::string run_part(const RunStory& story) {
  const StorySetting& setting = story.setting;
  const StoryUsage& usage = story.usage;
  const StoryTimes& times = story.times;
  std::string text = "## The run\n\n";
  const auto row = [&text](const std::string& name, const std::string& value) {
    if (!value.empty()) text += "- " + name + ": " + value + "\n";
  };
  const auto code = [](const std::string& value) {
    return value.empty() ? std::string() : code_span(value);
  };
  row("Task", code(setting.task_name) + " " + code(setting.task_path));
  row("Policy", code(setting.policy_name) + " " + code(setting.policy_digest));
  row("Model", code(setting.model_requested) + (setting.model_served.empty() ? "" : ", served ") +
                   code(setting.model_served));
  row("Isolation", code(setting.isolation) + ", sandbox " + code(setting.sandbox_mode) +
                       ", network " + code(setting.network));
  std::vector<std::string> proved;
  std::vector<std::string> missing;
  for (const auto& each : setting.guarantees)
    (each.proved ? proved : missing).push_back(code_span(each.name));
  row("Guarantees proved", joined(proved, ", "));
  row("Guarantees **not** proved", joined(missing, ", "));
  row("Cost", dollars_text(usage.usd));
  row("Tokens", words_of_count(usage.fresh()) + " new, " + words_of_count(usage.cached) +
                    " cached, " + words_of_count(usage.output) + " output" +
                    (usage.estimated ? " (partly estimated)" : ""));
  row("Time", "model " + words_of_time(times.model) + ", tools " + words_of_time(times.tools) +
                  ", verification " + words_of_time(times.verification) + ", sortie " +
                  words_of_time(times.own));
  row("Calls", how_many(static_cast<std::int64_t>(story.turns.size()), "turn") + ", " +
                   how_many(story.tool_calls, "call") + ", " + with_thousands(story.retries) +
                   (story.retries == 1 ? " retry" : " retries"));
  row("Run", code(setting.run_id) + " of sortie " + code(setting.sortie) + ", begun " +
                 code(setting.started));
  return text + "\n";
}

std::string notes_part(const RunStory& story) {
  std::string lines;
  std::size_t count = 0;
  const auto add = [&lines, &count](const std::string& line) {
    if (++count <= kShownNotes) lines += "- " + plain_words(line) + "\n";
  };
  for (const std::string& warning : story.warnings) add(warning);
  for (const StoryNote& note : story.notes)
    // Those of connections are denials.
    if (note.problem && note.kind != StoryNote::Kind::connection) add(note.text);
  if (lines.empty()) return {};
  return "## Warnings and problems\n\n" + lines + more_line(count, kShownNotes) + "\n";
}

/// Numbers alone: a table needs no quoting then.
std::string turns_part(const RunStory& story) {
  if (story.turns.empty()) return {};
  std::string text =
      "## Turns\n\n| turn | new | cached | output | model | tools | verification | calls |\n"
      "|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  const std::size_t from = story.turns.size() > kShownTurns ? story.turns.size() - kShownTurns : 0;
  for (std::size_t i = from; i < story.turns.size(); ++i) {
    const StoryTurn& turn = story.turns[i];
    text += "| " + words_of_count(turn.number) + " | " + words_of_count(turn.usage.fresh()) +
            " | " + words_of_count(turn.usage.cached) + " | " + words_of_count(turn.usage.output) +
            " | " + words_of_time(turn.times.model) + " | " + words_of_time(turn.times.tools) +
            " | " + words_of_time(turn.times.verification) + " | " +
            std::to_string(turn.calls.size()) + " |\n";
  }
  if (from > 0) text += "\nThe " + std::to_string(from) + " turns before are left out.\n";
  return text;
}

}  // namespace

std::string summary_text(const RunStory& story) {
  std::string text;
  for (const auto& part : {verdict_part(story), attempts_part(story), verification_part(story),
                           denials_part(story), changes_part(story), message_part(story),
                           run_part(story), notes_part(story), turns_part(story)}) {
    const std::string safe = without_ci_commands(
        part, {.github = true, .gitlab = true, .azure = true, .teamcity = true});
    if (text.size() + safe.size() > kMostSummaryBytes) continue;
    text += safe;
  }
  return text;
}

std::string summary_within(std::string_view summary, std::size_t most_bytes) {
  constexpr std::string_view kNote = "**The rest is left out here: summary.md has all of it.**\n";
  if (summary.size() <= most_bytes) return std::string(summary);
  std::size_t end = 0;
  std::string_view fence;  // of the block of code that a line is in
  for (std::size_t at = 0; at + kNote.size() <= most_bytes;) {
    const std::size_t next = std::min(summary.find('\n', at), summary.size() - 1) + 1;
    const std::string_view line = summary.substr(at, next - at);
    const std::string_view ticks =
        line.substr(0, std::min(line.find_first_not_of('`'), line.size()));
    if (!fence.empty() && line == std::string(fence) + "\n")
      fence = {};
    else if (fence.empty() && ticks.size() >= 3)
      fence = ticks;
    else if (fence.empty() && line.starts_with("## "))
      end = at;
    at = next;
  }
  return end == 0 ? "" : std::string(summary.substr(0, end)) + std::string(kNote);
}

}  // namespace sortie

#include "app/run/end_notes.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "app/run/next_step.h"

namespace sortie {
namespace {

/// The place of the rule, if it is in a file and not in a preset.
CiPlace rule_place(const Denial& denial) {
  std::error_code error;
  if (!denial.rule || !std::filesystem::is_regular_file(denial.rule->file, error)) return {};
  return {.file = name_in_notes(denial.rule->file), .line = denial.rule->line};
}

std::string denial_in_words(const Denial& denial) {
  std::string text = denied_text(denial) + " was denied";
  if (denial.count > 1) text += " " + std::to_string(denial.count) + " times";
  if (!denial.reason.empty()) text += ": " + denial.reason;
  std::string yaml = denial.would_allow_yaml;
  std::replace(yaml.begin(), yaml.end(), '\n', ';');
  return yaml.empty() ? text : text + "; to allow it: " + yaml;
}

/// The most frequent ones first.
std::vector<Denial> most_frequent(const Tally& tally, std::size_t most) {
  std::vector<Denial> denials = tally.denials;
  std::stable_sort(denials.begin(), denials.end(),
                   [](const Denial& a, const Denial& b) { return a.count > b.count; });
  denials.resize(std::min(denials.size(), most));
  return denials;
}

std::string errors_of(const CiLog& log, const RunResult& result, const NotedTree& tree,
                      const Redactor& redactor) {
  const auto clean = [&](const std::string& text) { return redactor.text(text, Audience::people); };
  std::string notes =
      log.error("sortie: " + status_of(result),
                clean(result.reason + (result.next.empty() ? "" : "; next: " + result.next)));
  if (!result.verification || result.verification->passed || tree.folder.empty()) return notes;
  for (const VerificationOutcome& outcome : result.verification->outcomes)
    if (!outcome.passed)
      notes += notes_of_output(log, clean(outcome.command) + " failed", clean(outcome.output), tree,
                               kMostNotes - 1);
  return notes;
}

}  // namespace

std::string end_notes(const CiLog& log, const RunResult& result, const Tally& tally,
                      const NotedTree& tree, const Redactor& redactor) {
  if (!log.has_notes()) return "";
  const auto clean = [&](const std::string& text) { return redactor.text(text, Audience::people); };
  std::string notes;
  std::size_t left = kMostNotes;
  if (result.code != ExitCode::success) {
    notes = errors_of(log, result, tree, redactor);
    for (const Denial& denial : most_frequent(tally, kMostNotes / 2)) {
      --left;
      notes += log.warning("sortie: denied", clean(denial_in_words(denial)), rule_place(denial));
    }
  }
  for (std::size_t i = 0; i < std::min(result.warnings.size(), left); ++i)
    notes += log.warning("sortie", clean(result.warnings[i]));
  return notes;
}

}  // namespace sortie

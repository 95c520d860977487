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

/// A host is denied by an entry that is not there.
CiPlace rule_place(const DeniedHost&) { return {}; }

template <class One>
std::string denial_in_words(const One& denial) {
  std::string text = denied_text(denial) + " was denied";
  if (denial.count > 1) text += " " + std::to_string(denial.count) + " times";
  if (!denial.reason.empty()) text += ": " + denial.reason;
  std::string yaml = denial.would_allow_yaml;
  std::replace(yaml.begin(), yaml.end(), '\n', ';');
  return yaml.empty() ? text : text + "; to allow it: " + yaml;
}

/// Notes of the most frequent ones.
template <class One>
std::vector<std::string> notes_of(const CiLog& log, std::vector<One> denials, std::size_t most,
                                  const Redactor& redactor) {
  std::stable_sort(denials.begin(), denials.end(),
                   [](const One& a, const One& b) { return a.count > b.count; });
  denials.resize(std::min(denials.size(), most));
  std::vector<std::string> notes;
  for (const One& denial : denials)
    notes.push_back(log.warning("sortie: denied",
                                redactor.text(denial_in_words(denial), Audience::people),
                                rule_place(denial)));
  return notes;
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
    std::vector<std::string> denied = notes_of(log, tally.denied_hosts, kMostNotes / 4, redactor);
    const auto calls = notes_of(log, tally.denials, kMostNotes / 2 - denied.size(), redactor);
    denied.insert(denied.begin(), calls.begin(), calls.end());
    for (const std::string& note : denied) notes += note;
    left -= denied.size();
  }
  for (std::size_t i = 0; i < std::min(result.warnings.size(), left); ++i)
    notes += log.warning("sortie", clean(result.warnings[i]));
  return notes;
}

}  // namespace sortie

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ci/report/run_story.h"

namespace sortie {

inline constexpr const char* kSummaryName = "summary.md";
/// The most that a summary has; GitHub takes 1 MiB of a step.
inline constexpr std::size_t kMostSummaryBytes = 1000u << 10;

/// A run as Markdown, for the summary of a CI job: the cause and what to do, the output of the
/// verification that failed, the most frequent denials, then changes, message, use, turns. Commands
/// of CI systems in it are disabled.
std::string summary_text(const RunStory& story);
/// As many of its sections, from the first one, as these bytes have room for, with a note that the
/// rest is left out; "" if not even the first one fits.
std::string summary_within(std::string_view summary, std::size_t most_bytes);

}  // namespace sortie

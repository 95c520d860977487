#pragma once

#include "ci/report/page/html.h"
#include "ci/report/run_story.h"

namespace sortie {

// The sections of report.html, in their order. Each writes nothing if it has nothing to say.

void write_verdict(Html& html, const RunStory& story);
void write_facts(Html& html, const RunStory& story);
void write_attempts(Html& html, const StoryBestOf& best_of);
/// The failing verification, or, of a success, the last one, folded.
void write_verification(Html& html, const RunStory& story);
/// "+3 −1", or "lines unknown"
void write_lines(Html& html, std::int64_t added, std::int64_t removed);
void write_denials(Html& html, const RunStory& story);
void write_changes(Html& html, const StoryChanges& changes);
void write_chart(Html& html, const RunStory& story);
void write_stages(Html& html, const RunStory& story);
/// @param most_bytes  of its steps
void write_timeline(Html& html, const RunStory& story, std::size_t most_bytes);
/// The policy, the guarantees and what else the run was under.
void write_setting(Html& html, const RunStory& story);

/// The commands of a round, with their outputs.
/// @param open  whether the failed ones are unfolded
void write_commands(Html& html, const StoryRound& round, bool open);
const char* phase_words(VerificationPhase phase) noexcept;

/// "Task failed" for "task-failed".
std::string words_of_status(std::string status);
/// With a capital at its beginning.
std::string capitalized(std::string text);
/// "1 file", "2,000 files"
std::string counted(std::size_t count, std::string_view one, std::string_view many);

/// The last round on the agent's work; null: there was none.
const StoryRound* last_round(const RunStory& story) noexcept;

}  // namespace sortie

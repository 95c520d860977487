#pragma once

#include <ostream>
#include <string>

#include "ci/report/run_story.h"

namespace sortie {

inline constexpr const char* kPageName = "report.html";

/// Writes a run as report.html: one file that loads nothing, for a reviewer with a minute. The same
/// story gives the same bytes, 10 MB at most: of a long run, turns of its middle are left out, and
/// the page says so.
///
/// Whatever the story holds is escaped; the page's own content policy allows its style and its one
/// script by their digests and nothing else.
void write_page(std::ostream& out, const RunStory& story);
/// The same as a text.
std::string page_text(const RunStory& story);

}  // namespace sortie

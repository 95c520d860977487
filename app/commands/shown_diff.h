#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/show/log_style.h"
#include "ci/report/run_story.h"

namespace sortie {

/// The diff of a run for a terminal, file by file: lines in colours, the most of each file and of the
/// whole (with `verbose` all that the story has); it says what it leaves out.
/// @param folder  of the run, where the whole diff is
std::vector<std::string> shown_diff(const StoryChanges& changes, const LogStyle& style,
                                    const std::filesystem::path& folder);

}  // namespace sortie

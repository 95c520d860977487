#pragma once

#include <filesystem>
#include <string>

#include "ci/report/run_story.h"

namespace sortie {

/// Adds the files of a diff, as make_patch() writes it, with what fits into the story's limits: 500
/// files, 2,000 lines a file, 20,000 in all.
/// @param submodule  that it is of; "" for the workspace
void add_diff(const std::filesystem::path& file, const std::string& submodule,
              StoryChanges& changes);
/// The same for a text. @throws Error  ExitCode::integrity: it has another form
void add_diff_text(std::string_view diff, const std::string& submodule, StoryChanges& changes);

}  // namespace sortie

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "app/show/ci_log.h"

namespace sortie {

/// The most notes of a level that a step should give: GitHub shows ten.
inline constexpr std::size_t kMostNotes = 10;

/// A file as CI systems name it in notes: relative to the job's folder (GITHUB_WORKSPACE,
/// BUILD_SOURCESDIRECTORY) if it is below it.
std::string name_in_notes(const std::filesystem::path& file);

/// Notes of an error before or without a run: of each "FILE:LINE:COLUMN: error: TEXT" in it whose
/// FILE there is, at that place; of another error one without a place. Redacted by the caller.
/// @param status  "usage"
/// @param next    what to do; may be ""
std::string notes_of_error(const CiLog& log, std::string_view status, std::string_view text,
                           std::string_view next);

/// Where to look for the files that the output of a failed command names.
struct NotedTree {
  std::filesystem::path folder{};                       ///< the command's; absolute
  std::function<bool(const std::string& path)> made{};  ///< whether the run made it; may be null
};

/// Notes at the places that the output of a failed command names, those alone of files in the tree.
/// @param output  anybody's; redacted by the caller
/// @param most    notes
std::string notes_of_output(const CiLog& log, std::string_view title, std::string_view output,
                            const NotedTree& tree, std::size_t most);

}  // namespace sortie

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/land/judgement.h"
#include "core/json/json.h"

namespace sortie {

/// review.json of a run whose answer has findings ({file, line, severity, message, suggestion}):
/// {"version", "event", "body", "comments": [{"path", "line", "side", "body"}], "outside": […]}, as
/// a review of GitHub takes event, body and comments. A finding becomes a comment if its line is one
/// that the diff shows in the new file; all others are in `outside`, each with the reason.
/// @param findings  of the run: anything may be in it
Json review_json(const Json& findings, const LandedChange& change);

/// The lines of the new files that a diff shows: first and last of each hunk, by path.
using ShownLines = std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>>;
/// Reads them from what `git diff` prints. What is no such diff shows nothing.
ShownLines shown_lines_of(std::string_view diff);

/// The same for the diff of somebody else, such as that of the pull request that a run has reviewed.
/// @param shown  null: it is not known, and each finding with a line of a file becomes a comment
Json review_of_diff(const Json& findings, const ShownLines* shown);

}  // namespace sortie

#pragma once

#include "app/land/judgement.h"
#include "core/json/json.h"

namespace sortie {

/// review.json of a run whose answer has findings ({file, line, severity, message, suggestion}):
/// {"version", "event", "body", "comments": [{"path", "line", "side", "body"}], "outside": […]}, as
/// a review of GitHub takes event, body and comments. A finding becomes a comment if its line is one
/// that the diff shows in the new file; all others are in `outside`, each with the reason.
/// @param findings  of the run: anything may be in it
Json review_json(const Json& findings, const LandedChange& change);

}  // namespace sortie

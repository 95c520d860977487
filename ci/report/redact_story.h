#pragma once

#include "ci/report/run_story.h"
#include "core/secrets/redact.h"

namespace sortie {

/// Redacts what a story has from other places than the record, whose texts are redacted as they are
/// written: the diff, with its paths, and the final message.
void redact_story(const Redactor& redactor, RunStory& story);

}  // namespace sortie

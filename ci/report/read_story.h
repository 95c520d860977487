#pragma once

#include <filesystem>

#include "ci/report/run_story.h"
#include "core/json/json.h"
#include "core/secrets/redact.h"

namespace sortie {

/// Reads a run from its folder, or from its transcript alone. A run need not have ended. Holds at
/// most some 64 MiB, however long outputs are.
///
/// Digests are not checked: `sortie verify` does that. Links are not followed.
/// @param result    what result.json will say, of a run that is about to end; null: the record has it,
///                  and of several attempts result.json
/// @param redactor  for the diff and the final message, which a policy may let have secrets, and for
///                  a record whose writer did not know all of them; null: nothing is redacted
/// @throws Error  usage: there is no transcript
RunStory read_run_story(const std::filesystem::path& run, const Json& result = {},
                        const Redactor* redactor = nullptr);

}  // namespace sortie

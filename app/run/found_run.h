#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/artifacts/output_folder.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "app/run/earlier_run.h"
#include "core/git/git_info.h"
#include "core/json/json.h"

namespace sortie {

/// Whether a run that ended with this code can be gone on with: its state is kept then.
/// @param worked  the agent's work had begun
bool can_go_on(ExitCode code, bool worked) noexcept;

/// What to do with the run that is found in --out.
/// @param key_parts  run_key_parts() of this command
/// @param warnings   gets what the user should know of it
/// @param recorded   gets what its transcript holds, where that had to be read
/// @throws Error  usage: it is unfinished, and of another key or another base; integrity: its
///                transcript was changed
Previous judge_found_run(const OutputFolder& out, const RunInputs& inputs,
                         const RunOptions& options, const GitInfo& git, const Json& key_parts,
                         std::vector<std::string>& warnings, std::optional<EarlierRun>& recorded);

/// Whether the state of the run is here and whole. After a power loss it may be neither.
bool has_state(const std::filesystem::path& out);

/// What has changed in the user's own tree since the run began whose state is in `out`: paths, as
/// own_changes_since() has them.
std::vector<std::string> changes_of_base(const OutputFolder& out, const RunInputs& inputs,
                                         const RunOptions& options);

}  // namespace sortie

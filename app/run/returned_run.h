#pragma once

#include <filesystem>

#include "app/artifacts/output_folder.h"
#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "core/json/json.h"

namespace sortie {

/// Whether all that the run was to do is done and on record, its diff included, and only its handover
/// is left: --apply failed, or the process was killed in it. A run of one alone.
/// @param result  of the run, as its result.json or its last record has it
/// @param killed  result.json did not say so
/// @throws Error  integrity: its transcript was changed
bool is_done_but_for_handover(const OutputFolder& out, const Json& result, bool killed);

/// The result of a run by its record, which a kill kept from result.json: "applied" is false where the
/// tree does not have the diff, since the start of this process took it back (recover_workspace).
Json as_the_tree_is(Json result, const OutputFolder& out, const std::filesystem::path& workspace);

/// Whether --apply of this command finds something to do with a run that is a success.
/// @param result  result.json of the run
bool apply_is_due(const OutputFolder& out, const RunInputs& inputs, const RunOptions& options,
                  const Json& result);

/// Hands over the outcome of the finished run in --out once more: files, message or events, exit
/// code; result.json says "cached". Without a model, --apply is done now if it was not, and the
/// transcript gets another end that says so; where it can't be done, code 13 or 7.
ExitCode return_found_run(const OutputFolder& out, const RunInputs& inputs,
                          const RunOptions& options, const OutputStyle& style);

}  // namespace sortie

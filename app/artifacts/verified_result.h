#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// Compares a run's result.json, member by member, with what its transcript says: with the result
/// in the last run.completed, and, since that is a statement of the run's too, with usage, counts,
/// denials and verification added up anew from all records. The transcript's own chain and the
/// artifacts are verify_run's part.
/// @param path  a run's output folder or its transcript; beside a transcript of another name, or
///              one that stands alone, no result.json is looked for
/// @return      "" or the first thing that does not fit: "result.json: usage.total is …, but …"
/// @throws Error  ExitCode::integrity where the transcript or a blob can't be read
std::string flaw_of_result(const std::filesystem::path& path);

}  // namespace sortie

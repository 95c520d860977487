#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// Compares a run's result.json, member by member, with its transcript: with the result in the last
/// run.completed, and with usage, counts, denials and verification, summed up again from all records.
/// verify_run() checks the transcript's chain and the artifacts.
/// @param path  a run's output folder or its transcript; no result.json is expected next to a
///              transcript of another name
/// @return      "" or the first difference: "result.json: usage.total is …, but …"
/// @throws Error  ExitCode::integrity: the transcript or a blob can't be read
std::string result_mismatch(const std::filesystem::path& path);

}  // namespace sortie

#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// Makes a run's result.json again from its transcript and compares the two, member by member and
/// then byte by byte: with the result in the last run.completed; with the run's start (ids, digests,
/// isolation); with usage, counts, denials, stages and verification, summed up again from all
/// records; with the diff that was written; and with the files in kept/. What is verified has to be
/// changes.diff. verify_run() checks the transcript's chain and the artifacts.
/// @param path  a run's output folder or its transcript; no result.json is expected next to a
///              transcript of another name
/// @return      "" or the first difference: "result.json: usage.total is …, but …"
/// @throws Error  ExitCode::integrity: the transcript or a blob can't be read
std::string result_mismatch(const std::filesystem::path& path);

}  // namespace sortie

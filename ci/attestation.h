#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// The file's name in --out.
inline constexpr const char* kAttestationName = "attestation.json";

/// An in-toto Statement with the provenance of a run that succeeded, for the CI's own signer. It is
/// made of the run's folder alone, so that it can be made again to check it: of the transcript's
/// first and last record and the digests of the artifacts.
///
///     _type                https://in-toto.io/Statement/v1
///     subject              the artifacts (changes.diff, last-message.txt, …), transcript.jsonl and
///                          result.json, each with its SHA-256
///     predicateType        https://slsa.dev/provenance/v1
///     buildDefinition      task, policy and model as asked for; the base commit, the effective task
///                          and policy, and the model, as dependencies with their digests
///     runDetails           sortie's version, run id, start and end, and the verification; with
///                          best_of also the attempts, and which one was picked
///
/// @param folder       with transcript.jsonl, which has the run's end, and the artifacts
/// @param result_text  the bytes of result.json
/// @throws Error  the transcript can't be read
/// Source: https://in-toto.io/Statement/v1, https://slsa.dev/spec/v1.0/provenance.
std::string attestation_text(const std::filesystem::path& folder, const std::string& result_text);

/// Compares a run's attestation.json with the one made again. A run that did not succeed has none.
/// @param folder  which verify_run() and result_mismatch() have checked
/// @return        "" or what is wrong: "attestation.json: …"
/// @throws Error  as above
std::string attestation_mismatch(const std::filesystem::path& folder);

}  // namespace sortie

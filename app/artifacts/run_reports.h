#pragma once

#include <map>
#include <string>

#include "app/artifacts/output_folder.h"
#include "core/json/json.h"
#include "core/secrets/redact.h"

namespace sortie {

inline constexpr const char* kReportNames[] = {"summary.md", "report.html"};

/// Writes summary.md and report.html of a run that is about to end, from its folder and what its end
/// will say: once that is recorded, `sortie report` makes the same bytes.
/// @param result    of the end, redacted; without these two among its artifacts
/// @param redactor  for the diff: a policy may let it have secrets
/// @return  the digests by name, "sha256:…"
/// @throws Error  they can't be made or written; none of them is there then
std::map<std::string, std::string> write_reports(const OutputFolder& out, const Json& result,
                                                 const Redactor& redactor);

/// What a warning says of reports that could not be written.
std::string without_reports(const std::string& problem);

}  // namespace sortie

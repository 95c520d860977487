#pragma once

#include <string>

#include "core/base/error.h"

namespace sortie {

/// Tells why a command failed before or without a run: on stderr, with "sortie: STATUS (CODE): CAUSE; next:
/// …" as the last line, and in notes of a CI system. It may quote a file or a flag, so the environment's
/// secrets are redacted; by the default policy, since loading the run's own may have failed.
void tell_failure(const Error& error);

/// The same with another next step: "see 'sortie run --help'".
void tell_failure(const Error& error, const std::string& next);

}  // namespace sortie

#pragma once

#include <string>

#include "core/record/events.h"
#include "core/secrets/redact.h"
#include "core/workspace/diff/diff.h"

namespace sortie {

/// The event of a diff that is about to be written.
/// @param redactor  contents with secrets are left out: the transcript must not have them
DiffWritten diff_record(const Diff& diff, const std::string& name, const Redactor& redactor);

}  // namespace sortie

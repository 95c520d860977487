#pragma once

#include <string>

#include "core/files/files.h"
#include "core/record/events.h"
#include "core/secrets/redact.h"
#include "core/workspace/diff/diff.h"

namespace sortie {

/// The event of a diff that is about to be written.
/// @param redactor  contents with secrets are left out: the transcript must not have them
/// @param start     the tree at the start, for what its folders hold
DiffWritten diff_record(const Diff& diff, const std::string& name, const Redactor& redactor,
                        const Files& start);

}  // namespace sortie

#pragma once

#include <exception>
#include <optional>

#include "app/batch/batch_options.h"
#include "app/show/status_file.h"
#include "ci/batch/batch_report.h"
#include "core/secrets/redact.h"

namespace sortie {

/// The file of a batch's --status-file: one line of JSON with status, exit_code, reason, next, retryable,
/// retry_after_s, runs, succeeded, failed, tokens, cost_usd and out. Without the flag nothing is told.
class BatchStatus {
 public:
  /// Says "running" in it.
  /// @throws InputError  it can't be used
  explicit BatchStatus(const BatchOptions& options);

  /// @param out  the batch's folder as the user named it
  void tell_end(const BatchStory& story, const std::string& out) const;
  /// The batch ended before its first run, or by an error of its own.
  void tell_failure(const std::exception& error) const;

 private:
  void write(const Json& members) const;

  std::optional<StatusFile> file_;
  Redactor redactor_;
};

}  // namespace sortie

#pragma once

#include "app/batch/batch_options.h"
#include "core/base/exit_code.h"

namespace sortie {

/// `batch report`: puts the results of all shards together, as results.jsonl, summary.md and report.html.
/// @return  as judge_batch(); runs that no shard has are failures
/// @throws Error  usage: a folder is no batch's, or they are of different batches
ExitCode merge_batches(const BatchReportOptions& options, const OutputStyle& style);

}  // namespace sortie

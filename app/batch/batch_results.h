#pragma once

#include <string>
#include <vector>

#include "app/batch/batch_folder.h"
#include "app/batch/batch_plan.h"
#include "ci/batch/batch_report.h"

namespace sortie {

/// What a batch is, for `batch report`: batch.json, or batch-2-of-4.json of a shard.
Json batch_json(const BatchPlan& plan);

/// The prediction of one run, for SWE-bench's harness.
/// @param folder  of the batch
///
/// Source: SWE-bench's evaluation guide, "Prediction format".
std::string prediction_line(const BatchRow& row, const std::filesystem::path& folder);

/// The names of a batch's documents in its folder.
struct BatchFiles {
  std::string results;
  std::string summary;
  std::string page;
  std::string predictions;  ///< "" for none
};
BatchFiles batch_files(const BatchFolder& folder, const std::string& predictions);

/// Adds the end of a run to the results.
/// @throws Error  environment
void append_result(const BatchRow& row, const std::filesystem::path& results);

/// Writes results, reports and predictions.
void write_batch_files(const BatchStory& story, const std::filesystem::path& folder,
                       const BatchFiles& files);

/// Tells the CI system: notes of runs that failed, the step's outputs and its summary.
/// @param folder  of the batch
void tell_ci(const BatchStory& story, const std::filesystem::path& folder, const BatchFiles& files,
             bool quiet);

/// "sortie: STATUS (CODE): cause; next: …; see DIR/summary.md"
std::string batch_last_line(const BatchEnd& end, const std::filesystem::path& summary);

}  // namespace sortie

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/batch/batch_job.h"

namespace sortie {

/// Which checkouts are still needed: the tree of a commit goes with the last run that needs it. Another
/// start of the batch makes it again.
class CheckoutUse {
 public:
  /// @param folder  of all checkouts
  CheckoutUse(const std::vector<BatchJob>& jobs, std::filesystem::path folder);
  /// The run needs its checkout no more.
  void release(const BatchRun& run);

 private:
  std::filesystem::path folder_;
  std::map<std::string, int> runs_;  ///< by the checkout's name
};

}  // namespace sortie

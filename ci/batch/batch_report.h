#pragma once

#include <string>
#include <vector>

#include "ci/batch/batch_row.h"

namespace sortie {

/// A batch as its reports show it.
struct BatchStory {
  std::string name{};   ///< the manifest's file name
  std::string shard{};  ///< "2/4"; "" for a whole batch
  BatchEnd end{};
  std::vector<BatchRow> rows{};
};

/// summary.md: the cause, the totals, and a table with what failed first, as far as it has room.
/// Commands of CI systems in it are disabled.
std::string batch_summary(const BatchStory& story);

/// report.html: one file that loads nothing. It links to each run's own report, by a relative path.
std::string batch_page(const BatchStory& story);

}  // namespace sortie

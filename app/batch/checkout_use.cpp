#include "app/batch/checkout_use.h"

#include <system_error>
#include <utility>

#include "app/batch/checkout.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

std::string checkout_of(const BatchRun& run) {
  return Checkout{.git = run.git, .commit = run.commit, .depth = run.depth}.name();
}

}  // namespace

CheckoutUse::CheckoutUse(const std::vector<BatchJob>& jobs, std::filesystem::path folder)
    : folder_(std::move(folder)) {
  for (const BatchJob& job : jobs)
    if (!job.run->git.empty()) ++runs_[checkout_of(*job.run)];
}

void CheckoutUse::release(const BatchRun& run) {
  if (run.git.empty()) return;
  const std::string name = checkout_of(run);
  if (--runs_[name] > 0) return;
  std::error_code error;
  std::filesystem::remove(folder_ / ("." + name + ".commit"), error);
  remove_tree(folder_ / name);
}

}  // namespace sortie

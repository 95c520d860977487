#include "app/inputs/rate_limits_choice.h"

#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/rates/boot_time.h"
#include "core/rates/rate_state_file.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

fs::path real(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(fs::absolute(path), error);
  return error ? fs::absolute(path).lexically_normal() : found;
}

}  // namespace

std::optional<RateLimits> check_rate_limits(const RunInputs& inputs, const RunOptions& options) {
  if (options.rate_limits.empty()) return std::nullopt;
  RateLimits limits = load_rate_limits(options.rate_limits);
  if (replays(inputs)) return limits;
  const fs::path state = real(limits.state);
  std::string why;
  if (!options.out.empty() && path_below(state, real(options.out)))
    why = "lies in --out, whose files are one run's own";
  // The diff of such a run is made of what its commands see, which is not the state itself.
  else if (inputs.task.workspace.isolation == Isolation::none &&
           path_below(state, inputs.workspace))
    why = "lies in the workspace, where this run works itself (isolation none)";
  if (!why.empty())
    throw InputError("--rate-limits " + path_text(options.rate_limits) + ": its state " +
                     path_text(limits.state) + " " + why + "; name a file elsewhere with 'state'");
  const SystemBootTime time;
  SystemClock clock;
  const RateStateFile opened(
      {.path = limits.state, .owner = limits.owner, .time = time, .clock = clock});
  return limits;
}

}  // namespace sortie

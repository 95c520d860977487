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
  if (!options.out.empty() && path_below(real(limits.state), real(options.out)))
    throw InputError("--rate-limits " + path_text(options.rate_limits) + ": its state " +
                     path_text(limits.state) +
                     " lies in --out, whose files are one run's own; name a file elsewhere with "
                     "'state'");
  const SystemBootTime time;
  SystemClock clock;
  const RateStateFile opened(
      {.path = limits.state, .owner = limits.owner, .time = time, .clock = clock});
  return limits;
}

}  // namespace sortie

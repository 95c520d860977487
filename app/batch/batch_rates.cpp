#include "app/batch/batch_rates.h"

#include "core/files/files.h"
#include "core/rates/rate_limits.h"

namespace sortie {

std::filesystem::path rate_limits_of(const Manifest& manifest, const std::filesystem::path& state) {
  if (!manifest.rate_limits_file.empty()) return manifest.rate_limits_file;
  if (manifest.rate_limits.empty()) return {};
  std::filesystem::path file = state / "rate-limits.yaml";
  write_file(file, rate_limits_text("rates", manifest.rate_limits), 0644);
  return file;
}

}  // namespace sortie

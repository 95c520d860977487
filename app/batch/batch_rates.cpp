#include "app/batch/batch_rates.h"

#include <string>

#include "core/files/files.h"
#include "core/json/json.h"

namespace sortie {

/// JSON strings are YAML's, too.
std::filesystem::path rate_limits_of(const Manifest& manifest, const std::filesystem::path& state) {
  if (!manifest.rate_limits_file.empty()) return manifest.rate_limits_file;
  if (manifest.rate_limits.empty()) return {};
  std::string text =
      "version: 1\nstate: " + write_json(Json((state / "rates").string())) + "\nproviders:\n";
  for (const auto& [provider, limit] : manifest.rate_limits) {
    text += "  " + write_json(Json(provider)) + ": {";
    if (limit.requests) text += "requests: " + std::to_string(*limit.requests);
    if (limit.requests && limit.tokens) text += ", ";
    if (limit.tokens) text += "tokens: " + std::to_string(*limit.tokens);
    text += "}\n";
  }
  const std::filesystem::path file = state / "rate-limits.yaml";
  write_file(file, text, 0644);
  return file;
}

}  // namespace sortie

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/fields.h"
#include "core/host/url.h"
#include "core/json/json.h"
#include "core/rates/rate_bucket.h"

namespace sortie {

/// What one provider, or one server, allows in a minute.
struct ProviderRate {
  std::string name;                          ///< "openai", or an origin: "https://host:8443"
  std::optional<std::int64_t> requests{};    ///< nothing: any number
  std::optional<std::int64_t> tokens{};      ///< of input and output; nothing: any number
  std::chrono::milliseconds window{60'000};  ///< the time over which the server counts
  bool operator==(const ProviderRate&) const = default;
};

/// The file of --rate-limits.
struct RateLimits {
  std::filesystem::path file;   ///< absolute
  std::filesystem::path state;  ///< absolute: what all runs share
  std::optional<uid_t> owner;   ///< of the file
  std::vector<ProviderRate> limits;

  /// The limits of a server: those named by its origin, else by the provider; null for none.
  const ProviderRate* find(std::string_view provider, const Url& server) const;
};

/// "https://host:8443": scheme, host and, if it is not the scheme's own, port.
std::string origin_of(const Url& url);

/// What may be sent in each window.
RatePace pace_of(const ProviderRate& limit);

inline constexpr const char* kRateStateEnding = ".state";

/// Reads a file of limits. Its state is by default beside it, named as it with kRateStateEnding.
/// @throws InputError  all findings: "FILE:LINE:COLUMN: error: …"
RateLimits load_rate_limits(const std::filesystem::path& file);

/// The value of `providers` in such a file, for other files that have limits.
FieldValue provider_rates_value(std::vector<ProviderRate>& target);

/// A whole file of these limits, as load_rate_limits() reads it.
/// @param state  absolute, or relative to the file's folder
std::string rate_limits_text(const std::filesystem::path& state,
                             const std::vector<ProviderRate>& limits);

/// JSON Schema (draft 2020-12) of the file, from the table by which it is read.
Json rate_limits_schema();

}  // namespace sortie

#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "core/model/failure.h"
#include "core/net/http.h"

namespace sortie {

/// A credential that can change while a run lasts, such as a sign-in whose tokens expire. A plain
/// API key needs none: it stands in the headers that do not change.
///
/// HttpModel calls prepare() before each try, sends headers() with it, and tells of a 401 or 403 by
/// refused(). Nothing else may send what headers() returns, and that to the endpoint's host alone.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  /// Makes headers() good for a request: does nothing mostly, refreshes what is too old or was
  /// refused. Heeds deadline and stop request as a request to the model does.
  /// @return  why there are none: a transient failure is tried again as any other, by the same
  ///          limits; one that is not ends the model, mostly with ExitCode::auth
  /// @throws Stopped  when a stop was requested
  virtual std::optional<ModelFailure> prepare(std::chrono::steady_clock::time_point deadline,
                                              std::stop_token stop) = 0;
  virtual HttpHeaders headers() const = 0;
  /// The server does not take these headers. True where prepare() may get others: then the request
  /// is sent once more, which counts as no retry.
  virtual bool refused() = 0;
  /// What the account has paid for, "plus", as far as known; "" else. For the message about a usage
  /// limit, where the provider's own words have no plan.
  virtual std::string plan() const = 0;
};

}  // namespace sortie

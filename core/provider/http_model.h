#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/clock.h"
#include "core/model/failure.h"
#include "core/model/model.h"
#include "core/model/wire.h"
#include "core/net/http.h"
#include "core/net/retry.h"
#include "core/provider/cassette.h"
#include "core/provider/provider.h"
#include "core/provider/request_body.h"

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

struct HttpModelOptions {
  Endpoint endpoint{};
  HttpHeaders headers{};                   ///< request_headers()
  CredentialSource* credential = nullptr;  ///< whose headers come with these; null: none
  HttpLimits limits{};
  int retries = 5;  ///< of one request
  int retries_of_run = 20;
  int* retries_left = nullptr;       ///< of the run, where its models share them; else its own
  bool stop_repetition = false;      ///< ends a stream whose text goes round in circles
  std::function<double()> random{};  ///< in [0, 1); "" is a seeded generator
  Recording* recording = nullptr;    ///< gets every complete response
};

/// A provider reached over HTTP: encodes, sends, decodes, tries again.
class HttpModel : public Model {
 public:
  HttpModel(const Wire& wire, Http& http, Clock& clock, HttpModelOptions options);
  Response ask(const Request& request, StreamSink& stream,
               std::chrono::steady_clock::time_point deadline, std::stop_token stop) override;

 private:
  static ModelError out_of_time();
  std::string plan_of(const ModelFailure& failure) const;
  void record_stream(const HttpHead& head, std::string text);
  void wait(const ModelFailure& failure, int attempt,
            std::chrono::steady_clock::time_point deadline, StreamSink& stream,
            const std::stop_token& stop);

  const Wire& wire_;
  Http& http_;
  Clock& clock_;
  HttpModelOptions options_;
  RequestBody body_;
  int own_retries_left_;
  int& retries_left_;
};

}  // namespace sortie

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
#include "core/provider/request_pacer.h"

namespace sortie {

/// A credential that can change during a run, such as a sign-in whose tokens expire. A plain API
/// key needs none: it is one of the fixed headers.
///
/// HttpModel calls prepare() before each attempt, sends headers() with it, and reports a 401 or 403
/// by refused(). Only HttpModel may send these headers, and only to the endpoint's host.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  /// Makes headers() valid for a request: refreshes tokens that are old or were refused. Observes
  /// deadline and stop request like a request to the model.
  /// @return  the failure, if any: a transient one is retried with the same limits as any other;
  ///          another one ends the model, mostly with ExitCode::auth
  /// @throws Stopped  if a stop was requested
  virtual std::optional<ModelFailure> prepare(std::chrono::steady_clock::time_point deadline,
                                              std::stop_token stop) = 0;
  virtual HttpHeaders headers() const = 0;
  /// The server refused these headers. Returns whether prepare() may get others: the request is
  /// then sent again, which does not count as a retry.
  virtual bool refused() = 0;
  /// The account's plan, such as "plus", or "" if it is unknown. For messages about a usage limit,
  /// if the provider does not name the plan.
  virtual std::string plan() const = 0;
};

struct HttpModelOptions {
  Endpoint endpoint{};
  HttpHeaders headers{};                   ///< request_headers()
  CredentialSource* credential = nullptr;  ///< adds its headers; null: none
  HttpLimits limits{};
  int retries = 5;  ///< of one request
  int retries_of_run = 20;
  int* retries_left = nullptr;       ///< a counter shared by the run's models; null: its own
  bool stop_repetition = false;      ///< ends a stream whose text repeats itself
  std::function<double()> random{};  ///< in [0, 1); empty: a seeded generator
  Recording* recording = nullptr;    ///< gets every complete response
  RequestPacer* pacer = nullptr;     ///< says when each attempt may go out; null: at once
};

/// A model reached over HTTP: encodes, sends, decodes, retries.
class HttpModel : public Model {
 public:
  HttpModel(const Wire& wire, Http& http, Clock& clock, HttpModelOptions options);
  Response ask(const Request& request, StreamSink& stream,
               std::chrono::steady_clock::time_point deadline, std::stop_token stop) override;

 private:
  static ModelError out_of_time();
  ModelError cut_off_by_budget(const ModelFailure& failure,
                               std::chrono::steady_clock::duration waited) const;
  void wait_for_turn(PacedRequest& paced, std::chrono::steady_clock::time_point deadline,
                     StreamSink& stream, const std::stop_token& stop) const;
  std::string tries_text(int attempt) const;
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

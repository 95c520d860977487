#pragma once

#include <functional>

#include "core/base/clock.h"
#include "core/model/model.h"
#include "core/model/wire.h"
#include "core/net/http.h"
#include "core/net/retry.h"
#include "core/provider/cassette.h"
#include "core/provider/credential_source.h"
#include "core/provider/provider.h"
#include "core/provider/request_body.h"

namespace sortie {

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

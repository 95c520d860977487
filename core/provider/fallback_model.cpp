#include "core/provider/fallback_model.h"

#include <utility>

namespace sortie {

namespace {

/// Converts indexes of items in a request to indexes in the whole history.
class WholeHistory : public StreamSink {
 public:
  WholeHistory(StreamSink& next, const PortableItems& portable)
      : next_(next), portable_(portable) {}
  void on_request(const RequestRecord& request, int attempt) override {
    RequestRecord whole = request;
    whole.first_new_item = portable_.origin(request.first_new_item);
    next_.on_request(whole, attempt);
  }
  void on_cut_off(int attempt, std::uint64_t lost_bytes) override {
    next_.on_cut_off(attempt, lost_bytes);
  }
  void on_retry(const RetryRecord& retry) override { next_.on_retry(retry); }
  void on_wait(const PacedWait& wait) override { next_.on_wait(wait); }
  void on_fallback(const FallbackRecord& fallback) override { next_.on_fallback(fallback); }

 private:
  StreamSink& next_;
  const PortableItems& portable_;
};

/// Whether another model may take over after this failure: the provider can't be reached, its quota
/// is exhausted, it rejects our key, or it does not know the model. A request that was read and
/// refused (its content, its length) would be refused elsewhere too, or people should see it.
bool allows_fallback(const ModelError& error) {
  switch (error.code()) {
    case ExitCode::unavailable:
    case ExitCode::limited:
    case ExitCode::auth:
      return true;
    default:
      return error.kind() == "unknown_model";
  }
}

}  // namespace

FallbackModel::FallbackModel(std::vector<Candidate> candidates)
    : candidates_(std::move(candidates)), portable_(candidates_.front().source) {}

Response FallbackModel::ask(const Request& request, StreamSink& stream,
                            std::chrono::steady_clock::time_point deadline, std::stop_token stop) {
  for (;;) {
    try {
      Response response = ask_active(request, stream, deadline, stop);
      response.source = candidates_[active_].source;
      for (Item& item : response.items) item.source = response.source;
      return response;
    } catch (const ModelError& error) {
      if (!allows_fallback(error)) throw;
      if (active_ + 1 == candidates_.size()) throw all_failed(error);
      hand_over(error, request, stream);
    }
  }
}

Response FallbackModel::ask_active(const Request& request, StreamSink& stream,
                                   std::chrono::steady_clock::time_point deadline,
                                   std::stop_token stop) {
  const Candidate& active = candidates_[active_];
  // So far only the first model has answered: nothing needs converting.
  if (active_ == 0 && !active.settings)
    return active.model->ask(request, stream, deadline, std::move(stop));
  const ModelSettings settings =
      active.settings ? active.settings(request.settings) : request.settings;
  const auto& items = portable_.update(request.items, request.epoch);
  WholeHistory whole(stream, portable_);
  return active.model->ask(
      {settings, items, request.epoch, request.may_repeat, request.estimated_input}, whole,
      deadline, std::move(stop));
}

void FallbackModel::hand_over(const ModelError& error, const Request& request, StreamSink& stream) {
  const std::string from = candidates_[active_].name;
  failures_.push_back(from + ": " + error.what());
  const Candidate& next = candidates_[++active_];
  portable_ = PortableItems(next.source, next.takes_images);
  portable_.update(request.items, request.epoch);
  stream.on_fallback({.from = from,
                      .to = next.name,
                      .reason = error.what(),
                      .source = next.source,
                      .dropped = portable_.dropped(),
                      .dropped_images = portable_.dropped_images()});
}

ModelError FallbackModel::all_failed(const ModelError& last) const {
  if (candidates_.size() == 1) return last;
  std::string text = "all models of the run have failed";
  for (const auto& failure : failures_) text += "; " + failure;
  text += "; " + candidates_[active_].name + ": " + last.what();
  return {text, last.code(), last.kind(), last.retry_after()};
}

}  // namespace sortie

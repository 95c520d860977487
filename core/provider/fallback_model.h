#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/provider/request_body.h"

namespace sortie {

/// The run's models: once the current one has failed permanently, the next takes over with the same
/// history, for the rest of the run.
class FallbackModel : public Model {
 public:
  struct Candidate {
    std::string name;  ///< for people: "openai gpt-5-codex"
    std::unique_ptr<Model> model;
    int source = 0;  ///< see Item::source
    /// Converts a request's settings for this model; empty: no change.
    std::function<ModelSettings(const ModelSettings&)> settings{};
    bool takes_images = true;  ///< if not, the history's images are left out
  };
  /// @param candidates  at least one; the first is asked as long as it answers
  explicit FallbackModel(std::vector<Candidate> candidates);

  /// @throws ModelError  if all models have failed: the last error, with the failure of each
  Response ask(const Request& request, StreamSink& stream,
               std::chrono::steady_clock::time_point deadline, std::stop_token stop) override;

 private:
  Response ask_active(const Request& request, StreamSink& stream,
                      std::chrono::steady_clock::time_point deadline, std::stop_token stop);
  void hand_over(const ModelError& error, const Request& request, StreamSink& stream);
  ModelError all_failed(const ModelError& last) const;

  std::vector<Candidate> candidates_;
  std::size_t active_ = 0;
  PortableItems portable_;             ///< the history for the active model, unless it is the first
  std::vector<std::string> failures_;  ///< of the models before it
};

}  // namespace sortie

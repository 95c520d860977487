#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/provider/portable_items.h"

namespace sortie {

/// Whether another model may do where this failure is for good: the provider can't be reached, has
/// no more for us, does not know our key or the model. What it has read and refused (the request
/// itself, its content, its length) would be refused elsewhere too, or ought to be seen by people.
bool hands_over(const ModelError& error);

/// A run's models in turn: once the one at work has failed for good, the next takes over with the
/// same history, and stays.
class FallbackModel : public Model {
 public:
  struct Candidate {
    std::string name;  ///< for people: "openai gpt-5-codex"
    std::unique_ptr<Model> model;
    int source = 0;  ///< see Item::source
    /// A request's settings as they are for this model; "" leaves them as they are.
    std::function<ModelSettings(const ModelSettings&)> settings{};
    bool takes_images = true;  ///< else those of the history are left out for it
  };
  /// @param candidates  at least one; the first is asked as long as it answers
  explicit FallbackModel(std::vector<Candidate> candidates);

  /// @throws ModelError  of the last model, naming what became of each, where all have failed
  Response ask(const Request& request, StreamSink& stream,
               std::chrono::steady_clock::time_point deadline, std::stop_token stop) override;

 private:
  Response ask_active(const Request& request, StreamSink& stream,
                      std::chrono::steady_clock::time_point deadline, std::stop_token stop);
  void hand_over(const ModelError& error, const Request& request, StreamSink& stream);
  ModelError all_failed(const ModelError& last) const;

  std::vector<Candidate> candidates_;
  std::size_t active_ = 0;
  PortableItems carried_;              ///< for the active one, unless it is the first
  std::vector<std::string> failures_;  ///< of those before it
};

}  // namespace sortie

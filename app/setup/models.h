#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/inputs/auth_file_choice.h"
#include "app/inputs/inputs.h"
#include "app/inputs/options.h"
#include "app/inputs/provider_choice.h"
#include "app/inputs/run_inputs.h"
#include "app/setup/run_rates.h"
#include "core/base/clock.h"
#include "core/model/model.h"
#include "core/model/wire.h"
#include "core/net/proxy.h"
#include "core/provider/cassette.h"
#include "core/provider/http_model.h"
#include "core/secrets/redact.h"

namespace sortie {

/// The keys of the run's models: the task's own, then those of `fallback`.
struct ModelKeys {
  struct Key {
    std::string variable{};              ///< the environment variable that may hold it
    std::optional<std::string> value{};  ///< nothing if none is needed
    std::string missing{};               ///< why the model can't be used; "" if it can
  };
  std::vector<Key> keys{};
  HttpHeaders headers{};              ///< more of the first model's, which carry credentials
  std::vector<Secret> of_requests{};  ///< what they and its query hold
};

/// Reads the keys and secret headers of model_choices() and erases their variables, and those of all known providers.
/// File and descriptor are for the first model. A model without its key is skipped; if all are, the
/// run ends. None for replay.
/// @throws Error  usage: a key may not be sent to its model's host; auth
ModelKeys take_model_keys(const RunInputs& inputs, const RunOptions& options);

/// Makes TLS ready for connect_to_model(), in a thread that has nothing of the run. No future where none
/// is needed.
std::future<void> prepare_model_tls(const RunInputs& inputs, const RunOptions& options);

/// A client that begins to connect to the first model's server, while the sandbox is proved: no request
/// is sent, and nothing of the run. Null where no request will go there first.
std::shared_ptr<Http> connect_to_model(const RunInputs& inputs, const RunOptions& options,
                                       const ModelKeys& keys, const ProxySettings& proxy);

/// Copies the task's settings of a model to a request's settings.
void apply_model(const TaskModel& model, ModelSettings& settings);

/// The models of a run, each with its own wire format and address, tried one after another.
class RunModels {
 public:
  struct Parts {
    const RunInputs& inputs;
    const RunOptions& options;
    const ModelKeys& keys;
    const ProxySettings& proxy;
    const Redactor& redactor;
    Clock& clock;
    const std::optional<RunSignIn>& sign_in;  ///< for the first model
    const std::shared_ptr<Http>& connected;   ///< taken for the first model; may be null
    std::stop_token stop;  ///< ends waits for the lock of a state that runs share
    std::function<void(const std::string&)> warn;  ///< gets warnings of it
    /// The system prompt for a model, made anew for each request.
    std::function<std::string(const TaskModel&)> instructions;
  };
  explicit RunModels(const Parts& parts);
  ~RunModels();

  Model& model() noexcept { return *model_; }
  /// For the operator: fallbacks that are left out.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  std::unique_ptr<Model> reach(const Parts& parts, const ModelChoice& choice,
                               const ModelKeys::Key& key, std::size_t source);

  std::vector<std::unique_ptr<Wire>> wires_;
  std::vector<std::shared_ptr<Http>> https_;
  std::unique_ptr<SignIn> sign_in_;
  std::unique_ptr<RunRates> rates_;
  std::unique_ptr<Recording> recording_;
  int retries_left_;
  std::unique_ptr<Model> model_;
  std::vector<std::string> notes_;
};

}  // namespace sortie

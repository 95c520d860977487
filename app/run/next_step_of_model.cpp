#include "app/run/next_step_of_model.h"

#include <chrono>
#include <vector>

#include "app/inputs/provider_choice.h"
#include "core/base/clock.h"
#include "core/catalog/known_models.h"
#include "core/model/failure.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Where the key comes from: "--api-key-file k", "the variable OPENAI_API_KEY".
std::string key_source(const EndFacts& facts) {
  const RunOptions& options = facts.options;
  if (signs_in(facts.inputs)) return "--auth-file " + one_line(options.auth_file, 100);
  if (options.api_key_fd) return "--api-key-fd " + std::to_string(*options.api_key_fd);
  if (!options.api_key_file.empty()) return "--api-key-file " + one_line(options.api_key_file, 100);
  const auto choices = model_choices(facts.inputs, options);
  if (choices.empty() || choices.front().key_variable.empty()) return "the provider's variable";
  return "the variable " + choices.front().key_variable;
}

/// Where the address of the model's server is to be corrected: "the variable OPENAI_BASE_URL".
std::string address_source(const EndFacts& facts) {
  if (!facts.inputs.task.model.fallback.empty()) return "base_url of that model in the task";
  if (facts.inputs.thread != nullptr) return "--base-url, or what -c says of its provider";
  if (!facts.options.base_url.empty()) return "--base-url";
  const auto choices = model_choices(facts.inputs, facts.options);
  const std::string variable = !own_variable("SORTIE_BASE_URL").empty() ? "SORTIE_BASE_URL"
                               : choices.empty()                        ? ""
                                                 : choices.front().endpoint.named_by;
  return variable.empty() ? "model.base_url in the task, or --base-url"
                          : "the variable " + variable;
}

}  // namespace

std::string after_auth(const EndFacts& facts) {
  if (facts.kind == "proxy_auth")
    return "put the proxy's user and password into " + facts.inputs.proxy_variable;
  if (facts.kind.empty() && facts.result.reason.starts_with("no API key")) {
    const auto choices = model_choices(facts.inputs, facts.options);
    const std::string variable = choices.empty() ? "" : choices.front().key_variable;
    return variable.empty() ? "give the run its key by " + key_source(facts)
                            : "export " + variable +
                                  "=… (in CI a secret of the job, handed on as that variable)";
  }
  return "check the key of " + key_source(facts) +
         "; 'sortie doctor' shows which address it is for, and where it may go";
}

std::string after_refusal(const EndFacts& facts) {
  const std::string& model = facts.inputs.task.model.name;
  if (facts.kind == "unknown_model") {
    std::vector<std::string> names;
    for (const auto& row : known_models().rows)
      names.insert(names.end(), row.names.begin(), row.names.end());
    const std::string nearest = nearest_name(model, names);
    return "correct model.name in the task or -m" +
           (nearest.empty() || nearest == model ? "" : " (did you mean '" + nearest + "'?)") +
           ", or check that the account may use it";
  }
  if (facts.kind == "content_filter")
    return "word the task differently, or name another model with -m";
  if (facts.kind == "invalid_request")
    return "change what the provider refuses: keys of 'model' in the task, or -m, --base-url";
  if (facts.kind == "pin")
    return "name the model that answered, if it may: model.name in the task or -m; or leave out "
           "model.pin, and any model that the provider serves for the name will do";
  if (facts.kind == "redirect")
    return "correct the address of the model's server: " + address_source(facts);
  if (facts.kind == kImageRefused && !facts.inputs.task.images.empty())
    return "give the task's image as a PNG or JPEG that the model takes, leave the image out, or "
           "name another model with -m";
  if (replays(facts.inputs))
    return "record the task again with --record, or run it with a provider";
  return "run it again with another model (-m), or split the task into smaller ones";
}

std::string after_limit(const EndFacts& facts) {
  const auto& after = facts.result.retry_after;
  if (!retryable_by(facts).value_or(true))
    return "check plan and billing of the account of " + key_source(facts) +
           "; waiting alone won't help";
  if (!after) return "the same command again later";
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(*after);
  return "the same command again in " + std::to_string(seconds.count()) + " s, after " +
         utc_timestamp(std::chrono::system_clock::now() + seconds).substr(0, 19) + "Z";
}

std::string after_unavailable(const EndFacts& facts) {
  if (facts.kind == "connect" && says_certificate_refused(facts.result.reason))
    return "name a file with the certificate of the server's authority in SSL_CERT_FILE, or correct the "
           "address of the model's server: " +
           address_source(facts);
  const auto choices = model_choices(facts.inputs, facts.options);
  if (facts.kind == "connect" && !choices.empty() && choices.back().endpoint.base.is_loopback())
    return "start the server at " + choices.back().endpoint.base.authority() +
           ", and run the same command again";
  return "the same command again later, or another server by model.fallback or --base-url";
}

}  // namespace sortie

#include "app/provider_choice.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "app/confinement.h"
#include "core/base/error.h"
#include "core/model/credentials.h"

namespace sortie {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string either(const char* upper, const char* lower) {
  const std::string value = variable(upper);
  return value.empty() ? variable(lower) : value;
}

void check_key_sources(const RunInputs& inputs, const RunOptions& options) {
  if (const auto number = options.api_key_fd) {
    // Later the number could be that of a file of our own.
    if (::fcntl(*number, F_GETFD) == -1)
      throw InputError("--api-key-fd " + std::to_string(*number) + ": " + errno_text(errno));
  } else if (!options.api_key_file.empty()) {
    const std::string flag = "--api-key-file " + options.api_key_file;
    if (::access(options.api_key_file.c_str(), R_OK) != 0)
      throw InputError(flag + ": " + errno_text(errno));
    std::error_code error;
    const auto real = std::filesystem::canonical(options.api_key_file, error);
    if (!error && is_within(real, inputs.workspace))
      throw InputError(flag + ": lies in the workspace, where commands can read it; keep it " +
                       "elsewhere");
  }
}

}  // namespace

bool replays(const RunInputs& inputs) { return inputs.task.model.provider == "replay"; }

Endpoint endpoint_of(const RunInputs& inputs, const RunOptions& options) {
  return choose_endpoint({.flag = options.base_url,
                          .environment = variable("SORTIE_BASE_URL"),
                          .task = inputs.task.model.base_url});
}

ProxySettings proxy_of_environment() {
  std::string proxy = either("HTTPS_PROXY", "https_proxy");
  if (proxy.empty()) proxy = either("ALL_PROXY", "all_proxy");
  return {proxy, either("NO_PROXY", "no_proxy")};
}

void check_provider(const RunInputs& inputs, const RunOptions& options) {
  if (replays(inputs)) {
    if (!options.record.empty())
      throw InputError("--record: the responses come from a recording already");
    return;
  }
  proxy_for(proxy_of_environment(), endpoint_of(inputs, options).base);
  request_headers("", "", inputs.task.model.headers);
  check_key_sources(inputs, options);
}

std::string key_variable(const RunInputs& inputs) {
  const std::string& named = inputs.task.model.api_key_env;
  return named.empty() ? KeySources{}.variable : named;
}

std::optional<std::string> take_key(const RunInputs& inputs, const RunOptions& options) {
  KeySources sources;
  sources.variable = key_variable(inputs);
  if (replays(inputs)) {
    take_environment_key(sources.variable);  // not needed, so not kept either
    return std::nullopt;
  }
  sources.file = options.api_key_file;
  sources.descriptor = options.api_key_fd;
  return find_api_key(sources, endpoint_of(inputs, options), inputs.policy.credentials);
}

}  // namespace sortie

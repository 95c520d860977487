#include "app/inputs/auth_file_choice.h"

#include "app/inputs/provider_choice.h"
#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/provider/sign_in/credentials.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// A refresh replaces the file, and the mount that hides the old file from commands does not hide
/// the new one (rename(2)). So the file must not be in a folder that they can see.
void keep_out_of_sight(const fs::path& file, const SandboxProfile& profile) {
  if (profile.mode == SandboxMode::none) return;  // nothing is hidden there
  std::vector<fs::path> seen = {"/usr", "/etc", "/opt"};
  for (const auto* folders : {&profile.readable, &profile.writable, &profile.toolchains})
    seen.insert(seen.end(), folders->begin(), folders->end());
  const fs::path real = fs::canonical(file);
  for (const fs::path& folder : seen) {
    std::error_code error;
    if (is_below(real, fs::weakly_canonical(folder, error)))
      throw Error("--auth-file " + path_text(file) + ": lies in " + path_text(folder) +
                      ", which commands may read, and a refresh would show it to them; keep it "
                      "elsewhere",
                  ExitCode::usage);
  }
}

}  // namespace

std::optional<AuthFileSummary> check_auth_file(const RunInputs& inputs, const RunOptions& options) {
  if (options.auth_file.empty()) return std::nullopt;
  if (options.api_key_fd || !options.api_key_file.empty())
    throw InputError(std::string("--auth-file and --api-key-") +
                     (options.api_key_fd ? "fd" : "file") + ": give one of them, not both");
  if (replays(inputs)) return std::nullopt;
  const std::string flag = "--auth-file " + options.auth_file;
  const std::string& provider = inputs.task.model.provider;
  if (provider != "openai" && provider != "openai-chat")
    throw InputError(flag + ": provider " + provider + " has no such sign-in; only openai has");
  AuthFileSummary summary = summarize_auth_file(options.auth_file);
  if (summary.is_sign_in && provider != "openai")
    throw InputError(flag + ": a sign-in is for provider openai, not " + provider +
                     "; give a key for that one");
  refresh_address(own_variable("SORTIE_AUTH_URL"));
  return summary;
}

std::optional<RunSignIn> take_sign_in(const RunInputs& inputs, const RunOptions& options,
                                      const SandboxProfile& profile) {
  if (!signs_in(inputs)) return std::nullopt;
  // The bounds were checked before; check what is about to be sent once more.
  const Endpoint endpoint = model_choices(inputs, options).front().endpoint;
  if (!key_may_go(kSignInCredential, endpoint, inputs.policy.credentials))
    throw Error(std::string("the policy does not let ") + kSignInCredential + " go to " +
                    endpoint.base.authority(),
                ExitCode::usage);
  keep_out_of_sight(options.auth_file, profile);
  RunSignIn sign_in;
  sign_in.options.file = fs::absolute(options.auth_file);
  sign_in.options.address = refresh_address(own_variable("SORTIE_AUTH_URL"));
  sign_in.file = read_auth_file(open_auth_file(options.auth_file), options.auth_file);
  if (!sign_in.file.is_sign_in())
    throw Error("auth file " + path_text(options.auth_file) + ": was signed out just now",
                ExitCode::auth);
  return sign_in;
}

std::string take_key_of_auth_file(const RunOptions& options) {
  const AuthFile file = read_auth_file(open_auth_file(options.auth_file), options.auth_file);
  if (file.is_sign_in())
    throw Error("auth file " + path_text(options.auth_file) + ": was signed in just now",
                ExitCode::auth);
  return file.api_key;
}

}  // namespace sortie

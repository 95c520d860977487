#pragma once

#include <optional>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "core/provider/sign_in/auth_file.h"
#include "core/provider/sign_in/sign_in.h"
#include "core/secrets/redact.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// A run's sign-in, and what is needed to refresh it.
struct RunSignIn {
  AuthFile file;
  SignInOptions options;
};

/// Checks --auth-file, without reading its secrets yet.
/// @throws InputError  with another source of a key, for a provider without such a sign-in,
///                     unreadable, or not an auth file
std::optional<AuthFileSummary> check_auth_file(const RunInputs& inputs, const RunOptions& options);

/// Reads the sign-in, if one is used.
/// @param profile  of the commands, which must not see the file
/// @throws Error  usage, auth
std::optional<RunSignIn> take_sign_in(const RunInputs& inputs, const RunOptions& options,
                                      const SandboxProfile& profile);

/// The key of an --auth-file that is not a sign-in.
std::string take_key_of_auth_file(const RunOptions& options);

}  // namespace sortie

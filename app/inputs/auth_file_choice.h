#pragma once

#include <optional>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "core/provider/sign_in/auth_file.h"
#include "core/provider/sign_in/sign_in.h"
#include "core/secrets/redact.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// A sign-in of a run, and what a refresh of it needs.
struct RunSignIn {
  AuthFile file;
  SignInOptions options;
};

/// Looks at --auth-file, as far as it can be before a secret may be read.
/// @throws InputError  beside another source of a key, for a provider that takes no such file,
///                     unreadable, or none
std::optional<AuthFileSummary> check_auth_file(const RunInputs& inputs, const RunOptions& options);

/// Reads the sign-in, where it is one that is used.
/// @param profile  what commands see: the file must be out of their sight
/// @throws Error  usage, auth
std::optional<RunSignIn> take_sign_in(const RunInputs& inputs, const RunOptions& options,
                                      const SandboxProfile& profile);

/// The key of an --auth-file that is no sign-in.
std::string take_key_of_auth_file(const RunOptions& options);

}  // namespace sortie

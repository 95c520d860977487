#pragma once

#include <optional>

#include "app/inputs/inputs.h"
#include "core/provider/sign_in/auth_file.h"
#include "core/provider/sign_in/sign_in.h"
#include "core/secrets/redact.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// Where requests go by default with a sign-in.
inline constexpr const char* kSignInBase = "https://chatgpt.com/backend-api/codex";

/// A sign-in of a run, and what a refresh of it needs.
struct RunSignIn {
  AuthFile file;
  SignInOptions options;
};

/// Looks at --auth-file, as far as it can be before a secret may be read.
/// @throws InputError  beside another source of a key, for a provider that takes no such file,
///                     unreadable, or none
std::optional<AuthFileSummary> check_auth_file(const RunInputs& inputs, const RunOptions& options);

/// Whether the task's own model is asked in the name of a sign-in, rather than with a key.
bool signs_in(const RunInputs& inputs);

/// Reads the sign-in, where it is one that is used.
/// @param profile  what commands see: the file must be out of their sight
/// @throws Error  usage, auth
std::optional<RunSignIn> take_sign_in(const RunInputs& inputs, const RunOptions& options,
                                      const SandboxProfile& profile);

/// The key of an --auth-file that is no sign-in.
std::string take_key_of_auth_file(const RunOptions& options);

}  // namespace sortie

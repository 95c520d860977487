#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fd.h"
#include "core/json/json.h"
#include "core/secrets/redact.h"

namespace sortie {

/// Claims of a JSON web token of ChatGPT. The signature is not verified: they are only shown.
struct TokenClaims {
  std::string plan;        ///< chatgpt_plan_type of "https://api.openai.com/auth"
  std::string account_id;  ///< chatgpt_account_id of the same
  std::optional<std::chrono::system_clock::time_point> expires;  ///< exp (RFC 7519 §4.1.4)
};

/// Empty if the text is not such a token.
TokenClaims read_claims(std::string_view token);

/// The maximum size of a token. Real ones have a few KiB; all output is searched for them.
inline constexpr std::size_t kMaxTokenBytes = 16u << 10;

/// The tokens of a sign-in with ChatGPT.
struct SignInTokens {
  std::string id;       ///< a JSON web token that names the account
  std::string access;   ///< sent with each request
  std::string refresh;  ///< gets new tokens, once; "" for none
};

/// An auth.json as the codex CLI writes it:
///
///     {"OPENAI_API_KEY": null | "sk-…",
///      "tokens": {"id_token": "…", "access_token": "…", "refresh_token": "…", "account_id": "…"},
///      "last_refresh": "2026-11-21T03:14:15.926Z"}
///
/// Other members are preserved. A file with tokens is a sign-in, even if it also has a key.
struct AuthFile {
  using Time = std::chrono::system_clock::time_point;

  std::string api_key;  ///< "" for none
  SignInTokens tokens;
  std::string account_id;            ///< the file's, else the id token's; "" if neither has one
  std::string plan;                  ///< "plus"; from the id token, unverified
  std::optional<Time> expires;       ///< from the access token, unverified
  std::optional<Time> last_refresh;  ///< nothing: unknown
  Json document;

  bool is_sign_in() const { return !tokens.access.empty(); }
  /// All secrets in it, with names.
  std::vector<Secret> secrets() const;
};

/// The name of a sign-in in `bounds.credentials`, which says where it may be sent.
inline constexpr const char* kSignInCredential = "CHATGPT";

/// @param name  of the file, for messages; these never show its content
/// @throws InputError  not JSON (with line and column), neither tokens nor key, or values that
///                     can't be sent in a header
AuthFile parse_auth_file(std::string_view text, const std::string& name);

/// The text of the file with these tokens and this time, and everything else unchanged. An empty
/// token keeps the old one.
std::string renewed_auth_file(const AuthFile& file, const SignInTokens& tokens,
                              AuthFile::Time last_refresh);

/// Opens the file for reading, following links, and checks its owner and mode: a sign-in is as
/// sensitive as a password.
/// @throws InputError  no such file, not a regular file, another user's, or one that others may
///                     read or write
Fd open_auth_file(const std::filesystem::path& file);
/// The content of the open file, from its beginning.
AuthFile read_auth_file(const Fd& file, const std::string& name);

/// The parts of an auth.json that are not secret.
struct AuthFileSummary {
  bool is_sign_in = false;
  bool can_refresh = false;
  bool can_write = false;  ///< the file may be replaced by a refreshed one
  std::string plan;
  std::optional<AuthFile::Time> expires;
  std::optional<AuthFile::Time> last_refresh;
};

/// Reads the file in a child process, so that no secret enters this process's memory before the
/// run's other processes are forked. To be called while there is only one thread.
/// @throws InputError  as open_auth_file, parse_auth_file
AuthFileSummary summarize_auth_file(const std::filesystem::path& file);

}  // namespace sortie

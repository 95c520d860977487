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

/// What a JSON web token says of an account with ChatGPT. Its signature is not verified: these are
/// words to be shown, and nothing is decided by them.
struct TokenClaims {
  std::string plan;        ///< chatgpt_plan_type of "https://api.openai.com/auth"
  std::string account_id;  ///< chatgpt_account_id of the same
  std::optional<std::chrono::system_clock::time_point> expires;  ///< exp (RFC 7519 §4.1.4)
};

/// Nothing in it where the text is no such token.
TokenClaims read_claims(std::string_view token);

/// Of one token: beyond it it is none. Real ones have a few KiB, and each is looked for in all that
/// is written.
inline constexpr std::size_t kMaxTokenBytes = 16u << 10;

/// What a sign-in with ChatGPT consists of.
struct SignInTokens {
  std::string id;       ///< a JSON web token that says whose account it is
  std::string access;   ///< goes with each request
  std::string refresh;  ///< gets the next ones, once; "" for none
};

/// An auth.json as the codex CLI writes it:
///
///     {"OPENAI_API_KEY": null | "sk-…",
///      "tokens": {"id_token": "…", "access_token": "…", "refresh_token": "…", "account_id": "…"},
///      "last_refresh": "2026-11-21T03:14:15.926Z"}
///
/// Other members are kept as they are. With tokens it is a sign-in, whether there is a key or not.
struct AuthFile {
  using Time = std::chrono::system_clock::time_point;

  std::string api_key;  ///< "" for none
  SignInTokens tokens;
  std::string account_id;            ///< the file's, else the id token's; "" where neither has one
  std::string plan;                  ///< "plus"; the id token's word, which nobody has verified
  std::optional<Time> expires;       ///< the access token's own word
  std::optional<Time> last_refresh;  ///< nothing: not known
  Json document;

  bool is_sign_in() const { return !tokens.access.empty(); }
  /// All that must not be seen, named.
  std::vector<Secret> secrets() const;
};

/// The variable in whose name `bounds.credentials` says where a sign-in may go.
inline constexpr const char* kSignInCredential = "CHATGPT";

/// @param name  of the file, for messages; these show nothing of the text
/// @throws InputError  no JSON (with its place), neither tokens nor key, or such as no header can
///                     hold
AuthFile parse_auth_file(std::string_view text, const std::string& name);

/// The text of the file with these tokens and this time in place of its own, all else as it was.
/// Empty tokens change nothing: what the provider left out stays as it was.
std::string renewed_auth_file(const AuthFile& file, const SignInTokens& tokens,
                              AuthFile::Time last_refresh);

/// Opens the file for reading, links followed, and looks whom it belongs to: a sign-in is as good
/// as a password, and lasts.
/// @throws InputError  no such file, no regular one, another user's, or one that others may read or
///                     write
Fd open_auth_file(const std::filesystem::path& file);
/// The content of the open file, from its beginning.
AuthFile read_auth_file(const Fd& file, const std::string& name);

/// What may be told of an auth.json.
struct AuthFileSummary {
  bool is_sign_in = false;
  bool can_refresh = false;
  bool can_write = false;  ///< the file may be replaced by a refreshed one
  std::string plan;
  std::optional<AuthFile::Time> expires;
  std::optional<AuthFile::Time> last_refresh;
};

/// Reads the file in a process of its own, so that no secret comes into the memory of this one: it
/// is asked before the run's other processes are forked. To be called while there is one thread.
/// @throws InputError  as open_auth_file, parse_auth_file
AuthFileSummary summarize_auth_file(const std::filesystem::path& file);

}  // namespace sortie

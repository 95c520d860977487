#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "core/base/clock.h"
#include "core/model/failure.h"
#include "core/net/http.h"
#include "core/provider/http_model.h"
#include "core/provider/sign_in/auth_file.h"
#include "core/secrets/redact.h"

namespace sortie {

inline constexpr const char* kDefaultRefreshAddress = "https://auth.openai.com/oauth/token";

/// Where refresh tokens go.
/// @param given  SORTIE_AUTH_URL, the operator's word; "" is the default
/// @throws InputError  for an address that can't be used; plain http is for loopback hosts only
Url refresh_address(const std::string& given);

/// Gets the next tokens for a refresh token, which is spent by that (RFC 6749 §6). What the answer
/// leaves out is "". One request; what came of it otherwise is a failure, worded for the operator:
/// transient where another try may help, else with ExitCode::auth.
/// @throws Stopped  when a stop was requested
std::variant<SignInTokens, ModelFailure> request_tokens(Http& http, const Url& address,
                                                        const std::string& refresh_token,
                                                        const HttpLimits& limits,
                                                        std::chrono::system_clock::time_point now,
                                                        std::stop_token stop);

/// Tokens older than this are refreshed before they are used.
inline constexpr std::chrono::hours kSignInAge{28 * 24};

struct SignInOptions {
  std::filesystem::path file;  ///< auth.json; a link is followed
  Url address{};               ///< refresh_address()
  /// Of a refresh: a small request that everything waits for.
  HttpLimits limits{.first_byte = std::chrono::seconds(30), .total = std::chrono::seconds(60)};
  /// How long another process may keep the file to itself.
  std::chrono::milliseconds lock_wait{60000};
  /// Hears of each secret before it is used, or could be shown.
  std::function<void(const std::vector<Secret>&)> learn{};
  /// Lines for the operator; a warning is to be loud.
  std::function<void(const std::string&)> say{};
  std::function<void(const std::string&)> warn{};
};

/// A sign-in with ChatGPT: the tokens of an auth.json, refreshed when they are old or refused.
///
/// A refresh spends the refresh token, so it is made by one process at a time: under a lock on the
/// file, which is read again first, since another may have refreshed it meanwhile; then its tokens
/// are taken. The new ones are written back at once, all else in the file as it was.
class SignIn : public CredentialSource {
 public:
  /// @param file  options.file, as it was read
  SignIn(Http& http, Clock& clock, SignInOptions options, AuthFile file);
  std::optional<ModelFailure> prepare(std::chrono::steady_clock::time_point deadline,
                                      std::stop_token stop) override;
  HttpHeaders headers() const override;
  bool refused() override;
  std::string plan() const override { return file_.plan; }

 private:
  bool is_old() const;
  std::optional<ModelFailure> renew(std::chrono::steady_clock::time_point deadline,
                                    std::stop_token stop);
  Fd lock(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop);
  std::optional<ModelFailure> take_from(const Fd& file);
  void keep(SignInTokens tokens);
  void write_back();
  HttpLimits limits_until(std::chrono::steady_clock::time_point deadline) const;

  Http& http_;
  Clock& clock_;
  SignInOptions options_;
  AuthFile file_;        ///< the tokens in use, and the file's other members
  std::string in_file_;  ///< the access token that the file was last seen with
  bool refused_ = false;
  std::optional<ModelFailure> ended_;  ///< nothing more can be had
};

}  // namespace sortie

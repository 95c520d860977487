#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/clock.h"
#include "core/model/failure.h"
#include "core/net/http.h"
#include "core/provider/http_model.h"
#include "core/provider/sign_in/auth_file.h"
#include "core/secrets/redact.h"

namespace sortie {

inline constexpr const char* kDefaultRefreshAddress = "https://auth.openai.com/oauth/token";

/// Where refresh tokens are sent.
/// @param given  SORTIE_AUTH_URL; "" is the default
/// @throws InputError  for an invalid address; plain http is for loopback hosts only
Url refresh_address(const std::string& given);

/// Tokens older than this are refreshed before they are used.
inline constexpr std::chrono::hours kSignInAge{28 * 24};

struct SignInOptions {
  std::filesystem::path file;  ///< auth.json; a link is followed
  Url address{};               ///< refresh_address()
  /// Time limit of a refresh: a small request, but the run waits for it.
  HttpLimits limits{.first_byte = std::chrono::seconds(30), .total = std::chrono::seconds(60)};
  /// How long another process may hold the file's lock.
  std::chrono::milliseconds lock_wait{60000};
  /// Called with each secret before it is used, or could be shown.
  std::function<void(const std::vector<Secret>&)> learn{};
  /// Lines for the operator.
  std::function<void(const std::string&)> say{};
  std::function<void(const std::string&)> warn{};
};

/// A sign-in with ChatGPT: the tokens of an auth.json, refreshed when they are old or refused.
///
/// A refresh spends the refresh token, so only one process may do it: it locks the file and reads
/// it again. If another process has refreshed it meanwhile, its tokens are used; else the new
/// tokens are written back at once, with everything else in the file unchanged.
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
  std::string in_file_;  ///< the access token last seen in the file
  bool refused_ = false;
  std::optional<ModelFailure> ended_;  ///< the permanent failure
};

}  // namespace sortie

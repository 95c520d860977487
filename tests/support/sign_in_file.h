#pragma once

#include <filesystem>
#include <string>

#include "core/json/json.h"

namespace sortie::test {

/// "header.payload.signature" with these claims; nobody could verify it.
std::string web_token(const Json& claims, const std::string& signature);

/// A sign-in of the plan "plus", as the codex CLI writes it, and with members of its own. The
/// tokens' signatures say which they are: "access-NAME-signature" and so on.
struct SignInFile {
  std::string name = "first";
  std::string account = "acct-0123456789";
  std::string last_refresh = "2026-11-20T03:14:15.926535Z";
  bool account_in_file = true;

  std::string id_token() const;
  std::string access_token() const;
  std::string refresh_token() const;
  std::string text() const;
  /// What a refresh endpoint answers with.
  std::string answer() const;
  /// Writes it with mode 600.
  void save(const std::filesystem::path& file) const;
};

}  // namespace sortie::test

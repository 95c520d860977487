#include "tests/support/sign_in_file.h"

#include "core/files/files.h"

namespace sortie::test {
namespace {

std::string base64url(const std::string& bytes) {
  static const std::string kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned bits = 0;
  int count = 0;
  for (const unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kAlphabet[bits << (6 - count) & 63];
  return text;
}

}  // namespace

std::string web_token(const Json& claims, const std::string& signature) {
  return base64url(R"({"alg":"RS256","typ":"JWT"})") + "." + base64url(write_json(claims)) + "." +
         signature;
}

std::string SignInFile::id_token() const {
  return web_token(
      Json::object(
          {{"email", "someone@example.com"},
           {"https://api.openai.com/auth",
            Json::object({{"chatgpt_plan_type", "plus"}, {"chatgpt_account_id", account}})}}),
      "id-" + name + "-signature");
}

std::string SignInFile::access_token() const {
  return web_token(Json::object({{"exp", 2000000000}}), "access-" + name + "-signature");
}

std::string SignInFile::refresh_token() const { return "refresh-" + name + "-0123456789"; }

std::string SignInFile::text() const {
  Json tokens = Json::object({{"id_token", id_token()},
                              {"access_token", access_token()},
                              {"refresh_token", refresh_token()}});
  if (account_in_file) tokens.set("account_id", account);
  tokens.set("issued_for", "something of another version");
  return write_json_pretty(Json::object({{"OPENAI_API_KEY", Json()},
                                         {"auth_mode", "chatgpt"},
                                         {"tokens", std::move(tokens)},
                                         {"last_refresh", last_refresh},
                                         {"agent", parse_json(R"({"n":[1.50,null,true]})")}}));
}

std::string SignInFile::answer() const {
  return write_json(Json::object({{"id_token", id_token()},
                                  {"access_token", access_token()},
                                  {"refresh_token", refresh_token()}}));
}

void SignInFile::save(const std::filesystem::path& file) const { write_file(file, text(), 0600); }

}  // namespace sortie::test

#include "core/provider/sign_in/token_refresh.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/json/json.h"
#include "core/model/model.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// The public client of the codex CLI: refresh tokens are good for the client that got them.
constexpr const char* kClientId = "app_EMoamEEZ73f0CkXaXp7hrann";
constexpr const char* kScope = "openid profile email";
constexpr std::size_t kMaxAnswerBytes = 1u << 20;

/// Keeps a whole answer.
class Answer : public HttpSink {
 public:
  HttpHead head;
  std::string body;

  void on_head(const HttpHead& given) override { head = given; }
  Wants on_body(std::string_view bytes) override {
    body += bytes.substr(0, kMaxAnswerBytes - body.size());
    return body.size() < kMaxAnswerBytes ? Wants::more : Wants::enough;
  }
};

/// The code of {"error": "CODE"}, {"error": {"code": "CODE"}} or {"code": "CODE"}.
std::string error_code(const Json& body) {
  const Json& error = body["error"];
  if (error.is_string()) return error.text();
  const std::string code = error.string_at("code");
  return code.empty() ? body.string_at("code") : code;
}

/// Why there are no tokens any more, in the operator's words.
std::string refusal(const HttpHead& head, const Json& body) {
  const std::string code = error_code(body);
  const std::string again = "; sign in again with 'codex login' and give its new auth.json";
  if (code == "refresh_token_expired") return "the sign-in has expired" + again;
  if (code == "refresh_token_reused")
    return "the sign-in's refresh token was used before, by another program or a copy of the file" +
           again;
  if (code == "refresh_token_invalidated") return "the sign-in was revoked" + again;
  // Of a body that is not understood nothing is shown: it could repeat what it was sent.
  return "the sign-in was refused with HTTP status " + std::to_string(head.status) +
         (code.empty() ? "" : " (" + one_line_of_words(code, 80) + ")") + again;
}

ModelFailure final_failure(int status, std::string message) {
  return {.status = status,
          .kind = "auth",
          .message = std::move(message),
          .transient = false,
          .code = ExitCode::auth};
}

Json parsed(const std::string& body) {
  try {
    return parse_json(body);
  } catch (const JsonError&) {
    return {};
  }
}

/// A header is made of it, so it has to be one word, and of a length that one can have.
bool is_token(const Json& value) {
  const auto is_plain = [](unsigned char c) { return c > ' ' && c < 0x7f; };
  return value.is_string() && !value.text().empty() && value.text().size() <= kMaxTokenBytes &&
         std::all_of(value.text().begin(), value.text().end(), is_plain);
}

std::string token_at(const Json& body, std::string_view name) {
  return is_token(body[name]) ? body[name].text() : std::string();
}

}  // namespace

Url refresh_address(const std::string& given) {
  const Url url = parse_url(given.empty() ? kDefaultRefreshAddress : given);
  if (!url.secure && !url.is_loopback())
    throw InputError("SORTIE_AUTH_URL '" + url.text() +
                     "': plain http is for loopback hosts only; use https://");
  return url;
}

std::variant<SignInTokens, ModelFailure> request_tokens(Http& http, const Url& address,
                                                        const std::string& refresh_token,
                                                        const HttpLimits& limits,
                                                        std::chrono::system_clock::time_point now,
                                                        std::stop_token stop) {
  const std::string body = write_json(Json::object({{"client_id", kClientId},
                                                    {"grant_type", "refresh_token"},
                                                    {"refresh_token", refresh_token},
                                                    {"scope", kScope}}));
  const HttpRequest request{.url = address,
                            .headers = {{"Content-Type", "application/json"},
                                        {"Accept", "application/json"},
                                        {"User-Agent", "sortie/" SORTIE_VERSION}},
                            .body = body};
  Answer answer;
  const HttpResult result = http.send(request, limits, answer, stop);
  if (result.ending == HttpResult::Ending::stopped) throw Stopped();
  const std::string place = "the sign-in could not be refreshed at " + address.authority() + ": ";
  const int status = answer.head.status;
  if (result.ending != HttpResult::Ending::complete) {
    ModelFailure failure = failure_of_ending(result, status);
    if (!failure.transient) return final_failure(status, place + failure.message);
    failure.message = place + failure.message;
    return failure;
  }
  const Json told = parsed(answer.body);
  if (status == 200) {
    SignInTokens tokens{.id = token_at(told, "id_token"),
                        .access = token_at(told, "access_token"),
                        .refresh = token_at(told, "refresh_token")};
    if (!tokens.access.empty()) return tokens;
    return ModelFailure{
        .status = status, .kind = "server_error", .message = place + "the answer has no tokens"};
  }
  ModelFailure failure = failure_of_status(answer.head, "", now);
  if (!failure.transient) return final_failure(status, refusal(answer.head, told));
  failure.message = place + "HTTP status " + std::to_string(status);
  return failure;
}

}  // namespace sortie

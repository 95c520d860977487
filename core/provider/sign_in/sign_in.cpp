#include "core/provider/sign_in/sign_in.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <variant>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
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

/// Why the refresh was refused, for the operator.
std::string refusal(const HttpHead& head, const Json& body) {
  const std::string code = error_code(body);
  const std::string again = "; sign in again with 'codex login' and give its new auth.json";
  if (code == "refresh_token_expired") return "the sign-in has expired" + again;
  if (code == "refresh_token_reused")
    return "the sign-in's refresh token was used before, by another program or a copy of the file" +
           again;
  if (code == "refresh_token_invalidated") return "the sign-in was revoked" + again;
  // An unknown body is not shown: it could repeat the token.
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

/// Tokens are sent in headers: one word of limited length.
bool is_token(const Json& value) {
  const auto is_plain = [](unsigned char c) { return c > ' ' && c < 0x7f; };
  return value.is_string() && !value.text().empty() && value.text().size() <= kMaxTokenBytes &&
         std::all_of(value.text().begin(), value.text().end(), is_plain);
}

std::string token_at(const Json& body, std::string_view name) {
  return is_token(body[name]) ? body[name].text() : std::string();
}

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Between two attempts to lock the file.
constexpr milliseconds kLockPause{50};

ModelFailure signed_out(std::string message) {
  return {
      .kind = "auth", .message = std::move(message), .transient = false, .code = ExitCode::auth};
}

/// Whether the path still leads to the open file: a refresh replaces it.
bool is_in_place(const Fd& file, const fs::path& path) {
  struct stat open {};
  struct stat there {};
  return ::fstat(file.get(), &open) == 0 && ::stat(path.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

/// Exchanges a refresh token, which is spent by that, for new tokens (RFC 6749 §6). Tokens that the
/// answer lacks are "". Sends one request; a failure is worded for the operator, and is transient
/// if a retry may help, else with ExitCode::auth.
/// @throws Stopped  if a stop was requested
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

}  // namespace

Url refresh_address(const std::string& given) {
  const Url url = parse_url(given.empty() ? kDefaultRefreshAddress : given);
  if (!url.secure && !url.is_loopback())
    throw InputError("SORTIE_AUTH_URL '" + url.text() +
                     "': plain http is for loopback hosts only; use https://");
  return url;
}

SignIn::SignIn(Http& http, Clock& clock, SignInOptions options, AuthFile file)
    : http_(http),
      clock_(clock),
      options_(std::move(options)),
      file_(std::move(file)),
      in_file_(file_.tokens.access) {}

HttpHeaders SignIn::headers() const {
  HttpHeaders headers = {{"Authorization", "Bearer " + file_.tokens.access}};
  if (!file_.account_id.empty()) headers.emplace_back("chatgpt-account-id", file_.account_id);
  return headers;
}

bool SignIn::is_old() const {
  return file_.last_refresh && clock_.now() - *file_.last_refresh > kSignInAge;
}

bool SignIn::refused() {
  refused_ = true;
  return true;  // the file may have new tokens by now
}

std::optional<ModelFailure> SignIn::prepare(std::chrono::steady_clock::time_point deadline,
                                            std::stop_token stop) {
  if (ended_) return ended_;
  if (!refused_ && !is_old()) return std::nullopt;
  std::optional<ModelFailure> failure;
  try {
    failure = renew(deadline, stop);
  } catch (const Error& error) {
    failure = signed_out(std::string("the sign-in could not be refreshed: ") + error.what());
  }
  if (failure && !failure->transient) ended_ = failure;
  return failure;
}

std::optional<ModelFailure> SignIn::renew(std::chrono::steady_clock::time_point deadline,
                                          std::stop_token stop) {
  const Fd file = lock(deadline, stop);
  if (!file) {
    ModelFailure busy;
    busy.kind = "auth";
    busy.message = "another process holds the lock of " + path_text(options_.file);
    return busy;
  }
  if (auto failure = take_from(file)) return failure;
  if (!refused_ && !is_old()) return std::nullopt;
  if (file_.tokens.refresh.empty()) {
    // Old, but perhaps still valid.
    if (!refused_) return std::nullopt;
    return signed_out("the sign-in was refused, and " + path_text(options_.file) +
                      " has no refresh token; sign in again with 'codex login'");
  }
  auto answer = request_tokens(http_, options_.address, file_.tokens.refresh,
                               limits_until(deadline), clock_.now(), stop);
  if (auto* failure = std::get_if<ModelFailure>(&answer)) return std::move(*failure);
  keep(std::get<SignInTokens>(std::move(answer)));
  write_back();
  return std::nullopt;
}

/// Opens and locks the file until it is closed; nothing if another process held the lock too long.
Fd SignIn::lock(std::chrono::steady_clock::time_point deadline, const std::stop_token& stop) {
  const auto latest = std::min(deadline, clock_.steady() + options_.lock_wait);
  for (;;) {
    Fd file = open_auth_file(options_.file);
    while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR)
        throw Error("lock " + path_text(options_.file) + ": " + errno_text(errno));
      if (clock_.steady() >= latest) return {};
      if (!clock_.sleep_for(kLockPause, stop)) throw Stopped();
    }
    // The file may have been replaced meanwhile: then the new one must be locked.
    if (is_in_place(file, options_.file)) return file;
  }
}

/// Takes the tokens that another process has written since the file was last seen.
std::optional<ModelFailure> SignIn::take_from(const Fd& file) {
  AuthFile found = read_auth_file(file, path_text(options_.file));
  if (options_.learn) options_.learn(found.secrets());
  if (!found.is_sign_in())
    return signed_out(path_text(options_.file) +
                      " has been signed out since the run began; sign in with 'codex login'");
  if (found.account_id != file_.account_id)
    return signed_out(path_text(options_.file) +
                      " has been signed in with another account since the run began");
  if (found.tokens.access == in_file_) {
    file_.document = std::move(found.document);  // other members may have changed
    return std::nullopt;
  }
  in_file_ = found.tokens.access;
  file_ = std::move(found);
  refused_ = false;
  if (options_.say) options_.say("sign-in: another process refreshed it; its tokens are used");
  return std::nullopt;
}

void SignIn::keep(SignInTokens tokens) {
  AuthFile next = file_;
  if (tokens.refresh.empty()) tokens.refresh = file_.tokens.refresh;
  if (tokens.id.empty()) tokens.id = file_.tokens.id;
  next.tokens = std::move(tokens);
  next.last_refresh = clock_.now();
  if (options_.learn) options_.learn(next.secrets());
  next.document = parse_json(renewed_auth_file(file_, next.tokens, *next.last_refresh));
  file_ = std::move(next);
  refused_ = false;
}

/// If the file can't be written, the run continues with the new tokens: the old ones are spent.
void SignIn::write_back() {
  try {
    const fs::path real = fs::canonical(options_.file);
    struct stat before {};
    const bool known = ::stat(real.c_str(), &before) == 0;
    AtomicFile file(real, 0600);
    file.write(write_json_pretty(file_.document) + "\n");
    // If root refreshes another user's sign-in, the file must stay that user's.
    if (known && before.st_uid != ::geteuid()) file.give_to(before.st_uid, before.st_gid);
    file.commit();
    in_file_ = file_.tokens.access;
    if (options_.say) options_.say("sign-in: refreshed");
  } catch (const std::exception& error) {
    if (options_.warn)
      options_.warn(
          std::string("sign-in: refreshed for this run, but its file could not be written (") +
          error.what() +
          "): THE SIGN-IN IN IT IS SPENT; sign in again with 'codex login' before the next run, "
          "and give a file that sortie may replace");
  }
}

HttpLimits SignIn::limits_until(std::chrono::steady_clock::time_point deadline) const {
  HttpLimits limits = options_.limits;
  const auto left = std::chrono::ceil<milliseconds>(deadline - clock_.steady());
  limits.total = std::max(std::min(limits.total, left), milliseconds(1));
  return limits;
}

}  // namespace sortie

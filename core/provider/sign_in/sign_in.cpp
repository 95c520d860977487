#include "core/provider/sign_in/sign_in.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/model/model.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Between two looks at a lock that another process holds.
constexpr milliseconds kLockPause{50};

ModelFailure signed_out(std::string message) {
  return {
      .kind = "auth", .message = std::move(message), .transient = false, .code = ExitCode::auth};
}

/// Whether the path still leads to the open file: it is replaced as a whole.
bool is_in_place(const Fd& file, const fs::path& path) {
  struct stat open {};
  struct stat there {};
  return ::fstat(file.get(), &open) == 0 && ::stat(path.c_str(), &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

}  // namespace

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
  return true;  // at least the file may have others by now
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
    busy.message = "another process keeps " + path_text(options_.file) + " locked";
    return busy;
  }
  if (auto failure = take_from(file)) return failure;
  if (!refused_ && !is_old()) return std::nullopt;
  if (file_.tokens.refresh.empty()) {
    // Old, but perhaps still good.
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

/// The file, for this process alone until it is closed; nothing where another kept it too long.
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
    // Who held it has put a new one in its place: the lock that counts is on that one.
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
  if (options_.say) options_.say("sign-in: another process has refreshed it; its tokens are used");
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

/// What can't be written is used all the same: the old tokens are dead in any case.
void SignIn::write_back() {
  try {
    const fs::path real = fs::canonical(options_.file);
    struct stat before {};
    const bool known = ::stat(real.c_str(), &before) == 0;
    AtomicFile file(real, 0600);
    file.write(write_json_pretty(file_.document) + "\n");
    // Root refreshes another user's sign-in, who has to be able to use it again.
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
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - clock_.steady());
  limits.total = std::max(std::min(limits.total, left), milliseconds(1));
  return limits;
}

}  // namespace sortie

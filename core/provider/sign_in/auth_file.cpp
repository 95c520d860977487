#include "core/provider/sign_in/auth_file.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/config/diagnostic.h"
#include "core/files/file_name.h"
#include "core/text/base64.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using std::chrono::system_clock;

Json seconds_json(const std::optional<AuthFile::Time>& time) {
  if (!time) return {};
  return std::chrono::duration_cast<seconds>(time->time_since_epoch()).count();
}

std::optional<AuthFile::Time> time_of(const Json& value) {
  const auto count = value.integer();
  if (!count) return std::nullopt;
  return system_clock::time_point(seconds(*count));
}

/// The file is replaced on a refresh, so its folder must be writable.
bool can_replace(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  return !error && ::access(real.parent_path().c_str(), W_OK | X_OK) == 0 &&
         ::access(real.c_str(), W_OK) == 0;
}

/// The child's answer: the summary, or the error.
Json examine(const fs::path& file) {
  try {
    const AuthFile read = read_auth_file(open_auth_file(file), path_text(file));
    return Json::object({{"is_sign_in", read.is_sign_in()},
                         {"can_refresh", !read.tokens.refresh.empty()},
                         {"can_write", can_replace(file)},
                         {"plan", read.plan},
                         {"expires", seconds_json(read.expires)},
                         {"last_refresh", seconds_json(read.last_refresh)}});
  } catch (const std::exception& error) {
    return Json::object({{"error", error.what()}});
  }
}

constexpr std::size_t kLongestClaim = 100;
/// A time in the year 2255: the clock's range ends in 2262.
constexpr std::int64_t kLatest = 9'000'000'000;

/// A claim that is safe in a header and in a line for people; else "".
std::string plain_claim(const Json& claims, std::string_view name) {
  std::string value = claims.string_at(name);
  const bool plain =
      value.size() <= kLongestClaim && std::all_of(value.begin(), value.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_' || c == '.';
      });
  return plain ? value : std::string();
}

constexpr std::size_t kMaxFileBytes = 1u << 20;

/// "2026-11-21T03:14:15.926535Z", "…+01:00" (RFC 3339 §5.6); the fraction is left out.
std::optional<AuthFile::Time> parse_timestamp(const std::string& text) {
  std::tm parts{};
  int read = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%*1[Tt ]%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &read) != 6 ||
      parts.tm_year < 1970 || parts.tm_year > 2200)
    return std::nullopt;
  std::size_t at = static_cast<std::size_t>(read);
  if (at < text.size() && text[at] == '.')
    for (++at; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));) ++at;
  const std::string zone = text.substr(at);
  int minutes = 0;
  if (zone != "Z" && zone != "z") {
    char sign = '+';
    int hour = 0;
    int minute = 0;
    if (zone.size() != 6 || std::sscanf(zone.c_str(), "%c%2d:%2d", &sign, &hour, &minute) != 3 ||
        (sign != '+' && sign != '-'))
      return std::nullopt;
    minutes = (hour * 60 + minute) * (sign == '+' ? 1 : -1);
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return std::chrono::system_clock::from_time_t(::timegm(&parts)) - std::chrono::minutes(minutes);
}

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw InputError("auth file " + name + ": " + what);
}

/// A member that is sent in a header. Messages never show it.
std::string header_text(const Json& object, std::string_view member, const std::string& name) {
  const Json& value = object[member];
  if (value.is_null()) return {};
  const auto is_plain = [](unsigned char c) { return c > ' ' && c < 0x7f; };
  if (!value.is_string() || !std::all_of(value.text().begin(), value.text().end(), is_plain))
    fail(name,
         "'" + std::string(member) + "' must be a string without blanks and control characters");
  if (value.text().size() > kMaxTokenBytes)
    fail(name, "'" + std::string(member) + "' is too long for a token");
  return value.text();
}

/// The same rules as ssh(1) has for keys: a file that others can read is no secret, and whoever can
/// write it chooses the account.
void check_owner(const struct stat& status, const std::string& name) {
  if (!S_ISREG(status.st_mode)) fail(name, "not a regular file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0 && ::geteuid() != 0)
    fail(name, "belongs to another user");
  const unsigned mode = status.st_mode & 07777;
  if ((mode & 077) == 0) return;
  char digits[8];
  std::snprintf(digits, sizeof digits, "%04o", mode);
  fail(name, std::string("others may ") + ((mode & 022) != 0 ? "write" : "read") + " it (mode " +
                 digits + "), and could use the account for weeks; run chmod 600 " + name);
}

}  // namespace

TokenClaims read_claims(std::string_view token) {
  // header.payload.signature, each in base64url without padding (RFC 7515 §3.1).
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos) return {};
  const std::size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return {};
  TokenClaims claims;
  try {
    const Json payload = parse_json(base64_decoded(token.substr(first + 1, second - first - 1)));
    const Json& account = payload["https://api.openai.com/auth"];
    claims.plan = plain_claim(account, "chatgpt_plan_type");
    claims.account_id = plain_claim(account, "chatgpt_account_id");
    const auto seconds = payload["exp"].integer();
    if (seconds && *seconds >= 0 && *seconds <= kLatest)
      claims.expires = std::chrono::system_clock::time_point(std::chrono::seconds(*seconds));
  } catch (const JsonError&) {
    return {};
  }
  return claims;
}

std::vector<Secret> AuthFile::secrets() const {
  std::vector<Secret> secrets;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) secrets.push_back({name, value});
  };
  add("CHATGPT_ACCESS_TOKEN", tokens.access);
  add("CHATGPT_REFRESH_TOKEN", tokens.refresh);
  add("CHATGPT_ID_TOKEN", tokens.id);
  add("CHATGPT_ACCOUNT_ID", account_id);
  add("OPENAI_API_KEY", api_key);
  return secrets;
}

AuthFile parse_auth_file(std::string_view text, const std::string& name) {
  AuthFile file;
  try {
    file.document = parse_json(text);
  } catch (const JsonError& error) {
    // The line is not shown: it may contain a token.
    const TextPlace place = place_at(text, 0, error.offset());
    throw InputError(name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
                     ": error: " + error.what());
  }
  if (!file.document.is_object()) fail(name, "not a JSON object");
  file.api_key = header_text(file.document, "OPENAI_API_KEY", name);
  const Json& tokens = file.document["tokens"];
  if (!tokens.is_null() && !tokens.is_object()) fail(name, "'tokens' is not an object");
  file.tokens.access = header_text(tokens, "access_token", name);
  file.tokens.refresh = header_text(tokens, "refresh_token", name);
  file.tokens.id = header_text(tokens, "id_token", name);
  file.account_id = header_text(tokens, "account_id", name);
  if (tokens.is_object() && !file.is_sign_in()) fail(name, "'tokens' has no access_token");
  if (!file.is_sign_in() && file.api_key.empty())
    fail(name, "has neither tokens nor an OPENAI_API_KEY; sign in with 'codex login'");
  const TokenClaims claims = read_claims(file.tokens.id);
  file.plan = claims.plan;
  if (file.account_id.empty()) file.account_id = claims.account_id;
  file.expires = read_claims(file.tokens.access).expires;
  file.last_refresh = parse_timestamp(file.document.string_at("last_refresh"));
  return file;
}

std::string renewed_auth_file(const AuthFile& file, const SignInTokens& tokens,
                              AuthFile::Time last_refresh) {
  Json document = file.document;
  Json& members = *document.find("tokens");
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) members.set(name, value);
  };
  set("id_token", tokens.id);
  set("access_token", tokens.access);
  set("refresh_token", tokens.refresh);
  document.set("last_refresh", utc_timestamp(last_refresh));
  return write_json_pretty(document);
}

Fd open_auth_file(const fs::path& file) {
  // O_NONBLOCK: a pipe is refused and not waited for.
  Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) fail(path_text(file), errno_text(errno));
  check_owner(status, path_text(file));
  return opened;
}

AuthFile read_auth_file(const Fd& file, const std::string& name) {
  std::string text;
  char part[16384];
  for (;;) {
    const ssize_t size = ::pread(file.get(), part, sizeof part, static_cast<off_t>(text.size()));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(name, errno_text(errno));
    if (size == 0) break;
    text.append(part, static_cast<std::size_t>(size));
    if (text.size() > kMaxFileBytes) fail(name, "too long for an auth file");
  }
  return parse_auth_file(text, name);
}

AuthFileSummary summarize_auth_file(const fs::path& file) {
  Pipe answer = make_pipe();
  const pid_t child = ::fork();
  if (child < 0) throw system_error("fork");
  if (child == 0) {
    ::prctl(PR_SET_DUMPABLE, 0);
    write_all(answer.write.get(), write_json(examine(file)));
    ::_exit(0);
  }
  answer.write.reset();
  const std::string text = read_to_end(answer.read.get(), {.max_bytes = 1u << 20}).bytes;
  ::kill(child, SIGKILL);  // it has sent everything
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  const Json summary = is_json(text) ? parse_json(text) : Json();
  if (const Json* error = summary.find("error")) throw InputError(error->text());
  if (!summary.is_object()) throw Error("auth file " + path_text(file) + ": could not be read");
  return {.is_sign_in = summary["is_sign_in"].boolean(),
          .can_refresh = summary["can_refresh"].boolean(),
          .can_write = summary["can_write"].boolean(),
          .plan = summary.string_at("plan"),
          .expires = time_of(summary["expires"]),
          .last_refresh = time_of(summary["last_refresh"])};
}

}  // namespace sortie

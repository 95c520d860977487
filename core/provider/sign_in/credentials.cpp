#include "core/provider/sign_in/credentials.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/file_name.h"
#include "core/text/text.h"

namespace sortie {

namespace {

constexpr std::size_t kMaxKeyBytes = 16u << 10;
constexpr std::chrono::seconds kKeyWait{10};

/// Overwrites memory in a way that the compiler does not optimise away.
void wipe(char* bytes, std::size_t size) { ::explicit_bzero(bytes, size); }

std::string checked_key(std::string key, const std::string& source) {
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r')) key.pop_back();
  if (key.empty()) throw Error("the API key from " + source + " is empty", ExitCode::auth);
  const bool plain =
      std::all_of(key.begin(), key.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (!plain)
    throw Error("the API key from " + source + " has blanks, control or non-ASCII characters",
                ExitCode::auth);
  return key;
}

std::string read_key(const Fd& descriptor, const std::string& source) {
  std::string key;
  char buffer[1024];
  // One deadline for the whole key: a slow writer can't extend it.
  const auto until = std::chrono::steady_clock::now() + kKeyWait;
  for (;;) {
    pollfd wait{descriptor.get(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 || left.count() <= 0)
      throw Error(source + ": no complete key within " + std::to_string(kKeyWait.count()) + " s",
                  ExitCode::auth);
    const ssize_t size = ::read(descriptor.get(), buffer, sizeof buffer);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) throw Error(source + ": " + errno_text(errno), ExitCode::usage);
    if (size == 0) break;
    key.append(buffer, static_cast<std::size_t>(size));
    if (key.size() > kMaxKeyBytes) throw Error(source + ": too long for a key", ExitCode::auth);
  }
  wipe(buffer, sizeof buffer);
  return checked_key(std::move(key), source);
}

std::string read_descriptor(int number) {
  return read_key(Fd(number), "--api-key-fd " + std::to_string(number));
}

/// O_NONBLOCK: a pipe without a writer is waited for as long as a descriptor is.
std::string read_key_file(const std::filesystem::path& file) {
  const std::string source = "--api-key-file " + path_text(file);
  const Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!opened) throw Error(source + ": " + errno_text(errno), ExitCode::usage);
  return read_key(opened, source);
}

/// "host", "*.suffix", each with or without ":port"; "http://host:port" for a host that is asked
/// without TLS, and is not loopback.
bool matches(std::string pattern, const Url& url) {
  constexpr std::string_view kPlain = "http://";
  if (pattern.starts_with(kPlain)) {
    pattern.erase(0, kPlain.size());
    if (pattern.find(':') == std::string::npos) pattern += ":80";
    return !url.secure && ascii_lower(pattern) == url.host + ":" + std::to_string(url.port);
  }
  if (!url.secure && !url.is_loopback()) return false;
  const std::size_t colon = pattern.rfind(':');
  const bool has_port = colon != std::string::npos && pattern.find(':') == colon;
  if (has_port) {
    if (pattern.substr(colon + 1) != std::to_string(url.port)) return false;
    pattern.resize(colon);
  } else if (url.port != 443) {
    return false;  // a host is trusted at its usual port only, not at any that someone opens there
  }
  pattern = ascii_lower(pattern);
  if (pattern.starts_with("*.")) {
    const std::string_view suffix = std::string_view(pattern).substr(1);
    return url.host.size() > suffix.size() && url.host.ends_with(suffix);
  }
  return url.host == pattern;
}

void check_host(const KeySources& sources, const Endpoint& endpoint,
                const CredentialBounds& bounds) {
  if (key_may_go(sources.variable, endpoint, bounds)) return;
  throw Error("the policy does not let " + sources.variable + " go to " +
                  endpoint.base.authority() + "; add the host to bounds.credentials." +
                  sources.variable + ", or name the address with --base-url",
              ExitCode::usage);
}

}  // namespace

std::optional<std::string> take_environment_key(const std::string& name) {
  char* value = std::getenv(name.c_str());
  if (!value) return std::nullopt;
  std::string key = value;
  wipe(value, std::strlen(value));
  ::unsetenv(name.c_str());
  if (key.empty()) return std::nullopt;
  return key;
}

bool key_may_go(const std::string& variable, const Endpoint& endpoint,
                const CredentialBounds& bounds) {
  if (endpoint.operator_host) return true;
  const auto found = bounds.find(variable);
  return found != bounds.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const std::string& pattern) { return matches(pattern, endpoint.base); });
}

std::optional<std::string> read_given_key(const KeySources& sources) {
  if (sources.descriptor) return read_descriptor(*sources.descriptor);
  if (!sources.file.empty()) return read_key_file(sources.file);
  return std::nullopt;
}

std::optional<std::string> find_api_key(const KeySources& sources, const Endpoint& endpoint,
                                        const CredentialBounds& bounds) {
  auto from_environment = take_environment_key(sources.variable);
  if (!from_environment) from_environment = sources.taken;
  std::optional<std::string> key = read_given_key(sources);
  if (!key && from_environment)
    key = checked_key(std::move(*from_environment), "the variable " + sources.variable);
  if (key) {
    check_host(sources, endpoint, bounds);
    return key;
  }
  if (endpoint.base.is_loopback()) return std::nullopt;
  throw Error("no API key for " + endpoint.base.authority() + ": set the variable " +
                  sources.variable + ", or give --api-key-file FILE or --api-key-fd N" +
                  (sources.variable == KeySources{}.variable
                       ? ", or --auth-file FILE for a sign-in with ChatGPT"
                       : ""),
              ExitCode::auth);
}

}  // namespace sortie

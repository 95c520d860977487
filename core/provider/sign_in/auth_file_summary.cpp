#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/files/file_name.h"
#include "core/provider/sign_in/auth_file.h"

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

/// A file is replaced, so its folder has to be writable, and it must not be a mount of its own.
bool can_replace(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  return !error && ::access(real.parent_path().c_str(), W_OK | X_OK) == 0 &&
         ::access(real.c_str(), W_OK) == 0;
}

/// The child's part: what may be told, or what is wrong.
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

}  // namespace

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
  ::kill(child, SIGKILL);  // it has said all by now
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  const Json told = is_json(text) ? parse_json(text) : Json();
  if (const Json* error = told.find("error")) throw InputError(error->text());
  if (!told.is_object()) throw Error("auth file " + path_text(file) + ": could not be read");
  return {.is_sign_in = told["is_sign_in"].boolean(),
          .can_refresh = told["can_refresh"].boolean(),
          .can_write = told["can_write"].boolean(),
          .plan = told.string_at("plan"),
          .expires = time_of(told["expires"]),
          .last_refresh = time_of(told["last_refresh"])};
}

}  // namespace sortie

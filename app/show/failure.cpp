#include "app/show/failure.h"

#include <linux/magic.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

namespace sortie {
namespace {

/// Removes what libraries put before the cause.
std::string without_head(std::string_view text) {
  constexpr std::string_view kHead = "filesystem error: ";
  if (text.starts_with(kHead)) text.remove_prefix(kHead.size());
  return std::string(text);
}

/// What to do about a limit of the system.
const char* remedy_of(const std::error_code& code) {
  if (code == std::errc::resource_unavailable_try_again)
    return "; no more threads or processes are allowed here: see 'ulimit -u' and the container's "
           "limit of processes";
  if (code == std::errc::too_many_files_open) return "; see 'ulimit -n'";
  return "";
}

/// More than any step of sortie takes; a thread of another program's usual 8 MiB.
constexpr rlim_t kStackNeeded = 1u << 20;
constexpr rlim_t kStackWanted = 8u << 20;

void check_open_files() {
  constexpr rlim_t kNeeded = 160;
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur >= kNeeded) return;
  const rlimit raised{std::min(kNeeded, now.rlim_max), now.rlim_max};
  if (raised.rlim_cur >= kNeeded && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) return;
  throw Error("no more than " + std::to_string(now.rlim_max) +
                  " files may be open here, and sortie needs " + std::to_string(kNeeded) +
                  ": raise 'ulimit -n' or the container's limit (nofile)",
              ExitCode::environment);
}

/// Not raised, since it was set on purpose; but the sandbox can't be set up with a small one.
void check_file_size() {
  constexpr rlim_t kNeeded = 1u << 20;
  rlimit now{};
  if (::getrlimit(RLIMIT_FSIZE, &now) != 0 || now.rlim_cur >= kNeeded) return;
  throw Error("no file may be larger than " + std::to_string(now.rlim_cur) +
                  " bytes here, and sortie needs " + std::to_string(kNeeded) +
                  ": raise 'ulimit -f'",
              ExitCode::environment);
}

}  // namespace

std::string after_environment(Cause cause) {
  switch (cause) {
    case Cause::mcp_server:
      return "correct what it says of the server, or give it required: false to run without it";
    case Cause::mcp_pin:
      return "if the new list of tools is wanted, set the server's pin in the task to the sha256 "
             "that its list has now";
    case Cause::closed:
      return "open stdout: a file, a pipe or /dev/null";
    case Cause::reader_gone:
      return "give stdout a reader that takes all of it, or a file";
    case Cause::no_room:
      return "make room there, or name another place, and run the same command again";
    case Cause::other:
      break;
  }
  return "'sortie doctor' says what this machine can do";
}

Error failure_of(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) {
    if (known->code() != ExitCode::internal) return *known;
  } else if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    const bool of_system = system->code().category() == std::generic_category() ||
                           system->code().category() == std::system_category();
    return Error(without_head(system->what()) + remedy_of(system->code()), ExitCode::environment,
                 of_system ? cause_of(system->code().value()) : Cause::other);
  } else if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return Error("the machine has no memory left for sortie", ExitCode::environment);
  }
  return Error(std::string("a bug in sortie: ") + error.what(), ExitCode::internal);
}

void check_machine() {
  // Without it, what is meant for a descriptor would be written to the disk below.
  struct statfs proc {};
  if (::statfs("/proc", &proc) != 0 || proc.f_type != PROC_SUPER_MAGIC)
    throw Error(
        "/proc is not mounted here, and no sandbox can be set up without it: mount it "
        "(mount -t proc proc /proc), or start the container with it",
        ExitCode::environment);
  check_open_files();
  check_file_size();
}

std::string widen_stack() {
  rlimit now{};
  if (::getrlimit(RLIMIT_STACK, &now) != 0 || now.rlim_cur >= kStackWanted) return "";
  const rlimit raised{std::min(kStackWanted, now.rlim_max), now.rlim_max};
  if (raised.rlim_cur < kStackNeeded || ::setrlimit(RLIMIT_STACK, &raised) != 0)
    return "a stack may have no more than " + std::to_string(now.rlim_max) +
           " bytes here, and sortie needs " + std::to_string(kStackNeeded) + ": raise 'ulimit -s'";
  // Of the threads to come; the C library has taken the limit of the start for them.
  pthread_attr_t threads;
  if (::pthread_getattr_default_np(&threads) != 0) return "";
  if (::pthread_attr_setstacksize(&threads, raised.rlim_cur) == 0)
    ::pthread_setattr_default_np(&threads);
  ::pthread_attr_destroy(&threads);
  return "";
}

void check_current_folder() {
  char path[PATH_MAX];
  if (::getcwd(path, sizeof path) != nullptr || errno != ENOENT) return;
  throw Error(
      "the current folder is gone: it was deleted after this shell or job went there; cd "
      "into one that exists",
      ExitCode::environment);
}

}  // namespace sortie

#include "core/base/error.h"

#include <cerrno>
#include <system_error>

namespace sortie {

Cause cause_of(int number) noexcept {
  return number == ENOSPC || number == EDQUOT ? Cause::no_room : Cause::other;
}

std::string errno_text(int number) { return std::generic_category().message(number); }

Error path_error(const std::string& what, int number) {
  const bool named_wrongly = number == ENOENT || number == ENOTDIR || number == EISDIR ||
                             number == EEXIST || number == EACCES || number == EPERM ||
                             number == EROFS || number == ENAMETOOLONG || number == ELOOP ||
                             number == EINVAL || number == EILSEQ;
  return Error(what + ": " + errno_text(number),
               named_wrongly ? ExitCode::usage : ExitCode::environment, cause_of(number));
}

Error system_error(const std::string& step, ExitCode code) {
  const int number = errno;
  // A call that the machine refuses is its environment; only an invalid call is a bug.
  const bool invalid = number == EINVAL || number == EBADF || number == EFAULT || number == ENOSYS;
  if (code == ExitCode::internal && !invalid) code = ExitCode::environment;
  return Error(step + ": " + errno_text(number), code, cause_of(number));
}

}  // namespace sortie

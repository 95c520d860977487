#include "core/base/error.h"

#include <cerrno>
#include <system_error>

namespace sortie {

std::string errno_text(int number) { return std::generic_category().message(number); }

Error system_error(const std::string& step, ExitCode code) {
  const int number = errno;
  return Error(step + ": " + errno_text(number), code);
}

}  // namespace sortie

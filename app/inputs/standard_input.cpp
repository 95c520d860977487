#include "app/inputs/standard_input.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/text/text.h"

namespace sortie {

std::optional<std::string> read_standard_input(std::uint64_t max_bytes) {
  if (::isatty(STDIN_FILENO) == 1) return std::nullopt;
  ReadBytes read = read_to_end(STDIN_FILENO, {.max_bytes = max_bytes});
  if (read.error == EBADF) return std::nullopt;  // it was closed
  if (!read.problem.empty()) throw InputError("stdin: " + read.problem);
  if (!is_utf8(read.bytes)) throw InputError("stdin: not UTF-8");
  return std::move(read.bytes);
}

}  // namespace sortie

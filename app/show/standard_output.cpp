#include "app/show/standard_output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/text/ci_commands.h"

namespace sortie {

void print_out(std::string_view text) {
  print_bytes(without_ci_commands(std::string(text), ci_systems()));
}

void print_document(std::string_view text) {
  print_data(CiCommandFilter::json(text, ci_systems()));
}

void print_bytes(std::string_view bytes, const std::stop_token& stop) {
  const int number = write_within(STDOUT_FILENO, bytes, {}, stop);
  if (number != 0 && number != EPIPE) throw stdout_error(number);
}

void print_data(std::string_view bytes, const std::stop_token& stop) {
  if (const int number = write_within(STDOUT_FILENO, bytes, {}, stop); number != 0)
    throw stdout_error(number);
}

Error stdout_error(int number) {
  const Cause cause = number == EPIPE   ? Cause::reader_gone
                      : number == EBADF ? Cause::closed
                                        : cause_of(number);
  return Error("stdout: " + (number == EPIPE ? std::string("its reader has gone before it had all")
                                             : write_problem(number)),
               ExitCode::environment, cause);
}

bool is_of_device(int number) {
  return number == ENOSPC || number == EDQUOT || number == EFBIG || number == EIO;
}

std::size_t error_columns() {
  if (::isatty(STDERR_FILENO) != 1) return 0;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

void print_error(std::string_view text) {
  write_within(STDERR_FILENO, without_ci_commands(std::string(text), ci_systems()));
}

void print_ci_commands(std::string_view commands) {
  if (!commands.empty()) write_within(STDERR_FILENO, commands);
}

}  // namespace sortie

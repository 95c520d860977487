#include "app/run/told_failure.h"

#include <string_view>

#include "app/show/failure.h"
#include "app/show/job_notes.h"
#include "app/show/standard_output.h"
#include "core/secrets/redact.h"
#include "core/text/ci_commands.h"
#include "policies/environment/environment.h"
#include "policies/environment/known_secrets.h"

namespace sortie {
namespace {

/// Errors in files are shown as compilers do, above the last line.
bool has_lines(const Error& error) {
  return std::string_view(error.what()).find('\n') != std::string_view::npos;
}

/// What to do; "" if the error says it.
std::string next_after(const Error& error) {
  switch (error.code()) {
    case ExitCode::usage:
      return has_lines(error) ? "correct the errors above, and run the same command again"
                              : "correct this, and run the same command again";
    case ExitCode::busy:
      return "wait for its end, or name another folder";
    case ExitCode::environment:
      return after_environment(error.cause());
    case ExitCode::auth:
      return "'sortie doctor' shows which key would be used";
    default:
      return "";
  }
}

}  // namespace

void tell_failure(const Error& error) { tell_failure(error, next_after(error)); }

void tell_failure(const Error& error, const std::string& next) {
  const char* status = status_word(error.code());
  std::string what = error.what();
  if (error.code() == ExitCode::internal) what += std::string("; ") + kHowToReport;
  const std::string end = next.empty() ? "" : "; next: " + next;
  const std::string line = std::string("sortie: ") + status + " (" +
                           std::to_string(static_cast<int>(error.code())) + "): ";
  const std::string text =
      has_lines(error) ? what + "\n" + line + "nothing was started" + end : line + what + end;
  Redactor redactor;
  redactor.add_all(known_secrets(Policy{}, own_environment()).values);
  print_ci_commands(
      notes_of_error(CiLog(ci_systems()), status, redactor.text(what, Audience::people), end));
  print_error(redactor.text(text, Audience::people) + "\n");
}

}  // namespace sortie

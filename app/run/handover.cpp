#include "app/run/handover.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "app/artifacts/flag_outputs.h"
#include "app/artifacts/leaks.h"
#include "app/run/diff_record.h"
#include "app/show/standard_output.h"
#include "ci/attestation.h"
#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/text/ci_commands.h"
#include "core/text/terminal_text.h"

namespace sortie {

std::string message_for_stdout(const std::string& message, bool is_json) {
  const CiSystems systems = ci_systems();
  if (::isatty(STDOUT_FILENO) != 1)
    return is_json ? CiCommandFilter::json(message, systems)
                   : without_ci_commands(message, systems);
  TerminalText plain;
  std::string text = plain.feed(message);
  return without_ci_commands(text += plain.finish(), systems);
}

void Handover::take(AgentWork::Answer answer) {
  message_ = std::move(answer.text);
  if (!message_.empty()) message_ += '\n';
  is_json_ = answer.is_json;
}

void Handover::write_artifacts() {
  const bool success = parts_.result.code == ExitCode::success;
  if (!message_.empty()) {
    // Only an answer that matches the schema is written as JSON.
    const std::string name = is_json_ ? "last-message.json" : "last-message.txt";
    parts_.result.artifacts[name] = parts_.out.write(name, message_);
  }
  write_diff(success ? "changes.diff" : "partial.diff");
  if (success) hand_out(diff());
}

void Handover::hand_out(std::string_view diff) {
  std::string_view message = message_;
  if (!message.empty()) message.remove_suffix(1);
  write_flag_files(parts_.options, diff, message, parts_.signals->token());
  if (parts_.options.diff == "-") print(diff);
}

void Handover::write_diff(const std::string& name) {
  if (!has_diff() && name != "changes.diff") return;
  std::string redacted;
  std::string_view text = diff();
  // A diff that was refused for its secrets must not be written as it is.
  if (parts_.result.code == ExitCode::leak) {
    redacted = parts_.redactor.text(std::string(text));
    text = redacted;
    const auto left = find_leaks(parts_.redactor, text);
    if (parts_.acceptance->leaks_in_binary() || !describe_leaks(left, Leak::Kind::value).empty()) {
      parts_.result.warnings.push_back(name +
                                       " is not written: it holds a secret that can't be cut out");
      return;
    }
  } else if (has_diff()) {
    parts_.record.events().on(
        {parts_.record.turn(), diff_record(*parts_.tree->diff(), name, parts_.redactor)});
  }
  parts_.result.artifacts[name] = parts_.out.write(name, text);
}

void Handover::withdraw_success() {
  parts_.out.remove(kAttestationName);
  parts_.out.remove("changes.diff");
  parts_.result.artifacts.erase("changes.diff");
  try {
    remove_stale(parts_.options);
  } catch (const std::exception& error) {
    parts_.result.warnings.push_back(error.what());
  }
  try {
    write_diff("partial.diff");
  } catch (const std::exception& error) {
    parts_.result.warnings.push_back(error.what());
  }
}

/// The message is in the output folder too, so an error is only printed.
void Handover::print_message() {
  try {
    print(message_for_stdout(message_, is_json_));
  } catch (const Error& error) {
    parts_.record.write_error(std::string("sortie: ") + error.what());
  }
}

/// A reader that has gone is an error, too: nobody has what was asked for.
void Handover::print(std::string_view text) {
  const int number = write_within(STDOUT_FILENO, text, {}, parts_.signals->token());
  if (number == 0) return;
  if (number == ECANCELED)
    throw Error("stdout: " + write_problem(number), parts_.signals->received() == SIGINT
                                                        ? ExitCode::interrupted
                                                        : ExitCode::terminated);
  throw stdout_error(number);
}

}  // namespace sortie

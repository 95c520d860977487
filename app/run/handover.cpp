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
#include "core/files/file_name.h"
#include "core/files/files_below.h"
#include "core/record/diff_names.h"
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

std::string lack_of_submodules(const RunOptions& options,
                               const std::map<std::string, std::string>& artifacts) {
  std::vector<std::string> names;
  for (const auto& [name, digest] : artifacts)
    if (!submodule_of_diff(name).empty()) names.push_back(name);
  if (options.diff.empty() || names.empty()) return "";
  return "--diff " + options.diff +
         " lacks the changes in submodules, which have diffs of their own in --out: " +
         some_of(names);
}

void Handover::write_artifacts() {
  const bool success = parts_.result.code == ExitCode::success;
  if (!message_.empty()) {
    // Only an answer that matches the schema is written as JSON.
    const std::string name = is_json_ ? "last-message.json" : "last-message.txt";
    parts_.result.artifacts[name] = parts_.out.write(name, message_, Synced::content);
  }
  write_diff(success ? kChangesDiff : kPartialDiff);
  if (success) hand_out(diff());
}

void Handover::hand_out(std::string_view diff) {
  std::string_view message = message_;
  if (!message.empty()) message.remove_suffix(1);
  write_flag_files(parts_.options, diff, message, parts_.signals->token());
  if (const std::string lack = lack_of_submodules(parts_.options, parts_.result.artifacts);
      !lack.empty()) {
    parts_.result.warnings.push_back(lack);
    parts_.record.show_warning(lack);
  }
  if (parts_.options.diff == "-") print(diff);
}

void Handover::write_diff(const std::string& name) {
  if (parts_.tree != nullptr && !parts_.tree->workspace().keeps_start()) return;
  if (!has_diff()) {
    if (name == kChangesDiff)
      parts_.result.artifacts[name] = parts_.out.write(name, "", Synced::content);
    return;
  }
  const Diff& whole = *parts_.tree->diff();
  write_part(whole, name);
  for (const Diff& one : whole.submodules) {
    const std::string own = diff_name(name, one.submodule);
    if (!write_part(one, own)) continue;
    for (RunResult::Submodule& told : parts_.result.submodules)
      if (told.path == one.submodule) told.diff = own;
  }
  std::erase_if(parts_.result.submodules, [](const auto& one) { return one.diff.empty(); });
}

/// @return  whether it was written
bool Handover::write_part(const Diff& diff, const std::string& name) {
  std::string redacted;
  std::string_view text = diff.text;
  // A diff that was refused for its secrets must not be written as it is.
  if (parts_.result.code == ExitCode::leak) {
    redacted = parts_.redactor.text(std::string(diff.text.view()));
    text = redacted;
    const auto left = find_leaks(parts_.redactor, text);
    if (parts_.acceptance->leaks_in_binary() || !describe_leaks(left, Leak::Kind::value).empty()) {
      parts_.result.warnings.push_back(name +
                                       " is not written: it holds a secret that can't be cut out");
      return false;
    }
  } else {
    parts_.record.events().on(
        {parts_.record.turn(),
         diff_record(diff, name, parts_.redactor,
                     FilesBelow(parts_.tree->workspace().start(), diff.submodule))});
  }
  parts_.result.artifacts[name] = parts_.out.write(name, text, Synced::content);
  return true;
}

void Handover::withdraw_success() {
  parts_.out.remove(kAttestationName);
  parts_.out.remove_diffs();
  std::erase_if(parts_.result.artifacts, [](const auto& one) { return is_diff_name(one.first); });
  try {
    remove_stale(parts_.options);
  } catch (const std::exception& error) {
    parts_.result.warnings.push_back(error.what());
  }
  try {
    write_diff(kPartialDiff);
  } catch (const std::exception& error) {
    parts_.result.warnings.push_back(error.what());
  }
}

/// The message is in the output folder too, so an error is only printed.
void Handover::print_message() {
  const bool as_it_is = ::isatty(STDOUT_FILENO) != 1 && !ci_systems().any();
  const int number = as_it_is ? write(message_) : write(message_for_stdout(message_, is_json_));
  if (number != 0)
    parts_.record.take_stdout_failure(number, std::string("sortie: ") + error_of(number).what());
}

/// A reader that has gone is an error, too: nobody has what was asked for.
void Handover::print(std::string_view text) {
  if (const int number = write(text); number != 0) throw error_of(number);
}

int Handover::write(std::string_view text) const {
  return write_within(STDOUT_FILENO, text, {}, parts_.signals->token());
}

Error Handover::error_of(int number) const {
  if (number == ECANCELED)
    return Error("stdout: " + write_problem(number), parts_.signals->received() == SIGINT
                                                         ? ExitCode::interrupted
                                                         : ExitCode::terminated);
  return stdout_error(number);
}

}  // namespace sortie

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/artifacts/found_output.h"
#include "app/commands/command_line.h"
#include "app/show/standard_output.h"
#include "ci/run_check.h"
#include "core/files/file_name.h"

namespace sortie {
namespace {

constexpr std::size_t kMostForeign = 50;

/// A line for each file in a run's folder that no run wrote: those are not verified.
std::string foreign_lines(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) return "";
  const std::vector<std::string> names = inspect_output(folder).foreign;
  std::string lines;
  for (std::size_t i = 0; i < names.size() && i < kMostForeign; ++i)
    lines += "foreign: " + path_text(names[i]) + ": no run wrote it\n";
  if (names.size() > kMostForeign)
    lines += "foreign: " + std::to_string(names.size() - kMostForeign) + " more\n";
  return lines;
}

/// The flags of `sortie verify`.
struct VerifyFlags {
  std::string run;
  std::string workspace;
  std::string anchor;
};

ExitCode verify(const VerifyFlags& flags) {
  const RunCheck check =
      check_run(flags.run, {.repository = flags.workspace, .anchor = flags.anchor});
  if (!check.record.ok) {
    print_error(check.record.text() + "\n");
    return ExitCode::integrity;
  }
  std::string text = check.record.text() + "\n";
  for (const std::string& note : check.notes) text += note + "\n";
  print_out(text + foreign_lines(flags.run));
  return ExitCode::success;
}

}  // namespace

void add_verify(CommandTable& table) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App& app = add_command(
      table, table.root, "verify",
      "Check a run's transcript, artifacts and result, and that its diff gives the recorded end.",
      "sortie verify sortie-out", [flags] { return verify(*flags); });
  app.add_option("RUN", flags->run, "a run's output folder, or its transcript")->required();
  app.add_option("-C,--workspace", flags->workspace,
                 "a folder in a clone that has the run's base commit, to check the diff against");
  app.add_option("--anchor", flags->anchor, "what run --anchor wrote, to compare the record with");
}

}  // namespace sortie

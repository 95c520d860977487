#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/artifacts/found_output.h"
#include "app/artifacts/verified_result.h"
#include "app/commands/command_line.h"
#include "app/show/standard_output.h"
#include "core/files/file_name.h"
#include "core/record/transcript_reader.h"

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

}  // namespace

void add_verify(CommandTable& table) {
  auto path = std::make_shared<std::string>();
  CLI::App& app =
      add_command(table, table.root, "verify",
                  "Check a transcript's hash chain, its artifacts' digests and result.json.",
                  "sortie verify sortie-out", [path] {
                    VerifyResult result = verify_run(*path);
                    if (result.ok) result.problem = result_mismatch(*path);
                    result.ok = result.problem.empty();
                    if (result.ok)
                      print_out(result.text() + "\n" + foreign_lines(*path));
                    else
                      print_error(result.text() + "\n");
                    return result.ok ? ExitCode::success : ExitCode::integrity;
                  });
  app.add_option("RUN", *path, "a run's output folder, or its transcript")->required();
}

}  // namespace sortie

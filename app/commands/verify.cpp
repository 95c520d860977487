#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/commands.h"
#include "app/standard_output.h"
#include "app/verified_result.h"
#include "core/record/transcript_reader.h"

namespace sortie {

void add_verify(CommandTable& table) {
  auto path = std::make_shared<std::string>();
  CLI::App& app =
      add_command(table, table.root, "verify",
                  "Check a transcript's hash chain, its artifacts' digests and result.json.",
                  "sortie verify sortie-out", [path] {
                    VerifyResult result = verify_run(*path);
                    if (result.ok) result.problem = flaw_of_result(*path);
                    result.ok = result.problem.empty();
                    if (result.ok)
                      print_out(result.text() + "\n");
                    else
                      print_error(result.text() + "\n");
                    return result.ok ? ExitCode::success : ExitCode::integrity;
                  });
  app.add_option("RUN", *path, "a run's output folder, or its transcript")->required();
}

}  // namespace sortie

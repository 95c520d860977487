#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/commands.h"
#include "core/base/fd.h"
#include "core/record/transcript_reader.h"

namespace sortie {

void add_verify(CommandTable& table) {
  auto path = std::make_shared<std::string>();
  CLI::App& app = add_command(table, table.root, "verify",
                              "Check a transcript's hash chain and its artifacts' digests.",
                              "sortie verify sortie-out", [path] {
                                const VerifyResult result = verify_run(*path);
                                const int stream = result.ok ? STDOUT_FILENO : STDERR_FILENO;
                                write_all(stream, result.text() + "\n");
                                return result.ok ? ExitCode::success : ExitCode::integrity;
                              });
  app.add_option("RUN", *path, "a run's output folder, or its transcript")->required();
}

}  // namespace sortie

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "app/commands/command_line.h"
#include "app/inputs/standard_input.h"
#include "app/run/signals.h"
#include "app/show/standard_output.h"
#include "core/base/error.h"
#include "core/files/files.h"
#include "policies/rules/path_rules.h"
#include "tools/patch/applier.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

constexpr std::chrono::seconds kLockWait{30};
constexpr std::chrono::milliseconds kLockPause{20};

/// Two patches in one folder wait for each other: each would write a file as it was read before the
/// other changed it. A file system without locks has none, and that is no obstacle.
/// @throws Error  busy: the other one took its time
void lock(const Fd& folder) {
  const auto latest = std::chrono::steady_clock::now() + kLockWait;
  while (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    if (std::chrono::steady_clock::now() >= latest)
      throw Error(
          "another process has kept this folder locked for 30 s, as apply-patch does while "
          "it works; no file was changed",
          ExitCode::busy);
    std::this_thread::sleep_for(kLockPause);
  }
}

/// 0 applied, 1 refused and nothing changed, 2 usage or empty stdin, 7 applied but stdout can't be
/// written, 12 another patch is being applied here, 130 or 143 stopped by a signal and nothing
/// changed.
ExitCode apply(const std::optional<std::string>& argument) {
  const std::string text = argument ? *argument : read_standard_input().value_or("");
  if (text.empty()) throw InputError("apply-patch: no patch as argument or on stdin");
  const auto folder = std::filesystem::current_path();
  Fd opened(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  lock(opened);
  DiskFiles files(std::move(opened));
  // There is no policy here: what every run protects holds, .git.
  Policy none;
  none.protect.clear();
  const PathRules rules(none, {.workspace = folder});
  const auto is_protected = [&rules](const std::filesystem::path& path) {
    return rules.is_protected(path);
  };
  // From here on a first signal leaves the tree as it was, or lets all of the patch be applied.
  const Signals signals;
  const patch::Place place = {.root = folder,
                              .refused = is_protected,
                              .near = [&](const auto& path) { return near_path(files, path, {}); },
                              .digests = false,
                              .stop = signals.token()};
  std::string applied;
  try {
    applied = patch::apply_patch(text, files, place).text;
  } catch (const ToolError& error) {
    print_error(std::string(error.what()) + "\n");
    if (!signals.token().stop_requested()) return ExitCode::task_failed;
    return signals.received() == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
  }
  try {
    print_out(applied);
  } catch (const Error& error) {
    throw Error(std::string("the whole patch is applied, but that can't be said: ") + error.what(),
                error.code());
  }
  return ExitCode::success;
}

}  // namespace

void add_apply_patch(CommandTable& table) {
  auto patch = std::make_shared<std::optional<std::string>>();
  CLI::App& app =
      add_command(table, table.root, "apply-patch",
                  "Apply a patch in the apply_patch language to this folder, all or nothing; no "
                  "file of a .git.",
                  "sortie apply-patch < change.patch", [patch] { return apply(*patch); });
  app.add_option("PATCH", *patch, "the patch; default: stdin");
}

}  // namespace sortie

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
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

constexpr std::uint64_t kMostPatchBytes = 64u << 20;
constexpr std::chrono::seconds kLockWait{30};
constexpr std::chrono::milliseconds kLockPause{20};

/// Makes two patches in one folder wait for each other: otherwise one could overwrite the other's
/// changes with what it had read before. Does nothing on a file system without locks.
/// @throws Error  busy: the other one takes too long
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

/// Exit codes: 0 applied; 1 refused, nothing changed; 2 usage or empty stdin; 7 applied, but stdout
/// can't be written; 12 another patch is being applied here; 130 or 143 stopped by a signal, nothing
/// changed.
ExitCode apply(const std::optional<std::string>& argument) {
  const std::string text = argument ? *argument : read_standard_input(kMostPatchBytes).value_or("");
  if (text.empty()) throw InputError("apply-patch: no patch as argument or on stdin");
  const auto folder = std::filesystem::current_path();
  Fd opened(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  lock(opened);
  DiskFiles files(std::move(opened));
  // There is no policy here, so only .git is protected, as in every run.
  Policy none;
  none.protect.clear();
  const PathRules rules(none, {.workspace = folder});
  const auto is_protected = [&rules](const std::filesystem::path& path) {
    return rules.is_protected(path);
  };
  // From here on, after a first signal the patch is applied either completely or not at all.
  const Signals signals;
  const patch::Place place = {.root = folder,
                              .refused = is_protected,
                              .hint = [&](const auto& path) { return path_hint(files, path, {}); },
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
    throw Error(
        std::string("the whole patch was applied, but that can't be reported: ") + error.what(),
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

#include "app/confinement/work_watch.h"

#include <utility>

namespace sortie {
namespace {

class WatchedCommand : public RunningCommand {
 public:
  WatchedCommand(WorkTimes& times, Launcher& launcher, const Command& command)
      : work_(std::in_place, times), command_(launcher.start(command)) {}

  const Fd& output() const override { return command_->output(); }
  Fd& input() override { return command_->input(); }
  const Fd& errors() const override { return command_->errors(); }
  int ended_descriptor() const override { return command_->ended_descriptor(); }
  std::optional<ExitStatus> status() override {
    auto status = command_->status();
    if (status) work_.reset();
    return status;
  }
  void ask_to_end() override { command_->ask_to_end(); }
  void end(Ending why) override { command_->end(why); }

 private:
  std::optional<WorkTimeGuard> work_;  ///< ends after the command was destroyed
  std::unique_ptr<RunningCommand> command_;
};

}  // namespace

std::unique_ptr<RunningCommand> WatchedLauncher::start(const Command& command) {
  return std::make_unique<WatchedCommand>(times_, launcher_, command);
}

void WatchedFiles::write(const std::filesystem::path& path, std::string_view content,
                         unsigned mode) {
  const WorkTimeGuard work(times_);
  DiskFiles::write(path, content, mode);
}

void WatchedFiles::remove(const std::filesystem::path& path) {
  const WorkTimeGuard work(times_);
  DiskFiles::remove(path);
}

bool WatchedFiles::remove_empty_folder(const std::filesystem::path& path) {
  const WorkTimeGuard work(times_);
  return DiskFiles::remove_empty_folder(path);
}

void WatchedFiles::replace_all(const std::vector<Replacement>& replacements) {
  const WorkTimeGuard work(times_);
  DiskFiles::replace_all(replacements);
}

}  // namespace sortie

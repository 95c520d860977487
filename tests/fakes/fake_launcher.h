#pragma once

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/process/launcher.h"

namespace sortie {

/// A command that starts no process: it has printed its output at once, and has ended already or
/// ends when it is told to.
class FakeCommand : public RunningCommand {
 public:
  /// @param ends  how it ends by itself; nothing: only by end()
  FakeCommand(const std::string& printed, std::optional<ExitStatus> ends,
              CommandInput input = CommandInput::none)
      : ended_(::eventfd(0, EFD_CLOEXEC)) {
    if (input != CommandInput::none) {
      Pipe pipe = make_pipe();
      ::fcntl(pipe.write.get(), F_SETFL, O_WRONLY | O_NONBLOCK);
      input_ = std::move(pipe.write);
      unread_ = std::move(pipe.read);
    }
    Pipe pipe = make_pipe();
    ::fcntl(pipe.write.get(), F_SETPIPE_SZ, 1 << 20);
    ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
    write_all(pipe.write.get(), printed);
    output_ = std::move(pipe.read);
    if (ends) {
      finish(*ends);
    } else {
      writer_ = std::move(pipe.write);
    }
  }

  const Fd& output() const override { return output_; }
  Fd& input() override { return input_; }
  const Fd& errors() const override { return none_; }
  int ended_descriptor() const override { return ended_.get(); }
  std::optional<ExitStatus> status() override { return status_; }
  void ask_to_end() override {}
  void end(Ending why) override {
    if (!status_) finish({.ending = why});
    writer_.reset();
  }

 private:
  void finish(const ExitStatus& status) {
    status_ = status;
    ::eventfd_write(ended_.get(), 1);
  }

  Fd output_;
  Fd input_;
  Fd unread_;  ///< what is written to it stays here
  Fd none_;
  Fd writer_;
  Fd ended_;
  std::optional<ExitStatus> status_;
};

/// Answers commands as a test says, and remembers them.
class FakeLauncher : public Launcher {
 public:
  struct Answer {
    std::string output{};  ///< at most 1 MiB
    std::optional<ExitStatus> ends = ExitStatus{};
  };
  /// What a command does; success without output, unless a test says otherwise.
  std::function<Answer(const Command&)> answer = [](const Command&) { return Answer{}; };
  std::vector<Command> started;

  std::unique_ptr<RunningCommand> start(const Command& command) override {
    started.push_back(command);
    Answer what = answer(command);
    return std::make_unique<FakeCommand>(what.output, what.ends, command.input);
  }
};

}  // namespace sortie

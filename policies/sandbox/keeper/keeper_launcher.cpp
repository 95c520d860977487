#include "policies/sandbox/keeper/keeper_launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/process/channel.h"
#include "policies/sandbox/keeper/keeper_messages.h"

namespace sortie {
namespace {

/// execve(2) accepts at most 2 MiB with the usual stack limit of 8 MiB.
constexpr std::size_t kMostSent = 8 << 20;
constexpr int kAnswerWithinMilliseconds = 20'000;

Error keeper_gone() {
  return Error("the keeper, which runs all commands, has died", ExitCode::environment);
}

/// A command that the keeper runs: its status arrives over a socket of its own.
class KeptCommand : public RunningCommand {
 public:
  explicit KeptCommand(Fd control) : control_(std::move(control)) {}

  ~KeptCommand() override {
    if (ended_) return;
    end(Ending::cancelled);
    // Until the keeper reports that all its processes are dead, or the keeper is dead itself.
    pollfd wait{control_.get(), POLLIN, 0};
    while (::poll(&wait, 1, kAnswerWithinMilliseconds) < 0 && errno == EINTR) {
    }
  }

  const Fd& output() const override { return output_; }
  Fd& input() override { return input_; }
  const Fd& errors() const override { return errors_; }
  int ended_descriptor() const override { return control_.get(); }

  std::optional<ExitStatus> status() override {
    if (!ended_) {
      const auto message = receive_message(control_.get(), Wait::no);
      if (!message.closed && message.bytes.empty()) return std::nullopt;
      take_end(message);
    }
    if (!ended_->failure.empty()) throw Error(ended_->failure, ExitCode::environment);
    return ended_->status;
  }

  void ask_to_end() override { say(kAskToEnd); }
  void end(Ending why) override { say(static_cast<char>(why)); }

  /// Makes the command's pipes.
  /// @return their other ends, in the order documented at keeper_main()
  std::vector<Fd> open_pipes(const Command& command) {
    std::vector<Fd> theirs;
    const auto read_from = [&](Fd& end) {
      Pipe pipe = make_pipe();
      ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
      end = std::move(pipe.read);
      theirs.push_back(std::move(pipe.write));
    };
    if (command.input != CommandInput::terminal) read_from(output_);
    if (command.input == CommandInput::pipe) {
      Pipe pipe = make_pipe();
      ::fcntl(pipe.write.get(), F_SETFL, O_WRONLY | O_NONBLOCK);
      input_ = std::move(pipe.write);
      theirs.push_back(std::move(pipe.read));
    }
    if (command.errors_apart) read_from(errors_);
    return theirs;
  }

  /// Waits for the terminal from the keeper, or its message that there is none.
  void take_terminal() {
    ChannelMessage message = receive_message(control_.get(), Wait::yes);
    if (message.descriptors.size() != 1) return take_end(message);
    output_ = std::move(message.descriptors.front());
    ::fcntl(output_.get(), F_SETFL, O_RDWR | O_NONBLOCK);
    input_ = Fd(::fcntl(output_.get(), F_DUPFD_CLOEXEC, 3));
    if (!input_) throw system_error("dup");
  }

 private:
  void say(char byte) { send_message(control_.get(), std::string_view(&byte, 1)); }

  void take_end(const ChannelMessage& message) {
    ended_ = message.closed ? CommandEnd{{}, keeper_gone().what()} : decode_end(message.bytes);
  }

  Fd output_;
  Fd input_;
  Fd errors_;
  Fd control_;
  std::optional<CommandEnd> ended_;
};

}  // namespace

std::unique_ptr<RunningCommand> KeeperLauncher::start(const Command& command) {
  Channel control = make_channel();
  auto kept = std::make_unique<KeptCommand>(std::move(control.ours));
  const std::vector<Fd> pipes = kept->open_pipes(command);
  const std::string bytes = encode_command(command);
  if (bytes.size() > kMostSent || command.argv.empty()) {
    CommandEnd refused;
    refused.status.ending = Ending::not_started;
    refused.status.detail =
        command.argv.empty() ? "no program is named" : "arguments and environment are too long";
    send_message(control.theirs.get(), encode_end(refused));
    return kept;
  }
  const Fd request = memory_file("command", bytes);
  WireWriter writer;
  writer.number(static_cast<std::int64_t>(KeeperWord::start));
  std::vector<int> handed = {request.get(), control.theirs.get()};
  for (const Fd& pipe : pipes) handed.push_back(pipe.get());
  const bool sent = send_message(socket_.get(), writer.bytes(), handed);
  control.theirs.reset();  // so that the keeper's death is seen
  if (!sent) throw keeper_gone();
  if (command.input == CommandInput::terminal) kept->take_terminal();
  return kept;
}

}  // namespace sortie

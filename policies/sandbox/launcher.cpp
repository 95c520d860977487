#include "policies/sandbox/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/channel.h"
#include "core/base/error.h"
#include "policies/sandbox/keeper_messages.h"
#include "policies/sandbox/wire.h"

namespace sortie {
namespace {

/// execve(2) takes 2 MiB at most where the stack's limit is the usual 8 MiB.
constexpr std::size_t kMaxRequest = 8 << 20;
constexpr int kEndWithinMilliseconds = 20'000;

Error keeper_gone() {
  return Error("the keeper, which runs all commands, has died", ExitCode::environment);
}

/// A command that the keeper runs: its status comes over a socket of its own.
class KeptCommand : public RunningCommand {
 public:
  KeptCommand(Fd output, Fd control) : output_(std::move(output)), control_(std::move(control)) {}

  ~KeptCommand() override {
    if (ended_) return;
    end(Ending::cancelled);
    // Until the keeper says that all is dead, or is dead itself.
    pollfd wait{control_.get(), POLLIN, 0};
    while (::poll(&wait, 1, kEndWithinMilliseconds) < 0 && errno == EINTR) {
    }
  }

  const Fd& output() const override { return output_; }
  int ended_descriptor() const override { return control_.get(); }

  std::optional<ExitStatus> status() override {
    if (!ended_) {
      const auto message = receive_message(control_.get(), Wait::no);
      if (!message.closed && message.bytes.empty()) return std::nullopt;
      ended_ = message.closed ? CommandEnd{{}, keeper_gone().what()} : decode_end(message.bytes);
    }
    if (!ended_->failure.empty()) throw Error(ended_->failure, ExitCode::environment);
    return ended_->status;
  }

  void end(Ending why) override {
    const char byte = static_cast<char>(why);
    send_message(control_.get(), std::string_view(&byte, 1));
  }

 private:
  Fd output_;
  Fd control_;
  std::optional<CommandEnd> ended_;
};

Fd memory_file(const std::string& bytes) {
  Fd file(::memfd_create("command", MFD_CLOEXEC));
  if (!file || !write_all(file.get(), bytes)) throw system_error("memfd_create");
  return file;
}

}  // namespace

std::unique_ptr<RunningCommand> KeeperLauncher::start(const Command& command) {
  Pipe output = make_pipe();
  ::fcntl(output.read.get(), F_SETFL, O_NONBLOCK);
  Channel control = make_channel();
  const std::string bytes = encode_command(command);
  if (bytes.size() > kMaxRequest || command.argv.empty()) {
    CommandEnd refused;
    refused.status.ending = Ending::not_started;
    refused.status.detail =
        command.argv.empty() ? "no program is named" : "arguments and environment are too long";
    send_message(control.theirs.get(), encode_end(refused));
  } else {
    const Fd request = memory_file(bytes);
    WireWriter writer;
    writer.number(static_cast<std::int64_t>(KeeperWord::start));
    if (!send_message(socket_.get(), writer.bytes(),
                      {request.get(), output.write.get(), control.theirs.get()}))
      throw keeper_gone();
  }
  return std::make_unique<KeptCommand>(std::move(output.read), std::move(control.ours));
}

}  // namespace sortie

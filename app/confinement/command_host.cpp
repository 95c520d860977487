#include "app/confinement/command_host.h"

#include <atomic>

namespace sortie {
namespace {

/// Two may go on at once, where the model asks for the tests twice in one turn.
std::string next_name() {
  static std::atomic<int> count = 0;
  return "verification " + std::to_string(++count);
}

}  // namespace

VerificationLauncher::VerificationLauncher(CommandHost& host) : host_(host), name_(next_name()) {}

std::unique_ptr<RunningCommand> VerificationLauncher::start(const Command& command) {
  Command own = command;
  own.private_set = name_;
  return host_.launcher().start(own);
}

}  // namespace sortie

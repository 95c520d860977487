#include "app/confinement/verification_launcher.h"

#include <atomic>

namespace sortie {
namespace {

/// Two may go on at once, where the model asks for the tests twice in one turn.
std::string next_name() {
  static std::atomic<int> count = 0;
  return "verification " + std::to_string(++count);
}

}  // namespace

VerificationLauncher::VerificationLauncher(Confinement& confinement)
    : confinement_(confinement), name_(next_name()) {}

VerificationLauncher::~VerificationLauncher() { confinement_.keeper().drop_private_set(name_); }

std::unique_ptr<RunningCommand> VerificationLauncher::start(const Command& command) {
  Command own = command;
  own.private_set = name_;
  return confinement_.launcher().start(own);
}

std::chrono::milliseconds VerificationLauncher::time_left() const {
  return confinement_.launcher().time_left();
}

}  // namespace sortie

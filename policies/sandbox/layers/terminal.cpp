#include "policies/sandbox/layers/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
namespace sortie {
namespace {

NoTerminal no_terminal(const char* step) {
  return NoTerminal(std::string("no terminal is available: ") + step + ": " + errno_text(errno));
}

}  // namespace

Terminal open_terminal(uid_t uid, gid_t gid) {
  Terminal terminal;
  terminal.master = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.master) throw no_terminal("open /dev/ptmx");
  if (::unlockpt(terminal.master.get()) != 0) throw no_terminal("unlock it");
  // By the master, not by name, which would have to be looked up in the right devpts.
  terminal.slave = Fd(::ioctl(terminal.master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.slave) throw no_terminal("open its other end");
  const int slave = terminal.slave.get();
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  termios modes{};
  if (::fchown(slave, uid, gid) != 0 || ::fchmod(slave, S_IRUSR | S_IWUSR) != 0 ||
      ::ioctl(slave, TIOCSWINSZ, &size) != 0 || ::tcgetattr(slave, &modes) != 0)
    throw no_terminal("set it up");
  modes.c_iflag |= IUTF8;  // erasing takes a whole character
  if (::tcsetattr(slave, TCSANOW, &modes) != 0) throw no_terminal("set it up");
  return terminal;
}

}  // namespace sortie

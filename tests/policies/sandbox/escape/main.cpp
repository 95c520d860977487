// escape NAME GROUND: tries one way out; the exit code is 0 when it got through, else the errno.
// escape GROUND NAME...: tries many, each in a process of its own, and names those that got
// through. escape privileged:  whether this process has rights that its real user has not. escape
// wait:        stands until its stdin ends.
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "tests/policies/sandbox/escape/attempts.h"

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "privileged") {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[2]{};
    ::syscall(SYS_capget, &header, sets);
    const bool more = (sets[0].effective | sets[1].effective) != 0 || ::geteuid() != ::getuid();
    return more ? 0 : EPERM;
  }
  if (name == "wait") {
    char byte = 0;
    while (::read(0, &byte, 1) > 0) {
    }
    return 0;
  }
  if (argc < 3) return 2;
  if (name.starts_with("{")) {
    sortie::escape::run_attempts({argv + 2, argv + argc}, sortie::escape::ground_from(name), 1);
    return 0;
  }
  const int error = sortie::escape::run_attempt(name, sortie::escape::ground_from(argv[2]));
  std::printf("%s: %d\n", name.c_str(), error);
  return error;
}

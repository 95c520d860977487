// refuse_namespaces CMD…: runs a command as a container engine's default profile would.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tests/support/refuse_namespaces.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: refuse_namespaces CMD…\n", stderr);
    return 2;
  }
  if (const int error = sortie::test::refuse_namespaces()) {
    std::fprintf(stderr, "refuse_namespaces: %s\n", std::strerror(error));
    return 125;
  }
  ::execvp(argv[1], argv + 1);
  std::fprintf(stderr, "refuse_namespaces: %s: %s\n", argv[1], std::strerror(errno));
  return 127;
}

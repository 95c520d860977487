/* Stands for every program of a script under test: appends the number of its words and the words,
 * a NUL behind each, to the file that RECORD names, in one write; fails where FAILING holds its name
 * between slashes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char record[256 * 1024];

int main(int argc, char** argv) {
  size_t size = (size_t)snprintf(record, sizeof record, "%d", argc) + 1;
  for (int i = 0; i < argc; ++i) {
    const size_t length = strlen(argv[i]) + 1;
    if (size + length > sizeof record) return 99;
    memcpy(record + size, argv[i], length);
    size += length;
  }
  const char* file = getenv("RECORD");
  const int fd = file == NULL ? -1 : open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0 || write(fd, record, size) != (ssize_t)size) return 98;

  const char* slash = strrchr(argv[0], '/');
  char name[512] = "/";
  strncat(name, slash == NULL ? argv[0] : slash + 1, 500);
  strcat(name, "/");
  const char* failing = getenv("FAILING");
  return failing != NULL && strstr(failing, name) != NULL ? 1 : 0;
}

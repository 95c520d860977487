// The yardstick: the same exchange as a run's, over raw sockets, with no sandbox, no record and no
// look at what comes but for the two words that steer it.
//
//   floor PORT BYTES PROGRAM [ARGUMENT…]
//
// sends a request of BYTES, reads the response, starts PROGRAM where the response holds a call,
// reads what it prints, and goes on until a response holds none. Build: cc -O2 -static.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static char buffer[1 << 16];

static void fail(const char* step) {
  perror(step);
  exit(1);
}

static int connect_to(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)port),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (connect(server, (struct sockaddr*)&address, sizeof address) != 0) fail("connect");
  return server;
}

static void send_request(int server, const char* body, size_t bytes) {
  char head[256];
  const int length =
      snprintf(head, sizeof head,
               "POST /v1/responses HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %zu\r\n\r\n", bytes);
  if (write(server, head, (size_t)length) != length) fail("write");
  for (size_t sent = 0; sent < bytes;) {
    const ssize_t count = write(server, body + sent, bytes - sent);
    if (count <= 0) fail("write");
    sent += (size_t)count;
  }
}

/// Reads up to the last chunk. @return whether a call was in it
static int read_response(int server) {
  static const char end[] = "0\r\n\r\n";
  char tail[6] = "";
  int call = 0;
  for (;;) {
    const ssize_t count = read(server, buffer, sizeof buffer);
    if (count <= 0) fail("read");
    if (!call) call = memmem(buffer, (size_t)count, "\"function_call\"", 15) != NULL;
    for (ssize_t i = count < 5 ? 0 : count - 5; i < count; ++i) {
      memmove(tail, tail + 1, 4);
      tail[4] = buffer[i];
    }
    if (memcmp(tail, end, 5) == 0) return call;
  }
}

static void run(char** argv) {
  int ends[2];
  if (pipe2(ends, 0) != 0) fail("pipe2");
  const pid_t child = vfork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    execvp(argv[0], argv);
    _exit(127);
  }
  close(ends[1]);
  while (read(ends[0], buffer, sizeof buffer) > 0) {
  }
  close(ends[0]);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("command");
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  size_t bytes = (size_t)atol(argv[2]);
  char* body = malloc(bytes + (1 << 20));
  memset(body, 'x', bytes + (1 << 20));
  const int server = connect_to(atoi(argv[1]));
  for (;;) {
    send_request(server, body, bytes);
    if (!read_response(server)) return 0;
    run(argv + 3);
    bytes += 400;  // the history grows by a call and its output
  }
}

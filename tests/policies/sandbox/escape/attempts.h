#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

namespace sortie::escape {

/// What stands around a sandbox for attempts to reach: all of it real, and reachable without it.
struct Ground {
  std::string workspace;  ///< writable inside; with .git/config
  std::string outside;    ///< a folder of the same owner beside it: file "treasure", socket "door"
  std::string program;    ///< a set-uid root copy of the escape program, readable inside
  std::string abstract;   ///< name of a listening abstract socket
  std::string terminal;   ///< a pseudo-terminal of the same user, as /dev/pts/N
  std::string shared;     ///< a file of the same user in /dev/shm
  std::string queue;      ///< name of a POSIX message queue of the same user
  int tcp_port = 0;       ///< of a listener on 127.0.0.1
  int tcp6_port = 0;      ///< of a listener on ::1
  int udp_port = 0;
  int segment = -1;     ///< a System V shared memory segment of the same user
  int messages = -1;    ///< and a message queue
  pid_t victim = 0;     ///< a process of the same user, with MARKER=treasure in its environment
  int descriptor = -1;  ///< left open without close-on-exec
};

/// As one command line argument, and back.
std::string to_text(const Ground& ground);
Ground ground_from(const std::string& text);

/// Who must be able to do it without a sandbox.
enum class Control {
  owner,  ///< the ground's owner
  root,   ///< uid 0 with all capabilities
};

/// Where it must be refused.
enum class Scope {
  always,  ///< by Landlock and seccomp alone too
  keeper,  ///< in every run, by how the keeper starts commands
  view,    ///< only with namespaces: needs mounts or a network namespace
};

struct Attempt {
  const char* name;
  Control control;
  Scope scope;
  int (*run)(const Ground& ground);  ///< 0: got through; else the errno
};

/// All attempts. Those that succeed undo what they did, so that each can be tried again.
const std::vector<Attempt>& attempts();
/// Runs one by name; 127 where there is none.
int run_attempt(const std::string& name, const Ground& ground);
/// Runs each in a process of its own. Says which got through, "NAME\n", and at last "tried N\n".
void run_attempts(const std::vector<std::string>& names, const Ground& ground, int output);

const std::vector<Attempt>& file_attempts();
const std::vector<Attempt>& path_attempts();
const std::vector<Attempt>& socket_attempts();
const std::vector<Attempt>& neighbour_attempts();
const std::vector<Attempt>& call_attempts();
const std::vector<Attempt>& network_attempts();
const std::vector<Attempt>& process_attempts();
const std::vector<Attempt>& kernel_attempts();

/// Runs the body in a child, so that what it changes of itself ends with it. A child that is killed
/// did not get through.
template <typename Body>
int in_own_process(const Body& body) {
  const pid_t child = ::fork();
  if (child < 0) return *__errno_location();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

/// 0 when the call's result is not negative, else its errno.
inline int outcome(long result) { return result < 0 ? *__errno_location() : 0; }

}  // namespace sortie::escape

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "policies/sandbox/profile.h"
#include "tests/policies/sandbox/escape/attempts.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {

/// A workspace of one user and, around it, what an escape would reach: a neighbour's folder,
/// listeners of the host, and a process of the same user.
class Scene {
 public:
  explicit Scene(uid_t owner);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene();

  const escape::Ground& ground() const { return ground_; }
  uid_t owner() const { return owner_; }
  std::filesystem::path workspace() const { return ground_.workspace; }
  std::filesystem::path home() const { return folder_ / "home"; }
  std::filesystem::path tools() const { return folder_ / "tools"; }
  /// A run without namespaces in this workspace.
  SandboxProfile profile() const;

 private:
  void make_files();
  void make_listeners();
  void make_shared();
  void start_victim();

  TemporaryFolder folder_;
  uid_t owner_;
  escape::Ground ground_;
  Fd tcp_;
  Fd tcp6_;
  Fd udp_;
  Fd abstract_;
  Fd door_;
  Fd letterbox_;
  Fd terminal_;
  Fd victims_input_;
};

/// The names of the attempts that succeed here without a sandbox, each tried as who must be able
/// to; `view`: with those that only namespaces refuse.
std::vector<std::string> possible_attempts(const Scene& scene, bool view);

/// How a forked child ended.
struct Ended {
  int code = 0;    ///< its exit code
  int signal = 0;  ///< or what killed it
};

/// Forks, becomes `user` for good where this process is root and another (dumpable, as after a
/// login), and runs the body, whose result is the exit code.
Ended in_child(uid_t user, const std::function<int()>& body);

}  // namespace sortie::test

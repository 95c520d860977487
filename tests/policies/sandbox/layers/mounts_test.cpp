// Mounts on what is held open, while its name goes to another file.
#include "policies/sandbox/layers/mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/files/files.h"
#include "tests/policies/sandbox/ways.h"

namespace sortie::test {
namespace {

/// How a file loses its name to a link.
struct Loss {
  const char* name;
  void (*make)(const fs::path& path);
};

constexpr Loss kLosses[] = {
    {"removed", [](const fs::path& path) { fs::remove(path); }},
    {"removed, and a link made",
     [](const fs::path& path) {
       fs::remove(path);
       fs::create_symlink("elsewhere", path);
     }},
    {"a link renamed over it",
     [](const fs::path& path) {
       const fs::path link = path.string() + ".new";
       fs::create_symlink("elsewhere", link);
       fs::rename(link, path);
     }},
};

Fd hold(const fs::path& path) {
  Fd held(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!held) throw system_error("open " + path.string(), ExitCode::environment);
  return held;
}

/// In each way, with mounts of the process' own.
/// @param act  returns what it found wrong
void check_with_own_mounts(const std::function<std::string(const Sandboxed& here)>& act) {
  int tried = 0;
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    ++tried;
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) -> std::string {
      if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return "no mounts of its own\n";
      here.write("ws/elsewhere", "elsewhere\n");
      here.write("ws/mask", "mask\n");
      return act(here);
    });
    BOOST_TEST(wrong.empty(), way.name << ": " << wrong);
  }
  BOOST_TEST(tried > 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mounts)

BOOST_AUTO_TEST_CASE(what_was_removed_is_not_mounted_on) {
  check_with_own_mounts([](const Sandboxed& here) {
    std::string found;
    for (const Loss& loss : kLosses) {
      here.write("ws/name", "first\n");
      const fs::path name = here.base / "ws/name";
      const Fd place = hold(name);
      const Fd mask = copy_tree(here.base / "ws/mask", Access::read_only);
      loss.make(name);
      try {
        attach_tree(mask, place, name);
        found += std::string(loss.name) + ": it was mounted on\n";
      } catch (const Error&) {
      }
      if (fs::is_symlink(name) && read_file(name) != "elsewhere\n")
        found += std::string(loss.name) + ": what took the name is covered\n";
      fs::remove(name);
    }
    return found;
  });
}

BOOST_AUTO_TEST_CASE(what_was_moved_is_mounted_on_where_it_is) {
  check_with_own_mounts([](const Sandboxed& here) -> std::string {
    const fs::path name = here.base / "ws/file.txt";
    const fs::path moved = here.base / "ws/moved";
    const Fd place = hold(name);
    fs::rename(name, moved);
    here.write("ws/file.txt", "second\n");
    attach_tree(copy_tree(here.base / "ws/mask", Access::read_only), place, name);
    if (read_file(moved) != "mask\n") return "not mounted: " + read_file(moved);
    return read_file(name) == "second\n" ? "" : "what took the name is covered\n";
  });
}

BOOST_AUTO_TEST_CASE(what_kept_its_name_is_mounted_on) {
  check_with_own_mounts([](const Sandboxed& here) -> std::string {
    const fs::path name = here.base / "ws/file.txt";
    const Fd place = hold(name);
    attach_tree(copy_tree(place, name, Access::read_only), place, name);
    if (::access(name.c_str(), W_OK) == 0) return "it can be written to\n";
    const Fd above = hold(name);
    attach_tree(copy_tree(here.base / "ws/mask", Access::read_only), above, name);
    return read_file(name) == "mask\n" ? "" : "the upper one does not show: " + read_file(name);
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace sortie::test

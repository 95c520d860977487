// Sockets of the machine's services in folders that commands see.
#include "policies/sandbox/view/socket_files.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "core/base/fd.h"
#include "tests/policies/sandbox/ways.h"

namespace sortie::test {
namespace {

/// A service that listens at a socket file.
Fd listen_at(const fs::path& path) {
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = path.string();
  if (name.size() >= sizeof address.sun_path) throw std::runtime_error("too long: " + name);
  name.copy(address.sun_path, name.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 8) != 0)
    throw std::runtime_error("listen at " + name);
  ::chmod(name.c_str(), 0777);
  return socket;
}

std::string connecting_to(const fs::path& path) {
  return "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"" + path.string() +
         "\"); print(\"connected\")' 2>&1";
}

struct Folder {
  Folder() {
    char name[] = "/tmp/sortie-sockets-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
    path = fs::canonical(name);
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  fs::path path;
};

BOOST_AUTO_TEST_SUITE(socket_files)

BOOST_AUTO_TEST_CASE(a_folder_without_sockets_has_its_files_and_lets_nobody_connect) {
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    const std::string wrong = found_wrong(way, [](Sandboxed& here) {
      const fs::path folder = here.base / "services";
      fs::create_directories(folder / "bin");
      fs::create_directories(folder / "run");
      here.write("services/bin/tool", "#!/bin/sh\necho a tool\n");
      fs::permissions(folder / "bin/tool", fs::perms(0755));
      here.write("services/secret", "TREASURE\n");
      const Fd service = listen_at(folder / "run/service");
      here.profile.readable = {folder};
      here.profile.hide.push_back((folder / "secret").string());
      std::string text;
      const auto expect = [&](Keeper& keeper, const std::string& script, bool works,
                              const std::string& output) {
        const Ran ran = run(keeper, here.shell(script));
        if (ran.status.success() != works || ran.output.find(output) == std::string::npos)
          text += script + ": " + said(ran) + '\n';
      };
      {
        Keeper open(here.profile);
        expect(open, connecting_to(folder / "run/service"), true, "connected");
      }
      here.profile.without_sockets = {folder};
      Keeper keeper(here.profile);
      expect(keeper, connecting_to(folder / "run/service"), false, "Connection refused");
      // Also one that comes later.
      const Fd later = listen_at(folder / "run/later");
      expect(keeper, connecting_to(folder / "run/later"), false, "");
      expect(keeper, (folder / "bin/tool").string(), true, "a tool");
      expect(keeper, "echo x > " + (folder / "new").string() + " 2>&1", false, "");
      expect(keeper, "cat " + (folder / "secret").string() + " 2>&1", false, "");
      expect(keeper, "cat file.txt", true, "start");
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(a_workspace_in_a_folder_without_sockets_is_the_runs_own) {
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    const std::string wrong = found_wrong(way, [](Sandboxed& here) {
      here.profile.readable = {here.base};
      here.profile.without_sockets = {here.base};
      Keeper keeper(here.profile);
      const Ran ran = run(keeper, here.shell("echo more >> file.txt && cat file.txt"));
      return ran.output == "start\nmore\n" ? std::string() : said(ran);
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(sockets_are_found_up_to_a_number_of_entries) {
  const Folder folder;
  fs::create_directory(folder.path / "a");
  const Fd service = listen_at(folder.path / "a/service");
  fs::create_symlink("service", folder.path / "a/link");

  const SocketFiles all = find_sockets(folder.path, 3);
  const SocketFiles cut = find_sockets(folder.path, 2);
  const SocketFiles none = find_sockets(folder.path / "missing", 2);

  BOOST_TEST((all.paths == std::vector<fs::path>{folder.path / "a/service"}));
  BOOST_TEST(!all.is_cut);
  BOOST_TEST(cut.is_cut);
  BOOST_TEST((none.paths.empty() && none.problem.empty() && !none.is_cut));
}

BOOST_AUTO_TEST_CASE(only_a_folder_with_nothing_mounted_in_it_is_shown_without_its_sockets) {
  const Folder folder;
  fs::create_directory(folder.path / "real");
  fs::create_directory_symlink("real", folder.path / "link");
  std::ofstream(folder.path / "file") << "x";

  BOOST_TEST(can_show_without_sockets(folder.path / "real"));
  BOOST_TEST(!can_show_without_sockets(folder.path / "link"));
  BOOST_TEST(!can_show_without_sockets(folder.path / "file"));
  BOOST_TEST(!can_show_without_sockets(folder.path / "missing"));
  BOOST_TEST(!can_show_without_sockets("/"));  // has /proc
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>

#include "policies/sandbox/keeper/keeper_launcher.h"
#include "tests/policies/sandbox/ways.h"

namespace sortie::test {
namespace {

/// A listener on the machine's loopback.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof address;
    if (::bind(socket_.get(), raw, length) != 0 || ::listen(socket_.get(), 64) != 0 ||
        ::getsockname(socket_.get(), raw, &length) != 0)
      throw std::runtime_error("listener");
    port_ = ntohs(address.sin_port);
  }
  std::string connect_script() const {
    return "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(port_);
  }

 private:
  Fd socket_;
  int port_ = 0;
};

/// What a command asks for beyond the run's own permissions.
struct Asked {
  const char* name;
  bool writes;
  bool open_network;
};

constexpr Asked kAll[] = {{"ordinary", false, false},
                          {"writes", true, false},
                          {"network", false, true},
                          {"both", true, true}};

bool works(Keeper& keeper, const Sandboxed& here, const Asked& asked, const std::string& script) {
  Command command = here.shell(script);
  command.argv.front() = "bash";
  command.writes = asked.writes;
  command.open_network = asked.open_network;
  return run(keeper, command).status.success();
}

BOOST_AUTO_TEST_SUITE(escalation)

BOOST_AUTO_TEST_CASE(a_command_gets_what_it_was_escalated_for_and_others_nothing) {
  const Listener listener;
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      here.profile.mode = SandboxMode::read_only;
      here.profile.may_escalate_writes = true;
      here.profile.may_escalate_network = true;
      Keeper keeper(here.profile);
      std::string text;
      const auto expect = [&](const Asked& asked, const std::string& script, bool expected) {
        if (works(keeper, here, asked, script) != expected)
          text += std::string(asked.name) + (expected ? " can't: " : " can: ") + script + '\n';
      };
      for (const Asked& asked : kAll) {
        expect(asked, "cat file.txt", true);
        expect(asked, "echo x > new && rm new && echo y >> src/x", asked.writes);
        expect(asked, listener.connect_script(), asked.open_network);
        if (way.namespaces) expect(asked, "echo x >> .git/config", false);
        if (way.namespaces) expect(asked, "echo x > /usr/x", false);
        // Where /tmp is private, it may look as if.
        works(keeper, here, asked, "echo x > " + (here.base / "beside").string());
        expect(asked, "kill -0 " + std::to_string(::getppid()), false);
        expect(asked, "unshare -n true || unshare -r true", false);
      }
      if (fs::exists(here.base / "beside")) text += "wrote beside the workspace\n";
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_was_not_made_for_it_refuses_an_escalated_command) {
  Sandboxed here;
  here.profile.mode = SandboxMode::read_only;
  Keeper keeper(here.profile);

  for (const Asked& asked : kAll) {
    if (!asked.writes && !asked.open_network) continue;
    BOOST_CHECK_THROW(works(keeper, here, asked, "true"), Error);
  }
  BOOST_TEST(works(keeper, here, kAll[0], "true"));
}

BOOST_AUTO_TEST_CASE(the_commands_network_is_the_same_for_all_ordinary_commands) {
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      here.profile.may_escalate_network = true;
      Keeper keeper(here.profile);
      const auto network = [&](bool open) {
        Command command = here.shell("readlink /proc/self/ns/net; ls /sys/class/net 2>&1");
        command.open_network = open;
        return run(keeper, command).output;
      };
      char own[64] = {};
      static_cast<void>(::readlink("/proc/self/ns/net", own, sizeof own - 1));
      std::string text;
      if (network(false) != network(false)) text += "two ordinary commands differ\n";
      if (network(false).starts_with(own)) text += "an ordinary command is outside\n";
      if (!network(true).starts_with(own)) text += "an escalated command is inside\n";
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(a_command_that_is_held_to_reading_writes_in_no_place_of_the_policy) {
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      const fs::path beside = here.base / "elsewhere";
      fs::create_directory(beside);
      here.profile.writable = {fs::canonical(beside)};
      Keeper keeper(here.profile);
      ReadOnlyLauncher launcher(keeper.launcher());
      const auto works = [&](const std::string& script) {
        return run_command(launcher, here.shell(script), [](std::string_view) {}, {}).success();
      };
      const std::vector<std::string> writing = {
          "echo x > file.txt", "echo x > src/new", "rm file.txt",
          "mv src other",      "mkdir d",          "echo x > " + (beside / "y").string()};
      std::string text;
      launcher.hold_read_only(true);
      for (const auto& script : writing)
        if (works(script)) text += "held, can: " + script + '\n';
      if (!works("cat file.txt && ls src && echo x > $HOME/x")) text += "held, can't read\n";
      launcher.hold_read_only(false);
      for (const std::string& script : {writing[0], writing[1], writing.back()})
        if (!works(script)) text += "let go, can't: " + script + '\n';
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test

// What commands of different rights find of each other's: HOME, /tmp, toolchains' layers, sockets.
#include <boost/test/unit_test.hpp>

#include "policies/sandbox/layers/layers.h"
#include "tests/policies/sandbox/ways.h"

namespace sortie::test {
namespace {

/// Whose places a command gets.
struct Asked {
  const char* name;
  const char* set;
  bool alone = false;
  bool read_only = false;
  bool writes = false;
  bool open_network = false;
  bool keeps = true;  ///< a second command of the kind finds what the first one left
};

constexpr Asked kKinds[] = {
    {.name = "ordinary", .set = ""},
    {.name = "a server", .set = "mcp one"},
    {.name = "another server", .set = "mcp two"},
    {.name = "a server with the network", .set = "mcp three", .open_network = true},
    {.name = "escalated", .set = "", .alone = true, .open_network = true, .keeps = false},
    {.name = "escalated again", .set = "", .alone = true, .keeps = false},
    {.name = "escalated to write", .set = "", .alone = true, .writes = true, .keeps = false},
    {.name = "held to reading", .set = "", .read_only = true},
};

/// In each place a file of this name, and a segment of shared memory.
std::vector<std::string> places_of(const SandboxWay& way, const Sandboxed& here) {
  if (!way.namespaces) return {"$HOME", "$TMPDIR"};
  return {"$HOME",    "$HOME/.config", "/tmp",
          "/var/tmp", "/dev/shm",      (here.base / "user/.cargo").string(),
          "$TMPDIR"};
}

class Commands {
 public:
  Commands(const SandboxWay& way, Sandboxed& here, bool may_escalate = true)
      : way_(way), here_(here) {
    here.profile.may_escalate_network = may_escalate;
    here.profile.may_escalate_writes = may_escalate;
    if (way.namespaces) {
      fs::create_directories(here.base / "user/.cargo/bin");
      here.write("user/.cargo/bin/tool", "of the machine\n");
      here.write("user/.cargo/credentials.toml", "TREASURE\n");
      here.profile.home = here.base / "user";
      here.profile.toolchains = {here.base / "user/.cargo"};
      here.profile.readable = {here.base / "user/.cargo/bin"};
      here.profile.hide.push_back((here.base / "user/.cargo/credentials.toml").string());
    }
    keeper_ = std::make_unique<Keeper>(here.profile);
  }

  Ran run_as(const Asked& asked, const std::string& script) {
    Command command = here_.shell(script);
    command.environment["TMPDIR"] =
        way_.namespaces ? "/tmp" : (here_.profile.home / "tmp").string();
    command.private_set = asked.set;
    command.private_set_alone = asked.alone;
    command.read_only = asked.read_only;
    command.writes = asked.writes;
    command.open_network = asked.open_network;
    return run(*keeper_, command);
  }

  /// What is found of others, "" for nothing.
  std::string marks_for(const Asked& asked) {
    std::string script;
    for (const auto& place : places_of(way_, here_)) script += "ls -d " + place + "/mark* 2>&-; ";
    if (!way_.namespaces) {
      // Metadata is open there (docs/sandbox.md), contents are not.
      const std::string home = here_.profile.home.string();
      script += "for d in " + home;
      for (int set = 1; set < 12; ++set) script += ' ' + home + '-' + std::to_string(set);
      script +=
          "; do [ $d = $HOME ] && continue; cat $d/mark 2>&-; ls $d/tmp 2>&-; "
          "{ echo x > $d/made; } 2>&- && echo writes $d; done; ";
    }
    if (way_.namespaces) script += "ipcs -m | grep 0x; ipcs -q | grep 0x; ";
    return run_as(asked, script + "true").output;
  }

  std::string leave_mark(const Asked& asked) {
    std::string script = "set -e; mkdir -p $HOME/.config; ";
    for (const auto& place : places_of(way_, here_)) script += "echo x > " + place + "/mark; ";
    if (way_.namespaces) script += "ipcmk -M 4096 >&- ; ipcmk -Q >&-";
    const Ran ran = run_as(asked, script);
    return ran.status.success() ? "" : "can't leave a mark: " + said(ran);
  }

  Keeper& keeper() { return *keeper_; }

 private:
  const SandboxWay& way_;
  Sandboxed& here_;
  std::unique_ptr<Keeper> keeper_;
};

BOOST_AUTO_TEST_SUITE(private_sets)

BOOST_AUTO_TEST_CASE(commands_of_other_rights_find_nothing_of_each_others) {
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      Commands commands(way, here);
      std::string text;
      for (const Asked& asked : kKinds) {
        if (const auto found = commands.marks_for(asked); !found.empty())
          text += std::string(asked.name) + " finds " + found + '\n';
        if (const auto failed = commands.leave_mark(asked); !failed.empty())
          text += std::string(asked.name) + ' ' + failed + '\n';
        if (commands.marks_for(asked).empty() == asked.keeps)
          text += std::string(asked.name) + (asked.keeps ? " lost" : " kept") + " its own\n";
      }
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(every_set_has_the_same_view_of_all_else) {
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      Commands commands(way, here);
      const std::string script =
          "cat file.txt $HOME/.cargo/bin/tool; pwd; cat $HOME/.cargo/credentials.toml 2>&-; "
          "echo x 2>&- > .git/config; echo x 2>&- > $HOME/.cargo/bin/tool; echo x 2>&- > /usr/x; "
          "mv $HOME/.cargo $HOME/.other 2>&-; stat -c '%a %U' $HOME /tmp /var/tmp /dev/shm; "
          "ls /dev/shm /tmp /; ls $HOME/.cargo; exit 0";
      const std::string expected = commands.run_as(kKinds[0], script).output;
      std::string text;
      if (expected.find("of the machine") == std::string::npos) text += "ordinary: " + expected;
      for (const Asked& asked : kKinds)
        if (const auto seen = commands.run_as(asked, script).output; seen != expected)
          text += std::string(asked.name) + " sees\n" + seen + "instead of\n" + expected;
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

/// Waits for the file and connects to the socket that it names.
std::string connect_to(const std::string& address) {
  return "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die; "
         "connect(S, pack_sockaddr_un(" +
         address + ")) or exit 1'";
}

std::string listen_at(const std::string& address) {
  return "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die; "
         "bind(S, pack_sockaddr_un(" +
         address +
         ")) or exit 1; listen(S, 9); $| = 1; "
         "print \"ready\\n\"; sleep 60'";
}

BOOST_AUTO_TEST_CASE(a_set_is_made_wherever_the_workspace_and_home_lie) {
  const struct {
    const char* name;
    const char* home;  ///< below the folder that holds the workspace "ws"
    bool is_shared;    ///< HOME is the workspace itself
  } rows[] = {{"the workspace below HOME", "", false},
              {"HOME in the workspace", "ws/src/home", false},
              {"HOME is the workspace", "ws", true}};
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    for (const auto& row : rows) {
      const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
        here.profile.home = (fs::canonical(here.base) / row.home).lexically_normal();
        if (*row.home == '\0') here.profile.home = fs::canonical(here.base);
        Keeper keeper(here.profile);
        const auto says = [&](bool alone, const std::string& script) {
          Command command = here.shell(script);
          command.private_set_alone = alone;
          return run(keeper, command).output;
        };
        const std::string look =
            "cat file.txt; ls $HOME/mark /var/tmp/mark 2>&- | wc -l; { echo x > .git/config; } "
            "2>&- "
            "&& echo writes .git; echo x > made && cat made";
        std::string text = says(false, "echo x > $HOME/mark; echo x > /var/tmp/mark");
        const std::string expected = std::string("start\n") + (row.is_shared ? "1" : "0") + "\nx\n";
        if (const auto seen = says(true, look); seen != expected) text += "alone: " + seen;
        if (const auto seen = says(false, look); seen != "start\n2\nx\n")
          text += "ordinary: " + seen;
        return text;
      });
      BOOST_TEST(wrong == "", way.name << ", " << row.name << ":\n" << wrong);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_socket_leads_from_one_set_to_another) {
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      // The workspace lies in /tmp here: with escalations nobody could listen there at all.
      Commands commands(way, here, false);
      std::string text;
      for (const char* address :
           {R"("/tmp/s")", R"("/var/tmp/s")", R"("/dev/shm/s")", R"("$ENV{HOME}/s")", R"("\0s")"}) {
        Command command = here.shell(listen_at(address));
        const auto listener = commands.keeper().launcher().start(command);
        pollfd ready{listener->output().get(), POLLIN, 0};
        char word[6] = {};
        if (::poll(&ready, 1, 20'000) != 1 || ::read(listener->output().get(), word, 6) != 6)
          text += std::string("nobody listens at ") + address + '\n';
        for (const Asked& asked : kKinds) {
          const bool same = *asked.set == '\0' && !asked.alone && !asked.read_only;
          if (same || asked.writes || asked.open_network) continue;
          if (commands.run_as(asked, connect_to(address)).status.success())
            text += std::string(asked.name) + " reaches " + address + '\n';
        }
        listener->end(Ending::cancelled);
      }
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(nobody_makes_a_socket_where_commands_of_other_rights_write_too) {
  if (LandlockRules::kernel_abi() == 0) {
    BOOST_TEST_MESSAGE("skipped: no Landlock");
    return;
  }
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      const std::string script =
          "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or exit 1; "
          "unlink(\"s\"); bind(S, pack_sockaddr_un(\"s\")) or exit 1'";
      Commands commands(way, here);
      std::string text;
      for (const Asked& asked : kKinds)
        if (commands.run_as(asked, script).status.success())
          text += std::string(asked.name) + " makes one\n";
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(a_set_that_is_dropped_begins_empty_and_its_memory_is_free) {
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      here.profile.memory_bytes = 200ull << 20;
      Commands commands(way, here);
      std::string text;
      for (int round = 0; round < 4; ++round) {
        const Asked asked{.name = "verification", .set = "verification"};
        if (const auto found = commands.marks_for(asked); !found.empty()) text += found;
        text += commands.leave_mark(asked);
        const Ran ran = commands.run_as(asked, "head -c 100M /dev/zero > $HOME/large && sleep 0.2");
        if (!ran.status.success()) text += said(ran) + '\n';
        commands.keeper().drop_private_set("verification");
      }
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(terminals_of_a_set_are_not_seen_in_another) {
  for (const SandboxWay& way : sandbox_ways()) {
    if (!way.namespaces) continue;
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      Commands commands(way, here);
      Command command = here.shell("tty; sleep 60");
      command.input = CommandInput::terminal;
      command.private_set_alone = true;
      const auto session = commands.keeper().launcher().start(command);
      pollfd ready{session->output().get(), POLLIN, 0};
      char name[64] = {};
      if (::poll(&ready, 1, 20'000) != 1 ||
          ::read(session->output().get(), name, sizeof name - 1) <= 0)
        return std::string("no terminal\n");
      std::string text = std::string(name).starts_with("/dev/pts/") ? "" : name;
      const Ran ran = commands.run_as(kKinds[0], "ls /dev/pts");
      if (ran.output != "ptmx\n") text += "an ordinary command sees " + ran.output;
      session->end(Ending::cancelled);
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test

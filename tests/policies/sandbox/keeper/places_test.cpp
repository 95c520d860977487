// What a command finds in the view beside the workspace: toolchains, terminals.
#include <boost/test/unit_test.hpp>

#include "policies/sandbox/layers/cgroup.h"
#include "tests/policies/sandbox/ways.h"

namespace sortie::test {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A HOME with tools, at a path that the view makes private.
void make_tools(Sandboxed& here) {
  for (const char* name : {"user/.cargo/bin", "user/.local/bin", "user/.cargo/registry"})
    fs::create_directories(here.base / name);
  here.write("user/.cargo/bin/tool", "#!/bin/sh\necho tool of home\n");
  fs::permissions(here.base / "user/.cargo/bin/tool", fs::perms(0755));
  here.write("user/.cargo/registry/crate", "crate\n");
  here.write("user/.cargo/credentials.toml", "token = 'TREASURE'\n");
  here.write("user/.private", "TREASURE\n");
  here.profile.toolchains = {here.base / "user/.cargo"};
  here.profile.hide.push_back((here.base / "user/.cargo/credentials.toml").string());
  here.profile.readable = {here.base / "user/.cargo/bin"};
  if (here.profile.use_namespaces) {
    here.profile.home = here.base / "user";
    fs::create_directories(here.base / "user/.local/bin");
    here.profile.readable.push_back(here.base / "user/.local/bin");
  }
}

BOOST_AUTO_TEST_SUITE(places)

BOOST_AUTO_TEST_CASE(toolchains_are_shown_without_credentials_and_writes_are_thrown_away) {
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      make_tools(here);
      Keeper keeper(here.profile);
      const std::string cargo = (here.base / "user/.cargo").string();
      std::string text;
      const auto expect = [&](const std::string& script, bool works, const std::string& output) {
        const Ran ran = run(keeper, here.shell(script));
        if (ran.status.success() != works || !holds(ran.output, output) ||
            holds(ran.output, "TREASURE"))
          text += script + ": " + said(ran) + '\n';
      };
      for (const std::string& note : keeper.layers().missing) text += note + '\n';
      expect(cargo + "/bin/tool", true, "tool of home");
      expect("cat " + cargo + "/registry/crate", true, "crate");
      expect("cat " + cargo + "/credentials.toml", false, "");
      expect("cat " + (here.base / "user/.private").string(), false, "");
      expect("echo x > " + cargo + "/bin/tool", false, "");
      expect("echo x > " + cargo + "/bin/git", false, "");
      expect("mv " + cargo + "/bin " + cargo + "/old", false, "");
      expect("mv " + cargo + " " + cargo + "-old", false, "");
      expect("echo new > " + cargo + "/registry/crate && echo y > " + cargo + "/made && cat " +
                 cargo + "/registry/crate",
             way.namespaces, way.namespaces ? "new" : "");
      if (way.namespaces) {
        expect("cat $HOME/.cargo/made", true, "y");
        expect("mv $HOME/.local $HOME/.old", false, "");
        expect("mv $HOME/.local/bin $HOME/.local/old", false, "");
        expect("echo x > $HOME/.local/bin/git", false, "");
        expect("echo x > $HOME/.local/other && echo x > $HOME/.profile", true, "");
      }
      keeper.shut_down();
      if (here.read("user/.cargo/registry/crate") != "crate\n") text += "the crate changed\n";
      if (fs::exists(here.base / "user/.cargo/made")) text += "a file was made\n";
      if (fs::exists(here.base / "user/.profile")) text += "HOME was written to\n";
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(the_machine_tells_its_processors_packages_and_limits_and_nothing_else) {
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      Keeper keeper(here.profile);
      std::string text;
      const auto expect = [&](const std::string& script, bool works) {
        const Ran ran = run(keeper, here.shell(script));
        if (ran.status.success() != works) text += script + ": " + said(ran) + '\n';
      };
      for (const char* folder : kMachineFolders) {
        if (!fs::is_directory(folder)) continue;
        expect(std::string("ls ") + folder, true);
        expect(std::string("touch ") + folder + "/made", false);
      }
      expect("cat /sys/devices/system/cpu/online", true);
      if (fs::exists("/var/lib/dpkg/status")) {
        expect("dpkg -l libc6 | grep -q ^ii", true);
        expect(": >> /var/lib/dpkg/status", false);
      }
      for (const char* other : {"/sys/class/dmi", "/sys/kernel/debug", "/var/log", "/var/spool"})
        expect(std::string("ls ") + other + " 2> /dev/null | grep -q .", false);
      if (way.namespaces && !own_group().empty()) {
        expect("grep -qx 0::/ /proc/self/cgroup", true);
        expect("test -e /sys/fs/cgroup/cgroup.procs", true);
        expect(": >> /sys/fs/cgroup/cgroup.procs", false);
      }
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ": " << wrong);
  }
}

BOOST_AUTO_TEST_CASE(programs_can_open_terminals_that_are_not_the_machines) {
  for (const SandboxWay& way : sandbox_ways()) {
    const std::string wrong = found_wrong(way, [&](Sandboxed& here) {
      Keeper keeper(here.profile);
      std::string text;
      const auto expect = [&](const std::string& script, bool works, const std::string& output) {
        const Ran ran = run(keeper, here.shell(script));
        if (ran.status.success() != works || !holds(ran.output, output))
          text += script + ": " + said(ran) + '\n';
      };
      if (way.namespaces) {
        expect("ls /dev/pts", true, "ptmx");
        expect("! ls /dev/pts | grep -v ptmx", true, "");
        expect("python3 -c 'import pty; pty.spawn([\"tty\"])'", true, "/dev/pts/0");
        expect("command -v script >/dev/null || exit 0; script -qec 'echo in $(tty)' /dev/null",
               true, "");
      } else {
        // Of the machine's terminals some may be the one that this user sits at.
        expect("python3 -c 'import os; os.open(\"/dev/ptmx\", os.O_RDWR)'", false, "");
      }
      expect("cat < /dev/tty", false, "");
      return text;
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test

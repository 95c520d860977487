#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// A listener of the host that commands must not reach.
struct Listener {
  Listener() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    BOOST_REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    BOOST_REQUIRE(::listen(socket.get(), 8) == 0);
    socklen_t length = sizeof address;
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port = ::ntohs(address.sin_port);
  }
  Fd socket;
  int port = 0;
};

std::string python(const std::string& code) { return "/usr/bin/python3 -c '" + code + "'"; }

/// Runs each line by a shell under the preset auto; 0 or not by line.
std::vector<bool> run_lines(const RunFolder& folder, const std::vector<std::string>& lines,
                            const Caller& caller = {},
                            const std::map<std::string, std::string>& environment = {}) {
  CassetteWriter cassette;
  for (const auto& line : lines) cassette.shell({"sh", "-c", line}).next();
  cassette.message("done");
  folder.write_task(cassette, "policy: auto\nexpect: {changes: any}\n");
  ProgramStart start = folder.start();
  for (const auto& [name, value] : environment) start.environment[name] = value;
  const ProgramEnd end = folder.run_as(caller, std::move(start));
  BOOST_TEST(end.status == 0, end.errors);
  std::vector<bool> succeeded;
  for (const auto& output : folder.records("tool.output"))
    succeeded.push_back(output["success"].boolean());
  BOOST_REQUIRE(succeeded.size() == lines.size());
  return succeeded;
}

/// What fails whoever runs sortie, with namespaces and without.
std::vector<std::string> forbidden_lines(const RunFolder& folder, int port) {
  const std::string own = std::to_string(::getpid());
  return {
      "cat " + folder.path("beside.txt").string(),
      "echo x > /etc/sortie-test",
      "echo x > /sortie-test",
      "touch /usr/bin/sortie-test",
      "touch " SORTIE_BINARY_DIR "/sortie-test",
      "mv ../work ../elsewhere",
      python("import socket; socket.create_connection((\"127.0.0.1\", " + std::to_string(port) +
             "), 2)"),
      python("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
             "s.sendto(b\"x\", (\"192.0.2.1\", 53))"),
      "cat /proc/" + own + "/environ",
      "env | grep -q OPENAI_API_KEY",
      "grep -aq sk-secret-of-the-test /proc/*/environ",
      "kill -0 " + own,
      "mount -t tmpfs none /mnt",
      "unshare -U true",
      "cat /etc/shadow",
  };
}

/// What only mounts can refuse; without them it is found afterwards, see integrity_test.cpp.
const std::vector<std::string> kProtectedLines = {
    "echo x > .git/config",
    "touch .git/hooks/post-commit",
    "mv .git elsewhere",
    "rm -rf .git",
    "chmod 777 .git",
    "chmod 777 .git/config",
    "ln .git/config linked && echo x >> linked",
    "git config core.pager x",
    "git -c user.name=x -c user.email=x commit -q --allow-empty -m x",
    "git update-ref refs/heads/x HEAD",
    "mkdir .github",
    "echo x > AGENTS.md",
    "mv sub sub2 && echo x > sub2/CODEOWNERS",
};

}  // namespace

BOOST_AUTO_TEST_SUITE(full_auto)

BOOST_AUTO_TEST_CASE(what_must_not_work_fails) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.write("work/sub/CODEOWNERS", "me\n");
      folder.write("beside.txt", "not yours\n");
      folder.commit_workspace();
      const Listener listener;
      std::vector<std::string> lines = forbidden_lines(folder, listener.port);
      if (caller.namespaces)
        lines.insert(lines.end(), kProtectedLines.begin(), kProtectedLines.end());
      // Where /tmp is the commands' own, this writes a file of that name there.
      lines.push_back("echo x > " + folder.path("beside.txt").string() + " && false");

      const auto succeeded =
          run_lines(folder, lines, caller, {{"OPENAI_API_KEY", "sk-secret-of-the-test"}});

      for (std::size_t i = 0; i < lines.size(); ++i)
        BOOST_TEST(!succeeded[i], lines[i] << "\n" << folder.output(i));
      BOOST_TEST(read_file(folder.path("beside.txt")) == "not yours\n");
      BOOST_TEST(read_tree(folder.path("work")).count("elsewhere") == 0);
      BOOST_TEST(folder.artifact("changes.diff") == "");
      BOOST_TEST(folder.artifact("transcript.jsonl").find("sk-secret-of-the-test") ==
                 std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_must_work_works) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.write("work/hello.cpp", "#include <cstdio>\nint main() { std::puts(\"hi\"); }\n");
      folder.commit_workspace();
      std::vector<std::string> lines = {
          "git status --short && git log --oneline",
          "g++ -o \"$TMPDIR/hello\" hello.cpp && test \"$(\"$TMPDIR/hello\")\" = hi",
          python("print(1)"),
          python("import socket; a, b = socket.socketpair(); a.send(b\"x\"); "
                 "assert b.recv(1) == b\"x\""),
          python("import threading; t = threading.Thread(target=print); t.start(); t.join()"),
          "echo b > b.txt && mv b.txt c.txt && mkdir d && cp c.txt d/ && rm -r d && cat c.txt",
          "test -w \"$HOME\" && touch \"$TMPDIR/x\" ~/x",
          "test \"$(cat /dev/zero | head -c 3 | wc -c)\" = 3 && echo x > /dev/null",
      };
      if (caller.namespaces) {
        lines.push_back("test \"$TMPDIR\" = /tmp");
        lines.push_back(python(
            "import http.server, threading, urllib.request as r; "
            "s = http.server.HTTPServer((\"127.0.0.1\", 0), http.server.SimpleHTTPRequestHandler); "
            "threading.Thread(target=s.handle_request, daemon=True).start(); "
            "r.urlopen(\"http://127.0.0.1:%d/a.txt\" % s.server_port).read()"));
      }

      const auto succeeded = run_lines(folder, lines, caller);

      for (std::size_t i = 0; i < lines.size(); ++i)
        BOOST_TEST(succeeded[i], lines[i] << "\n" << folder.output(i));
      BOOST_TEST(!std::filesystem::exists(folder.workspace() / "c.txt"));
      BOOST_TEST(folder.artifact("changes.diff").find("+++ b/c.txt") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_daemon_that_was_left_behind_is_gone_after_the_run) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      const std::string marker = "31557600." + std::to_string(::getpid());

      run_lines(folder,
                {"setsid sleep " + marker + " > /dev/null 2>&1 & echo started",
                 "(setsid sh -c \"sleep " + marker + " & sleep " + marker + "\" &) ; true"},
                caller);

      BOOST_TEST(processes_with(marker).empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

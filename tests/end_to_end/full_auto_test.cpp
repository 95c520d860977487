#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/base/files.h"
#include "core/base/json.h"
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
                            const std::map<std::string, std::string>& environment = {}) {
  CassetteWriter cassette;
  for (const auto& line : lines) cassette.shell({"sh", "-c", line}).next();
  cassette.message("done");
  folder.write_task(cassette, "policy: auto\nexpect: {changes: any}\n");
  ProgramStart start = folder.start();
  for (const auto& [name, value] : environment) start.environment[name] = value;
  const ProgramEnd end = run_program(start);
  BOOST_TEST(end.status == 0, end.errors);
  std::vector<bool> succeeded;
  for (const auto& output : folder.records("tool.output"))
    succeeded.push_back(output["success"].boolean());
  BOOST_REQUIRE(succeeded.size() == lines.size());
  return succeeded;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(full_auto)

BOOST_AUTO_TEST_CASE(what_must_not_work_fails) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write("beside.txt", "not yours\n");
  folder.commit_workspace();
  const Listener listener;
  const std::string port = std::to_string(listener.port);
  const std::vector<std::string> lines = {
      // Below a private /tmp that is the command's own it may write; the real file it may not see.
      "grep -q 'not yours' " + folder.path("beside.txt").string(),
      "echo x > " + folder.path("beside.txt").string() + "; exit 1",
      "echo x > /etc/sortie-test",
      "touch /usr/bin/sortie-test",
      "echo x > .git/config",
      "touch .git/hooks/post-commit",
      "mv .git elsewhere",
      "mkdir .github",
      "echo x > AGENTS.md",
      python("import socket; socket.create_connection((\"127.0.0.1\", " + port + "), 2)"),
      "cat /proc/" + std::to_string(::getpid()) + "/environ",
      "env | grep -q OPENAI_API_KEY",
      "grep -aq sk-secret-of-the-test /proc/*/environ",
      "kill -0 " + std::to_string(::getpid()),
      "mount -t tmpfs none /mnt",
      "unshare -U true",
      "cat /etc/shadow",
  };

  const auto succeeded = run_lines(folder, lines, {{"OPENAI_API_KEY", "sk-secret-of-the-test"}});

  for (std::size_t i = 0; i < lines.size(); ++i) BOOST_TEST(!succeeded[i], lines[i]);
  BOOST_TEST(read_tree(folder.path("work")).count("elsewhere") == 0);
  BOOST_TEST(read_file(folder.path("beside.txt"), 100) == "not yours\n");
  BOOST_TEST(folder.artifact("transcript.jsonl").find("sk-secret-of-the-test") ==
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_must_work_works) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write("work/hello.cpp", "#include <iostream>\nint main() { std::cout << \"hi\\n\"; }\n");
  folder.commit_workspace();
  const std::vector<std::string> lines = {
      "git status --short",
      "g++ -o /tmp/hello hello.cpp && test \"$(/tmp/hello)\" = hi",
      python("print(1)"),
      python(
          "import socket; a, b = socket.socketpair(); a.send(b\"x\"); assert b.recv(1) == b\"x\""),
      python("import threading; t = threading.Thread(target=print); t.start(); t.join()"),
      python(
          "import http.server, threading, urllib.request as r; "
          "s = http.server.HTTPServer((\"127.0.0.1\", 0), http.server.SimpleHTTPRequestHandler); "
          "threading.Thread(target=s.handle_request, daemon=True).start(); "
          "r.urlopen(\"http://127.0.0.1:%d/a.txt\" % s.server_port).read()"),
      "echo b > b.txt && mv b.txt c.txt && mkdir d && cp c.txt d/ && rm -r d && cat c.txt",
      "test -w \"$HOME\" && test \"$TMPDIR\" = /tmp && touch /tmp/x ~/x",
      "test \"$(cat /dev/zero | head -c 3 | wc -c)\" = 3 && echo x > /dev/null",
  };

  const auto succeeded = run_lines(folder, lines);

  for (std::size_t i = 0; i < lines.size(); ++i)
    BOOST_TEST(succeeded[i], lines[i] << "\n" << folder.output(i));
  BOOST_TEST(!std::filesystem::exists(folder.workspace() / "c.txt"));
  BOOST_TEST(folder.artifact("changes.diff").find("+++ b/c.txt") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_daemon_that_was_left_behind_is_gone_after_the_run) {
  const RunFolder folder;
  const std::string marker = "31557600." + std::to_string(::getpid());

  run_lines(folder, {"setsid sleep " + marker + " > /dev/null 2>&1 & echo started",
                     "(setsid sh -c \"sleep " + marker + " & sleep " + marker + "\" &) ; true"});

  BOOST_TEST(processes_with(marker).empty());
}

BOOST_AUTO_TEST_SUITE_END()

// What `sortie exec` reaches and leaves: servers of tools, the network, a policy of one's own, its record.
#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "tests/end_to_end/exec_run.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(exec_reach)

BOOST_AUTO_TEST_CASE(a_server_of_tools_comes_with_the_command_line) {
  const ExecRun run;
  run.write(
      "work/server.py",
      "import json, sys\n"
      "for line in sys.stdin:\n"
      "    asked = json.loads(line)\n"
      "    if 'id' not in asked: continue\n"
      "    answer = {\n"
      "        'initialize': lambda: {'protocolVersion': asked['params']['protocolVersion'],\n"
      "            'capabilities': {'tools': {}}, 'serverInfo': {'name': 's', 'version': '1'}},\n"
      "        'tools/list': lambda: {'tools': [{'name': 'echo', 'description': 'says it',\n"
      "            'inputSchema': {'type': 'object'}}]},\n"
      "        'tools/call': lambda: {'content': [{'type': 'text', 'text': 'it is said'}],\n"
      "            '_meta': {'trace': 't-1'}},\n"
      "    }.get(asked['method'], dict)()\n"
      "    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': answer}),\n"
      "          flush=True)\n");
  CassetteWriter cassette;
  cassette.call("mcp__own__echo", Json::object()).next().message("Done.");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.exec(server, {"--json", "-c", "mcp_servers.own.command=python3", "-c",
                                           "mcp_servers.own.args=[\"server.py\"]", "Say it."});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  const auto calls = completed(end.output, "mcp_tool_call");
  BOOST_TEST_REQUIRE(calls.size() == 1u);
  BOOST_TEST(calls[0].string_at("server") == "own");
  BOOST_TEST(write_json(calls[0]["result"]) ==
             R"({"content":[{"type":"text","text":"it is said"}],"_meta":{"trace":"t-1"},)"
             R"("structured_content":null})");
}

BOOST_AUTO_TEST_CASE(secrets_of_servers_on_the_command_line_are_in_nothing_that_is_written) {
  const ExecRun run;
  const std::string token = "t0ken-0f-the-server-1";
  const std::string word = "w0rd-of-the-server-2";
  CassetteWriter cassette;
  cassette.message("It is " + token + " and " + word + ".");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.exec(
      server, {"--json", "-v", "--out", run.out().string(), "-c", "mcp_servers.own.command=sh",
               "-c", "mcp_servers.own.args=[\"-c\", \"exit 1\", \"--token\", \"" + word + "\"]",
               "-c", "mcp_servers.own.env.ACME_TOKEN=\"" + token + "\"", "go"});

  BOOST_TEST_REQUIRE(!end.output.empty(), end.errors);
  std::string written = end.output + end.errors;
  for (const auto& entry : fs::recursive_directory_iterator(run.path("")))
    if (entry.is_regular_file() && !holds(entry.path().string(), "/work/"))
      written += read_file(entry.path());
  BOOST_TEST(holds(written, "REDACTED:ACME_TOKEN"));
  BOOST_TEST(holds(written, "REDACTED:token"));
  BOOST_TEST(!holds(written, token));
  BOOST_TEST(!holds(written, word));
}

BOOST_AUTO_TEST_CASE(full_auto_keeps_the_sandbox_whatever_else_is_said) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo x > .git/made; echo x > made.txt"}).next().message("Done.");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.exec(server, {"--full-auto", "-s", "danger-full-access", "go"});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  BOOST_TEST(fs::exists(run.workspace() / "made.txt"));
  BOOST_TEST(!fs::exists(run.workspace() / ".git/made"));
}

BOOST_AUTO_TEST_CASE(the_network_is_closed_unless_the_configuration_opens_it) {
  for (const bool open : {false, true}) {
    const ExecRun run;
    const ModelServer other({});
    CassetteWriter cassette;
    cassette
        .shell({"python3", "-c",
                "import socket; socket.create_connection(('127.0.0.1', " +
                    std::to_string(other.port()) + ")); print('reached')"})
        .next()
        .message("Done.");
    const ModelServer server(served(cassette));
    BOOST_TEST_CONTEXT((open ? "open" : "closed")) {
      const ProgramEnd end = run.exec(
          server,
          {"-s", "workspace-write", "-c",
           std::string("sandbox_workspace_write.network_access=") + (open ? "true" : "false"),
           "Go."});

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(outputs_in(server.requests().back()), "\\nreached") == open);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_policy_and_an_isolation_of_ones_own_replace_those_of_exec) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.shell({"python3", "-c", "print(1)"}).shell({"ls"}).next();
  cassette.patch("*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch\n")
      .next()
      .message("Done.");
  const ModelServer server(served(cassette));

  const ProgramEnd end = run.exec(server, {"--json", "--policy", "strict", "--isolation", "copy",
                                           "--diff", run.path("d").string(), "Go."});

  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  const auto commands = completed(end.output, "command_execution");
  BOOST_TEST_REQUIRE(commands.size() == 2u);
  BOOST_TEST(commands[0].string_at("status") == "declined");
  BOOST_TEST(commands[1].string_at("status") == "completed");
  BOOST_TEST(holds(read_file(run.path("d")), "+++ b/b.txt"));
  BOOST_TEST(!fs::exists(run.workspace() / "b.txt"));
}

BOOST_AUTO_TEST_CASE(a_turn_without_a_diff_has_a_record_that_fits) {
  const ExecRun run;
  CassetteWriter cassette;
  cassette.shell({"cat", "a.txt"}).next().message("Done.");
  const ModelServer server(served(cassette));
  BOOST_TEST(run.exec(server, {"Go."}).status == 0);
  const fs::path turn = run.path("home/threads") / run.threads().front() / run.threads().front();

  const ProgramEnd verify = run_program({.argv = {sortie_binary(), "verify", turn.string()}});
  const ProgramEnd replay = run_program({.argv = {sortie_binary(), "replay", turn.string()}});

  BOOST_TEST(verify.status == 0, verify.printed());
  BOOST_TEST(replay.status == 0, replay.printed());
  BOOST_TEST(!fs::exists(turn / "changes.diff"));
}

BOOST_AUTO_TEST_SUITE_END()

#include <csignal>
#include <cstdio>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

const std::string kKey = "sk-loopback-9f8e7d6c5b4a-secret";
/// Matches the key and not itself, so that no command line or script is taken for a find.
const std::string kPattern = "sk-loopback-9f8e7d6c5b4a-[s]ecret";

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string python_search() {
  return R"(
import re, os, sys
wanted = re.compile(rb"sk-loopback-9f8e7d6c5b4a-[s]ecret")
def search(pid):
    for line in open("/proc/%s/maps" % pid):
        span, rights = line.split()[:2]
        begin, end = (int(x, 16) for x in span.split("-"))
        if "r" not in rights or "[v" in line: continue
        with open("/proc/%s/mem" % pid, "rb", 0) as memory:
            try:
                memory.seek(begin)
                if wanted.search(memory.read(end - begin)): sys.exit(0)
            except (OSError, ValueError): pass
for pid in filter(str.isdigit, os.listdir("/proc")):
    try: search(pid)
    except OSError: pass
sys.exit(1)
)";
}

/// Each looks for the key in another place, and ends with 0 where it found it.
std::vector<std::vector<std::string>> searches() {
  const auto shell = [](const std::string& line) {
    return std::vector<std::string>{"sh", "-c", line};
  };
  return {
      shell("env | grep -q '" + kPattern + "'"),
      shell("cat /proc/*/environ /proc/*/task/*/environ 2>/dev/null | grep -aq '" + kPattern + "'"),
      shell("cat /proc/*/cmdline 2>/dev/null | grep -aq '" + kPattern + "'"),
      shell("test -e /proc/self/fd/9"),
      shell("cat /proc/$PPID/environ | grep -aq '" + kPattern + "'"),
      shell("test -n \"$(grep -rasl '" + kPattern + "' . /tmp $HOME /etc /run)\""),
      {"/usr/bin/python3", "-c", python_search()},
  };
}

CassetteWriter searching() {
  CassetteWriter cassette;
  for (const auto& argv : searches()) cassette.shell(argv).next();
  // The searches work: they find it where it is.
  const std::string planted = "X=sk-loopback-9f8e7d6c5b4a-; export X=${X}secret; ";
  cassette.shell({"sh", "-c", planted + "env | grep -q '" + kPattern + "'"}).next();
  cassette.shell({"sh", "-c", planted + "exec /usr/bin/python3 -c \"$0\"", python_search()});
  cassette.next();
  cassette.message("done");
  return cassette;
}

void check_searches(const ProviderRun& run) {
  const auto outputs = run.records("tool.output");
  BOOST_REQUIRE(outputs.size() == searches().size() + 2);
  for (std::size_t i = 0; i < searches().size(); ++i)
    BOOST_TEST(outputs[i]["exit"].integer_at("code") == 1, searches()[i].back()
                                                               << "\n"
                                                               << outputs[i].string_at("output"));
  for (std::size_t i = searches().size(); i < outputs.size(); ++i)
    BOOST_TEST(outputs[i]["exit"].integer_at("code") == 0, outputs[i].string_at("output"));
}

/// The key came in each request, as the credential and nowhere else.
void check_requests(const ModelServer& server, std::size_t count) {
  const auto requests = server.requests();
  BOOST_TEST(requests.size() == count);
  for (const auto& request : requests) {
    BOOST_TEST(header_value(request.headers, "Authorization") == "Bearer " + kKey);
    BOOST_TEST(!holds(request.body, kKey));
    for (const auto& [name, value] : request.headers)
      BOOST_TEST((name == "Authorization" || !holds(value, kKey)), name);
  }
}

/// The process and all that it has started, directly or not.
std::vector<pid_t> descendants(pid_t root) {
  std::map<pid_t, std::vector<pid_t>> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    // "PID (NAME) STATE PPID …": the name may hold anything.
    const std::size_t end = text.rfind(')');
    int parent = 0;
    if (end != std::string::npos && std::sscanf(text.c_str() + end, ") %*c %d", &parent) == 1)
      children[parent].push_back(std::stoi(name));
  }
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const pid_t child : children[found[i]]) found.push_back(child);
  return found;
}

std::string environment_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A server that says the key it was sent, as some do.
ModelServer telling_server() {
  return ModelServer(
      {served_status(401, {{"Content-Type", "application/json"}},
                     R"({"error":{"message":"Incorrect API key provided: )" + kKey + ".\"}}")});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_key)

// What the caller's surroundings hold besides is no proof that a key came out.
BOOST_AUTO_TEST_CASE(a_key_that_says_nothing_raises_no_alarm) {
  for (const char* key : {"none", "EMPTY", "ollama", "test", "bench", "sk-no-key-required"}) {
    BOOST_TEST_CONTEXT(key) {
      CassetteWriter cassette;
      cassette.shell({"echo", key}).next().message("done");
      ModelServer server(served(cassette));
      const ProviderRun run;
      run.write_task();
      ProgramStart start = run.start(base_url(server));
      start.environment["OPENAI_API_KEY"] = key;
      start.environment["USER"] = key;
      start.environment["GIT_CONFIG_COUNT"] = "1";
      start.environment["GIT_CONFIG_KEY_0"] = "safe.directory";
      start.environment["GIT_CONFIG_VALUE_0"] = "*";

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(run.output(0) == std::string(key) + "\n", run.output(0));
      BOOST_TEST(header_value(server.requests().at(0).headers, "Authorization") ==
                 std::string("Bearer ") + key);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_key_is_the_credential_of_requests_and_out_of_reach_of_tools) {
  const ProviderRun run;
  const ModelServer server(served(searching()));
  ProgramStart start = run.start(base_url(server));
  start.environment["OPENAI_API_KEY"] = kKey;

  const ProgramEnd end = run_program(start);

  check_end(run, end, 0, "success");
  check_requests(server, searches().size() + 3);
  check_searches(run);
  BOOST_TEST(!holds(run.all_written(end), kKey));
}

BOOST_AUTO_TEST_CASE(a_key_is_out_of_reach_where_namespaces_are_refused) {
  const ProviderRun run;
  const ModelServer server(served(searching()));
  ProgramStart start = run.start(base_url(server), {"--isolation", "copy"});
  start.argv.insert(start.argv.begin(),
                    std::string(SORTIE_BINARY_DIR) + "/tests/support/refuse_namespaces");
  start.environment["OPENAI_API_KEY"] = kKey;

  const ProgramEnd end = run_program(start);

  check_end(run, end, 0, "success");
  check_requests(server, searches().size() + 3);
  check_searches(run);
  BOOST_TEST(!holds(run.all_written(end), kKey));
}

BOOST_AUTO_TEST_CASE(a_key_in_a_file_or_descriptor_is_kept_as_well) {
  const struct {
    const char* name;
    std::vector<std::string> flags;
    bool by_shell;
  } rows[] = {{"file", {"--api-key-file", "key.txt"}, false},
              {"descriptor", {"--api-key-fd", "9"}, true}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderRun run;
      run.write("key.txt", kKey + "\n");
      const ModelServer server(served(searching()));
      ProgramStart start = run.start(base_url(server), row.flags);
      if (row.by_shell) {
        std::vector<std::string> shell = {"sh", "-c", "exec \"$@\" 9< key.txt", "sh"};
        start.argv.insert(start.argv.begin(), shell.begin(), shell.end());
      }

      const ProgramEnd end = run_program(start);

      check_end(run, end, 0, "success");
      check_requests(server, searches().size() + 3);
      check_searches(run);
      BOOST_TEST(!holds(run.all_written(end), kKey));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_key_file_is_hidden_in_a_folder_that_commands_may_read) {
  const ProviderRun run;
  run.write("key.txt", kKey + "\n");
  const std::string folder = run.path("key.txt").parent_path();
  run.write("other.txt", "not hidden\n");
  run.write("policy.yaml", "version: 1\nextends: auto\npaths: {read: ['" + folder + "']}\n");
  const ModelServer server(
      served(CassetteWriter()
                 .shell({"cat", run.path("key.txt")})
                 .call("read_file", Json::object({{"path", run.path("key.txt").string()}}))
                 .shell({"cat", run.path("other.txt")})
                 .next()
                 .message("done")));

  const ProgramEnd end =
      run.run(server, {"--policy", run.path("policy.yaml"), "--api-key-file", "key.txt"});

  check_end(run, end, 0, "success");
  BOOST_TEST(!holds(run.output(0), "sk-"), run.output(0));
  BOOST_TEST(!holds(run.output(0), "REDACTED"), run.output(0));
  BOOST_TEST(!holds(run.output(1), "REDACTED"), run.output(1));
  BOOST_TEST(run.output(2) == "not hidden\n");
}

BOOST_AUTO_TEST_CASE(a_key_that_the_server_says_is_not_repeated) {
  const struct {
    const char* name;
    std::vector<std::string> flags;
    std::string variable;
  } rows[] = {{"variable", {}, kKey}, {"file", {"--api-key-file", "key.txt"}, ""}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderRun run;
      run.write("key.txt", kKey + "\n");
      const ModelServer server = telling_server();
      ProgramStart start = run.start(base_url(server), row.flags);
      start.environment["OPENAI_API_KEY"] = row.variable;

      const ProgramEnd end = run_program(start);

      check_end(run, end, 6, "auth");
      check_requests(server, 1);
      BOOST_TEST(holds(end.errors, "Incorrect API key provided: [REDACTED:"), end.errors);
      BOOST_TEST(!holds(run.all_written(end), kKey));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_variable_of_any_name_is_kept_from_commands_once_it_is_the_key) {
  const ProviderRun run;
  run.write("policy.yaml", "version: 1\nextends: auto\nenvironment: {inherit: all}\n");
  run.write_task("api_key_env: PLAIN_WORD");
  const ModelServer server(served(searching()));
  ProgramStart start = run.start(base_url(server), {"--policy", run.path("policy.yaml")});
  start.environment["PLAIN_WORD"] = kKey;

  const ProgramEnd end = run_program(start);

  check_end(run, end, 0, "success");
  check_requests(server, searches().size() + 3);
  check_searches(run);
  BOOST_TEST(!holds(run.all_written(end), kKey));
}

BOOST_AUTO_TEST_CASE(the_keys_of_all_providers_are_erased_from_every_process_of_a_run) {
  const ProviderRun run;
  const ModelServer server({{.then = ServedResponse::Then::hang}});
  ProgramStart start = run.start(base_url(server));
  for (const char* name : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY"})
    start.environment[name] = kKey;

  Program program(start);
  BOOST_TEST(wait_until([&] { return !server.requests().empty(); }));

  std::size_t looked_at = 0;
  for (const pid_t pid : descendants(program.pid())) {
    const std::string environment = environment_of(pid);
    looked_at += !environment.empty();
    BOOST_TEST(!holds(environment, kKey), pid);
  }
  if (looked_at == 0) BOOST_TEST_MESSAGE("this user may not look at the environment: skipped");
  program.signal(SIGTERM);
  BOOST_TEST(program.finish().status == 143);
}

BOOST_AUTO_TEST_CASE(only_an_operators_word_takes_a_key_to_another_host) {
  const ProviderRun run;
  const ModelServer server(served(CassetteWriter().message("done")));
  run.write_task("base_url: '" + base_url(server) + "'");
  ProgramStart start = run.RunFolder::start();
  start.environment["OPENAI_API_KEY"] = kKey;

  const ProgramEnd by_task = run_program(start);
  BOOST_TEST(by_task.status == 2, by_task.errors);
  BOOST_TEST(server.connections() == 0);

  start.environment["SORTIE_BASE_URL"] = base_url(server);
  check_end(run, run_program(start), 0, "success");
  check_requests(server, 1);
}

BOOST_AUTO_TEST_CASE(the_variable_of_a_providers_own_programs_is_heeded_within_the_bounds) {
  const struct {
    const char* provider;
    const char* variable;
  } rows[] = {{"openai", "OPENAI_BASE_URL"}, {"openai", "OPENAI_API_BASE"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.variable) {
      const ProviderRun run;
      const ModelServer server(served(CassetteWriter().message("done")));
      run.write_task(std::string("provider: ") + row.provider);
      const std::string host = server.url().substr(server.url().find("//") + 2);
      run.write("gateway.yaml",
                "version: 1\nextends: auto\nbounds: {credentials: "
                "{OPENAI_API_KEY: ['" +
                    host + "']}}\n");
      ProgramStart start = run.start("");
      start.environment["OPENAI_API_KEY"] = kKey;
      start.environment[row.variable] = base_url(server);

      // The gateway's key never goes to the vendor instead, nor the vendor's to the gateway.
      const ProgramEnd refused = run_program(start);
      BOOST_TEST(refused.status == 2, refused.errors);
      for (const std::string& name :
           {std::string(row.variable), std::string("OPENAI_API_KEY"), host})
        BOOST_TEST(refused.errors.find(name) != std::string::npos, refused.errors);
      BOOST_TEST(server.connections() == 0);

      start.argv.insert(start.argv.end(), {"--policy", run.path("gateway.yaml").string()});
      check_end(run, run_program(start), 0, "success");
      check_requests(server, 1);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

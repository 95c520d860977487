// Network mode allow-list of whole runs where the system gives no network namespace.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/policies/egress/loopback.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void answer(const Fd& socket) {
  read_until(socket, "\r\n\r\n");
  send_text(socket, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nlisted");
}

/// "denied connect 127.0.0.1:80", in their order, without what was over.
std::vector<std::string> connections_of(const RunFolder& folder) {
  std::vector<std::string> connections;
  for (const Json& record : folder.records("network.connection")) {
    if (record.string_at("state") == "closed") continue;
    connections.push_back(record.string_at("state") + " " + record.string_at("method") + " " +
                          record.string_at("host") + ":" +
                          std::to_string(record.integer_at("port")));
  }
  return connections;
}

std::string policy(const std::string& more) { return "version: 1\nextends: [auto]\n" + more; }

}  // namespace

BOOST_AUTO_TEST_SUITE(connect_gate)

BOOST_AUTO_TEST_CASE(without_namespaces_a_run_reaches_what_is_listed_and_nothing_else) {
  for (const auto& caller : all_callers()) {
    if (caller.namespaces) continue;
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      LoopbackServer listed(answer);
      const Listener other = listen_on_loopback();
      const std::string other_place = "127.0.0.1:" + std::to_string(other.port);
      folder.write("work/a.txt", "a\n");
      folder.write("policy.yaml",
                   policy("network: {mode: allow-list, allow: ['" + listed.place() + "']}\n"));
      folder.write_task(
          CassetteWriter()
              .shell({"sh", "-c", "NO_PROXY= no_proxy= curl -sS http://" + listed.place() + "/"})
              .next()
              .shell({"sh", "-c", "NO_PROXY= no_proxy= curl -sSf http://" + other_place + "/"})
              .next()
              .shell({"sh", "-c", "curl -sS --noproxy '*' http://" + other_place + "/"})
              .next()
              .message("done"),
          "policy: policy.yaml\nexpect: {changes: any}\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(folder.output(0), "listed"), folder.output(0));
      BOOST_TEST(holds(folder.output(1), "403"), folder.output(1));
      BOOST_TEST(holds(folder.output(2), "Couldn't connect"), folder.output(2));
      const Json result = folder.result();
      BOOST_TEST(result["layers"]["connect_gate"].boolean());
      BOOST_TEST(result["guarantees"]["network"]["proved"].boolean(),
                 result["guarantees"]["network"].string_at("detail"));
      const std::vector<std::string> expected = {"opened GET " + listed.place(),
                                                 "denied GET " + other_place,
                                                 "denied connect " + other_place};
      BOOST_TEST(connections_of(folder) == expected, boost::test_tools::per_element());
      pollfd caught{other.socket.get(), POLLIN, 0};
      BOOST_TEST(::poll(&caught, 1, 0) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(without_a_sandbox_the_mode_is_refused) {
  const RunFolder folder;
  folder.write("policy.yaml",
               policy("sandbox: {mode: none, guarantee: []}\nnetwork: {mode: allow-list}\n"));
  folder.write_task(CassetteWriter().message("done"), "policy: policy.yaml\n");

  const ProgramEnd end = folder.run({"--isolation", "copy"});

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(holds(end.errors, "allow-list"), end.errors);
}

BOOST_AUTO_TEST_SUITE_END()

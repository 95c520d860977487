// The lookup of the program without shared libraries, against a name server on loopback.
#include "core/names/ares_resolver.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/core/names/name_server.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace {

/// A resolver that asks the server alone.
struct Bench {
  test::TemporaryFolder folder;
  test::NameServer server{{{"both.example", {"192.0.2.7", "2001:db8::7"}},
                           {"four.example", {"192.0.2.8", "192.0.2.9"}},
                           {"none.example", {}},
                           {"short.inner.example", {"192.0.2.10"}}}};

  std::shared_ptr<HostResolver> resolver(const std::string& more = "") {
    const auto path = folder.path() / "resolv.conf";
    std::ofstream(path) << "options timeout:1 attempts:1\n" << more;
    return ares_resolver(path.string(), server.place());
  }
};

std::set<std::string> texts(const std::vector<IpAddress>& addresses) {
  std::set<std::string> list;
  for (const IpAddress& address : addresses) list.insert(address.text());
  return list;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ares_resolver_suite)

BOOST_AUTO_TEST_CASE(a_name_has_the_addresses_that_the_name_server_says) {
  Bench bench;
  const struct {
    const char* name;
    std::set<std::string> addresses;
  } rows[] = {{"both.example", {"192.0.2.7", "2001:db8::7"}},
              {"four.example", {"192.0.2.8", "192.0.2.9"}},
              {"192.0.2.1", {"192.0.2.1"}}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string problem = "of another lookup";
      const auto found = bench.resolver()->resolve(row.name, problem);
      BOOST_TEST((texts(found) == row.addresses));
      BOOST_TEST(problem == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_name_without_an_address_is_a_problem) {
  Bench bench;
  for (const char* name : {"missing.example", "none.example"}) {
    BOOST_TEST_CONTEXT(name) {
      std::string problem;
      BOOST_TEST(bench.resolver()->resolve(name, problem).empty());
      BOOST_TEST(problem != "");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_search_list_is_tried) {
  Bench bench;
  std::string problem;
  const auto found = bench.resolver("search inner.example\n")->resolve("short", problem);
  BOOST_TEST((texts(found) == std::set<std::string>{"192.0.2.10"}));
  BOOST_REQUIRE(!bench.server.questions().empty());
  BOOST_TEST(bench.server.questions().front() == "short.inner.example");
}

BOOST_AUTO_TEST_CASE(a_name_server_that_is_silent_ends_the_lookup_by_its_time_limit) {
  Bench bench;
  const auto path = bench.folder.path() / "silent.conf";
  // Bound and never read.
  const Fd silent(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  BOOST_REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  BOOST_REQUIRE(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  std::ofstream(path) << "options timeout:1 attempts:1\n";
  const std::string place = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));

  std::string problem;
  BOOST_TEST(ares_resolver(path.string(), place)->resolve("both.example", problem).empty());
  BOOST_TEST(problem != "");
}

BOOST_AUTO_TEST_CASE(names_of_the_hosts_file_need_no_name_server) {
  std::string known;  // the first name of the machine's file that is not localhost
  std::ifstream hosts("/etc/hosts");
  for (std::string line; known.empty() && std::getline(hosts, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string address;
    std::string name;
    if (words >> address >> name && !name.starts_with("localhost") && !name.starts_with("ip6-"))
      known = name;
  }
  if (known.empty()) {
    BOOST_TEST_MESSAGE("skipped: /etc/hosts names no host but localhost");
    return;
  }
  Bench bench;
  std::string problem;
  BOOST_TEST(!bench.resolver()->resolve(known, problem).empty(), known << ": " << problem);
  BOOST_TEST(bench.server.questions().empty());
}

BOOST_AUTO_TEST_SUITE_END()

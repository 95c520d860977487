#include "policies/bounds/mcp_bounds.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(mcp_bounds)

BOOST_AUTO_TEST_CASE(the_words_of_an_entry_are_globs_over_the_first_words_of_a_program) {
  const struct {
    const char* entry;
    std::vector<std::string> argv;
    bool named;
  } rows[] = {
      {"npx", {"npx", "-y", "server"}, true},
      {"npx -y server", {"npx", "-y", "server", "--more"}, true},
      {"npx -y server", {"npx", "-y", "other"}, false},
      {"npx -y server", {"npx", "-y"}, false},
      {"npx -y server*", {"npx", "-y", "server x"}, true},
      {"npx https://mcp.example", {"npx", "https://mcp.example"}, true},
      {"./tools/*", {"./tools/a", "b"}, true},
      {"tools", {"./tools"}, false},
      {"a b", {"a b"}, false},
      {" ", {"a"}, false},
      {"https://mcp.example", {"https://mcp.example"}, false},
  };
  for (const auto& row : rows)
    BOOST_TEST(names_program({row.entry}, row.argv) == row.named, row.entry);
}

BOOST_AUTO_TEST_CASE(an_address_is_named_by_its_scheme_its_host_and_its_port) {
  const struct {
    const char* entry;
    const char* address;
    bool named;
  } rows[] = {
      {"https://mcp.example.com", "https://mcp.example.com", true},
      {"https://MCP.example.com:443", "https://mcp.example.com", true},
      {"https://mcp.example.com", "https://mcp.example.com:8443", false},
      {"https://mcp.example.com:8443", "https://mcp.example.com:8443", true},
      {"https://mcp.example.com", "https://mcp.example.com.evil.example", false},
      {"https://mcp.example.com", "https://xmcp.example.com", false},
      {"https://*.example.com", "https://mcp.example.com", true},
      {"https://*.example.com", "https://a.b.example.com", true},
      {"https://*.example.com", "https://example.com", false},
      {"https://*.example.com", "https://evilexample.com", false},
      {"https://*.example.com", "https://*.example.com", false},
      {"http://127.0.0.1:3001", "http://127.0.0.1:3001", true},
      {"http://127.0.0.1:3001", "https://127.0.0.1:3001", false},
      {"http://127.0.0.1:3001", "http://127.0.0.1", false},
      {"http://localhost", "http://localhost", true},
      {"http://localhost:80", "http://localhost", true},
      {"http://*.localhost", "http://a.localhost", true},
      {"http://*.a.localhost", "http://b.a.localhost", true},
      {"https://[2001:DB8:0::1]", "https://[2001:db8::1]", true},
      {"http://[::1]:3001", "http://[::1]:3001", true},
      // Programs, whatever their globs.
      {"mcp.example.com", "https://mcp.example.com", false},
      {"*", "https://mcp.example.com", false},
      {"https*", "https://mcp.example.com", false},
      {"127.0.0.1:3001", "http://127.0.0.1:3001", false},
  };
  for (const auto& row : rows)
    BOOST_TEST(names_address({"npx", row.entry}, row.address) == row.named,
               row.entry << " " << row.address);
}

BOOST_AUTO_TEST_CASE(an_entry_that_is_no_usable_address_is_told_why) {
  const struct {
    const char* entry;
    const char* problem;
  } rows[] = {
      {"https://mcp.example.com/mcp", "without a path"},
      {"https://mcp.example.com/", "without a path"},
      {"https://user@mcp.example.com", "without a user"},
      {"https://*", "nearly every host"},
      {"https://*.com", "nearly every host"},
      {"https://*:8443", "nearly every host"},
      {"http://*", "nearly every host"},
      {"http://mcp.example.com", "loopback hosts only"},
      {"http://10.0.0.1:80", "loopback hosts only"},
      {"http://*.example.com", "loopback hosts only"},
      {"http://127.1", "four decimal numbers"},
      {"ws://mcp.example.com", "begins with https:// or http://"},
      {"HTTPS://mcp.example.com", "begins with https:// or http://"},
      {"https://mcp.example.com:0", "expected a port from 1"},
      {"https://", "the host name is missing"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.entry) {
      std::string problem;
      BOOST_TEST(is_mcp_address(row.entry));
      BOOST_TEST(!parse_mcp_address(row.entry, problem).has_value());
      BOOST_TEST(problem.find(row.problem) != std::string::npos, problem);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

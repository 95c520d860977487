#include "tools/mcp/transport/http_session.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"

using namespace sortie;
using namespace sortie::mcp;

BOOST_AUTO_TEST_SUITE(http_server)

BOOST_AUTO_TEST_CASE(addresses_are_read_as_they_stand) {
  const struct {
    std::string text;
    std::string authority;
    std::string target;
  } rows[] = {
      {"https://mcp.example/mcp", "mcp.example", "/mcp"},
      {"https://mcp.example", "mcp.example", ""},
      {"https://mcp.example/mcp/", "mcp.example", "/mcp/"},
      {"https://mcp.example?a=b", "mcp.example", "/?a=b"},
      {"https://mcp.example:8443/a/b?x=1&y=/", "mcp.example:8443", "/a/b?x=1&y=/"},
      {"http://localhost:3001/mcp", "localhost:3001", "/mcp"},
      {"http://[::1]:3001/mcp", "[::1]:3001", "/mcp"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const Url url = parse_server_url(row.text);
      BOOST_TEST(url.authority() == row.authority);
      BOOST_TEST(url.path == row.target);
    }
  }
}

BOOST_AUTO_TEST_CASE(addresses_that_would_give_something_away_are_refused) {
  for (const char* text :
       {"http://mcp.example/mcp", "http://10.0.0.1/mcp", "https://user:pw@mcp.example/mcp",
        "https://mcp.example/mcp#x", "https://mcp.example/mcp?a=b#x", "https://mcp.example/m cp",
        "https://mcp.example/mcp?a b", "https://mcp.example/?a\r\nX: y", "ws://mcp.example/mcp",
        "mcp.example", "", "https://"})
    BOOST_TEST_CONTEXT(text) BOOST_CHECK_THROW(parse_server_url(text), InputError);
}

BOOST_AUTO_TEST_SUITE_END()

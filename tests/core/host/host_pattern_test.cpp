#include "core/host/host.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

Host named(const char* name) { return {name, std::nullopt}; }
const char* const kFourNumbers =
    "an IPv4 address must be four decimal numbers without leading zeros";

Host address(const char* text) { return {text, read_ip_address(text)}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(host_pattern)

BOOST_AUTO_TEST_CASE(a_host_is_read_in_one_way_only) {
  const struct {
    const char* text;
    HostPattern pattern;
  } rows[] = {
      {"Packages.Example.COM", {.host = named("packages.example.com")}},
      {"example.org:80", {.host = named("example.org"), .port = 80}},
      {"*.example.org:65535", {.host = named("example.org"), .subdomains = true, .port = 65535}},
      {"*", {.any = true}},
      {"*:443", {.any = true, .port = 443}},
      {"localhost:1", {.host = named("localhost"), .port = 1}},
      {"192.0.2.1:8080", {.host = address("192.0.2.1"), .port = 8080}},
      {"[2001:DB8:0::0:1]", {.host = address("2001:db8::1")}},
      {"[::1]:443", {.host = address("::1"), .port = 443}},
      {"[::0]", {.host = address("::")}},
      {"xn--bcher-kva.example", {.host = named("xn--bcher-kva.example")}},
      {"a_b.example", {.host = named("a_b.example")}},
      {"3com", {.host = named("3com")}},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.text) {
      std::string problem;
      const auto pattern = parse_host_pattern(row.text, problem);
      BOOST_TEST(problem == "");
      BOOST_TEST((pattern == row.pattern));
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_host_is_refused_with_the_reason) {
  const struct {
    std::string text;
    const char* problem;
  } rows[] = {
      {"", "the host name is missing"},
      {":443", "the host name is missing"},
      {"https://a.b", "expected a host without a scheme"},
      {"a.b/c", "expected a host without a path"},
      {"a.b?c", "expected a host without a path"},
      {"a.b#c", "expected a host without a path"},
      {"a\\b", "expected a host without a path"},
      {"me@a.b", "expected a host without a user"},
      {"a b", "the host name has a control character or blank"},
      {"a\n.b", "the host name has a control character or blank"},
      {"bücher.example", "a non-ASCII host name must be written in its xn-- form"},
      {"a.b:", "expected a port from 1 to 65535"},
      {"a.b:0", "expected a port from 1 to 65535"},
      {"a.b:080", "a port can't have leading zeros"},
      {"a.b:65536", "expected a port from 1 to 65535"},
      {"a.b:4x3", "expected a port from 1 to 65535"},
      {"a.b:-1", "expected a port from 1 to 65535"},
      {"[::1]443", "']' is missing after the address"},
      {"::1", "an IPv6 address must be in brackets"},
      {"[::1", "']' is missing after the address"},
      {"[a.b]", "expected an IPv6 address in the brackets"},
      {"[::1%lo]", "an address with a zone is not supported"},
      {"[::ffff:127.0.0.1]:8080", "an IPv4 address must be written in IPv4 form"},
      {"127.1", kFourNumbers},
      {"0x7f.0.0.1", kFourNumbers},
      {"0x7f000001", kFourNumbers},
      {"2130706433", kFourNumbers},
      {"127.0.0.01", kFourNumbers},
      {"256.0.0.1", kFourNumbers},
      {"*.192.0.2.1", "an IP address can't have subdomains"},
      {"a.b.", "the host name has an empty part"},
      {"a..b", "the host name has an empty part"},
      {"*.", "the host name is missing"},
      {"a*.example.org", "'*' is only allowed as the whole first part, as in *.example.org"},
      {"a.*.org", "'*' is only allowed as the whole first part, as in *.example.org"},
      {"**", "'*' is only allowed as the whole first part, as in *.example.org"},
      {"-a.b", "a part of the host name begins or ends with '-'"},
      {"a.b-", "a part of the host name begins or ends with '-'"},
      {"a,b", "a host name can't have ','"},
      {std::string(64, 'a') + ".b", "a part of the host name is longer than 63 bytes"},
      {std::string(254, 'a'), "the host name is longer than 253 bytes"},
      {std::string("a\0b", 3), "the host name has a control character or blank"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.text) {
      std::string problem;
      BOOST_TEST(!parse_host_pattern(row.text, problem).has_value());
      BOOST_TEST(problem == row.problem);
    }
}

BOOST_AUTO_TEST_CASE(a_pattern_of_one_name_or_none_is_no_list) {
  const struct {
    const char* text;
    bool broad;
  } rows[] = {{"*", true},        {"*:443", true},  {"*.com", true},
              {"*.a.com", false}, {"a.com", false}, {"localhost", false}};
  for (const auto& row : rows) {
    std::string problem;
    BOOST_TEST(parse_host_pattern(row.text, problem)->is_broad() == row.broad, row.text);
  }
}

BOOST_AUTO_TEST_CASE(a_pattern_covers_the_names_below_a_dot) {
  const struct {
    const char* text;
    const char* name;
    bool covered;
  } rows[] = {{"*", "a.example", true},
              {"a.example", "a.example", true},
              {"a.example", "b.a.example", false},
              {"*.example", "a.example", true},
              {"*.example", "b.a.example", true},
              {"*.example", "example", false},
              {"*.example", ".example", false},
              {"*.example", "badexample", false},
              {"192.0.2.1", "192.0.2.1", true},
              {"[2001:DB8::1]", "2001:db8::1", true}};
  for (const auto& row : rows) {
    std::string problem;
    BOOST_TEST(parse_host_pattern(row.text, problem)->covers(row.name) == row.covered,
               row.text << " " << row.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

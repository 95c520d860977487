#include "policies/rules/host_pattern.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(host_pattern)

BOOST_AUTO_TEST_CASE(a_host_is_read_in_one_way_only) {
  const struct {
    const char* text;
    HostPattern pattern;
  } rows[] = {
      {"Packages.Example.COM", {.host = "packages.example.com"}},
      {"example.org:80", {.host = "example.org", .port = 80}},
      {"*.example.org:65535", {.host = "example.org", .subdomains = true, .port = 65535}},
      {"*", {.any = true}},
      {"*:443", {.any = true, .port = 443}},
      {"localhost:1", {.host = "localhost", .port = 1}},
      {"192.0.2.1:8080", {.host = "192.0.2.1", .address = true, .port = 8080}},
      {"[2001:DB8::1]", {.host = "2001:db8::1", .address = true}},
      {"[::1]:443", {.host = "::1", .address = true, .port = 443}},
      {"xn--bcher-kva.example", {.host = "xn--bcher-kva.example"}},
      {"a_b.example", {.host = "a_b.example"}},
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
      {"", "the host is missing"},
      {":443", "the host is missing"},
      {"https://a.b", "the host alone, without a scheme"},
      {"a.b/c", "the host alone, without a path"},
      {"a.b?c", "the host alone, without a path"},
      {"a.b#c", "the host alone, without a path"},
      {"a\\b", "the host alone, without a path"},
      {"me@a.b", "the host alone, without a user"},
      {"a b", "it has blanks or letters beyond ASCII (a host's ASCII form begins xn--)"},
      {"a\n.b", "it has blanks or letters beyond ASCII (a host's ASCII form begins xn--)"},
      {"bücher.example", "it has blanks or letters beyond ASCII (a host's ASCII form begins xn--)"},
      {"a.b:", "a port is a number from 1 to 65535"},
      {"a.b:0", "a port is a number from 1 to 65535"},
      {"a.b:080", "a port is a number from 1 to 65535"},
      {"a.b:65536", "a port is a number from 1 to 65535"},
      {"a.b:4x3", "a port is a number from 1 to 65535"},
      {"a.b:-1", "a port is a number from 1 to 65535"},
      {"[::1]443", "a port is a number from 1 to 65535"},
      {"::1", "an IPv6 address stands in brackets, [2001:db8::1]"},
      {"[::1", "an IPv6 address stands in brackets, [2001:db8::1]"},
      {"[a.b]", "an IPv6 address stands in brackets, [2001:db8::1]"},
      {"[::1%lo]", "an IPv6 address stands in brackets, [2001:db8::1]"},
      {"127.1", "an IPv4 address is written as four numbers, 192.0.2.1"},
      {"0x7f.0.0.1", "an IPv4 address is written as four numbers, 192.0.2.1"},
      {"0x7f000001", "an IPv4 address is written as four numbers, 192.0.2.1"},
      {"2130706433", "an IPv4 address is written as four numbers, 192.0.2.1"},
      {"127.0.0.01", "an IPv4 address is written as four numbers, 192.0.2.1"},
      {"256.0.0.1", "an IPv4 address is written as four numbers, 192.0.2.1"},
      {"*.192.0.2.1", "an IP address has no hosts below it"},
      {"a.b.", "a part between its dots is empty"},
      {"a..b", "a part between its dots is empty"},
      {"*.", "the host is missing"},
      {"a*.example.org", "'*' stands for whole names at the left only, as in *.example.org"},
      {"a.*.org", "'*' stands for whole names at the left only, as in *.example.org"},
      {"**", "'*' stands for whole names at the left only, as in *.example.org"},
      {"-a.b", "no part begins or ends with '-'"},
      {"a.b-", "no part begins or ends with '-'"},
      {"a,b", "a host is written with letters, digits, '-' and dots"},
      {std::string(64, 'a') + ".b", "a part between its dots has more than 63 letters"},
      {std::string(254, 'a'), "a host has at most 253 letters"},
      {std::string("a\0b", 3),
       "it has blanks or letters beyond ASCII (a host's ASCII form begins xn--)"},
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

BOOST_AUTO_TEST_SUITE_END()

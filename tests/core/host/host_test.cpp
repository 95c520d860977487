#include "core/host/host.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

const std::string kLabel63(63, 'a');
/// 253 bytes: three labels of 63 and one of 61.
const std::string kName253 =
    kLabel63 + "." + kLabel63 + "." + kLabel63 + "." + std::string(61, 'b');

}  // namespace

BOOST_AUTO_TEST_SUITE(host)

BOOST_AUTO_TEST_CASE(hosts_are_read_once_and_for_all) {
  const struct {
    std::string text;
    std::string name;
    bool address = false;
  } rows[] = {
      {"example.org", "example.org"},
      {"EXAMPLE.Org", "example.org"},
      {"example.org.", "example.org"},
      {"localhost", "localhost"},
      {"a", "a"},
      {"my_registry.corp", "my_registry.corp"},
      {"_service.example.org", "_service.example.org"},
      {"xn--bcher-kva.example", "xn--bcher-kva.example"},
      {"1.example", "1.example"},
      {"127.0.0.1.example", "127.0.0.1.example"},
      {"0x7f.example", "0x7f.example"},
      {"1password.com", "1password.com"},
      {"3com", "3com"},
      {"0xfg", "0xfg"},
      {"a--b.example", "a--b.example"},
      {kLabel63, kLabel63},
      {kName253, kName253},
      {kName253 + ".", kName253},
      {"192.0.2.1", "192.0.2.1", true},
      {"0.0.0.0", "0.0.0.0", true},
      {"[2001:db8::1]", "2001:db8::1", true},
      {"[2001:DB8:0::0:1]", "2001:db8::1", true},
      {"[::1]", "::1", true},
      {"[::]", "::", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const HostReading reading = read_host(row.text);
      BOOST_REQUIRE(reading.host.has_value());
      BOOST_TEST(reading.host->name == row.name);
      BOOST_TEST(reading.host->address.has_value() == row.address);
      BOOST_TEST(reading.problem == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(what_could_be_read_differently_elsewhere_is_no_host) {
  const struct {
    std::string text;
    const char* problem;  ///< part of it
  } rows[] = {
      {"", "missing"},
      {".", "empty part"},
      {"..", "empty part"},
      {".example.org", "empty part"},
      {"example..org", "empty part"},
      {"example.org..", "empty part"},
      {"exa mple.org", "control character or blank"},
      {"example.org ", "control character or blank"},
      {"\texample.org", "control character or blank"},
      {"example.org\r\n", "control character or blank"},
      {std::string("example.org\0.evil.example", 25), "control character or blank"},
      {"example.org\x7f", "control character or blank"},
      {"user@example.org", "user name"},
      {"user:password@example.org", "user name"},
      {"ex%61mple.org", "percent"},
      {"example.org%00", "percent"},
      {"b\xc3\xbc"
       "cher.example",
       "ASCII"},
      {"example\xe3\x80\x82org", "ASCII"},
      {"\xef\xbd\x85xample.org", "ASCII"},
      {"example.org/path", "can't have '/'"},
      {"example.org\\path", "can't have '\\'"},
      {"example.org?x", "can't have '?'"},
      {"example.org#x", "can't have '#'"},
      {"*.example.org", "'*' is not a host"},
      {"*", "'*' is not a host"},
      {"-example.org", "begins or ends with '-'"},
      {"example-.org", "begins or ends with '-'"},
      {"example.-org", "begins or ends with '-'"},
      {kLabel63 + "a.org", "longer than 63"},
      {kName253 + "b", "longer than"},
      {"2130706433", "four decimal numbers"},
      {"0x7f000001", "four decimal numbers"},
      {"0X7F000001", "four decimal numbers"},
      {"017700000001", "four decimal numbers"},
      {"0177.0.0.1", "four decimal numbers"},
      {"0x7f.1", "four decimal numbers"},
      {"127.1", "four decimal numbers"},
      {"127.0.1", "four decimal numbers"},
      {"0x7f.0x0.0x0.0x1", "four decimal numbers"},
      {"127.0.0.0x1", "four decimal numbers"},
      {"127.0.0.01", "four decimal numbers"},
      {"127.0.0.1.", "four decimal numbers"},
      {"256.0.0.1", "four decimal numbers"},
      {"1.2.3.4.5", "four decimal numbers"},
      {"0", "four decimal numbers"},
      {"0x", "four decimal numbers"},
      {"example.1", "four decimal numbers"},
      {"example.0x1f", "four decimal numbers"},
      {"::1", "brackets"},
      {"2001:db8::1", "brackets"},
      {"[::1", "']' is missing"},
      {"[", "']' is missing"},
      {"[]", "expected an IPv6 address"},
      {"[::1]x", "']' is missing"},
      {"[127.0.0.1]", "expected an IPv6 address"},
      {"[example.org]", "expected an IPv6 address"},
      {"[fe80::1%eth0]", "zone"},
      {"[fe80::1%25eth0]", "zone"},
      {"[::ffff:127.0.0.1]", "written in IPv4 form"},
      {"[::ffff:7f00:1]", "written in IPv4 form"},
      {"[0:0:0:0:0:ffff:8.8.8.8]", "written in IPv4 form"},
      {"[::127.0.0.1]", "written in IPv4 form"},
      {"[1::2::3]", "expected an IPv6 address"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const HostReading reading = read_host(row.text);
      BOOST_TEST(!reading.host.has_value());
      BOOST_TEST(reading.problem.find(row.problem) != std::string::npos, reading.problem);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_port_stands_behind_the_host) {
  const struct {
    const char* text;
    std::uint16_t default_port;
    const char* read;  ///< "" where it is none
  } rows[] = {
      {"example.org:443", 0, "example.org:443"},
      {"example.org", 443, "example.org:443"},
      {"example.org:1", 443, "example.org:1"},
      {"example.org:65535", 0, "example.org:65535"},
      {"example.org:0443", 0, "example.org:443"},
      {"[::1]:8080", 0, "[::1]:8080"},
      {"[::1]", 80, "[::1]:80"},
      {"192.0.2.1:80", 0, "192.0.2.1:80"},
      {"example.org", 0, ""},
      {"[::1]", 0, ""},
      {"example.org:", 443, ""},
      {"example.org:0", 443, ""},
      {"example.org:65536", 443, ""},
      {"example.org:123456", 443, ""},
      {"example.org:-1", 443, ""},
      {"example.org:+1", 443, ""},
      {"example.org: 80", 443, ""},
      {"example.org:80 ", 443, ""},
      {"example.org:80x", 443, ""},
      {"example.org:0x50", 443, ""},
      {"example.org:http", 443, ""},
      {"example.org:80:90", 443, ""},
      {"::1:80", 443, ""},
      {":80", 443, ""},
      {"", 443, ""},
      {"[::1]80", 443, ""},
      {"[::1]]:80", 443, ""},
      {"[[::1]]:80", 443, ""},
      {"user@example.org:80", 443, ""},
      {"user:80@example.org", 443, ""},
      {"example.org:80@evil.example", 443, ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const AuthorityReading reading = read_authority(row.text, row.default_port);
      BOOST_TEST((reading.authority
                      ? authority_text(reading.authority->host, reading.authority->port)
                      : "") == row.read);
      BOOST_TEST(reading.problem.empty() == reading.authority.has_value());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

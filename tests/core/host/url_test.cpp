#include "core/host/url.h"
#include "core/host/host.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/net/proxy.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(url)

BOOST_AUTO_TEST_CASE(addresses_are_taken_apart) {
  const struct {
    const char* text;
    Url url;
  } rows[] = {
      {"https://api.openai.com/v1", {true, "api.openai.com", 443, "/v1"}},
      {"https://API.openai.com/v1//", {true, "api.openai.com", 443, "/v1"}},
      {"http://127.0.0.1:8080", {false, "127.0.0.1", 8080, ""}},
      {"http://[::1]:8080/x/y", {false, "::1", 8080, "/x/y"}},
      {"http://[0:0::1]", {false, "::1", 80, ""}},
      {"https://api.openai.com.", {true, "api.openai.com", 443, ""}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) { BOOST_TEST((parse_url(row.text) == row.url)); }
  }
  BOOST_TEST(parse_url("http://[::1]:8080/x").text() == "http://[::1]:8080/x");
}

BOOST_AUTO_TEST_CASE(addresses_that_could_mislead_are_refused) {
  for (const char* text : {"",
                           "api.openai.com",
                           "ftp://a",
                           "https://",
                           "https:///v1",
                           "https://a b/",
                           "https://a?x=1",
                           "https://a#b",
                           "https://a:0",
                           "https://a:65536",
                           "https://a:b",
                           "https://a:",
                           "https://good.example\\@evil.example",
                           "https://[::1",
                           "https://[zz]/",
                           "https://-a",
                           "https://a\nb",
                           "https://\xc3\xa9.example",
                           "HTTPS://a",
                           "https://127.1",
                           "https://0x7f000001",
                           "https://a..b",
                           "https://1.2.3.04",
                           "https://a-",
                           "https://[::ffff:127.0.0.1]",
                           "https://[::1%lo]"}) {
    BOOST_TEST_CONTEXT(text) { BOOST_CHECK_THROW(parse_url(text), InputError); }
  }
}

BOOST_AUTO_TEST_CASE(a_password_in_an_address_is_refused_and_not_shown) {
  BOOST_CHECK_EXCEPTION(parse_url("https://user:hunter2@a/"), InputError, [](const Error& error) {
    return std::string(error.what()).find("hunter2") == std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(loopback_is_known_by_its_spelling) {
  for (const char* host : {"localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"})
    BOOST_TEST(is_loopback_host(host), host);
  for (const char* host : {"", "localhost.example", "127.0.0.1.example", "127.evil.example.com",
                           "127.1", "10.0.0.1", "::2", "notlocalhost"})
    BOOST_TEST(!is_loopback_host(host), host);
}

BOOST_AUTO_TEST_CASE(the_proxy_is_chosen_by_place) {
  const struct {
    const char* no_proxy;
    const char* address;
    bool proxied;
  } rows[] = {
      {"", "https://api.example", true},
      {"", "http://api.example", false},
      {"", "https://localhost:1", false},
      {"*", "https://api.example", false},
      {"api.example", "https://api.example", false},
      {"example", "https://api.example", false},
      {".example", "https://api.example", false},
      {"*.example", "https://api.example", false},
      {"i.example", "https://api.example", true},
      {"API.example:443", "https://api.example", false},
      {"api.example:8443", "https://api.example", true},
      {"a, 10.0.0.0/8", "https://10.1.2.3", false},
      {"10.0.0.0/8", "https://11.1.2.3", true},
      {"10.0.0.0/99", "https://10.1.2.3", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.no_proxy << " " << row.address) {
      const ProxySettings settings{"http://us%65r:pass@proxy.example:3129/", row.no_proxy};
      const auto proxy = proxy_for(settings, parse_url(row.address));
      BOOST_REQUIRE(proxy.has_value() == row.proxied);
      if (!proxy) continue;
      BOOST_TEST(proxy->host == "proxy.example");
      BOOST_TEST(proxy->port == 3129);
      BOOST_TEST(proxy->authorization == "Basic dXNlcjpwYXNz");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_proxy_without_a_port_is_at_that_of_its_scheme) {
  for (const char* address :
       {"http://proxy.example", "proxy.example/", "http://u:p@proxy.example"}) {
    const auto proxy = proxy_for({.https_proxy = address}, parse_url("https://api.example"));
    BOOST_REQUIRE(proxy.has_value());
    BOOST_TEST(proxy->port == 80);
  }
}

BOOST_AUTO_TEST_SUITE_END()

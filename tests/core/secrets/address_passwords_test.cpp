#include "core/secrets/address_passwords.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(address_passwords_in_texts)

BOOST_AUTO_TEST_CASE(passwords_and_tokens_in_addresses_are_found) {
  const struct {
    const char* name;
    const char* text;
    std::vector<std::string> expected;
  } rows[] = {
      {"user and password", "url = https://ada:hunter-22@example.com/a.git", {"hunter-22"}},
      {"coded", "http://ada:a%40b%2Fcdef@proxy:3128", {"a%40b%2Fcdef", "a@b/cdef"}},
      {"an @ in it", "http://ada:pa@ss-word@proxy", {"pa@ss-word"}},
      {"a usual name", "https://x-access-token:tok-en-1@host/", {"tok-en-1"}},
      {"a token as name", "https://abcdef0123456789abcd@host/", {"abcdef0123456789abcd"}},
      {"a token before a usual word",
       "https://abcdef0123456789abcd:x-oauth-basic@host/",
       {"abcdef0123456789abcd"}},
      {"a name", "ssh://git@host/x https://ada@host/y", {}},
      {"none", "https://example.com:8080/path?a=b@c", {}},
      {"no user", "redis://:hunter-22@cache:6379/0", {"hunter-22"}},
      {"two", "a://b:secret-1@c d://e:secret-2@f", {"secret-1", "secret-2"}},
      {"one twice", "a://b:secret-1@c\nd://e:secret-1@f", {"secret-1"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name)
    BOOST_TEST(address_passwords(row.text) == row.expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(headers_give_their_credentials) {
  const struct {
    const char* text;
    std::vector<std::string> expected;
  } rows[] = {
      {"AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46czNjcmV0LTEyMw==",
       {"eC1hY2Nlc3MtdG9rZW46czNjcmV0LTEyMw==", "s3cret-123"}},
      {"Authorization: Bearer abc.def-123", {"abc.def-123"}},
      {"PRIVATE-TOKEN: abc-123", {"abc-123"}},
      {"Authorization: Basic !", {"!"}},
      {"no header", {}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text)
    BOOST_TEST(header_credentials(row.text) == row.expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()

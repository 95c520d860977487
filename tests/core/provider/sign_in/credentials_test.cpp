#include "core/provider/sign_in/credentials.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace {

constexpr const char* kVariable = "SORTIE_TEST_KEY";

Endpoint endpoint(const std::string& address, bool operator_host = false) {
  return {.base = parse_url(address), .operator_host = operator_host};
}

std::optional<ExitCode> refusal(const Endpoint& to, const CredentialBounds& bounds) {
  try {
    find_api_key({.variable = kVariable}, to, bounds);
    return std::nullopt;
  } catch (const Error& error) {
    BOOST_TEST(std::string(error.what()).find(kVariable) != std::string::npos);
    BOOST_TEST(std::string(error.what()).find("sk-secret") == std::string::npos);
    return error.code();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(credentials)

BOOST_AUTO_TEST_CASE(a_taken_variable_is_gone_from_the_environments_memory) {
  ::setenv(kVariable, "sk-secret-123", 1);
  const char* const memory = std::getenv(kVariable);

  const auto key = take_environment_key(kVariable);

  BOOST_TEST(key.value() == "sk-secret-123");
  BOOST_TEST(std::getenv(kVariable) == nullptr);
  BOOST_TEST(std::string(memory, 13) == std::string(13, '\0'));
  BOOST_TEST(!take_environment_key(kVariable).has_value());
  ::setenv(kVariable, "", 1);
  BOOST_TEST(!take_environment_key(kVariable).has_value());
}

BOOST_AUTO_TEST_CASE(a_key_goes_to_its_own_hosts_only) {
  const CredentialBounds bounds = {
      {kVariable, {"api.openai.com", "*.corp.example", "odd.example:8443"}},
      {"OTHER", {"other.example"}}};
  const struct {
    const char* address;
    bool operator_host;
    std::optional<ExitCode> refused;
  } rows[] = {
      {"https://api.openai.com/v1", false, std::nullopt},
      {"https://llm.corp.example", false, std::nullopt},
      {"https://corp.example", false, ExitCode::usage},
      {"https://evilcorp.example", false, ExitCode::usage},
      {"https://api.openai.com.evil.example", false, ExitCode::usage},
      {"https://api.openai.com:444", false, ExitCode::usage},
      {"https://odd.example:8443", false, std::nullopt},
      {"https://odd.example", false, ExitCode::usage},
      {"https://other.example", false, ExitCode::usage},
      {"http://127.0.0.1:1", false, ExitCode::usage},
      {"https://any.example", true, std::nullopt},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.address) {
      ::setenv(kVariable, "sk-secret-123", 1);
      BOOST_TEST((refusal(endpoint(row.address, row.operator_host), bounds) == row.refused));
      BOOST_TEST(std::getenv(kVariable) == nullptr);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_missing_key_is_told_with_its_remedy_unless_on_loopback) {
  ::unsetenv(kVariable);
  BOOST_TEST((refusal(endpoint("https://api.openai.com/v1"), {}) == ExitCode::auth));
  BOOST_TEST(!find_api_key({.variable = kVariable}, endpoint("http://127.0.0.1:1"), {}));
}

BOOST_AUTO_TEST_CASE(a_descriptor_goes_before_a_file_before_the_variable) {
  const test::TemporaryFolder folder;
  write_file(folder / "key", "sk-file\r\n");
  const Endpoint to = endpoint("https://api.example", true);
  Pipe pipe = make_pipe();
  write_all(pipe.write.get(), "sk-descriptor\n");
  pipe.write.reset();

  ::setenv(kVariable, "sk-variable", 1);
  const auto first = find_api_key(
      {.variable = kVariable, .file = folder / "key", .descriptor = pipe.read.release()}, to, {});
  BOOST_TEST(std::getenv(kVariable) == nullptr);
  const auto second = find_api_key({.variable = kVariable, .file = folder / "key"}, to, {});

  BOOST_TEST(first.value() == "sk-descriptor");
  BOOST_TEST(second.value() == "sk-file");
}

BOOST_AUTO_TEST_CASE(a_key_file_may_be_a_pipe_as_a_shell_makes_them) {
  ::unsetenv(kVariable);
  Pipe pipe = make_pipe();
  write_all(pipe.write.get(), "sk-pipe\n");
  pipe.write.reset();
  const std::string file = "/dev/fd/" + std::to_string(pipe.read.get());
  const auto key = find_api_key({.variable = kVariable, .file = file},
                                endpoint("https://api.example", true), {});
  BOOST_TEST(key.value() == "sk-pipe");
}

BOOST_AUTO_TEST_CASE(a_key_file_without_end_is_refused) {
  ::unsetenv(kVariable);
  BOOST_CHECK_THROW(find_api_key({.variable = kVariable, .file = "/dev/zero"},
                                 endpoint("https://api.example", true), {}),
                    Error);
}

BOOST_AUTO_TEST_CASE(keys_that_are_no_header_are_refused) {
  const test::TemporaryFolder folder;
  const Endpoint to = endpoint("https://api.example", true);
  for (const std::string text : {"", "\n", "a\nb", "a b", "a\r\nX-Evil: 1", "k\xc3\xa9y", "a\tb"}) {
    write_file(folder / "key", text);
    BOOST_CHECK_THROW(find_api_key({.variable = kVariable, .file = folder / "key"}, to, {}), Error);
  }
}

BOOST_AUTO_TEST_CASE(a_variable_that_was_taken_before_is_used_as_if_it_stood_there) {
  ::unsetenv(kVariable);
  const Endpoint to = endpoint("https://api.example", true);

  BOOST_TEST(find_api_key({.variable = kVariable, .taken = "sk-taken"}, to, {}).value() ==
             "sk-taken");
  BOOST_CHECK_THROW(
      find_api_key({.variable = kVariable, .taken = "sk-taken"}, endpoint("https://a.example"), {}),
      Error);
}

BOOST_AUTO_TEST_SUITE_END()

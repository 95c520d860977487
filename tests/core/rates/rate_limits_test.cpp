#include "core/rates/rate_limits.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

struct Bench {
  TemporaryFolder folder;
  RateLimits load(const std::string& text) const {
    write_file(folder / "rates.yaml", text);
    return load_rate_limits(folder / "rates.yaml");
  }
  /// What is wrong, without the folder.
  std::string problem(const std::string& text) const {
    try {
      load(text);
      return "";
    } catch (const InputError& error) {
      std::string what = error.what();
      const std::string path = (folder / "").string();
      for (std::size_t at = what.find(path); at != std::string::npos; at = what.find(path))
        what.erase(at, path.size());
      return what.substr(0, what.find('\n'));
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rate_limits)

BOOST_AUTO_TEST_CASE(a_file_is_read_with_its_defaults) {
  const Bench bench;
  const RateLimits limits = bench.load(
      "version: 1\n"
      "providers:\n"
      "  openai: {requests: 60, tokens: 100000}\n"
      "  anthropic: {requests: 50}\n"
      "  https://GPU.example:8443/: {tokens: 5000, window: 10s}\n");

  BOOST_TEST(limits.file.string() == (bench.folder / "rates.yaml").string());
  BOOST_TEST(limits.state.string() == (bench.folder / "rates.yaml.state").string());
  BOOST_TEST(limits.owner.value_or(-1) == ::geteuid());
  const std::vector<ProviderRate> expected = {
      {.name = "openai", .requests = 60, .tokens = 100'000},
      {.name = "anthropic", .requests = 50},
      {.name = "https://gpu.example:8443", .tokens = 5000, .window = 10s},
  };
  BOOST_TEST((limits.limits == expected));
}

BOOST_AUTO_TEST_CASE(the_state_is_named_from_the_folder_of_the_file) {
  const Bench bench;
  BOOST_TEST(bench.load("version: 1\nstate: ../shared/rates\nproviders: {openai: {requests: 1}}\n")
                 .state == (bench.folder / "../shared/rates").lexically_normal());
  BOOST_TEST(bench.load("version: 1\nstate: /run/rates\nproviders: {openai: {requests: 1}}\n")
                 .state.string() == "/run/rates");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_told_with_its_place_and_what_to_write) {
  const Bench bench;
  const struct {
    const char* text;
    const char* problem;
  } rows[] = {
      {"", "rates.yaml: error: the file is empty; it needs 'version: 1' and 'providers'"},
      {"version: 1\n", "rates.yaml:1:1: error: key 'providers' is missing in rate limits"},
      {"version: 2\nproviders: {openai: {requests: 1}}\n", "rates.yaml:1:10: error:"},
      {"version: 1\nproviders: {openai: {requests: 1}}\nstat: x\n",
       "rates.yaml:3:1: error: unknown key 'stat' in rate limits; did you mean 'state'?"},
      {"version: 1\nproviders:\n  opena: {requests: 1}\n",
       "rates.yaml:3:3: error: unknown provider 'opena'; expected one of openai, openai-chat, "
       "anthropic, azure, local, or a server as https://host:port; did you mean 'openai'?"},
      {"version: 1\nproviders:\n  openai: {request: 60}\n",
       "rates.yaml:3:12: error: unknown key 'request' in the limits of a provider; did you mean "
       "'requests'?"},
      {"version: 1\nproviders:\n  openai: {requests: 0}\n",
       "rates.yaml:3:22: error: 'requests': expected a whole number from 1 to 1000000000, got 0"},
      {"version: 1\nproviders:\n  openai: {requests: 1.5}\n",
       "rates.yaml:3:22: error: 'requests': expected a whole number from 1 to 1000000000, got"},
      {"version: 1\nproviders:\n  openai: {window: 1m}\n",
       "rates.yaml:3:3: error: 'openai' needs 'requests', 'tokens' or both"},
      {"version: 1\nproviders:\n  openai: {requests: 10, window: 1s}\n",
       "rates.yaml:3:34: error: 'window': 1s has room for less than one of 10 requests a minute"},
      {"version: 1\nproviders:\n  openai:\n", "rates.yaml:3:3: error: 'openai' needs a value"},
      {"version: 1\nproviders: [openai]\n",
       "rates.yaml:2:12: error: 'providers': expected a mapping of providers, got a list"},
      {"version: 1\nproviders:\n  https://host/v1: {requests: 1}\n",
       "rates.yaml:3:3: error: the limits of a server are for all of it: write https://host, "
       "without a path"},
      {"version: 1\nproviders:\n  https://user:word@host: {requests: 1}\n",
       "rates.yaml:3:3: error: address: a user name or password in it is not allowed"},
      {"version: 1\nproviders:\n  https://host: {requests: 1}\n  https://host:443: {requests: 2}\n",
       "rates.yaml:4:3: error: 'https://host:443': https://host is there already"},
  };
  for (const auto& row : rows) {
    const std::string problem = bench.problem(row.text);
    BOOST_TEST(problem.starts_with(row.problem), row.text << problem << "\n" << row.problem);
  }
  BOOST_TEST(bench.problem("version: 1\nproviders:\n  openai: {requests: x}\n  anthropi: {}\n") !=
             "");
  BOOST_CHECK_THROW(load_rate_limits(bench.folder / "none.yaml"), InputError);
}

BOOST_AUTO_TEST_CASE(a_server_has_its_own_limits_before_those_of_its_provider) {
  const Bench bench;
  const RateLimits limits = bench.load(
      "version: 1\nproviders:\n  openai: {requests: 60}\n"
      "  http://127.0.0.1:8080: {requests: 7}\n");
  const auto found = [&limits](const char* provider, const char* server) {
    const ProviderRate* const limit = limits.find(provider, parse_url(server));
    return limit == nullptr ? std::string() : limit->name;
  };

  BOOST_TEST(found("openai", "https://api.openai.com/v1") == "openai");
  BOOST_TEST(found("openai", "http://127.0.0.1:8080/v1") == "http://127.0.0.1:8080");
  BOOST_TEST(found("local", "http://127.0.0.1:8080") == "http://127.0.0.1:8080");
  BOOST_TEST(found("local", "http://127.0.0.1:8081") == "");
}

BOOST_AUTO_TEST_CASE(a_window_lets_through_its_share_of_a_minute) {
  const ProviderRate limit{.name = "openai", .requests = 50, .tokens = 100'000, .window = 3s};

  BOOST_TEST((pace_of(limit) == RatePace{.requests = 2, .tokens = 5000, .window = 3s}));
  BOOST_TEST((pace_of({.name = "openai", .requests = 50}) == RatePace{.requests = 50}));
}

BOOST_AUTO_TEST_CASE(the_schema_takes_what_the_loader_takes) {
  const Bench bench;
  const JsonSchema schema(rate_limits_schema());
  const struct {
    const char* json;
    bool valid;
  } rows[] = {
      {R"({"version": 1, "providers": {"openai": {"requests": 60, "tokens": 100000}}})", true},
      {R"({"version": 1, "state": "x", "providers": {"https://host:8443": {"tokens": 1}}})", true},
      {R"({"version": 1, "providers": {"openai": {"requests": 60, "window": "10s"}}})", true},
      {R"({"version": 1, "providers": {}})", true},
      {R"({"version": 1})", false},
      {R"({"version": 1, "providers": {"opena": {"requests": 60}}})", false},
      {R"({"version": 1, "providers": {"https://host/v1": {"requests": 60}}})", false},
      {R"({"version": 1, "providers": {"openai": {"window": "10s"}}})", false},
      {R"({"version": 1, "providers": {"openai": {"requests": 0}}})", false},
      {R"({"version": 1, "providers": {"openai": {"requests": "60"}}})", false},
      {R"({"version": 1, "providers": {"openai": {"requests": 60}}, "x": 1})", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST(schema.check(parse_json(row.json)).empty() == row.valid, row.json);
    BOOST_TEST(bench.problem(row.json).empty() == row.valid, row.json << bench.problem(row.json));
  }
}

BOOST_AUTO_TEST_SUITE_END()

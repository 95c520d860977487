// A provider that only a proxy can reach, asked by the whole program.

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/provider_run.h"
#include "tests/support/connect_proxy.h"
#include "tests/support/test_authority.h"

using namespace sortie;
using namespace sortie::test;

namespace {

constexpr const char* kHost = "model.test";
constexpr const char* kAddress = "192.0.2.7";  ///< of a network for documents (RFC 5737)
constexpr const char* kKey = "sk-behind-a-proxy-0123456789";
constexpr const char* kWanted = "Basic Y2k6c2VjcmV0IHdvcmQ=";  ///< ci:secret word

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A certificate for each of the server's names, made once.
struct Authority {
  TemporaryFolder folder;
  TestAuthority authority{folder.path()};
  ServerCertificate certificate = authority.issue(
      "server", std::string("DNS:") + kHost + ",IP:" + kAddress + ",IP:127.0.0.1,DNS:localhost");
  static const Authority& instance() {
    static const Authority one;
    return one;
  }
};

/// A run whose model stands behind a proxy.
class ProxiedRun : public ProviderRun {
 public:
  explicit ProxiedRun(std::vector<ServedResponse> responses, const std::string& wanted = {})
      : proxy(wanted), server(std::move(responses), Authority::instance().certificate) {
    write_model("retries: 0, timeout: {connect: 2s}");
  }
  /// @param user  "USER:PASSWORD@" as the operator writes it, or ""
  ProgramStart start(const std::string& user, const std::string& host = kHost) const {
    ProgramStart made = ProviderRun::start(server.url(host) + "/v1");
    made.environment["OPENAI_API_KEY"] = kKey;
    made.environment["SSL_CERT_FILE"] = Authority::instance().authority.bundle();
    made.environment["HTTPS_PROXY"] = address(user);
    return made;
  }
  std::string address(const std::string& user = {}) const {
    return "http://" + user + "127.0.0.1:" + std::to_string(proxy.port());
  }

  const ConnectProxy proxy;
  const ModelServer server;
};

std::vector<ServedResponse> two_turns() {
  return served(CassetteWriter().shell({"env"}).next().message("done"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(proxy_end_to_end)

BOOST_AUTO_TEST_CASE(a_proxy_leads_to_the_provider_with_its_own_credentials_alone) {
  const struct {
    const char* name;
    const char* user;
    const char* wanted;
  } rows[] = {{"open", "", ""}, {"with credentials", "ci:secret%20word@", kWanted}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProxiedRun run(two_turns(), row.wanted);

      const ProgramEnd end = run_program(run.start(row.user));

      check_end(run, end, 0, "success");
      // One tunnel for both turns.
      const auto heads = run.proxy.requests();
      BOOST_REQUIRE(heads.size() == 1u);
      BOOST_TEST(heads[0].starts_with("CONNECT model.test:" + std::to_string(run.server.port()) +
                                      " HTTP/1.1\r\n"),
                 heads[0]);
      BOOST_TEST(holds(heads[0], std::string("Proxy-Authorization: ") + kWanted) ==
                 !std::string(row.user).empty());
      BOOST_TEST(!holds(heads[0], kKey), heads[0]);
      BOOST_TEST(!holds(heads[0], "session_id"), heads[0]);
      const auto requests = run.server.requests();
      BOOST_REQUIRE(requests.size() == 2u);
      for (const auto& request : requests) {
        BOOST_TEST(header_value(request.headers, "Authorization") == std::string("Bearer ") + kKey);
        BOOST_TEST(header_value(request.headers, "Proxy-Authorization") == "");
        BOOST_TEST(request.line == "POST /v1/responses HTTP/1.1");
        BOOST_TEST(!holds(request.body, "secret word"));
      }
      // Neither does a command hear of it.
      BOOST_TEST(holds(run.output(0), "PATH="), run.output(0));
      for (const char* word : {"secret%20word", "secret word", "Y2k6c2VjcmV0IHdvcmQ"})
        BOOST_TEST(!holds(run.all_written(end), word), word);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_proxy_that_wants_other_credentials_ends_the_run_before_any_request) {
  const struct {
    const char* user;
    const char* said;
  } rows[] = {{"", "asks for credentials"}, {"ci:wrong-word@", "does not take the credentials"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.said) {
      const ProxiedRun run(two_turns(), kWanted);

      const ProgramEnd end = run_program(run.start(row.user));

      check_end(run, end, 6, "auth");
      BOOST_TEST(holds(end.errors, row.said), end.errors);
      BOOST_TEST(holds(end.errors, "HTTPS_PROXY"), end.errors);
      BOOST_TEST(run.proxy.requests().size() == 1u);
      BOOST_TEST(run.server.connections() == 0);
      BOOST_TEST(!holds(run.all_written(end), "wrong-word"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_proxy_that_refuses_is_named_by_its_own_variable) {
  for (const char* name : {"https_proxy", "ALL_PROXY", "all_proxy"}) {
    for (const char* user : {"", "ci:wrong-word@"}) {
      BOOST_TEST_CONTEXT(name << " " << user) {
        const ProxiedRun run(two_turns(), kWanted);
        ProgramStart start = run.start("");
        start.environment["HTTPS_PROXY"] = "";
        start.environment[name] = run.address(user);

        const ProgramEnd end = run_program(start);

        check_end(run, end, 6, "auth");
        BOOST_TEST(holds(run.result().string_at("reason"), name), end.errors);
        BOOST_TEST(run.result().string_at("next") ==
                   std::string("put the proxy's user and password into ") + name);
        BOOST_TEST(!holds(end.errors, "HTTPS_PROXY"), end.errors);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(no_proxy_and_loopback_are_reached_without_the_proxy) {
  const struct {
    const char* name;
    const char* host;
    const char* no_proxy;  ///< PORT stands for the server's
    bool proxied;
    int code;  ///< without the proxy nothing but loopback is there
  } rows[] = {
      {"another suffix", kHost, ".example.com,del.test,localhost", true, 0},
      {"its suffix", kHost, "example.com, .test", false, 10},
      {"its name", kHost, "model.test", false, 10},
      {"all", kHost, "*", false, 10},
      {"its name at another port", kHost, "model.test:1", true, 0},
      {"its name at its port", kHost, "model.test:PORT", false, 10},
      {"another network", kAddress, "10.0.0.0/8,192.0.2.8/29", true, 0},
      {"its network", kAddress, "10.0.0.0/8,192.0.2.0/29", false, 10},
      {"loopback", "127.0.0.1", "", false, 0},
      {"localhost", "localhost", "", false, 0},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProxiedRun run(served(CassetteWriter().message("done")));
      ProgramStart start = run.start("", row.host);
      std::string exempt = row.no_proxy;
      if (const std::size_t at = exempt.find("PORT"); at != std::string::npos)
        exempt.replace(at, 4, std::to_string(run.server.port()));
      start.environment["NO_PROXY"] = exempt;

      const ProgramEnd end = run_program(start);

      check_end(run, end, row.code, row.code == 0 ? "success" : "unavailable");
      BOOST_TEST(run.proxy.requests().size() == (row.proxied ? 1u : 0u));
      BOOST_TEST(run.server.requests().size() == (row.code == 0 ? 1u : 0u));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_proxy_may_be_named_by_other_variables) {
  for (const char* name : {"https_proxy", "ALL_PROXY", "all_proxy"}) {
    BOOST_TEST_CONTEXT(name) {
      const ProxiedRun run(served(CassetteWriter().message("done")));
      ProgramStart start = run.start("");
      start.environment["HTTPS_PROXY"] = "";
      start.environment[name] = run.address();

      check_end(run, run_program(start), 0, "success");
      BOOST_TEST(run.proxy.requests().size() == 1u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_model_is_not_asked_through_http_proxy) {
  for (const char* name : {"HTTP_PROXY", "http_proxy"}) {
    const ProxiedRun run(served(CassetteWriter().message("done")));
    ProgramStart start = run.start("");
    start.environment["HTTPS_PROXY"] = "";
    start.environment[name] = run.address();

    check_end(run, run_program(start), 10, "unavailable");
    BOOST_TEST(run.proxy.requests().empty(), name);
  }
}

BOOST_AUTO_TEST_CASE(a_redirect_to_another_host_is_not_asked_of_the_proxy_either) {
  const ProxiedRun run({served_status(307, {{"Location", "https://other.test/v1/responses"}}, "")});

  const ProgramEnd end = run_program(run.start(""));

  check_end(run, end, 5, "refused");
  BOOST_TEST(holds(end.errors, "other.test"), end.errors);
  const auto heads = run.proxy.requests();
  BOOST_REQUIRE(heads.size() == 1u);
  BOOST_TEST(heads[0].starts_with("CONNECT model.test:"));
  BOOST_TEST(run.server.requests().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_certificate_for_another_name_is_refused_behind_the_proxy_too) {
  const ProxiedRun run(served(CassetteWriter().message("done")));

  const ProgramEnd end = run_program(run.start("", "other.test"));

  check_end(run, end, 10, "unavailable");
  BOOST_TEST(run.proxy.requests().size() == 1u);
  BOOST_TEST(run.server.requests().empty());
}

BOOST_AUTO_TEST_SUITE_END()

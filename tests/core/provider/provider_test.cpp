#include "core/provider/provider.h"
#include "core/files/files.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/base/error.h"
#include "core/provider/wires.h"

using namespace sortie;

namespace {

/// Where a request of the provider would go; "error: …" where the address is refused.
std::string target(const std::string& provider, const AddressSources& sources) {
  try {
    const ProviderInfo& info = provider_named(provider);
    return choose_endpoint(info, sources).target(make_wire(info.wire)->path("m")).text();
  } catch (const InputError& error) {
    return std::string("error: ") + error.what();
  }
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(provider)

BOOST_AUTO_TEST_CASE(a_request_goes_where_people_mean_it_to) {
  const struct {
    const char* provider;
    const char* address;  ///< as given; "" for none
    const char* target;
  } rows[] = {
      {"openai", "", "https://api.openai.com/v1/responses"},
      {"openai", "https://api.openai.com", "https://api.openai.com/v1/responses"},
      {"openai", "https://api.openai.com/", "https://api.openai.com/v1/responses"},
      {"openai", "https://api.openai.com/v1/", "https://api.openai.com/v1/responses"},
      {"openai", "https://api.openai.com/v1/responses", "https://api.openai.com/v1/responses"},
      {"openai", "https://api.openai.com/v1/responses/", "https://api.openai.com/v1/responses"},
      {"openai", "https://gateway.example", "https://gateway.example/responses"},
      {"openai", "https://gateway.example/openai", "https://gateway.example/openai/responses"},
      {"openai", "http://localhost:8080/v1", "http://localhost:8080/v1/responses"},
      {"openai-chat", "", "https://api.openai.com/v1/chat/completions"},
      {"openai-chat", "https://api.openai.com", "https://api.openai.com/v1/chat/completions"},
      {"openai-chat", "https://api.deepseek.com", "https://api.deepseek.com/chat/completions"},
      {"openai-chat", "http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1/chat/completions"},
      {"openai-chat", "http://127.0.0.1:8000/v1/chat/completions",
       "http://127.0.0.1:8000/v1/chat/completions"},
      {"anthropic", "", "https://api.anthropic.com/v1/messages"},
      {"anthropic", "https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"},
      {"anthropic", "https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"},
      {"anthropic", "https://api.anthropic.com/v1/messages",
       "https://api.anthropic.com/v1/messages"},
      {"anthropic", "https://gateway.example/anthropic",
       "https://gateway.example/anthropic/v1/messages"},
      {"anthropic", "https://gateway.example/anthropic/v1/",
       "https://gateway.example/anthropic/v1/messages"},
      {"local", "", "http://127.0.0.1:11434/v1/chat/completions"},
      {"local", "http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/chat/completions"},
      {"local", "http://localhost:1234/", "http://localhost:1234/v1/chat/completions"},
      {"local", "http://localhost:1234/v1", "http://localhost:1234/v1/chat/completions"},
      {"local", "http://[::1]:8080/llm/v1", "http://[::1]:8080/llm/v1/chat/completions"},
      {"azure", "https://res.openai.azure.com", "https://res.openai.azure.com/openai/v1/responses"},
      {"azure", "https://res.openai.azure.com/openai/",
       "https://res.openai.azure.com/openai/v1/responses"},
      {"azure", "https://res.openai.azure.com/openai/v1/",
       "https://res.openai.azure.com/openai/v1/responses"},
      {"azure", "https://res.openai.azure.com/openai/v1/responses",
       "https://res.openai.azure.com/openai/v1/responses"},
      {"azure", "https://res.openai.azure.com?api-version=preview",
       "https://res.openai.azure.com/openai/v1/responses?api-version=preview"},
      {"azure", "https://res.openai.azure.com/openai/v1?api-version=preview",
       "https://res.openai.azure.com/openai/v1/responses?api-version=preview"},
      {"azure", "https://res.openai.azure.com?api-version=2025-04-01-preview",
       "https://res.openai.azure.com/openai/responses?api-version=2025-04-01-preview"},
      {"azure", "https://res.openai.azure.com/openai?api-version=2025-04-01-preview",
       "https://res.openai.azure.com/openai/responses?api-version=2025-04-01-preview"},
      {"azure", "https://res.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
       "https://res.openai.azure.com/openai/responses?api-version=2025-04-01-preview"},
      {"azure", "https://gateway.example/azure/llm", "https://gateway.example/azure/llm/responses"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.provider << " " << row.address) {
      BOOST_TEST(target(row.provider, {.task = row.address}) == row.target);
      BOOST_TEST(target(row.provider, {.flag = row.address}) == row.target);
    }
}

BOOST_AUTO_TEST_CASE(an_address_that_can_not_be_used_is_refused_with_the_reason) {
  const struct {
    const char* provider;
    const char* address;
    const char* reason;
  } rows[] = {
      {"azure", "", "set base_url"},
      {"openai", "http://api.example/v1", "plain http is for loopback hosts only"},
      {"openai", "http://vllm:8000/v1", "plain http is for loopback hosts only"},
      {"anthropic", "http://10.0.0.1", "plain http is for loopback hosts only"},
      {"local", "http://192.168.1.5:11434", "plain http is for loopback hosts only"},
      {"local", "http://ollama:11434/v1", "plain http is for loopback hosts only"},
      {"openai", "https://a.example/v1?api-version=1", "of provider azure"},
      {"azure", "https://a.example?api-version=", "of provider azure"},
      {"azure", "https://a.example?key=1", "of provider azure"},
      {"azure", "https://a.example?api-version=1&key=2", "of provider azure"},
      {"openai", "https://a.example/v1/chat/completions", "(openai-chat)"},
      {"openai-chat", "https://a.example/v1/responses", "(openai)"},
      {"local", "http://localhost:1/v1/messages", "(anthropic)"},
      {"openai", "https://user:pass@a.example/v1", "user name or password"},
      {"opanai", "", "did you mean 'openai'?"},
      {"replay", "", "unknown provider 'replay'"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.provider << " " << row.address) {
      const std::string refusal = target(row.provider, {.task = row.address});
      BOOST_TEST(refusal.starts_with("error: "), refusal);
      BOOST_TEST(holds(refusal, row.reason), refusal);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_operators_address_goes_before_the_tasks) {
  const auto chosen = [](const AddressSources& sources) {
    const Endpoint place = choose_endpoint(provider_named("openai"), sources);
    return place.base.text() + (place.operator_host ? " operator" : "");
  };
  BOOST_TEST(chosen({}) == "https://api.openai.com/v1");
  BOOST_TEST(chosen({.task = "https://t.example"}) == "https://t.example");
  BOOST_TEST(chosen({.environment = "https://e.example", .task = "https://t.example"}) ==
             "https://e.example operator");
  BOOST_TEST(chosen({.flag = "https://f.example", .environment = "https://e.example"}) ==
             "https://f.example operator");
  BOOST_TEST(chosen({.flag = "http://localhost:1/v1/"}) == "http://localhost:1/v1 operator");
}

BOOST_AUTO_TEST_CASE(each_provider_gets_its_key_in_its_own_header_and_no_other) {
  const struct {
    const char* provider;
    const char* header;
    const char* value;
  } rows[] = {{"openai", "Authorization", "Bearer k"},
              {"openai-chat", "Authorization", "Bearer k"},
              {"anthropic", "x-api-key", "k"},
              {"azure", "api-key", "k"},
              {"local", "", ""}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.provider) {
      const ProviderInfo& info = provider_named(row.provider);
      const HttpHeaders headers = request_headers(info, "k", "run-1", {{"X-Team", "ci"}});

      for (const char* name : {"Authorization", "x-api-key", "api-key"})
        BOOST_TEST(header_value(headers, name) ==
                   (std::string(name) == row.header ? row.value : ""));
      const bool messages = info.wire == "messages";
      BOOST_TEST(header_value(headers, "anthropic-version") == (messages ? "2023-06-01" : ""));
      BOOST_TEST(header_value(headers, "originator") == (messages ? "" : "sortie"));
      BOOST_TEST(header_value(headers, "session_id") == (messages ? "" : "run-1"));
      BOOST_TEST(header_value(headers, "User-Agent") == "sortie/" SORTIE_VERSION);
      BOOST_TEST(header_value(headers, "Accept") == "text/event-stream");
      BOOST_TEST(header_value(headers, "X-Team") == "ci");
      const HttpHeaders without = request_headers(info, "", "run-1", {});
      for (const char* name : {"Authorization", "x-api-key", "api-key"})
        BOOST_TEST(header_value(without, name) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_task_sets_no_header_that_is_ours_or_may_carry_a_key) {
  for (const ProviderInfo& info : providers()) {
    for (const char* name :
         {"authorization", "X-API-Key", "Api-Key", "Anthropic-Version", "proxy-authorization",
          "cookie", "HOST", "Content-Length", "a b", "", "X:Y", "a\r\nb"})
      BOOST_CHECK_THROW(request_headers(info, "k", "r", {{name, "v"}}), InputError);
    BOOST_CHECK_THROW(request_headers(info, "k", "r", {{"X-A", "b\r\nHost: evil"}}), InputError);
    BOOST_TEST(header_value(request_headers(info, "", "", {{"anthropic-beta", "b"}}),
                            "anthropic-beta") == "b");
  }
}

BOOST_AUTO_TEST_CASE(the_documentation_has_each_provider_with_its_addresses_and_variables) {
  const std::string text = read_file(std::filesystem::path(SORTIE_SOURCE_DIR) / "docs/models.md");
  for (const ProviderInfo& info : providers()) {
    BOOST_TEST_CONTEXT(info.name) {
      const std::size_t row = text.find("| `" + std::string(info.name) + "`");
      BOOST_REQUIRE(row != std::string::npos);
      const std::string line = text.substr(row, text.find('\n', row) - row);
      BOOST_TEST(line.find(make_wire(info.wire)->path("")) != std::string::npos, line);
      for (const auto part : {info.default_base, info.key_variable, info.key_header,
                              info.address_variables[0], info.address_variables[1]})
        BOOST_TEST(text.find(part) != std::string::npos, part);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_table_and_the_wires_agree) {
  for (const ProviderInfo& info : providers()) {
    BOOST_TEST_CONTEXT(info.name) {
      BOOST_TEST(make_wire(info.wire) != nullptr);
      BOOST_TEST(info.key_header.empty() == info.key_variable.empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

#include <boost/test/unit_test.hpp>
#include <set>

#include "core/net/http_client.h"
#include "tests/support/everything_server.h"
#include "tools/mcp/client.h"
#include "tools/mcp/transport/http_transport.h"

using namespace sortie;
using namespace sortie::mcp;
using namespace sortie::test;

namespace {

class Remarks : public Listener {
 public:
  void remarked(const Remark& remark) override { BOOST_TEST_MESSAGE(remark.text); }
};

Client::Deadline in_time() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }

/// A client of the server, with a session of its own.
struct Guest {
  explicit Guest(const EverythingServer& server)
      : client(
            std::make_unique<HttpTransport>(mcp::HttpServer{.url = parse_server_url(server.url())},
                                            [] { return std::make_unique<HttpClient>(); }),
            remarks, {.root_uri = "file:///work", .root_name = "workspace"}),
        identity(client.connect(in_time(), {})) {}

  std::string text(const std::string& tool, const Json& arguments) {
    const Json result = client.call_tool(tool, arguments, in_time(), {});
    std::string text;
    for (const Json& part : result["content"].items()) text += part.string_at("text");
    return text;
  }

  Remarks remarks;
  Client client;
  ServerIdentity identity;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(everything_over_http)

BOOST_AUTO_TEST_CASE(the_reference_server_is_understood,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const NpmPackages packages = npm_packages();
  EverythingServer server(packages);
  {
    Guest guest(server);
    BOOST_TEST(guest.identity.protocol_version == "2025-11-25");
    std::set<std::string> names;
    for (const Json& tool : guest.client.list_tools(in_time(), {}))
      names.insert(tool.string_at("name"));
    for (const char* name : {"echo", "get-sum", "get-tiny-image", "get-structured-content"})
      BOOST_TEST(names.count(name) == 1U, name);

    BOOST_TEST(guest.text("echo", Json::object({{"message", "héllo"}})) == "Echo: héllo");
    BOOST_TEST(guest.text("get-sum", Json::object({{"a", 2}, {"b", 3}})) ==
               "The sum of 2 and 3 is 5.");
    const Json weather = guest.client.call_tool(
        "get-structured-content", Json::object({{"location", "New York"}}), in_time(), {});
    BOOST_TEST(weather["structuredContent"]["temperature"].is_number());
    const Json image = guest.client.call_tool("get-tiny-image", Json::object(), in_time(), {});
    BOOST_TEST(write_json(image).find("image/png") != std::string::npos);
    // With progress on the way.
    BOOST_TEST(guest.text("trigger-long-running-operation",
                          Json::object({{"duration", 0.2}, {"steps", 4}})) ==
               "Long running operation completed. Duration: 0.2 seconds, Steps: 4.");
    // It asks for them on its own stream.
    BOOST_TEST(guest.text("get-roots-list", Json::object()).find("file:///work") !=
               std::string::npos);
    guest.client.close(in_time());
  }
  const std::string output = server.stop().output;
  BOOST_TEST(output.find("Establishing new SSE stream") != std::string::npos);
  BOOST_TEST(output.find("Received session termination request") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_call_that_takes_too_long_is_cancelled_and_the_next_one_is_answered,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const NpmPackages packages = npm_packages();
  EverythingServer server(packages);
  Guest guest(server);
  BOOST_CHECK_THROW(
      guest.client.call_tool("trigger-long-running-operation",
                             Json::object({{"duration", 3600}, {"steps", 2}}),
                             std::chrono::steady_clock::now() + std::chrono::milliseconds(100), {}),
      RequestError);
  BOOST_TEST(guest.text("echo", Json::object({{"message", "next"}})) == "Echo: next");
}

BOOST_AUTO_TEST_CASE(a_server_that_ends_is_a_failure_of_the_call,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const NpmPackages packages = npm_packages();
  EverythingServer server(packages);
  Guest guest(server);
  server.stop();
  BOOST_CHECK_THROW(guest.text("echo", Json::object({{"message", "x"}})), RequestError);
}

BOOST_AUTO_TEST_SUITE_END()

// The client that the conformance suite starts: our own client and transport, with the calls that
// its scenarios want to see. The suite gives the server's address as the last argument and the
// scenario in a variable, and judges what its server saw.

#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>

#include "core/net/http_client.h"
#include "tools/mcp/client.h"
#include "tools/mcp/transport/http_transport.h"

namespace {

using namespace sortie;
using namespace sortie::mcp;

struct Call {
  std::string tool;
  Json arguments;
};

/// What is called in which scenario, besides the handshake and the list of tools.
const std::map<std::string, Call> kCalls = {
    {"tools_call", {"add_numbers", Json::object({{"a", 5}, {"b", 3}})}},
    {"sse-retry", {"test_reconnection", Json::object()}},
};

class Stderr : public Listener {
 public:
  void remarked(const Remark& remark) override { std::cerr << remark.text << '\n'; }
};

void play(const std::string& scenario, const std::string& url) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  Stderr listener;
  Client client(std::make_unique<HttpTransport>(mcp::HttpServer{.url = parse_server_url(url)},
                                                [] { return std::make_unique<HttpClient>(); }),
                listener, {});
  const ServerIdentity server = client.connect(deadline, {});
  std::cout << server.name << " speaks " << server.protocol_version << '\n';
  for (const Json& tool : client.list_tools(deadline, {}))
    std::cout << "tool " << tool.string_at("name") << '\n';
  if (const auto call = kCalls.find(scenario); call != kCalls.end())
    std::cout << write_json(
                     client.call_tool(call->second.tool, call->second.arguments, deadline, {}))
              << '\n';
  client.close(deadline);
}

}  // namespace

int main(int argc, char** argv) {
  const char* scenario = std::getenv("MCP_CONFORMANCE_SCENARIO");
  if (argc < 2 || scenario == nullptr) {
    std::cerr << "usage: MCP_CONFORMANCE_SCENARIO=NAME conformance_client URL\n";
    return 2;
  }
  try {
    play(scenario, argv[argc - 1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

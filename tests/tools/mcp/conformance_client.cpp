// The client that the conformance suite starts: our own client and transport, with the calls that
// its scenarios want to see. The suite gives the server's address as the last argument and the
// scenario in a variable, and judges what its server saw.

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
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

/// Tells when the server has answered a GET: the listening stream is there, or there is none.
class Listening {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    begun_ = true;
    changed_.notify_all();
  }
  void wait_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline, [this] { return begun_; }))
      throw std::runtime_error("the listening stream has not begun");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false;
};

class ListeningSink : public HttpSink {
 public:
  ListeningSink(HttpSink& inner, Listening& listening) : inner_(inner), listening_(listening) {}
  void on_head(const HttpHead& head) override {
    listening_.begin();
    inner_.on_head(head);
  }
  bool has_begun() const override { return inner_.has_begun(); }
  Wants on_body(std::string_view bytes) override { return inner_.on_body(bytes); }

 private:
  HttpSink& inner_;
  Listening& listening_;
};

class ListeningHttp : public Http {
 public:
  explicit ListeningHttp(Listening& listening) : listening_(listening) {}
  HttpResult send(const HttpRequest& request, const HttpLimits& limits, HttpSink& sink,
                  std::stop_token stop) override {
    if (request.method != "GET") return client_.send(request, limits, sink, stop);
    ListeningSink told(sink, listening_);
    return client_.send(request, limits, told, stop);
  }

 private:
  HttpClient client_;
  Listening& listening_;
};

class Stderr : public Listener {
 public:
  void remarked(const Remark& remark) override { std::cerr << remark.text << '\n'; }
};

void play(const std::string& scenario, const std::string& url) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  Stderr listener;
  Listening listening;
  Client client(
      std::make_unique<HttpTransport>(mcp::HttpServer{.url = parse_server_url(url)},
                                      [&] { return std::make_unique<ListeningHttp>(listening); }),
      listener, {});
  const ServerIdentity server = client.connect(deadline, {});
  std::cout << server.name << " speaks " << server.protocol_version << '\n';
  for (const Json& tool : client.list_tools(deadline, {}))
    std::cout << "tool " << tool.string_at("name") << '\n';
  // A stream that begins after the call would be taken for the reconnection that it is to bring about.
  if (scenario == "sse-retry") listening.wait_until(deadline);
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

#include "tools/mcp/client.h"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace sortie;
using namespace sortie::mcp;
using namespace std::chrono_literals;

namespace {

/// A server in memory: answers at once, in the sender's thread.
class FakeTransport : public Transport {
 public:
  /// What it says to a message; nothing: it keeps silent.
  std::function<void(const Message&, Receiver&)> on_message = [](const Message&, Receiver&) {};
  std::vector<Message> sent;
  std::vector<std::string> abandoned;
  std::string agreed;
  Receiver* receiver = nullptr;

  void open(Receiver& to, Deadline, std::stop_token) override { receiver = &to; }
  void send(const Message& message) override {
    sent.push_back(message);
    on_message(message, *receiver);
  }
  void agree(const std::string& version) override { agreed = version; }
  void abandon(const Json& id) override { abandoned.push_back(id_text(id)); }
  void close(Deadline) override { receiver->closed("closed"); }
};

struct Remarks : Listener {
  std::vector<std::string> texts;
  void remarked(const Remark& remark) override { texts.push_back(remark.text); }
};

struct Pair {
  Remarks remarks;
  FakeTransport* transport = new FakeTransport;
  Client client{std::unique_ptr<Transport>(transport),
                remarks,
                {.root_uri = "file:///work", .root_name = "work"}};

  Pair() {
    transport->on_message = [](const Message& message, Receiver& to) {
      if (message.method == "initialize")
        to.received(result_reply(
            message.id, parse_json(R"({"protocolVersion":"2025-03-26","capabilities":{"tools":{}},
                                       "serverInfo":{"name":"fake","version":"2"}})")));
    };
    client.connect(soon(), {});
  }
  static Client::Deadline soon() { return std::chrono::steady_clock::now() + 60s; }
  static Client::Deadline now() { return std::chrono::steady_clock::now(); }
  const Message& last() const { return transport->sent.back(); }
};

std::string failure(const std::function<void()>& act) {
  try {
    act();
    return "";
  } catch (const RequestError& error) {
    return std::to_string(static_cast<int>(error.kind())) + " " + error.what();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mcp_client)

BOOST_AUTO_TEST_CASE(the_handshake_offers_the_newest_version_and_takes_an_older_one) {
  Pair pair;
  const auto& sent = pair.transport->sent;
  BOOST_TEST_REQUIRE(sent.size() == 2u);
  BOOST_TEST(sent[0].method == "initialize");
  BOOST_TEST(sent[0].params.string_at("protocolVersion") == protocol_versions().front());
  BOOST_TEST(write_json(sent[0].params["capabilities"]) == R"({"roots":{"listChanged":false}})");
  BOOST_TEST(sent[1].method == "notifications/initialized");
  BOOST_TEST(pair.transport->agreed == "2025-03-26");
}

BOOST_AUTO_TEST_CASE(what_a_server_asks_is_answered_or_refused) {
  Pair pair;
  const struct {
    const char* method;
    const char* answer;
  } rows[] = {
      {"ping", R"({"jsonrpc":"2.0","id":"q","result":{}})"},
      {"roots/list",
       R"({"jsonrpc":"2.0","id":"q","result":{"roots":[{"uri":"file:///work","name":"work"}]}})"},
      {"sampling/createMessage", R"("error":{"code":-1,)"},
      {"elicitation/create", R"("error":{"code":-32601,)"},
      {"surprise/me", R"("error":{"code":-32601,)"},
  };
  for (const auto& row : rows) {
    pair.transport->receiver->received(request("q", row.method));
    const std::string answer = write_message(pair.last());
    BOOST_TEST(answer.find(row.answer) != std::string::npos, answer);
  }
}

BOOST_AUTO_TEST_CASE(a_call_that_is_late_is_cancelled_and_its_reply_no_surprise) {
  Pair pair;
  pair.transport->on_message = [](const Message& message, Receiver& to) {
    if (message.method == "tools/call")
      to.received(notification("notifications/progress",
                               Json::object({{"progressToken", message.id}, {"progress", 7}})));
  };

  const std::string failed =
      failure([&] { pair.client.call_tool("slow", Json::object(), Pair::now(), {}); });

  BOOST_TEST(failed.find("the last progress: 7") != std::string::npos, failed);
  const Message& cancelled = pair.last();
  BOOST_TEST(cancelled.method == "notifications/cancelled");
  BOOST_TEST(pair.transport->abandoned.size() == 1u);
  pair.transport->receiver->received(result_reply(cancelled.params["requestId"], Json::object()));
  BOOST_TEST(pair.remarks.texts.empty());
}

BOOST_AUTO_TEST_CASE(a_stop_request_ends_the_wait_at_once) {
  Pair pair;
  std::stop_source stop;
  stop.request_stop();
  const std::string failed = failure(
      [&] { pair.client.call_tool("slow", Json::object(), Pair::soon(), stop.get_token()); });
  BOOST_TEST(failed.find("the run was stopped") != std::string::npos, failed);
  BOOST_TEST(pair.last().method == "notifications/cancelled");
}

BOOST_AUTO_TEST_CASE(replies_to_nothing_and_second_replies_are_remarked) {
  Pair pair;
  pair.transport->receiver->received(result_reply(99, Json::object()));
  pair.transport->receiver->received(result_reply("1", Json::object()));
  pair.transport->receiver->received(error_reply({}, {.code = -32700, .message = "what?"}));
  BOOST_TEST(pair.remarks.texts.size() == 3u);
  BOOST_TEST(pair.remarks.texts[2].find("what?") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_error_of_what_could_not_be_read_is_the_answer_to_what_waits_alone) {
  const auto answered = [](std::int64_t code, bool told) {
    Pair pair;
    pair.transport->on_message = [](const Message& message, Receiver& to) {
      if (message.method == "ping") to.received(result_reply(message.id, Json::object()));
    };
    pair.client.ping(Pair::soon(), {});  // behind it nothing of the handshake is left unread
    if (told) pair.transport->receiver->received(request("q", "ping"));
    pair.transport->on_message = [code](const Message& message, Receiver& to) {
      if (message.method == "tools/call")
        to.received(error_reply({}, {.code = code, .message = "what?"}));
    };
    return failure([&] { pair.client.call_tool("x", Json::object(), Pair::now(), {}); });
  };

  BOOST_TEST(answered(-32700, false) == "0 tools/call was refused with error -32700: what?");
  BOOST_TEST(answered(-32600, false) == "0 tools/call was refused with error -32600: what?");
  // Of a notification that it does not know; or of the answer to its own request.
  BOOST_TEST(answered(-32601, false).find("not answered in time") != std::string::npos);
  BOOST_TEST(answered(-32700, true).find("not answered in time") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(pages_are_read_to_their_end_and_no_further) {
  Pair pair;
  int page = 0;
  pair.transport->on_message = [&](const Message& message, Receiver& to) {
    Json result = Json::object({{"tools", parse_json(R"([{"name":"a"}])")}});
    if (++page < 3) result.set("nextCursor", std::to_string(page));
    to.received(result_reply(message.id, std::move(result)));
  };
  BOOST_TEST(pair.client.list_tools(Pair::soon(), {}).size() == 3u);
  BOOST_TEST(pair.last().params.string_at("cursor") == "2");

  pair.transport->on_message = [](const Message& message, Receiver& to) {
    to.received(result_reply(message.id, parse_json(R"({"tools":[],"nextCursor":"x"})")));
  };
  const std::string failed = failure([&] { pair.client.list_tools(Pair::soon(), {}); });
  BOOST_TEST(failed.find("endless pages") != std::string::npos, failed);
}

BOOST_AUTO_TEST_CASE(a_lost_connection_fails_the_call_under_way_and_all_after_it) {
  Pair pair;
  pair.transport->on_message = [](const Message&, Receiver& to) { to.closed("it died"); };
  for (int i = 0; i < 2; ++i) {
    const std::string failed =
        failure([&] { pair.client.call_tool("x", Json::object(), Pair::soon(), {}); });
    BOOST_TEST(failed.find("it died") != std::string::npos, failed);
  }
  BOOST_TEST(*pair.client.lost() == "it died");
}

BOOST_AUTO_TEST_CASE(a_version_that_is_not_known_is_refused) {
  Remarks remarks;
  auto transport = std::make_unique<FakeTransport>();
  transport->on_message = [](const Message& message, Receiver& to) {
    to.received(result_reply(message.id, parse_json(R"({"protocolVersion":"1999-01-01"})")));
  };
  Client client(std::move(transport), remarks, {});
  const std::string failed = failure([&] { client.connect(Pair::soon(), {}); });
  BOOST_TEST(failed.find("1999-01-01") != std::string::npos, failed);
}

BOOST_AUTO_TEST_SUITE_END()

#include "tools/mcp/transport/json_rpc.h"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace sortie;
using namespace sortie::mcp;

BOOST_AUTO_TEST_SUITE(json_rpc)

BOOST_AUTO_TEST_CASE(each_kind_of_message_is_read_and_written_back_as_it_was) {
  const char* texts[] = {
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})",
      R"({"jsonrpc":"2.0","id":"a-b","method":"tools/call","params":{"name":"x","arguments":{}}})",
      R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
      R"({"jsonrpc":"2.0","method":"x","params":[1,2]})",
      R"({"jsonrpc":"2.0","id":9007199254740993,"result":{"tools":[]}})",
      R"({"jsonrpc":"2.0","id":0,"result":null})",
      R"({"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no","data":[1]}})",
      R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}})",
  };
  for (const std::string text : texts) {
    BOOST_TEST_CONTEXT(text) {
      const auto messages = parse_messages(text);
      BOOST_TEST_REQUIRE(messages.size() == 1u);
      BOOST_TEST(write_message(messages[0]) == text);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_batch_is_read_in_its_order) {
  const auto messages =
      parse_messages(R"([{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"m"}])");
  BOOST_TEST_REQUIRE(messages.size() == 2u);
  BOOST_TEST((messages[0] == result_reply(1, Json::object())));
  BOOST_TEST((messages[1] == notification("m")));
}

BOOST_AUTO_TEST_CASE(what_is_no_message_is_refused_with_its_reason) {
  const struct {
    std::string text;
    std::string reason;
  } rows[] = {
      {"", "not JSON"},
      {"listening on port 3000", "not JSON"},
      {R"({"jsonrpc":"2.0","id":1,"result":{})", "not JSON"},
      {"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", "not JSON"},
      {R"({"jsonrpc":"2.0","jsonrpc":"2.0","method":"x"})", "not JSON"},
      {R"("hello")", "not an object"},
      {R"({"id":1,"result":{}})", "\"2.0\""},
      {R"({"jsonrpc":"1.0","id":1,"result":{}})", "\"2.0\""},
      {R"({"jsonrpc":2.0,"id":1,"result":{}})", "\"2.0\""},
      {R"({"jsonrpc":"2.0","id":1})", "neither"},
      {R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}})", "and an error"},
      {R"({"jsonrpc":"2.0","id":1.5,"result":1})", "integer"},
      {R"({"jsonrpc":"2.0","id":{},"result":1})", "integer"},
      {R"({"jsonrpc":"2.0","id":null,"result":1})", "integer"},
      {R"({"jsonrpc":"2.0","result":1})", "integer"},
      {R"({"jsonrpc":"2.0","id":null,"method":"x"})", "integer"},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", "not a string"},
      {R"({"jsonrpc":"2.0","id":1,"method":"x","params":7})", "not an object or array"},
      {R"({"jsonrpc":"2.0","id":1,"error":"bad"})", "not an object"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":"x","message":""}})", "code"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})", "no message"},
      {"[]", "without messages"},
      {R"([{"jsonrpc":"2.0","method":"m"},[]])", "not an object"},
      {std::string(200, '['), "not JSON"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      BOOST_CHECK_EXCEPTION(parse_messages(row.text), RpcFormatError, [&](const auto& error) {
        BOOST_TEST_INFO(error.what());
        return std::string(error.what()).find(row.reason) != std::string::npos;
      });
    }
  }
}

BOOST_AUTO_TEST_CASE(a_broken_reply_is_told_from_lines_of_a_log) {
  const std::string deep(200'000, '[');
  const struct {
    const char* name;
    std::string text;
    bool is_reply;
    const char* id;  ///< as JSON; "null" where it can't be read
  } rows[] = {
      {"cut off", R"({"jsonrpc":"2.0","id":7,"result":{"con)", true, "7"},
      {"cut off in its id", R"({"jsonrpc":"2.0","id":")", true, "null"},
      {"cut off before its id", R"({"jsonrpc":"2.0","result":[)", true, "null"},
      {"bytes that are no text", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"\xff\"}", true, "7"},
      {"too deep", R"({"jsonrpc":"2.0","id":"a","result":)" + deep, true, "\"a\""},
      {"of another version", R"( {"jsonrpc" : "1.0", "id" : -7 , "result":1})", true, "-7"},
      {"with an id inside", R"({"jsonrpc":"2.0","result":{"id":8},"id":7)", true, "7"},
      {"with an id in a text", R"({"jsonrpc":"2.0","result":"\",\"id\":8")", true, "null"},
      {"with an id of no kind", R"({"jsonrpc":"2.0","id":[7],"result":1})", true, "null"},
      {"an error without a code", R"({"jsonrpc":"2.0","error":"no"})", true, "null"},
      {"a notification", R"({"jsonrpc":"2.0","method":"m","params":{)", false, "null"},
      {"a request", R"({"jsonrpc":"2.0","id":7,"method":"m","params":)", false, "null"},
      {"a line of a log", R"({"level":"info","id":7,"error":"disk")", false, "null"},
      {"one that tells of it", R"({"msg":"\"jsonrpc\"","jsonrpc2":1,"id":7,"result":1})", false,
       "null"},
      {"one that holds a message", R"({"sent":{"jsonrpc":"2.0","id":7,"result":1})", false, "null"},
      {"the version alone", R"({"jsonrpc":"2.0"})", false, "null"},
      {"a batch", R"([{"jsonrpc":"2.0","id":7,"result":1})", false, "null"},
      {"words", "jsonrpc id result", false, "null"},
      {"a quote", "{\"", false, "null"},
      {"a quote that is none", "{\"\\", false, "null"},
      {"a brace", "{", false, "null"},
      {"nothing", " ", false, "null"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.name) {
      const BrokenMessage broken = inspect_broken(row.text);
      BOOST_TEST(broken.is_reply == row.is_reply);
      BOOST_TEST(write_json(broken.id) == row.id);
    }
}

BOOST_AUTO_TEST_CASE(limits_hold_for_bytes_depth_and_batches) {
  const std::string nested = R"({"jsonrpc":"2.0","method":"m","params":[[[[]]]]})";
  BOOST_CHECK_NO_THROW(parse_messages(nested));
  BOOST_CHECK_THROW(parse_messages(nested, {.max_bytes = nested.size() - 1}), RpcFormatError);
  BOOST_CHECK_THROW(parse_messages(nested, {.max_depth = 4}), RpcFormatError);
  const std::string batch = R"([{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","method":"m"}])";
  BOOST_CHECK_THROW(parse_messages(batch, {.max_batch = 1}), RpcFormatError);
}

BOOST_AUTO_TEST_SUITE_END()

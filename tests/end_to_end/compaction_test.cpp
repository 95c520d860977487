// Histories that grow too long, in whole runs over every wire format. That no request parts a call
// from its output is checked by the server, with all else of a valid request.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/provider_run.h"
#include "tests/support/wire_streams.h"

using namespace sortie;
using namespace sortie::test;

namespace {

struct Provider {
  const char* wire;
  const char* model;    ///< YAML of the task's
  const char* address;  ///< below the server's
};

const Provider kProviders[] = {
    {"responses", "provider: openai, name: gpt-5-codex", "/v1"},
    {"chat", "provider: openai-chat, name: gpt-4.1", "/v1"},
    {"chat", "provider: openai-chat, name: house, legacy_functions: true", "/v1"},
    {"messages", "provider: anthropic, name: claude-sonnet-4-5", ""},
};

constexpr const char* kAsksForSummary = "This conversation is about to be shortened";

Json shell(const std::string& id, const std::string& script) {
  return Json::object(
      {{"id", id},
       {"tool", "shell"},
       {"arguments", Json::object({{"command", Json::array({"sh", "-c", script})}})}});
}

ServedResponse stream_of(const Provider& provider, const Json& told) {
  Json whole = told;
  whole.set("usage", "none");  // the estimate holds
  const std::string model = provider.model;
  if (model.find("legacy") != std::string::npos && whole["calls"].items().size() > 1)
    whole.find("calls")->items().resize(1);  // that form has one call a response
  return served_stream(wire_stream(provider.wire, whole).text());
}

/// A turn with thoughts, words and two calls that print much: also where a summary is asked for,
/// its words are one.
ServedResponse talking_turn(const Provider& provider, int number) {
  const std::string name = std::to_string(number);
  Json calls = Json::array();
  for (const char* part : {"a", "b"})
    calls.push_back(shell("c" + name + part, "head -c 4000 /dev/zero | tr '\\0' x"));
  return stream_of(provider, Json::object({{"reasoning", "Hm " + name},
                                           {"text", "note " + name},
                                           {"calls", std::move(calls)}}));
}

std::vector<ServedResponse> talking_turns(const Provider& provider, int count) {
  std::vector<ServedResponse> turns;
  for (int i = 0; i < count; ++i) turns.push_back(talking_turn(provider, i));
  turns.push_back(stream_of(provider, parse_json(R"({"text":"done"})")));
  return turns;
}

/// The history of a request without its wire: "user …", "assistant …", "call ID", "output ID"; in
/// the older function form calls have no ids.
class Told {
 public:
  explicit Told(const ReceivedRequest& request) {
    const Json body = parse_json(request.body);
    for (const Json& item : body["input"].items()) add_item(item);
    for (const Json& message : body["messages"].items()) add_message(message);
  }
  std::vector<std::string> entries;

 private:
  void add_item(const Json& item) {
    const std::string type = item.string_at("type");
    if (type == "function_call") entries.push_back("call " + item.string_at("call_id"));
    if (type == "function_call_output") entries.push_back("output " + item.string_at("call_id"));
    if (type == "message") add_content(item.string_at("role"), item["content"]);
  }
  void add_message(const Json& message) {
    const std::string role = message.string_at("role");
    if (role == "tool") return entries.push_back("output " + message.string_at("tool_call_id"));
    if (role == "function") return entries.push_back("output of " + message.string_at("name"));
    add_content(role, message["content"]);
    for (const Json& call : message["tool_calls"].items())
      entries.push_back("call " + call.string_at("id"));
    if (message["function_call"].is_object())
      entries.push_back("call of " + message["function_call"].string_at("name"));
  }
  void add_content(const std::string& role, const Json& content) {
    if (content.is_string()) entries.push_back(role + " " + content.text());
    for (const Json& part : content.items()) {
      if (part.find("text")) entries.push_back(role + " " + part.string_at("text"));
      if (part.find("input")) entries.push_back("call " + part.string_at("id"));
      if (part.find("tool_use_id")) entries.push_back("output " + part.string_at("tool_use_id"));
    }
  }
};

std::vector<std::string> history_of(const ReceivedRequest& request) {
  return Told(request).entries;
}

long count_of(const std::vector<std::string>& entries, const std::string& beginning) {
  return std::count_if(entries.begin(), entries.end(), [&beginning](const std::string& entry) {
    return entry.starts_with(beginning);
  });
}

bool asks_for_summary(const ReceivedRequest& request) {
  const auto entries = history_of(request);
  return entries.back().starts_with(std::string("user ") + kAsksForSummary);
}

/// A run whose model is spoken to as this provider's.
struct WireRun : ProviderRun {
  explicit WireRun(const Provider& provider, const std::string& model = {},
                   const std::string& more = {}) {
    write("task.yaml",
          "version: 1\nprompt: Do it.\nworkspace: {path: work}\npolicy: auto\n"
          "expect: {changes: any}\nmodel: {retries: 0, " +
              std::string(provider.model) + model + "}\n" + more);
    address = provider.address;
  }
  ProgramEnd run_on(const ModelServer& server) const {
    return run_program(start(server.url() + address));
  }
  std::string address;
};

/// A reply to a request that is too long, in the words of some provider or server.
struct TooLong {
  const char* name;
  const char* wire;
  ServedResponse reply;
};

std::vector<TooLong> too_long_replies() {
  const auto refused = [](int status, const char* body) {
    return served_status(status, {{"Content-Type", "application/json"}}, body);
  };
  const auto failed = [](const char* wire, const char* told) {
    return served_stream(wire_stream(wire, parse_json(told)).text());
  };
  return {
      {"by its code", "responses",
       refused(400, R"({"error":{"code":"context_length_exceeded","message":"too long"}})")},
      {"in the stream", "responses",
       failed("responses", R"({"ends":{"code":"context_length_exceeded","message":"too long"}})")},
      {"by its words", "chat",
       refused(400, R"({"error":{"type":"invalid_request_error","message":"This model's maximum )"
                    R"(context length is 128000 tokens, this is too long."}})")},
      {"by a local server", "chat",
       refused(400, R"({"error":{"code":400,"type":"exceed_context_size_error","message":)"
                    R"("the request exceeds the available context size: too long"}})")},
      {"by its words", "messages",
       refused(400, R"({"type":"error","error":{"type":"invalid_request_error","message":)"
                    R"("prompt is too long: 210000 tokens > 200000 maximum"}})")},
      {"by its size", "messages",
       refused(413, R"({"type":"error","error":{"type":"request_too_large","message":)"
                    R"("too long: more than 32 MB"}})")},
      {"by its stop reason", "messages",
       served_stream("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"
                     "\"m\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":"
                     "{\"input_tokens\":9,\"output_tokens\":1}}}\n\n"
                     "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":"
                     "{\"stop_reason\":\"model_context_window_exceeded\"},\"usage\":"
                     "{\"output_tokens\":1}}\n\n"
                     "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")},
  };
}

const Provider& provider_of(const std::string& wire) {
  return *std::find_if(std::begin(kProviders), std::end(kProviders),
                       [&wire](const Provider& provider) { return provider.wire == wire; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compaction_end_to_end)

BOOST_AUTO_TEST_CASE(a_long_run_is_shortened_by_its_own_summaries_and_comes_to_its_end) {
  for (const Provider& provider : kProviders) {
    BOOST_TEST_CONTEXT(provider.model) {
      const WireRun run(provider, ", context_window: 20000, max_output_tokens: 1000",
                        "context: {keep_last_turns: 2}\n");
      const ModelServer server(talking_turns(provider, 24));

      const ProgramEnd end = run.run_on(server);

      check_end(run, end, 0, "success");
      const auto compacted = run.records("context.compacted");
      BOOST_REQUIRE(compacted.size() >= 1u);
      const auto requests = server.requests();
      BOOST_TEST(requests.size() == 25u);
      std::size_t summaries = 0;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        BOOST_TEST(requests[i].body.size() < 100'000u);
        const auto entries = history_of(requests[i]);
        BOOST_TEST(count_of(entries, "user Do it.") == 1);
        BOOST_TEST(count_of(entries, "call ") == count_of(entries, "output "));
        if (!asks_for_summary(requests[i])) continue;
        // What follows: the first messages, the summary, the two turns before it.
        BOOST_REQUIRE(i + 1 < requests.size());
        const auto after = history_of(requests[i + 1]);
        const auto summary = std::find_if(after.begin(), after.end(), [](const std::string& entry) {
          return entry.starts_with("user <summary>");
        });
        BOOST_REQUIRE((summary != after.end()));
        BOOST_TEST(summary->find("note " + std::to_string(i)) != std::string::npos, *summary);
        BOOST_TEST(*std::prev(summary) == "user Do it.");
        BOOST_TEST(count_of(after, "user <summary>") == 1);
        BOOST_TEST(count_of(after, "assistant note ") == 2);
        BOOST_TEST(count_of(after, "assistant note " + std::to_string(i - 1)) == 1);
        const Json& record = compacted.at(summaries++);
        BOOST_TEST(record.string_at("method") == "summary");
        BOOST_TEST(record.string_at("cause") == "compact_at");
        BOOST_TEST(record.integer_at("turns_after") == 2);
        BOOST_TEST(record.integer_at("tokens_after") < record.integer_at("tokens_before"));
      }
      BOOST_TEST(summaries == compacted.size());
      // The calls of an answer that was to be a summary are not run.
      BOOST_TEST(run.records("tool.call").size() ==
                 (24 - summaries) * (std::string(provider.model).ends_with("true") ? 1 : 2));
    }
  }
}

BOOST_AUTO_TEST_CASE(where_no_summary_can_be_had_old_outputs_are_cut_to_a_line_each) {
  for (const Provider& provider : kProviders) {
    for (const bool silent : {false, true}) {
      BOOST_TEST_CONTEXT(provider.model << (silent ? ", no text" : ", down")) {
        const WireRun run(provider, ", context_window: 20000, max_output_tokens: 1000",
                          "context: {keep_last_turns: 2}\n");
        const ModelServer plan(talking_turns(provider, 24));
        const std::size_t asked = [&] {
          BOOST_REQUIRE(run.run_on(plan).status == 0);
          const auto requests = plan.requests();
          const auto first = std::find_if(requests.begin(), requests.end(), asks_for_summary);
          return static_cast<std::size_t>(first - requests.begin());
        }();
        auto responses = talking_turns(provider, static_cast<int>(asked) + 1);
        responses[asked] =
            silent ? stream_of(provider,
                               Json::object({{"calls", Json::array({shell("silent", "true")})}}))
                   : served_status(500, {}, R"({"error":{"message":"Down."}})");
        const ModelServer server(responses);

        const ProgramEnd end = run.run_on(server);

        check_end(run, end, 0, "success");
        const auto compacted = run.records("context.compacted");
        BOOST_REQUIRE(compacted.size() == 1u);
        BOOST_TEST(compacted[0].string_at("method") == "cut");
        const auto requests = server.requests();
        BOOST_REQUIRE(requests.size() == asked + 2);
        BOOST_TEST(asks_for_summary(requests[asked]));
        const auto before = history_of(requests[asked]);
        const auto after = history_of(requests[asked + 1]);
        // Nothing has gone but the request for a summary, and the bytes of what was cut.
        BOOST_TEST(std::vector(before.begin(), before.end() - 1) == after,
                   boost::test_tools::per_element());
        BOOST_TEST(requests[asked + 1].body.size() < requests[asked].body.size());
        BOOST_TEST(run.records("tool.call").size() ==
                   static_cast<std::size_t>(count_of(after, "call ")));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_context_length_error_of_each_provider_is_mended_once) {
  for (const TooLong& row : too_long_replies()) {
    for (const bool again : {false, true}) {
      BOOST_TEST_CONTEXT(row.wire << " " << row.name << (again ? ", again" : "")) {
        const Provider& provider = provider_of(row.wire);
        const WireRun run(provider);
        auto responses = talking_turns(provider, 6);
        responses.insert(responses.begin() + 4, row.reply);
        if (again) responses.insert(responses.begin() + 6, row.reply);
        const ModelServer server(std::move(responses));

        const ProgramEnd end = run.run_on(server);

        const auto requests = server.requests();
        BOOST_REQUIRE(requests.size() > 6u);
        BOOST_TEST(asks_for_summary(requests[5]));
        BOOST_TEST(requests[6].body.size() < requests[4].body.size());
        const auto compacted = run.records("context.compacted");
        BOOST_REQUIRE(compacted.size() == 1u);
        BOOST_TEST(compacted[0].string_at("cause") == "context_length");
        BOOST_TEST(run.records("model.retry").empty());
        if (again) {
          check_end(run, end, 5, "refused");
          BOOST_TEST(requests.size() == 7u);
          BOOST_TEST(run.result().string_at("reason").find("too long") != std::string::npos);
          BOOST_TEST(run.result().string_at("next").find("context") != std::string::npos);
        } else {
          check_end(run, end, 0, "success");
          BOOST_TEST(end.output == "done\n");
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_summary_that_is_too_long_to_be_asked_for_is_done_without) {
  for (const char* wire : {"responses", "chat", "messages"}) {
    BOOST_TEST_CONTEXT(wire) {
      const Provider& provider = provider_of(wire);
      const auto replies = too_long_replies();
      const auto too_long = std::find_if(replies.begin(), replies.end(), [wire](const auto& reply) {
        return std::string(reply.wire) == wire;
      });
      const WireRun run(provider);
      auto responses = talking_turns(provider, 6);
      responses.insert(responses.begin() + 4, 2, too_long->reply);
      const ModelServer server(std::move(responses));

      const ProgramEnd end = run.run_on(server);

      check_end(run, end, 0, "success");
      const auto compacted = run.records("context.compacted");
      BOOST_REQUIRE(compacted.size() == 1u);
      BOOST_TEST(compacted[0].string_at("method") == "cut");
      BOOST_TEST(server.requests()[6].body.size() < server.requests()[4].body.size());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

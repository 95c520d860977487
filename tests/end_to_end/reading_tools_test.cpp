// What models get of the tools that read, in each wire format: the request that follows a call.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/images/image_file.h"
#include "core/text/base64.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/event_check.h"
#include "tests/support/images.h"
#include "tests/support/wire_streams.h"

using namespace sortie;
using namespace sortie::test;

namespace {

struct Way {
  const char* wire;
  const char* model;  ///< YAML in the braces of the task's model
};

const Way kWays[] = {
    {"responses", "name: gpt-5-codex"},
    {"chat", "provider: openai-chat, name: gpt-4.1"},
    {"messages", "provider: anthropic, name: claude-sonnet-4-5"},
};

/// @param told  JSON, as wire_stream() takes it
ServedResponse says(const std::string& wire, const std::string& told) {
  return served_stream(wire_stream(wire, parse_json(told)).text());
}

/// The calls' outputs in a request, by call id: text, or the parts of one that has images.
Json output_of(const std::string& wire, const ReceivedRequest& request, const std::string& id) {
  const Json body = parse_json(request.body);
  if (wire == "responses") {
    for (const Json& item : body["input"].items())
      if (item.string_at("call_id") == id && item.string_at("type").ends_with("_output"))
        return item["output"];
    return {};
  }
  for (const Json& message : body["messages"].items()) {
    if (message.string_at("tool_call_id") == id) return message["content"];
    for (const Json& block : message["content"].items())
      if (block.string_at("tool_use_id") == id) return block["content"];
  }
  return {};
}

std::string text_of(const Json& output) {
  std::string text = output.text();
  for (const Json& part : output.items()) text += part.string_at("text");
  return text;
}

/// The data URL of the one image that a request shows behind a call's output; "" for none.
std::string image_after(const std::string& wire, const ReceivedRequest& request,
                        const std::string& id) {
  const Json output = output_of(wire, request, id);
  for (const Json& part : output.items()) {
    if (part.string_at("type") == "input_image") return part.string_at("image_url");
    if (part.string_at("type") == "image")
      return "data:" + part["source"].string_at("media_type") + ";" +
             part["source"].string_at("type") + "," + part["source"].string_at("data");
  }
  // Chat Completions has no images in outputs: they stand in a message of the user's behind them.
  bool behind = false;
  const Json body = parse_json(request.body);
  for (const Json& message : body["messages"].items()) {
    if (behind && message.string_at("role") == "user")
      for (const Json& part : message["content"].items())
        if (part.string_at("type") == "image_url") return part["image_url"].string_at("url");
    behind = behind || message.string_at("tool_call_id") == id;
  }
  return "";
}

bool declares(const ReceivedRequest& request, const std::string& tool) {
  const Json body = parse_json(request.body);
  return std::any_of(
      body["tools"].items().begin(), body["tools"].items().end(), [&](const Json& one) {
        return one.string_at("name") == tool || one["function"].string_at("name") == tool;
      });
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kPatch =
    "*** Begin Patch\n*** Update File: a.txt\n-a\n+by patch\n*** Add File: new.txt\n+new\n"
    "*** End Patch";

/// A call of apply_patch as the wire has it.
std::string patch_call(const std::string& wire) {
  Json call = Json::object({{"id", "p"}, {"tool", "apply_patch"}});
  if (wire == "responses")
    call.set("input", kPatch);
  else
    call.set("arguments", Json::object({{"input", kPatch}}));
  return write_json(Json::object({{"calls", Json::array({std::move(call)})}}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reading_tools)

BOOST_AUTO_TEST_CASE(git_status_and_git_diff_answer_on_each_wire) {
  for (const Way& way : kWays) {
    BOOST_TEST_CONTEXT(way.wire) {
      const ProviderRun run;
      run.write_task(way.model);
      const std::string both = R"({"calls":[{"id":"s1","tool":"git_status","arguments":{}},)"
                               R"({"id":"d1","tool":"git_diff","arguments":{}}]})";
      const std::string after =
          R"({"calls":[{"id":"s2","tool":"git_status","arguments":{}},)"
          R"({"id":"d2","tool":"git_diff","arguments":{}},)"
          R"({"id":"d3","tool":"git_diff","arguments":{"path":"new.txt"}},)"
          R"({"id":"d4","tool":"git_diff","arguments":{"path":"../outside"}}]})";
      const ModelServer server({says(way.wire, both), says(way.wire, patch_call(way.wire)),
                                says(way.wire, after), says(way.wire, R"({"text":"done"})")});

      const ProgramEnd end = run.run(server);

      check_end(run, end, 0, "success");
      const auto requests = server.requests();
      BOOST_REQUIRE(requests.size() == 4u);
      BOOST_TEST(declares(requests[0], "git_status"));
      BOOST_TEST(declares(requests[0], "git_diff"));
      const auto output = [&](std::size_t request, const char* id) {
        return text_of(output_of(way.wire, requests[request], id));
      };
      const std::string clean = output(1, "s1");
      BOOST_TEST(clean.starts_with("branch: main\nno changes\nlast commits:\n"), clean);
      BOOST_TEST(output(1, "d1") == "No changes.\n");
      const std::string status = output(3, "s2");
      BOOST_TEST(has(status, "unstaged (1):\nM a.txt\nuntracked (1):\nnew.txt\n"), status);
      const std::string diff = output(3, "d2");
      BOOST_TEST(diff.starts_with("2 files changed since HEAD:\nM a.txt +1 -1\nA new.txt +1 -0\n"),
                 diff);
      // As the run's own diff has it.
      BOOST_TEST(diff.ends_with(run.artifact("changes.diff")), diff);
      const std::string one = output(3, "d3");
      BOOST_TEST(has(one, "+++ b/new.txt"), one);
      BOOST_TEST(!has(one, "a.txt"), one);
      BOOST_TEST(has(output(3, "d4"), "Path outside the workspace"), output(3, "d4"));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_image_that_is_viewed_is_in_the_next_request_of_each_wire) {
  for (const Way& way : kWays) {
    BOOST_TEST_CONTEXT(way.wire) {
      const ProviderRun run;
      run.write("work/shot.png", images::kPng);
      run.write("work/second.txt", images::kGif);
      run.write("work/no-image.png", "text\n");
      run.commit_workspace();
      run.write_task(way.model);
      const std::string calls =
          R"({"calls":[{"id":"v1","tool":"view_image","arguments":{"path":"shot.png"}},)"
          R"({"id":"v2","tool":"view_image","arguments":{"path":"no-image.png"}}]})";
      const std::string second =
          R"({"calls":[{"id":"v3","tool":"view_image","arguments":{"path":"second.txt"}}]})";
      const ModelServer server({says(way.wire, calls), says(way.wire, second),
                                says(way.wire, R"({"text":"A pixel."})")});

      const ProgramEnd end = run.run(server);

      check_end(run, end, 0, "success");
      const auto requests = server.requests();
      BOOST_REQUIRE(requests.size() == 3u);
      BOOST_TEST(declares(requests[0], "view_image"));
      const std::string png = "data:image/png;base64," + base64_encoded(images::kPng);
      BOOST_TEST(image_after(way.wire, requests[1], "v1") == png);
      BOOST_TEST(has(text_of(output_of(way.wire, requests[1], "v1")),
                     "shot.png: image/png, 3 x 2 pixels"));
      BOOST_TEST(has(text_of(output_of(way.wire, requests[1], "v2")),
                     "no-image.png is not a PNG, JPEG, GIF or WebP image"));
      // It stays in the history.
      BOOST_TEST(image_after(way.wire, requests[2], "v1") == png);
      BOOST_TEST(image_after(way.wire, requests[2], "v3") ==
                 "data:image/gif;base64," + base64_encoded(images::kGif));
      BOOST_TEST(run.records("tool.output").at(0)["success"].boolean());
      BOOST_TEST(!run.records("tool.output").at(1)["success"].boolean(true));
    }
  }
}

BOOST_AUTO_TEST_CASE(view_image_is_there_for_models_that_take_images) {
  const struct {
    const char* model;
    const char* more;
    bool shown;
    const char* why;
  } rows[] = {
      {"provider: openai-chat, name: gpt-4.1", "", true, ""},
      {"provider: openai-chat, name: 'vendor/gpt-oss-120b'", "", false,
       "the model takes no images"},
      {"provider: openai-chat, name: 'gpt-oss:20b'",
       "tools: {enable: [shell, apply_patch, view_image]}\n", false, "the model takes no images"},
      {"provider: openai-chat, name: house", "", false, "it is not known"},
      {"provider: openai-chat, name: house", "tools: {enable: [shell, apply_patch, view_image]}\n",
       true, ""},
      {"provider: openai-chat, name: gpt-4.1", "tools: {enable: [shell, apply_patch]}\n", false,
       "the task's tools.enable leaves it out"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.model << " " << row.more) {
      const ProviderRun run;
      run.write("work/shot.png", images::kPng);
      run.commit_workspace();
      run.write_task(row.model, row.more);
      const std::string calls =
          R"({"calls":[{"id":"v","tool":"view_image","arguments":{"path":"shot.png"}}]})";
      const ModelServer server({says("chat", calls), says("chat", R"({"text":"done"})")});

      const ProgramEnd end = run.run(server);

      check_end(run, end, 0, "success");
      const auto requests = server.requests();
      BOOST_REQUIRE(requests.size() == 2u);
      BOOST_TEST(declares(requests[0], "view_image") == row.shown);
      BOOST_TEST(!image_after("chat", requests[1], "v").empty() == row.shown);
      const std::string output = text_of(output_of("chat", requests[1], "v"));
      if (!row.shown)
        BOOST_TEST(has(output, std::string("Unknown tool \"view_image\" in this run: ") + row.why),
                   output);
    }
  }
}

BOOST_AUTO_TEST_CASE(images_of_the_history_are_left_out_for_a_fallback_that_takes_none) {
  const ProviderRun run;
  run.write("work/shot.png", images::kPng);
  run.commit_workspace();
  const ModelServer first(
      {says("responses",
            R"({"calls":[{"id":"v","tool":"view_image","arguments":{"path":"shot.png"}}]})"),
       served_status(503, {}, R"({"error":{"message":"Down."}})")});
  const ModelServer second(
      {says("chat",
            R"({"calls":[{"id":"w","tool":"view_image","arguments":{"path":"shot.png"}}]})"),
       says("chat", R"({"text":"done"})")});
  run.write_model(
      "retries: 0, fallback: [{provider: openai-chat, name: 'gpt-oss-20b', base_url: '" +
      base_url(second) + "'}]");

  const ProgramEnd end = run.run(first);

  check_end(run, end, 0, "success");
  const auto requests = second.requests();
  BOOST_REQUIRE(requests.size() == 2u);
  BOOST_TEST(!declares(requests[0], "view_image"));
  for (const auto& request : requests) {
    BOOST_TEST(!has(request.body, "image_url"));
    BOOST_TEST(!has(request.body, base64_encoded(images::kPng)));
  }
  BOOST_TEST(has(text_of(output_of("chat", requests[0], "v")), "(an image is left out here)"));
  BOOST_TEST(has(text_of(output_of("chat", requests[1], "w")),
                 "left out: the model does not accept images"));
  BOOST_TEST(run.records("model.fallback").at(0).integer_at("dropped_items") == 1);
  BOOST_TEST(run.records("model.fallback").at(0).integer_at("dropped_images") == 1);
  BOOST_TEST(has(end.errors, "takes over from openai gpt-5-codex, without 1 image\n"), end.errors);
  BOOST_TEST(run.records("check.hit").at(0).string_at("check") == "images_left_out");
}

// The form of a provider's own is not to be had elsewhere: there it is `shell`.
BOOST_AUTO_TEST_CASE(a_model_that_knows_local_shell_gets_shell_on_other_wires) {
  const ProviderRun run;
  run.write_task("provider: openai-chat, name: codex-mini-latest");
  const ModelServer server(
      {says("chat",
            R"({"calls":[{"id":"c","tool":"shell","arguments":{"command":["echo","hi"]}}]})"),
       says("chat", R"({"text":"done"})")});

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto requests = server.requests();
  BOOST_REQUIRE(requests.size() == 2u);
  BOOST_TEST(declares(requests[0], "shell"));
  BOOST_TEST(!has(requests[0].body, "local_shell"));
  BOOST_TEST(has(text_of(output_of("chat", requests[1], "c")), "Output:\nhi\n"));
}

BOOST_AUTO_TEST_CASE(a_local_shell_call_is_decided_on_and_shown_as_one_of_shell) {
  const ProviderRun run;
  run.write_task("name: codex-mini-latest");
  const auto call = [](const std::string& id, const std::string& action) {
    return R"({"id":"lsh_)" + id +
           R"(","type":"local_shell_call","status":"completed","call_id":")" + id +
           R"(","action":)" + action + "}";
  };
  const std::string items =
      call(
          "c1",
          R"({"type":"exec","command":["sh","-c","pwd; exit 3"],"working_directory":"sub","env":{}})") +
      "," + call("c2", R"({"type":"exec","command":["sleep","60"],"timeout_ms":200,"env":{}})");
  const auto stream = [](const std::string& output) {
    return served_stream(
        "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"output\":[" + output +
        "],\"usage\":{\"input_tokens\":9,\"output_tokens\":1,\"total_tokens\":10}}}\n\n");
  };
  run.write("work/sub/x", "x\n");
  run.commit_workspace();
  const ModelServer server({stream(items), says("responses", R"({"text":"done"})")});

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  const auto requests = server.requests();
  BOOST_REQUIRE(requests.size() == 2u);
  const std::string first = text_of(output_of("responses", requests[1], "c1"));
  BOOST_TEST(has(first, "Exit code: 3"), first);
  BOOST_TEST(has(first, "/work/sub\n"), first);
  const std::string second = text_of(output_of("responses", requests[1], "c2"));
  BOOST_TEST(second.starts_with("Killed after "), second);
}

BOOST_AUTO_TEST_CASE(web_search_of_messages_goes_back_as_it_came_and_is_shown) {
  for (const bool asked : {false, true}) {
    BOOST_TEST_CONTEXT("asked " << asked) {
      const ProviderRun run;
      run.write_task("provider: anthropic, name: claude-sonnet-4-5",
                     asked ? "tools: {enable: [shell, web_search]}\n" : "");
      const std::string use =
          R"({"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"weather"}})";
      const std::string found =
          R"({"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"W","url":"https://w.example","encrypted_content":"c2VjcmV0"}]})";
      const auto block = [](int index, const std::string& content) {
        const std::string number = std::to_string(index);
        return "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":" +
               number + ",\"content_block\":" + content +
               "}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":" +
               number + "}\n\n";
      };
      std::string stream =
          wire_stream(
              "messages",
              parse_json(
                  R"({"calls":[{"id":"c","tool":"shell","arguments":{"command":["true"]}}]})"))
              .text();
      // Before the call, whose block is then the third.
      const std::size_t at = stream.find("event: content_block_start");
      std::string calls = stream.substr(at);
      for (std::size_t i = 0; (i = calls.find("\"index\":0", i)) != calls.npos; ++i)
        calls.replace(i, 9, "\"index\":2");
      stream = stream.substr(0, at) + block(0, use) + block(1, found) + calls;
      const ModelServer server({served_stream(stream), says("messages", R"({"text":"done"})")});

      const ProgramEnd end = run.run(server);

      check_end(run, end, 0, "success");
      const auto requests = server.requests();
      BOOST_REQUIRE(requests.size() == 2u);
      BOOST_TEST(declares(requests[0], "web_search") == asked);
      BOOST_TEST(has(requests[1].body, use), requests[1].body);
      BOOST_TEST(has(requests[1].body, found));
      const auto searches = items_of(end.events, "item.completed");
      BOOST_TEST(std::any_of(searches.begin(), searches.end(), [](const Json& item) {
        return item.string_at("type") == "web_search" && item.string_at("query") == "weather";
      }));
    }
  }
}

// Chat Completions has no search of the provider's own.
BOOST_AUTO_TEST_CASE(web_search_is_left_out_with_a_note_where_the_wire_has_none) {
  const ProviderRun run;
  run.write_task("provider: openai-chat, name: gpt-4.1", "tools: {enable: [shell, web_search]}\n");
  const ModelServer server(
      {says("chat", R"({"calls":[{"id":"w","tool":"web_search","arguments":{"query":"x"}}]})"),
       says("chat", R"({"text":"done"})")});

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  BOOST_TEST(has(end.errors, "web_search is left out: the provider has none"), end.errors);
  const auto requests = server.requests();
  BOOST_REQUIRE(requests.size() == 2u);
  BOOST_TEST(!has(requests[0].body, "web_search"));
  BOOST_TEST(has(text_of(output_of("chat", requests[1], "w")),
                 "Unknown tool \"web_search\" in this run: the provider has none."));
}

BOOST_AUTO_TEST_SUITE_END()

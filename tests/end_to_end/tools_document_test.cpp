// docs/TOOLS.md has a part that is written by the tools themselves: as a model is told of them.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/files/files.h"
#include "core/task/tool_names.h"
#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(tools_document)

namespace {

const char* const kBegin = "<!-- written by the tools themselves: begin -->\n";
const char* const kEnd = "<!-- end -->\n";

/// The tools of a run that has all of them, as its request declares them.
std::vector<Json> declared_tools() {
  ModelServer server({served(CassetteWriter().message("done")).front()});
  const ProviderRun run;
  std::string names;
  for (const BuiltInTool& tool : built_in_tools()) {
    const std::string name = tool.name;
    if (name == "local_shell") continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  run.write_task("provider: openai, name: gpt-5-codex",
                 "verify: ['true']\ntools: {enable: [" + names + "]}\n");
  const ProgramEnd end = run.run(server);
  BOOST_TEST(end.status == 0, end.errors);
  return parse_json(server.requests().at(0).body)["tools"].items();
}

std::string members_of(const Json& items);

std::string type_of(const Json& schema) {
  std::string text;
  if (schema["type"].is_string()) text = schema["type"].text();
  for (const Json& one : schema["type"].items()) text += (text.empty() ? "" : " or ") + one.text();
  if (schema["enum"].is_array()) {
    text.clear();
    for (const Json& one : schema["enum"].items())
      text += (text.empty() ? "`" : ", `") + one.text() + "`";
  }
  if (text == "array" && schema["items"]["type"].is_string())
    text += " of " + schema["items"].string_at("type") + members_of(schema["items"]);
  const Json& minimum = schema["minimum"];
  const Json& maximum = schema["maximum"];
  if (!minimum.is_null() || !maximum.is_null())
    text += ", " + (minimum.is_null() ? "" : minimum.text()) + "…" +
            (maximum.is_null() ? "" : maximum.text());
  if (!schema["default"].is_null()) text += ", default " + write_json(schema["default"]);
  return text;
}

/// Of the objects in a list.
std::string members_of(const Json& items) {
  std::string text;
  for (const auto& [name, schema] : items["properties"].members())
    text += (text.empty() ? ": `" : "; `") + name + "` (" + type_of(schema) + ")";
  return text;
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|\n", at)) != std::string::npos; at += 2)
    text.replace(at, 1, text[at] == '|' ? "\\|" : "  ");
  return text;
}

std::string section(const Json& tool) {
  const std::string name = tool.string_at("name", tool.string_at("type"));
  const auto by_default = find_built_in_tool(name);
  const bool on = by_default == BuiltInTool::Default::on;
  std::string text = "### " + name + "\n\n";
  text +=
      tool.string_at("type") == "function" ? "Function"
      : tool.string_at("type") == "custom"
          ? "Free text held to a grammar; a function with `input` where a model takes no free text"
          : "Run by the provider itself";
  text += on ? ", on by default." : ", off by default.";
  if (const std::string said = tool.string_at("description"); !said.empty()) text += "\n\n" + said;
  text += "\n";
  const Json& properties = tool["parameters"]["properties"];
  if (properties.members().empty()) return text + "\n";
  text += "\n| argument | type | |\n|---|---|---|\n";
  for (const auto& [argument, schema] : properties.members()) {
    const auto& required = tool["parameters"]["required"].items();
    const bool needed = std::any_of(required.begin(), required.end(),
                                    [&](const Json& one) { return one.text() == argument; });
    text += "| `" + argument + "`" + (needed ? ", required" : "") + " | " + cell(type_of(schema)) +
            " | " + cell(schema.string_at("description")) + " |\n";
  }
  return text + "\n";
}

}  // namespace

// SORTIE_WRITE_DOCS=1 in the environment writes it anew.
BOOST_AUTO_TEST_CASE(docs_tell_of_each_tool_what_the_model_is_told) {
  const std::filesystem::path file = std::filesystem::path(SORTIE_SOURCE_DIR) / "docs/TOOLS.md";
  std::string document = read_file(file);
  const std::size_t begin = document.find(kBegin);
  const std::size_t end = document.find(kEnd);
  BOOST_REQUIRE(begin < end && end != std::string::npos);
  const std::size_t inside = begin + std::string(kBegin).size();
  std::string written = "\n";
  for (const Json& tool : declared_tools()) written += section(tool);
  if (std::getenv("SORTIE_WRITE_DOCS") != nullptr) {
    document.replace(inside, end - inside, written);
    std::ofstream(file) << document;
    return;
  }
  BOOST_TEST(document.substr(inside, end - inside) == written,
             "docs/TOOLS.md is not what the tools say; write it anew with SORTIE_WRITE_DOCS=1 "
             "tools_run_test -t tools_document");
}

BOOST_AUTO_TEST_CASE(a_request_declares_the_tools_in_the_order_of_their_table) {
  std::vector<std::string> declared;
  for (const Json& tool : declared_tools())
    declared.push_back(tool.string_at("name", tool.string_at("type")));
  std::vector<std::string> table;
  for (const BuiltInTool& tool : built_in_tools())
    if (std::find(declared.begin(), declared.end(), tool.name) != declared.end())
      table.emplace_back(tool.name);
  BOOST_TEST(declared == table, boost::test_tools::per_element());
  BOOST_TEST(declared.size() > 6u);
}

BOOST_AUTO_TEST_SUITE_END()

// docs/tools.md has a part that is generated from the declarations of the tools in a request.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "core/files/files.h"
#include "core/task/tool_names.h"
#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(tools_document)

namespace {

const char* const kBegin = "<!-- generated from the declarations: begin -->\n";
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

/// The members of the objects in a list.
std::string members_of(const Json& items) {
  std::string text;
  for (const auto& [name, schema] : items["properties"].members())
    text += (text.empty() ? ": `" : "; `") + name + "` (" + type_of(schema) + ")";
  return text;
}

/// Characters, not bytes.
std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Filled at 120 columns; further lines begin with the indent.
std::string filled(const std::string& text, const std::string& indent = "") {
  constexpr std::size_t kColumns = 120;
  std::istringstream words(text);
  std::string all;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && shown_width(line) + 1 + shown_width(word) > kColumns) {
      all += line + "\n";
      line = indent + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return all + line + "\n";
}

std::string section(const Json& tool) {
  const std::string name = tool.string_at("name", tool.string_at("type"));
  const auto by_default = find_built_in_tool(name);
  const bool on = by_default == BuiltInTool::Default::on;
  std::string text = "### " + name + "\n\n";
  text += tool.string_at("type") == "function" ? "Function"
          : tool.string_at("type") == "custom"
              ? "Free text with a grammar (for models without free text: a function with `input`)"
              : "Run by the provider itself";
  text += on ? ", on by default.\n" : ", off by default.\n";
  if (const std::string said = tool.string_at("description"); !said.empty())
    text += "\n" + filled(said);
  const Json& properties = tool["parameters"]["properties"];
  if (properties.members().empty()) return text + "\n";
  text += "\n";
  for (const auto& [argument, schema] : properties.members()) {
    const auto& required = tool["parameters"]["required"].items();
    const bool needed = std::any_of(required.begin(), required.end(),
                                    [&](const Json& one) { return one.text() == argument; });
    const std::string said = schema.string_at("description");
    text += filled("- `" + argument + "` (" + type_of(schema) + (needed ? ", required)" : ")") +
                       (said.empty() ? "" : ": " + said),
                   "  ");
  }
  return text + "\n";
}

}  // namespace

// SORTIE_WRITE_DOCS=1 in the environment regenerates it.
BOOST_AUTO_TEST_CASE(docs_describe_each_tool_as_its_declaration_does) {
  const std::filesystem::path file = std::filesystem::path(SORTIE_SOURCE_DIR) / "docs/tools.md";
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
  BOOST_TEST(
      document.substr(inside, end - inside) == written,
      "docs/tools.md differs from the declarations of the tools; regenerate it with SORTIE_WRITE_DOCS=1 "
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

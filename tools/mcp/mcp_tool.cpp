#include "tools/mcp/mcp_tool.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/images/image_file.h"
#include "core/json/json_schema.h"
#include "core/secrets/encodings.h"
#include "core/text/base64.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"
#include "tools/mcp/tool_list.h"

namespace sortie::mcp {
namespace {

constexpr std::size_t kMaxImages = 20;

class Reading {
 public:
  explicit Reading(const Json& result) : result_(result) {}

  ToolResult take(const Json& output_schema) {
    for (const Json& block : result_["content"].items()) read_block(block);
    const Json& structured = result_["structuredContent"];
    if (structured.is_object()) {
      if (!says_the_same(structured)) add("Structured content:\n" + write_json(structured));
      check(structured, output_schema);
    }
    tool_result_.success = !result_["isError"].boolean();
    tool_result_.server_answer = Json::object({{"content", result_["content"]}});
    if (!tool_result_.server_answer["content"].is_array())
      tool_result_.server_answer.set("content", Json::array());
    if (structured.is_object()) tool_result_.server_answer.set("structured_content", structured);
    if (tool_result_.text.empty())
      tool_result_.text =
          tool_result_.success ? "(no output)" : "The tool failed without a message.";
    return std::move(tool_result_);
  }

 private:
  void add(const std::string& text) {
    if (!tool_result_.text.empty()) tool_result_.text += '\n';
    tool_result_.text += plain_text(text);
  }

  void read_block(const Json& block) {
    const std::string type = block.string_at("type");
    if (type == "text")
      add(block.string_at("text"));
    else if (type == "image")
      read_image(block.string_at("data"), "image");
    else if (type == "audio")
      add("[audio " + one_line(block.string_at("mimeType"), 60) + ", left out: it can't be shown]");
    else if (type == "resource")
      read_resource(block["resource"]);
    else if (type == "resource_link")
      read_link(block);
    else
      add("[content of unknown type '" + one_line(type, 60) + "', left out]");
  }

  void read_image(const std::string& data, const std::string& what) {
    const std::string bytes = base64_decoded(data);
    const auto header = read_image_header(bytes);
    if (!header)
      return add("[" + what + ", left out: it is not a PNG, JPEG, GIF or WebP in base64]");
    if (const auto problem = image_problem(bytes, *header); !problem.empty())
      return add("[" + what + ", left out: it " + problem + "]");
    if (bytes.size() > kMaxImageBytes)
      return add("[" + what + ", left out: too large (" + size_in_words(bytes.size()) + ")]");
    if (tool_result_.images.size() >= kMaxImages)
      return add("[" + what + ", left out: the limit is " + std::to_string(kMaxImages) +
                 " images]");
    // Encoded again, so that exactly the checked bytes are shown.
    tool_result_.images.push_back({.media_type = header->media_type,
                                   .base64 = base64_encoded(bytes),
                                   .width = header->width,
                                   .height = header->height});
    add("[" + what + " " + std::to_string(tool_result_.images.size()) + ": " + header->media_type +
        ", " + std::to_string(header->width) + " × " + std::to_string(header->height) + "]");
  }

  void read_resource(const Json& resource) {
    const std::string type = one_line(resource.string_at("mimeType"), 60);
    std::string name = "resource " + one_line(resource.string_at("uri"), 500);
    if (!type.empty()) name += " (" + type + ")";
    if (resource["text"].is_string()) return add("[" + name + "]\n" + resource["text"].text());
    const std::string blob = resource.string_at("blob");
    if (type.starts_with("image/")) return read_image(blob, name);
    add("[" + name + ", left out: " + size_in_words(base64_decoded(blob).size()) +
        " of binary data]");
  }

  void read_link(const Json& link) {
    std::string text = "[link to a resource: " + one_line(link.string_at("uri"), 500);
    for (const char* member : {"title", "name", "mimeType", "description"})
      if (const std::string more = link.string_at(member); !more.empty())
        text += ", " + one_line(more, 500);
    add(text + "]");
  }

  /// Whether a text repeats it: servers do that for older clients.
  bool says_the_same(const Json& structured) const {
    const auto& members = structured.members();
    if (members.size() == 1 && members[0].second.is_string() &&
        plain_text(members[0].second.text()) == tool_result_.text)
      return true;
    const auto& blocks = result_["content"].items();
    return std::any_of(blocks.begin(), blocks.end(), [&](const Json& block) {
      if (block.string_at("type") != "text") return false;
      try {
        return parse_json(block["text"].text()) == structured;
      } catch (const JsonError&) {
        return false;
      }
    });
  }

  void check(const Json& structured, const Json& schema) {
    if (!schema.is_object()) return;
    try {
      const auto findings = JsonSchema(schema).check(structured);
      if (!findings.empty())
        tool_result_.note =
            "the structured content does not match the tool's output schema: " + describe(findings);
    } catch (const InputError&) {
      // With a schema that can't be read here, nothing can be checked.
    }
  }

  const Json& result_;
  ToolResult tool_result_;
};

}  // namespace

ToolResult read_call_result(const Json& result, const Json& output_schema) {
  return Reading(result).take(output_schema);
}

McpTool::McpTool(Server& server, ServerTool tool, std::string name)
    : server_(server), tool_(std::move(tool)) {
  spec_ = {
      .name = std::move(name), .description = tool_.description, .parameters = tool_.parameters};
}

Json McpTool::origin() const {
  return Json::object({{"server", server_.settings().name}, {"tool", tool_.name}});
}

CallTool McpTool::identity() const {
  const ToolIdentity identity{server_.settings().name, tool_.name};
  return {.name = spec_.name,
          .other_names = {full_name(identity), "mcp:" + identity.server + "/" + identity.tool},
          .may_write = server_.settings().may_write,
          .escalated = server_.settings().ahead};
}

std::vector<Action> McpTool::actions(const Json& /*arguments*/) const { return {}; }

ToolResult McpTool::run(const Json& arguments, std::stop_token stop) {
  const Json result = server_.call(tool_.name, arguments, std::move(stop));
  ToolResult read = read_call_result(result, tool_.output_schema);
  read.worked_on_files = server_.settings().may_write;
  return read;
}

}  // namespace sortie::mcp

#include "tools/mcp/servers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
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
    if (result_["_meta"].is_object()) tool_result_.server_answer.set("_meta", result_["_meta"]);
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

/// The time that servers get to end: half after closing stdin, half after SIGTERM.
constexpr std::chrono::seconds kEndWithin{4};

/// Calls `act` for each server in a thread of its own.
template <typename Act>
void for_each_in_parallel(const std::vector<std::unique_ptr<Server>>& servers, const Act& act) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < servers.size(); ++i)
    threads.emplace_back([&act, &servers, i] { act(*servers[i], i); });
  for (auto& thread : threads) thread.join();
}

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

Servers::~Servers() { end(); }

void Servers::end() {
  const auto deadline = std::chrono::steady_clock::now() + kEndWithin;
  for_each_in_parallel(servers_, [&](Server& server, std::size_t) { server.end(deadline); });
}

std::vector<std::string> Servers::start(std::stop_token stop) {
  const auto failures = start_each([&](Server& server) { server.start(stop); });
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const std::string name = "tools.mcp." + servers_[i]->settings().name;
    if (!failures[i]) {
      const ToolList& list = servers_[i]->tools();
      lines.push_back(name + ": " + std::to_string(list.tools.size()) + " tools, pin " + list.pin);
      for (const auto& left_out : list.left_out) lines.push_back(name + ": " + left_out);
      continue;
    }
    check_failure(*servers_[i], *failures[i], stop);
    lines.push_back(name + ": the run continues without this MCP server: " + failures[i]->what());
  }
  return lines;
}

/// Takes a step with all servers in parallel, `ahead` ones first. @return  the failure of each
Servers::Failures Servers::start_each(const std::function<void(Server&)>& step) {
  Failures failures(servers_.size());
  std::vector<std::exception_ptr> others(servers_.size());
  starting_ = true;
  for (const bool ahead : {true, false}) {
    const auto waits = [&](const auto& server) { return server->settings().ahead == ahead; };
    if (std::none_of(servers_.begin(), servers_.end(), waits)) continue;
    for_each_in_parallel(servers_, [&](Server& server, std::size_t i) {
      if (server.settings().ahead != ahead) return;
      try {
        step(server);
      } catch (const ServerError& error) {
        failures[i] = error;
      } catch (...) {
        others[i] = std::current_exception();
      }
    });
  }
  starting_ = false;
  for (const auto& other : others)
    if (other) std::rethrow_exception(other);
  return failures;
}

/// @throws Error  ExitCode::environment
void Servers::check_failure(const Server& server, const ServerError& error,
                            const std::stop_token& stop) {
  const ServerSettings& settings = server.settings();
  const bool pin_broken = error.kind() == ServerError::Kind::pin_broken;
  // A run that is stopping ends for that reason.
  if (stop.stop_requested() || (!settings.required && !pin_broken)) return;
  end();
  throw Error("tools.mcp." + settings.name + ": " +
                  (settings.required ? "the required MCP server" : "the MCP server") +
                  " can't be used: " + error.what(),
              ExitCode::environment, pin_broken ? Cause::mcp_pin : Cause::mcp_server);
}

int Servers::suspend() {
  const auto deadline = std::chrono::steady_clock::now() + kEndWithin;
  std::atomic<int> ran = 0;
  for_each_in_parallel(
      servers_, [&](Server& server, std::size_t) { ran += server.suspend(deadline) ? 1 : 0; });
  return ran;
}

int Servers::hold(bool on) {
  held_ = on;
  return on ? suspend() : 0;
}

std::vector<std::string> Servers::writing() const {
  std::vector<std::string> names;
  if (starting_) return names;
  for (const auto& server : servers_)
    if (server->runs() && server->settings().may_write) names.push_back(server->settings().name);
  return names;
}

std::vector<std::pair<std::string, std::string>> Servers::instructions() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& server : servers_)
    if (server->usable() && !server->instructions().empty())
      all.emplace_back(server->settings().name, server->instructions());
  return all;
}

bool Servers::renew(std::stop_token stop) {
  if (!held_) resume(stop);
  bool changed = false;
  for (const auto& server : servers_) changed = server->renew(stop) || changed;
  return changed;
}

void Servers::resume(std::stop_token stop) {
  const auto suspended = [](const auto& server) { return server->suspended(); };
  if (std::none_of(servers_.begin(), servers_.end(), suspended)) return;
  const auto failures = start_each([&](Server& server) { server.resume(stop); });
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (failures[i]) check_failure(*servers_[i], *failures[i], stop);
}

std::vector<std::unique_ptr<Tool>> Servers::tools() {
  std::vector<ToolIdentity> identities;
  std::vector<std::pair<Server*, const ServerTool*>> found;
  for (const auto& server : servers_)
    for (const ServerTool& tool : server->tools().tools) {
      identities.push_back({server->settings().name, tool.name});
      found.emplace_back(server.get(), &tool);
    }
  const std::vector<std::string> names = shown_names(identities);
  std::vector<std::unique_ptr<Tool>> tools;
  for (std::size_t i = 0; i < found.size(); ++i)
    tools.push_back(std::make_unique<McpTool>(*found[i].first, *found[i].second, names[i]));
  std::sort(tools.begin(), tools.end(), [](const auto& left, const auto& right) {
    return left->spec().name < right->spec().name;
  });
  return tools;
}

std::string Servers::why_missing(const std::string& name) const {
  for (const auto& server : servers_) {
    if (server->usable() || !server->tools().tools.empty()) continue;
    if (std::string why = why_not_started(name, server->settings().name); !why.empty()) return why;
  }
  return "";
}

}  // namespace sortie::mcp

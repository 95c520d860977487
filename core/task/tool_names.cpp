#include "core/task/tool_names.h"

#include <algorithm>
#include <iterator>

#include "core/text/pattern.h"

namespace sortie {
namespace {

using Default = BuiltInTool::Default;

constexpr BuiltInTool kTools[] = {
    {"shell", Default::on},
    {"local_shell", Default::on},  // replaces `shell` for models that know it
    {"exec_command", Default::off},
    {"write_stdin", Default::off},  // comes with it
    {"apply_patch", Default::on},
    {"update_plan", Default::on},
    {"view_image", Default::on},
    {"read_file", Default::on},
    {"list_dir", Default::on},
    {"search_files", Default::on},
    {"git_status", Default::on},
    {"git_diff", Default::on},
    {"run_tests", Default::on},
    // The queries of a model leave the machine.
    {"web_search", Default::off},
};

// The length to which a name of an MCP tool is shortened, and that of the digest at its end.
constexpr std::size_t kLongName = 64;
constexpr std::size_t kSha1Digits = 40;

const std::string& one_name(const std::string& tool) {
  static const std::string shell = "shell";
  static const std::string exec_command = "exec_command";
  if (tool == "write_stdin") return exec_command;
  return tool == "local_shell" ? shell : tool;
}

}  // namespace

std::span<const BuiltInTool> built_in_tools() { return kTools; }

std::vector<std::string> built_in_tool_names() {
  std::vector<std::string> names;
  for (const BuiltInTool& tool : built_in_tools()) names.emplace_back(tool.name);
  return names;
}

std::optional<Default> find_built_in_tool(std::string_view name) {
  const auto* const tool = std::find_if(std::begin(kTools), std::end(kTools),
                                        [&](const BuiltInTool& one) { return one.name == name; });
  if (tool == std::end(kTools)) return std::nullopt;
  return tool->by_default;
}

bool is_mcp_tool(std::string_view name) { return name.starts_with("mcp__"); }

bool means_tool(const std::string& word, const std::string& tool) {
  if (one_name(word) == one_name(tool)) return true;
  return is_mcp_tool(word) && is_mcp_tool(tool) && Pattern::word_glob(word).matches(tool);
}

bool may_mean_tool_of(std::string_view word, const std::string& server) {
  const std::string all = "mcp__" + server + "__";
  const std::string_view fixed = word.substr(0, word.find_first_of("*?[\\"));
  if (word.starts_with(all)) return true;
  if (fixed.size() < word.size()) return all.starts_with(fixed) || fixed.starts_with(all);
  // A name that was too long is its beginning and a digest.
  return word.size() == kLongName && all.starts_with(word.substr(0, kLongName - kSha1Digits));
}

bool enables_tool(const std::vector<std::string>& enabled, const std::string& tool) {
  const bool by_default = find_built_in_tool(tool).value_or(Default::on) == Default::on;
  if (enabled.empty()) return by_default;
  return std::any_of(enabled.begin(), enabled.end(), [&](const std::string& word) {
    return word == kDefaultTools ? by_default : means_tool(word, tool);
  });
}

}  // namespace sortie

#include "tools/read_file.h"

#include <algorithm>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/output_buffer.h"
#include "core/base/text.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

constexpr std::int64_t kDefaultLines = 400;
constexpr std::uint64_t kLargestFile = 64ull << 20;
constexpr std::size_t kLongestLine = 2000;  ///< bytes shown of a line
constexpr std::size_t kSniffed = 8192;      ///< bytes in which a NUL means binary, as git has it

std::string numbered(std::size_t number, std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  char prefix[32];
  std::snprintf(prefix, sizeof prefix, "%6zu\t", number);
  std::string text = prefix;
  text += repair_utf8(utf8_prefix(line, kLongestLine));
  if (line.size() > kLongestLine) text += " … (" + size_in_words(line.size()) + " in this line)";
  return text + "\n";
}

}  // namespace

ReadFile::ReadFile(const Files& files, std::filesystem::path workspace)
    : files_(files), workspace_(std::move(workspace)) {
  spec_.name = "read_file";
  spec_.description = "Reads lines of a text file, with their numbers.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {
      "path": {"type": "string", "minLength": 1},
      "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1."},
      "limit": {"type": "integer", "minimum": 1, "description": "Lines, default 400."}
    },
    "required": ["path"],
    "additionalProperties": false
  })");
}

std::vector<Action> ReadFile::actions(const Json& arguments) const {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  return {ReadPath{path}, ReadPath{files_.resolve(path)}};
}

ToolResult ReadFile::run(const Json& arguments, std::stop_token) {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  const auto content = files_.read(path, kLargestFile);
  if (!content) throw ToolError(path.string() + ": no such file");
  ToolResult result;
  if (content->find('\0') < kSniffed) {
    result.text = path.string() + " is a binary file of " + size_in_words(content->size());
    return result;
  }
  const auto lines = split_lines(*content);
  const auto offset = static_cast<std::size_t>(arguments.integer_at("offset", 1)) - 1;
  const auto limit = static_cast<std::size_t>(arguments.integer_at("limit", kDefaultLines));
  if (offset >= lines.size()) {
    const std::string total = std::to_string(lines.size());
    if (lines.empty()) {
      result.text = path.string() + " is empty";
      return result;
    }
    throw ToolError(path.string() + " has " + total + (lines.size() == 1 ? " line" : " lines"));
  }
  const std::size_t end = offset + std::min(limit, lines.size() - offset);
  for (std::size_t i = offset; i < end; ++i) result.text += numbered(i + 1, lines[i]);
  result.head = "Lines " + std::to_string(offset + 1) + "–" + std::to_string(end) + " of " +
                std::to_string(lines.size());
  if (end < lines.size()) result.head += "; more follow from line " + std::to_string(end + 1);
  result.head += "\n";
  return result;
}

}  // namespace sortie

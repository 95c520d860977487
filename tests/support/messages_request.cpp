#include "tests/support/messages_request.h"

#include <set>

#include "core/files/files.h"
#include "core/json/json_schema.h"

namespace sortie::test {

namespace {

constexpr int kMostMarks = 4;

/// What stands in a body's `tools` and settings together that may not.
std::string check_settings(const Json& body) {
  std::set<std::string> names;
  for (const Json& tool : body["tools"].items())
    if (!names.insert(tool.string_at("name")).second)
      return "two tools are called " + tool.string_at("name");
  if (body["thinking"].is_null()) return "";
  if (body.find("temperature")) return "a temperature beside thinking";
  if (body["thinking"].integer_at("budget_tokens") >= body.integer_at("max_tokens"))
    return "budget_tokens is not below max_tokens";
  return "";
}

int marks_in(const Json& parts) {
  int marks = 0;
  for (const Json& part : parts.items())
    marks += (part.find("cache_control") ? 1 : 0) + marks_in(part["content"]);
  return marks;
}

/// Goes through the messages in their order.
class History {
 public:
  /// "" when all is well.
  std::string add(const Json& message) {
    const std::string role = message.string_at("role");
    if (role == role_) return "two messages of the side '" + role + "' in a row";
    if (role_.empty() && role != "user") return "the first message is not the user's";
    role_ = role;
    results_over_ = false;
    const auto& blocks = message["content"].items();
    for (const Json& block : blocks)
      if (auto problem = add_block(block); !problem.empty()) return problem;
    if (role == "user" && !open_.empty()) return "the call " + *open_.begin() + " has no output";
    const std::string last = blocks.back().string_at("type");
    if (last == "thinking" || last == "redacted_thinking") return "a message ends with thoughts";
    return "";
  }
  std::string end() const {
    return open_.empty() ? "" : "the call " + *open_.begin() + " has no output";
  }

 private:
  std::string add_block(const Json& block) {
    const std::string type = block.string_at("type");
    if (type == "tool_use") {
      const std::string id = block.string_at("id");
      if (!ids_.insert(id).second) return "the call's id " + id + " stands twice";
      open_.insert(id);
    } else if (type == "tool_result") {
      if (results_over_) return "an output stands behind a text";
      if (open_.erase(block.string_at("tool_use_id")) == 0)
        return "an output without its call: " + block.string_at("tool_use_id");
    } else if (role_ == "user") {
      if (!open_.empty()) return "a text stands before the output of " + *open_.begin();
      results_over_ = true;
    }
    return "";
  }

  std::string role_;
  bool results_over_ = false;
  std::set<std::string> ids_;
  std::set<std::string> open_;  ///< calls that wait for their outputs
};

}  // namespace

std::string check_messages_request(const Json& body) {
  static const JsonSchema schema(parse_json(
      read_file(SORTIE_SOURCE_DIR "/tests/data/anthropic-messages-request.schema.json")));
  if (const auto findings = schema.check(body); !findings.empty()) return describe(findings);
  if (auto problem = check_settings(body); !problem.empty()) return problem;
  History history;
  for (const Json& message : body["messages"].items())
    if (auto problem = history.add(message); !problem.empty()) return problem;
  if (auto problem = history.end(); !problem.empty()) return problem;
  const int marks = marks_in(body["messages"]);
  if (marks > 1) return "more than one mark in the history";
  if (marks + marks_in(body["system"]) + marks_in(body["tools"]) > kMostMarks)
    return "more than four marks for the cache";
  return "";
}

}  // namespace sortie::test

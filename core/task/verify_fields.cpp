#include "core/task/verify_fields.h"

#include <utility>

namespace sortie {
namespace {

using namespace std::chrono_literals;

std::string joined(const std::vector<std::string>& argv) {
  std::string text;
  for (const auto& word : argv) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// A string, which is run by `sh -c`, or an argv.
FieldValue run_value(VerifyCommand& command) {
  Json schema = Json::object(
      {{"anyOf", Json::array({Json::object({{"type", "string"}, {"minLength", 1}}),
                              Json::object({{"type", "array"},
                                            {"items", Json::object({{"type", "string"}})},
                                            {"minItems", 1}})})}});
  return {.schema = std::move(schema),
          .read = [&command](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (!node.is_list()) {
              const auto text = read_text(
                  node, name, {.meaning = "a command: a string, or a list of words"}, findings);
              if (!text) return;
              command.argv = {"sh", "-c", *text};
              command.text = *text;
              return;
            }
            command.argv.clear();
            for (const auto& item : node.items)
              if (const auto word = read_text(item, name, {.may_be_empty = true}, findings))
                command.argv.push_back(*word);
            if (node.items.empty() || (!command.argv.empty() && command.argv.front().empty()))
              findings.error(node.place, "'" + name + "' names no program");
            command.text = joined(command.argv);
          }};
}

Fields command_fields(VerifyCommand& command) {
  return Fields("command")
      .require("run", run_value(command), "A string for `sh -c`, or a list of words.")
      .add("timeout", duration_value(command.timeout, 1ms, 24h),
           "After it the command has failed.");
}

FieldValue commands_value(std::vector<VerifyCommand>& target) {
  VerifyCommand any;
  Json item =
      Json::object({{"anyOf", Json::array({Json::object({{"type", "string"}, {"minLength", 1}}),
                                           command_fields(any).schema()})}});
  return {.schema = Json::object({{"type", "array"}, {"items", std::move(item)}}),
          .read = [&target](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (!check_list(node, name, "a list of commands", findings)) return;
            target.clear();
            for (const auto& each : node.items) {
              VerifyCommand command;
              if (each.is_mapping())
                command_fields(command).read(each, findings);
              else
                run_value(command).read(each, "a command", findings);
              target.push_back(std::move(command));
            }
          }};
}

Fields verify_fields(TaskVerify& verify) {
  return Fields("verify")
      .add("commands", commands_value(verify.commands),
           "Run by sortie in the sandbox; a string is run by `sh -c`.")
      .add("before", choice_value(verify.before, {"any", "fail", "pass"}),
           "What they must do on the start state.")
      .add("rounds", integer_value(verify.rounds, 0, 100),
           "How often at most a failure's output goes back to the agent.")
      .add("may_change", texts_value(verify.may_change),
           "Products that they may write anew each time, as git's patterns (\"gen/*.c\"). All else "
           "must be the same after them, ignored files aside.")
      .add("in", choice_value("run", {"run"}, {"fresh"}, [](const std::string&) {}),
           "Where they run: in the run's own tree.")
      .later({"setup", "restore", "keep"});
}

}  // namespace

FieldValue verify_value(TaskVerify& verify) {
  FieldValue list = commands_value(verify.commands);
  FieldValue table = mapping_value(verify_fields(verify));
  Json schema = Json::object({{"anyOf", Json::array({list.schema, table.schema})}});
  return {.schema = std::move(schema),
          .read = [list = std::move(list.read), table = std::move(table.read)](
                      const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (node.is_mapping())
              table(node, name, findings);
            else
              list(node, name, findings);
          }};
}

}  // namespace sortie

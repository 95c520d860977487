#include <filesystem>
#include <utility>

#include "core/task/task_fields.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;

/// Words of which the first is a program's name.
Json argv_schema() {
  const Json word = Json::object({{"type", "string"}});
  return Json::object(
      {{"type", "array"},
       {"prefixItems", Json::array({Json::object({{"type", "string"}, {"minLength", 1}})})},
       {"items", word},
       {"minItems", 1}});
}

/// A string, which is run by `sh -c`, or an argv.
FieldValue run_value(VerifyCommand& command) {
  return {.schema =
              [] {
                Json text = Json::object({{"type", "string"}, {"minLength", 1}});
                return Json::object({{"anyOf", Json::array({std::move(text), argv_schema()})}});
              },
          .read =
              [&command](const YamlNode& node, const std::string& name, Diagnostics& findings) {
                if (!node.is_list()) {
                  const auto text = read_text(
                      node, name, {.meaning = "a command: a string or a list of words"}, findings);
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
                  findings.error(node.place, "'" + name + "': expected a program");
                command.text = shell_line(command.argv);
              },
          .write = [&command]() -> Json {
            if (command.argv == std::vector<std::string>{"sh", "-c", command.text})
              return command.text;
            return text_list(command.argv);
          }};
}

Fields command_fields(VerifyCommand& command) {
  return Fields("command")
      .require("run", run_value(command), "A string for `sh -c`, or a list of words.")
      .add("timeout", duration_value(command.timeout, 1ms, 24h),
           "A command that takes longer has failed.");
}

FieldValue commands_value(std::vector<VerifyCommand>& target) {
  return {
      .schema =
          [] {
            VerifyCommand any;
            Json text = Json::object({{"type", "string"}, {"minLength", 1}});
            Json item = Json::object({{"anyOf", Json::array({std::move(text), argv_schema(),
                                                             command_fields(any).schema()})}});
            return Json::object({{"type", "array"}, {"items", std::move(item)}, {"minItems", 1}});
          },
      .read =
          [&target](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (!check_list(node, name, "a list of commands", findings)) return;
            if (node.items.empty())
              findings.error(node.place,
                             "'" + name + "' has no command: name one, or leave the key out");
            target.clear();
            for (const auto& each : node.items) {
              VerifyCommand command;
              if (each.is_mapping())
                command_fields(command).read(each, findings);
              else
                run_value(command).read(each, "a command", findings);
              target.push_back(std::move(command));
            }
          },
      .write =
          [&target] {
            Json list = Json::array();
            for (VerifyCommand& command : target) list.push_back(command_fields(command).write());
            return list;
          }};
}

/// Paths of the workspace, not the whole of it.
FieldValue kept_value(std::vector<std::string>& target) {
  FieldValue value = texts_value(target);
  value.read = [read = std::move(value.read)](const YamlNode& node, const std::string& name,
                                              Diagnostics& findings) {
    read(node, name, findings);
    for (const auto& item : node.items) {
      const std::filesystem::path path = std::filesystem::path(item.text).lexically_normal();
      if (path.is_absolute() || path.empty() || path == "." || path == "*" || path == "**" ||
          *path.begin() == "..")
        findings.error(item.place, "'" + name + "': '" + item.text +
                                       "' is no path inside the workspace; to verify the run's "
                                       "whole tree write in: run");
    }
  };
  return value;
}

/// What only a tree of its own can do.
void check_tree(const TaskVerify& verify, const YamlNode& node, Diagnostics& findings) {
  if (verify.in != VerifyIn::run || verify.restore.empty()) return;
  const YamlNode* restore = node.find("restore");
  findings.error(restore != nullptr ? restore->place : node.place,
                 "'restore' needs in: fresh: the run's own tree keeps what the agent made of it");
}

Fields verify_fields(TaskVerify& verify) {
  return Fields("verify")
      .add("commands", where_given(commands_value(verify.commands)),
           "Run by sortie in the sandbox; a string is run by `sh -c`.")
      .add("before", enum_value(verify.before), "What the commands must do on the start state.")
      .add("baseline", enum_value(verify.baseline),
           "no-new-failures: what failed on the start state may fail; compared by the names of the "
           "tests where the output has them, else by exit code.")
      .add("rounds", integer_value(verify.rounds, 0, 100),
           "How often the agent gets the output of a failure, at most: there are up to rounds + 1 "
           "verifications.")
      .add(
          "may_change", git_patterns_value(verify.may_change),
          "Build products that they may rewrite each time, as git patterns (\"gen/*.c\"). Everything "
          "else must be the same after them, except ignored files.")
      .add(
          "in", enum_value(verify.in),
          "fresh: in a tree of its own: the start state, ignored files too, and the run's diff. run: "
          "in the run's own tree, with all that the agent left there.")
      .add("setup", where_given(commands_value(verify.setup)),
           "Commands before them, once a round, such as `npm ci`.")
      .add("restore", git_patterns_value(verify.restore),
           "Paths that are verified as they were at the start, whatever the agent did to them, as "
           "git patterns (\"tests/**\"). With `in: fresh`.")
      .add("keep", kept_value(verify.keep),
           "Files and folders that a fresh tree takes from the run, as paths or globs: "
           "node_modules, build. What the agent left in them counts.");
}

}  // namespace

FieldValue verify_value(TaskVerify& verify) {
  FieldValue list = commands_value(verify.commands);
  FieldValue table = mapping_value(verify_fields(verify));
  return {.schema =
              [list = std::move(list.schema), table = std::move(table.schema)] {
                return Json::object({{"anyOf", Json::array({list(), table()})}});
              },
          .read =
              [&verify, list = std::move(list.read), table = std::move(table.read)](
                  const YamlNode& node, const std::string& name, Diagnostics& findings) {
                if (!node.is_mapping()) return list(node, name, findings);
                table(node, name, findings);
                check_tree(verify, node, findings);
              },
          .write = std::move(table.write)};
}

}  // namespace sortie

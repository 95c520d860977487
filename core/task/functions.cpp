#include "core/task/functions.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/config/fields.h"
#include "core/config/json_tree.h"
#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/task/placeholders.h"
#include "core/task/tool_names.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kSpread = "...";

bool is_placeholder(const PromptPart& part) { return part.kind == PromptPart::Kind::variable; }

bool spreads(const PromptPart& part) {
  return is_placeholder(part) && part.text.ends_with(kSpread);
}

std::string argument_of(const PromptPart& part) {
  std::string name = part.text;
  if (spreads(part)) name.resize(name.size() - kSpread.size());
  return name;
}

bool has_type(const Json& schema, std::string_view type) {
  return schema["type"].is_string() && schema["type"].text() == type;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.text() : write_json(value);
}

/// The argument, or its default.
const Json& value_of(const std::string& name, const Json& parameters, const Json& arguments) {
  const Json& given = arguments[name];
  return given.is_null() ? parameters["properties"][name]["default"] : given;
}

/// @param names    the arguments that are in the element
/// @param element  as it is filled
void refuse_option(const std::vector<std::string>& names, const std::string& element) {
  if (element.size() < 2 || element[0] != '-') return;
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "'" : ", '") + name + "'";
  throw ToolError(
      (names.size() > 1 ? "the word that the arguments " + all + " make" : "the argument " + all) +
      " begins with '-': the program would take it for an option. Put './' before a "
      "path; other text can't begin with '-' here");
}

using namespace std::chrono_literals;

constexpr std::uint64_t kMaxManifestBytes = 1u << 20;
constexpr std::size_t kMaxFunctions = 100;
/// The list, a function, its `run`: deeper levels are read as values.
constexpr int kPlacedDepth = 3;
constexpr TextLimits kFunctionName = {.pattern = "[A-Za-z0-9_-]{1,64}",
                                      .meaning = "1 to 64 letters, digits, '_' and '-'"};
constexpr TextLimits kFunctionDescription = {.max_bytes = 16u << 10};

/// A function while it is read, with the places of its argv.
struct Draft {
  TaskFunction function{};
  std::vector<TextPlace> run_at{};
};

/// Checks only that it is a mapping; the schema itself is read as a value, outside the table.
FieldValue schema_value(const Json& target) {
  return {.schema =
              [] {
                return Json::object({{"type", "object"}});
              },
          .read =
              [](const YamlNode& node, const std::string& name, Diagnostics& findings) {
                if (!node.is_mapping())
                  findings.error(node.place, "'" + name + "': expected a JSON Schema, got " +
                                                 kind_in_words(node));
              },
          .write = [&target] { return target; }};
}

/// No default of its own: the policy's applies.
FieldValue timeout_value(std::chrono::milliseconds& target) {
  FieldValue value = duration_value(target, 1ms, 24h);
  value.schema = [schema = std::move(value.schema)] {
    Json without = schema();
    std::erase_if(without.members(), [](const auto& each) { return each.first == "default"; });
    return without;
  };
  value.write = [&target, write = std::move(value.write)] {
    return target.count() == 0 ? Json() : write();
  };
  return value;
}

FieldValue argv_value(Draft& draft) {
  FieldValue value = with_keyword(
      texts_value(draft.function.run, Lists::replaced, {.may_be_empty = true}), "minItems", 1);
  value.read = [read = std::move(value.read), &draft](const YamlNode& node, const std::string& name,
                                                      Diagnostics& findings) {
    if (node.is_list() && node.items.empty()) findings.error(node.place, "'run' has no program");
    for (const auto& item : node.items) draft.run_at.push_back(item.place);
    read(node, name, findings);
  };
  return value;
}

Fields function_fields(Draft& draft) {
  TaskFunction& function = draft.function;
  return Fields("function")
      .require("name", text_value(function.name, kFunctionName),
               "The tool's name: not that of a built-in tool, and not one that begins with mcp__.")
      .require("description", text_value(function.description, kFunctionDescription),
               "The tool's description for the model.")
      .add("parameters", schema_value(function.parameters),
           "JSON Schema of the arguments, of type object; by default there are none.")
      .require(
          "run", argv_value(draft),
          "The argv. {{arg}} is replaced by an argument inside one element, {{args...}} by one "
          "element for each item of an array; no shell is involved.")
      .add("stdin", enum_value(function.input), "json: the arguments as one JSON object.")
      .add("timeout", timeout_value(function.timeout),
           "At most the policy's limits.command_timeout, which is the default.")
      .add("output", enum_value(function.output), "json: stdout must be one JSON value.")
      .add("read_only", boolean_value(function.read_only),
           "It runs without write access, and in parallel with other read-only calls.");
}

/// A schema that arguments can be checked against, and that every provider accepts.
Json checked_parameters(const Json& given, const TextPlace& place, Diagnostics& findings) {
  Json schema = given.is_object() ? given : Json::object({{"type", "object"}});
  if (schema.string_at("type") != "object") {
    findings.error(place, "'parameters': expected a schema of \"type\": \"object\"");
    return schema;
  }
  if (!schema.find("properties")) schema.set("properties", Json::object());
  try {
    JsonSchema compiled(schema);
  } catch (const InputError& error) {
    findings.error(place, std::string("'parameters': ") + error.what());
  }
  return schema;
}

/// Whether a word is an option such as `-c`, after which a shell runs the next word as a script.
bool asks_for_script(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-' &&
         word.find('c') != std::string_view::npos;
}

bool is_program(std::string_view word, std::initializer_list<std::string_view> names) {
  const std::string_view program = word.substr(word.rfind('/') + 1);
  return std::find(names.begin(), names.end(), program) != names.end();
}

/// Whether the element has a placeholder.
bool has_placeholder(const std::string& element) {
  const auto parts = split_prompt(element);
  return std::any_of(parts.begin(), parts.end(), is_placeholder);
}

/// The element that puts a placeholder into a shell's script or the name of its file.
std::optional<std::size_t> find_filled_script(const std::vector<std::string>& run) {
  const bool wrapped = is_program(run[0], {"env", "nice", "ionice", "nohup", "setsid", "stdbuf",
                                           "time", "timeout", "xargs", "busybox"});
  for (std::size_t i = 0; i < (wrapped ? run.size() : 1); ++i) {
    if (!is_program(run[i], {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh"}))
      continue;
    // Up to the script itself; what follows are its arguments.
    bool script_next = false;
    for (std::size_t word = i + 1; word < run.size(); ++word) {
      if (has_placeholder(run[word])) return word;
      if (script_next || !(run[word].starts_with('-') || run[word].starts_with('+'))) break;
      script_next = asks_for_script(run[word]);
    }
  }
  return std::nullopt;
}

/// What is wrong with an element of an argv that has placeholders, and the name that was probably
/// meant.
struct ArgvProblem {
  std::string message;
  std::string nearest{};
};

/// Checks one element of a function's argv.
/// @param parameters  JSON Schema of the arguments
std::vector<ArgvProblem> check_argv_element(const std::string& element, const Json& parameters) {
  std::vector<ArgvProblem> problems;
  std::vector<std::string> names;
  for (const auto& [name, schema] : parameters["properties"].members()) names.push_back(name);
  const auto parts = split_prompt(element);
  for (const PromptPart& part : parts) {
    if (part.kind == PromptPart::Kind::literal) continue;
    if (!is_placeholder(part)) {
      problems.push_back({"'{{' without '}}'; '\\{{' is the literal '{{'"});
      continue;
    }
    const std::string name = argument_of(part);
    const std::string shown = one_line(name, 60);
    const Json* schema = parameters["properties"].find(name);
    if (schema == nullptr) {
      problems.push_back({"unknown parameter '" + shown + "'", nearest_name(name, names)});
    } else if (spreads(part) && parts.size() > 1) {
      problems.push_back({"'{{" + shown + "...}}' must be an element of its own"});
    } else if (spreads(part) && !has_type(*schema, "array")) {
      problems.push_back(
          {"'" + shown + "' is not an array: '{{" + shown + "}}' puts it into one element"});
    } else if (!spreads(part) && has_type(*schema, "array")) {
      problems.push_back({"'" + shown + "' is an array: '{{" + shown +
                          "...}}' as an element of its own makes an element of each item"});
    }
  }
  return problems;
}

void check_run(const Draft& draft, Diagnostics& findings) {
  const auto& run = draft.function.run;
  if (run.empty() || run.size() != draft.run_at.size()) return;
  if (run[0].empty())
    findings.error(draft.run_at[0], "the program has no name");
  else if (has_placeholder(run[0]))
    findings.error(draft.run_at[0],
                   "the program can't be chosen by the model: a placeholder has "
                   "to be one of its arguments");
  else if (const auto script = find_filled_script(run))
    findings.error(draft.run_at[*script], "a shell would run what the model sends");
  for (std::size_t i = 0; i < run.size(); ++i)
    for (auto& problem : check_argv_element(run[i], draft.function.parameters))
      findings.error(draft.run_at[i], std::move(problem.message), std::move(problem.nearest));
}

/// Reads a manifest.
class Manifest {
 public:
  Manifest(std::string shown, Diagnostics& findings)
      : shown_(std::move(shown)), findings_(findings) {}

  std::vector<TaskFunction> read(const PlacedJson& json) {
    const YamlNode& list = json.tree;
    if (list.kind == YamlNode::Kind::refused) return {};
    if (!check_list(list, "functions", "a list of functions", findings_)) return {};
    if (list.items.empty()) findings_.error(list.place, "the list of functions is empty");
    if (list.items.size() > kMaxFunctions)
      findings_.error(list.place,
                      "there are more than " + std::to_string(kMaxFunctions) + " functions");
    for (std::size_t i = 0; i < list.items.size(); ++i)
      read_function(list.items[i], json.value.items()[i]);
    return std::move(functions_);
  }

 private:
  void read_function(const YamlNode& node, const Json& value) {
    Draft draft;
    mapping_value(function_fields(draft)).read(node, "function", findings_);
    TaskFunction& function = draft.function;
    function.place =
        shown_ + ":" + std::to_string(node.place.line) + ":" + std::to_string(node.place.column);
    const YamlNode* schema = node.find("parameters");
    function.parameters =
        checked_parameters(value["parameters"], schema ? schema->place : node.place, findings_);
    if (const YamlNode* name = node.find("name")) check_name(function.name, name->place);
    check_run(draft, findings_);
    functions_.push_back(std::move(function));
  }

  void check_name(const std::string& name, const TextPlace& place) {
    if (name.empty()) return;
    if (find_built_in_tool(name))
      findings_.error(place, "'" + name + "' is a tool of sortie's own; choose another name");
    if (name == kDefaultTools)
      findings_.error(place, "'default' means many tools in tools.enable; choose another name");
    if (is_mcp_tool(name))
      findings_.error(place, "names that begin with 'mcp__' are those of MCP servers' tools");
    if (!places_.emplace(name, place).second)
      findings_.add({.place = place,
                     .message = "two functions are called '" + name + "'",
                     .nearest = {},
                     .notes = {{.place = places_.at(name),
                                .severity = Severity::note,
                                .message = "the first one is here",
                                .nearest = {},
                                .notes = {}}}});
  }

  std::string shown_;
  Diagnostics& findings_;
  std::map<std::string, TextPlace> places_;
  std::vector<TaskFunction> functions_;
};

}  // namespace

std::vector<std::string> fill_argv(const std::vector<std::string>& elements, const Json& parameters,
                                   const Json& arguments) {
  std::vector<std::string> argv;
  bool only_operands = false;  // behind `--`
  for (const std::string& element : elements) {
    const auto parts = split_prompt(element);
    if (parts.size() == 1 && spreads(parts[0])) {
      const std::string name = argument_of(parts[0]);
      for (const Json& item : value_of(name, parameters, arguments).items()) {
        argv.push_back(text_of(item));
        if (!only_operands && item.is_string()) refuse_option({name}, argv.back());
      }
      continue;
    }
    std::string filled;
    bool missing = false;
    bool has_text = false;
    std::vector<std::string> names;
    for (const PromptPart& part : parts) {
      if (!is_placeholder(part)) {
        filled += part.text;
        continue;
      }
      const Json& value = value_of(part.text, parameters, arguments);
      missing = missing || value.is_null();
      has_text = has_text || value.is_string();
      names.push_back(part.text);
      filled += text_of(value);
    }
    if (missing) continue;
    // Checked as the program gets it: with several arguments, how each one begins says little.
    if (!only_operands && has_text && is_placeholder(parts.front())) refuse_option(names, filled);
    only_operands = only_operands || element == "--";
    argv.push_back(std::move(filled));
  }
  return argv;
}

std::vector<TaskFunction> read_functions(const std::filesystem::path& path,
                                         const std::string& named, const TextPlace& at,
                                         Diagnostics& findings) {
  TextFile file = read_text_file(path, kMaxManifestBytes);
  if (!file.problem.empty()) {
    findings.error(at, "manifest '" + one_line(path.string()) + "': " + file.problem);
    return {};
  }
  return parse_functions(findings.add_source(named, std::move(file.text)), findings);
}

std::vector<TaskFunction> parse_functions(std::size_t source, Diagnostics& findings) {
  const PlacedJson json = read_json(source, findings, kPlacedDepth);
  return Manifest(findings.name(source), findings).read(json);
}

Json functions_json(const std::vector<TaskFunction>& functions) {
  Json list = Json::array();
  for (const TaskFunction& function : functions) {
    Draft draft{.function = function};
    list.push_back(function_fields(draft).write());
  }
  return list;
}

Json functions_schema() {
  Draft draft;
  return Json::object({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "sortie functions"},
                       {"type", "array"},
                       {"items", function_fields(draft).schema()},
                       {"minItems", 1},
                       {"maxItems", static_cast<std::int64_t>(kMaxFunctions)}});
}

}  // namespace sortie

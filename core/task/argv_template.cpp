#include "core/task/argv_template.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/task/placeholders.h"
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

}  // namespace

bool has_placeholder(const std::string& element) {
  const auto parts = split_prompt(element);
  return std::any_of(parts.begin(), parts.end(), is_placeholder);
}

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

}  // namespace sortie

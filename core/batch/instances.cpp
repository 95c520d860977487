#include "core/batch/instances.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/batch/run_name.h"
#include "core/config/diagnostic.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostErrors = 20;

bool is_variable(std::string_view name) {
  return !name.empty() && !is_ascii_digit(name.front()) && name.front() != '-' &&
         name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
           return is_ascii_alphanumeric(c) || c == '_' || c == '-';
         });
}

std::string where(const std::filesystem::path& file, int line, std::size_t column) {
  return file.string() + ":" + std::to_string(line) + ":" + std::to_string(column) + ": error: ";
}

/// @throws InputError  the line is no object
BatchInstance read_line(const std::filesystem::path& file, int number, std::string_view line) {
  BatchInstance instance{.id = {}, .fields = {}, .line = number};
  Json json;
  try {
    json = parse_json(line);
  } catch (const JsonError& error) {
    throw InputError(where(file, number, error.offset() + 1) + error.what());
  }
  if (!json.is_object())
    throw InputError(where(file, number, 1) + "expected a JSON object, one a line");
  for (const auto& [name, value] : json.members())
    if (value.is_string() && is_variable(name)) instance.fields[name] = value.text();
  const auto id = instance.fields.find("instance_id");
  instance.id =
      id != instance.fields.end() && !id->second.empty() ? id->second : "i-" + short_digest(line);
  return instance;
}

}  // namespace

std::vector<BatchInstance> read_instances(const std::filesystem::path& file) {
  const TextFile text = read_text_file(file, kMostFileBytes, Pipes::accepted);
  if (!text.problem.empty()) throw InputError("instances " + file.string() + ": " + text.problem);
  std::vector<BatchInstance> instances;
  std::string problems;
  std::size_t errors = 0;
  int number = 0;
  for (std::string_view line : split_lines(text.text)) {
    ++number;
    if (trimmed(line).empty()) continue;
    try {
      instances.push_back(read_line(file, number, line));
    } catch (const InputError& error) {
      if (++errors <= kMostErrors)
        problems += (problems.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  if (errors > kMostErrors)
    problems += "\n" + std::to_string(errors - kMostErrors) + " more errors";
  if (!problems.empty()) throw InputError(problems);
  if (instances.empty()) throw InputError("instances " + file.string() + ": holds no instance");
  return instances;
}

}  // namespace sortie

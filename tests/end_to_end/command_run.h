#pragma once

#include <string>
#include <vector>

#include "tests/support/run_folder.h"

namespace sortie::test {

using Arguments = std::vector<std::string>;

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A sortie command, to be run in the workspace.
inline ProgramStart start_command(const RunFolder& folder, const Arguments& arguments) {
  ProgramStart start;
  start.argv = {sortie_binary()};
  start.argv.insert(start.argv.end(), arguments.begin(), arguments.end());
  start.folder = folder.workspace();
  start.environment = {{"OPENAI_API_KEY", ""}, {"SORTIE_BASE_URL", ""}};
  return start;
}

inline ProgramEnd run_command_in(const RunFolder& folder, const Arguments& arguments,
                                 const std::string& input = {}) {
  ProgramStart start = start_command(folder, arguments);
  start.input = input;
  return run_program(start);
}

}  // namespace sortie::test

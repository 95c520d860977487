#include "policies/shell/script_folders.h"

#include <filesystem>

namespace sortie {

std::string folder_behind(const std::string& folder, const std::string& operand) {
  std::string path = (std::filesystem::path(folder) / operand).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

ScriptFolders::ScriptFolders(std::string start) { states_.emplace(std::move(start), true); }

std::vector<std::string> ScriptFolders::run(std::span<const SimpleCommand> pipeline) {
  const SimpleCommand& first = pipeline.front();
  std::set<std::string> folders;
  std::set<State> after;
  for (const State& state : states_) {
    const bool skipped = (first.link == ScriptLink::and_then && !state.second) ||
                         (first.link == ScriptLink::or_else && state.second);
    if (skipped) {
      after.insert(state);
    } else {
      folders.insert(state.first);
    }
  }
  // One that can't be reached is judged all the same.
  if (folders.empty()) {
    for (const State& state : states_) folders.insert(state.first);
  }
  // In a pipeline each command has a shell of its own, whose folder ends with it.
  const bool changes =
      pipeline.size() == 1 && first.words[0].text == "cd" && first.words.size() == 2;
  for (const std::string& folder : folders) {
    after.emplace(changes ? folder_behind(folder, first.words[1].text) : folder, true);
    after.emplace(folder, false);
  }
  states_ = std::move(after);
  return {folders.begin(), folders.end()};
}

}  // namespace sortie

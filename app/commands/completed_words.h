#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sortie {

/// Which files may stand at a place of a command line.
enum class FileKind { none, any, folders };

/// What may stand at one place of a command line.
struct CompletedPlace {
  std::vector<std::string> words;  ///< beside files
  FileKind files = FileKind::none;
};

struct CompletedFlag {
  std::vector<std::string> names;  ///< with their dashes; at least one
  std::string description;
  bool takes_value = false;
  CompletedPlace value{};
};

struct CompletedCommand {
  std::string words;  ///< "policy check", without the program; "" for the program itself
  std::string description;
  std::vector<std::string> short_names;  ///< other first words of the command: "e" for "exec"
  std::vector<std::string> commands;     ///< the next word of each command below it
  std::vector<CompletedFlag> flags;
  std::vector<CompletedPlace> arguments;  ///< without what stands behind "--"
  bool last_repeats = false;              ///< the last of the arguments may be given again
};

/// All commands of the program, the program itself first, as the parser knows them.
std::vector<CompletedCommand> completed_commands(const CLI::App& root);

}  // namespace sortie

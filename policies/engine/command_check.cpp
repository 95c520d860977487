#include "policies/engine/command_check.h"

#include "core/json/json.h"

namespace sortie {
namespace {

/// The usual folders of a system, whatever this machine's PATH is.
std::vector<std::filesystem::path> usual_folders() {
  return {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};
}

}  // namespace

CommandCheck::CommandCheck(const Policy& policy, Approval approval,
                           const std::filesystem::path& workdir)
    : workdir_(workdir), engine_(policy, approval, workdir, {}, usual_folders()) {}

Decision CommandCheck::decide(const std::vector<std::string>& argv) const {
  return engine_.decide(RunCommand{.argv = argv, .workdir = workdir_});
}

bool CommandCheck::allows_line(std::string_view line) const {
  std::vector<std::string> argv;
  try {
    const Json json = parse_json(line);
    if (!json.is_array()) return false;
    for (const auto& word : json.items()) {
      if (!word.is_string()) return false;
      argv.push_back(word.text());
    }
    return decide(argv).effect == Effect::allow;
  } catch (const std::exception&) {
    return false;  // what can't be decided is denied
  }
}

}  // namespace sortie

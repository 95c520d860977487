#include "app/inputs/prompt_sources.h"

#include <ctime>
#include <string_view>
#include <utility>

#include "app/inputs/standard_input.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/git/config/git_place.h"
#include "core/git/git_info.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

std::string read_flag_file(const std::string& flag, const std::string& file) {
  TextFile read = read_bytes_file(file, 1u << 20, Pipes::accepted);
  if (!read.problem.empty()) throw InputError(flag + ": " + one_line(file) + ": " + read.problem);
  return std::move(read.text);
}

/// The content of `--var NAME@FILE`; FILE is relative to the current folder.
std::string content_of(const std::string& name, const std::string& file, const TaskGate& gate) {
  const std::string flag = "--var " + name + "@" + one_line(file, 200);
  if (file.empty()) throw InputError(flag + ": the file's name is missing");
  if (names_descriptor(file)) return read_flag_file("--var " + name, file);
  std::error_code error;
  const fs::path path = fs::absolute(file, error);
  if (const std::string problem = gate.quoted_file(path); !problem.empty())
    throw InputError(flag + ": " + problem);
  return read_flag_file("--var " + name, path.string());
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

/// @param without  why a repository may lack the value
GitValue value_of_git(const fs::path& workspace, std::string GitInfo::*part, const char* without) {
  const auto git = read_git_info(workspace);
  if (git) return {.value = *git.*part, .problem = without};
  const std::string refused = why_git_is_refused(workspace);
  return {.value = {}, .problem = refused.empty() ? "the workspace is not a git tree" : refused};
}

/// Variables in which CI systems name the branch that a detached HEAD stands for: that of a pull or
/// merge request before others, which may name what it is merged into.
constexpr const char* kBranchVariables[] = {"GITHUB_HEAD_REF",  // GitHub, Gitea, Forgejo
                                            "GITHUB_REF_NAME",
                                            "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",  // GitLab
                                            "CI_COMMIT_REF_NAME",
                                            "CI_COMMIT_SOURCE_BRANCH",  // Woodpecker
                                            "CI_COMMIT_BRANCH",
                                            "BUILDKITE_BRANCH",
                                            "CHANGE_BRANCH",  // Jenkins
                                            "BRANCH_NAME",
                                            "SYSTEM_PULLREQUEST_SOURCEBRANCHNAME",  // Azure
                                            "BUILD_SOURCEBRANCHNAME",
                                            "BITBUCKET_BRANCH",
                                            "CIRCLE_BRANCH",
                                            "TRAVIS_PULL_REQUEST_BRANCH",
                                            "TRAVIS_BRANCH",
                                            "DRONE_SOURCE_BRANCH",
                                            "DRONE_BRANCH",
                                            "CIRRUS_BRANCH",
                                            "SEMAPHORE_GIT_PR_BRANCH",
                                            "SEMAPHORE_GIT_BRANCH",
                                            "APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH",
                                            "APPVEYOR_REPO_BRANCH"};
constexpr std::size_t kShortSha = 12;

/// The branch of a detached HEAD, as CI systems leave it: by the first variable that is set and that
/// the policy lets a task read; without one the commit stands for it, which is said.
GitValue branch_of_detached(const TaskGate& gate, const std::string& commit, RunInputs& inputs) {
  std::string refused;
  for (const char* name : kBranchVariables) {
    std::string value = own_variable(name);
    if (value.empty()) continue;
    if (gate.prompt_variable(name).empty()) {
      inputs.variables.set(std::string("{{env:") + name + "}}", sha256_hex(value));
      return {.value = std::move(value), .problem = {}, .from_outside = true};
    }
    if (refused.empty()) refused = std::string("; ") + name + " is not in bounds.vars_env";
  }
  inputs.warnings.push_back("{{git.branch}}: HEAD is detached, and no variable names its branch" +
                            refused + ": the prompt has the commit, " +
                            commit.substr(0, kShortSha));
  return {.value = commit.substr(0, kShortSha)};
}

}  // namespace

FlagVariables flag_variables(const RunOptions& options, const TaskGate& gate) {
  FlagVariables given;
  auto& values = given.values;
  for (const auto& file : options.variable_files) {
    int number = 0;
    const std::string text = read_flag_file("--var-file", file);
    std::string_view rest = text;
    // Editors of other systems leave a byte order mark and CRLF.
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
    for (auto line : split_lines(rest)) {
      ++number;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty() || line.front() == '#') continue;
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos || equals == 0)
        throw InputError(file + ":" + std::to_string(number) + ":1: error: expected NAME=VALUE");
      const std::string name(line.substr(0, equals));
      values[name] = line.substr(equals + 1);
      given.from_files.insert(name);
    }
  }
  for (const auto& text : options.variables) {
    const std::size_t sign = text.find_first_of("=@");
    if (sign == std::string::npos || sign == 0)
      throw InputError("--var '" + one_line(text) +
                       "': expected NAME=VALUE, or NAME@FILE for a file's content");
    const std::string name = text.substr(0, sign);
    given.from_files.erase(name);
    if (text[sign] == '=') {
      values[name] = text.substr(sign + 1);
    } else {
      values[name] = content_of(name, text.substr(sign + 1), gate);
      given.from_files.insert(name);
    }
  }
  for (const auto& [name, value] : values)
    if (!is_utf8(value)) throw InputError("variable '" + name + "': its value is not UTF-8");
  return given;
}

VariableSources make_sources(RunInputs& inputs, FlagVariables flags, const TaskGate& gate) {
  inputs.variables = Json::object();
  for (const auto& [name, value] : flags.values) inputs.variables.set(name, sha256_hex(value));
  const auto noted = [&inputs](const std::string& source, std::optional<std::string> value) {
    if (value) inputs.variables.set("{{" + source + "}}", sha256_hex(*value));
    return value;
  };
  VariableSources sources;
  sources.flags = std::move(flags.values);
  sources.from_files = std::move(flags.from_files);
  sources.environment = [&gate, noted](const std::string& name) -> std::optional<std::string> {
    if (!gate.prompt_variable(name).empty()) return std::nullopt;
    std::string value = own_variable(name);  // empty counts as unset
    return noted("env:" + name, value.empty() ? std::nullopt : std::optional(std::move(value)));
  };
  sources.standard_input = [noted] { return noted("stdin", read_standard_input()); };
  sources.file = [&inputs, &gate, noted](const std::string& name) -> std::optional<std::string> {
    const fs::path path = inputs.workspace / name;
    if (const auto problem = gate.quoted_file(path); !problem.empty())
      throw InputError("{{file:" + name + "}}: " + problem);
    if (fs::exists(path) && !fs::is_regular_file(path))
      throw InputError("{{file:" + name + "}}: not a regular file");
    return noted("file:" + name, read_file(path, 1u << 20));
  };
  sources.date = today();
  sources.run_id = inputs.run_id;
  sources.git_branch = [&inputs, &gate, noted] {
    GitValue found = value_of_git(inputs.workspace, &GitInfo::branch,
                                  "no branch is checked out, and there is no commit");
    if (found.value.empty()) {
      const GitValue commit = value_of_git(inputs.workspace, &GitInfo::head_commit, "");
      if (!commit.value.empty()) found = branch_of_detached(gate, commit.value, inputs);
    }
    noted("git.branch", found.value);
    return found;
  };
  sources.git_sha = [&inputs] {
    return value_of_git(inputs.workspace, &GitInfo::head_commit,
                        "the repository has no commit yet");
  };
  return sources;
}

}  // namespace sortie

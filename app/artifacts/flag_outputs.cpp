#include "app/artifacts/flag_outputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/path_below.h"
#include "core/record/anchor.h"
#include "core/text/ci_commands.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

struct Output {
  std::string flag;
  std::string path;
};

/// The outputs that are written at the end of a run.
std::vector<Output> late_outputs(const RunOptions& options) {
  std::vector<Output> outputs;
  if (!options.diff.empty() && options.diff != "-") outputs.push_back({"--diff", options.diff});
  if (!options.last_message.empty() && options.last_message != "-")
    outputs.push_back({"--output-last-message", options.last_message});
  return outputs;
}

std::string problem_of_descriptor(int number) {
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0) return "descriptor " + std::to_string(number) + " is not open";
  if ((flags & O_ACCMODE) == O_RDONLY)
    return "descriptor " + std::to_string(number) + " is open only for reading";
  return "";
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool may_write(const fs::path& path, int how) {
  return ::faccessat(AT_FDCWD, path.c_str(), how, AT_EACCESS) == 0;
}

/// What to do with the file at a path: replace it or write to it; or why neither is possible.
struct Target {
  enum class Kind { replaced, written_into } kind = Kind::replaced;
  std::string problem;
};

Target target_at(const fs::path& path) {
  struct stat own {};
  if (::lstat(path.c_str(), &own) != 0) {
    if (errno != ENOENT) return {.problem = errno_text(errno)};
    const fs::path folder = folder_of(path);
    struct stat parent {};
    if (!path.has_filename()) return {.problem = "is a folder"};
    if (::stat(folder.c_str(), &parent) != 0)
      return {.problem = "its folder " + path_text(folder) + ": " + errno_text(errno)};
    if (!S_ISDIR(parent.st_mode))
      return {.problem = "its folder " + path_text(folder) + " is not a folder"};
    if (!may_write(folder, W_OK | X_OK))
      return {.problem = "its folder " + path_text(folder) + ": " + errno_text(errno)};
    return {};
  }
  struct stat there {};
  const bool leads_somewhere = ::stat(path.c_str(), &there) == 0;
  if (S_ISLNK(own.st_mode) && (!leads_somewhere || S_ISREG(there.st_mode)))
    return {.problem = "is a link; name the file itself"};
  if (!leads_somewhere) return {.problem = errno_text(errno)};
  if (S_ISDIR(there.st_mode)) return {.problem = "is a folder"};
  if (S_ISBLK(there.st_mode)) return {.problem = "is a disk, and would be overwritten"};
  if (S_ISSOCK(there.st_mode)) return {.problem = "is a socket, and can't be opened"};
  if (S_ISREG(there.st_mode)) {
    // A new file replaces it, which needs rights on the folder.
    if (!may_write(folder_of(path), W_OK | X_OK))
      return {.problem = "its folder " + path_text(folder_of(path)) + ": " + errno_text(errno)};
    return {};
  }
  if (!may_write(path, W_OK)) return {.problem = errno_text(errno)};
  return {.kind = Target::Kind::written_into};
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code error;
  return fs::equivalent(one, other, error) && !error;
}

fs::path real(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path found = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : found;
}

struct Input {
  std::string what;
  fs::path path;
};

/// All files that the run reads.
std::vector<Input> files_read(const RunOptions& options, const RunInputs& inputs) {
  std::vector<Input> files;
  for (const auto& file : inputs.policy.files) files.push_back({"a file of the policy", file});
  if (!inputs.task.file.empty()) files.push_back({"the task", inputs.task.file});
  for (const auto& file : files_of_run(inputs.task, inputs.policy))
    files.push_back({"a file of the task", file});
  for (const auto& file : inputs.task.prompt_files) files.push_back({"a prompt of the task", file});
  for (const auto& file : options.variable_files) files.push_back({"the --var-file", file});
  if (!options.replay.empty()) files.push_back({"the --replay", options.replay});
  if (!options.api_key_file.empty()) files.push_back({"the --api-key-file", options.api_key_file});
  if (!options.rate_limits.empty()) files.push_back({"the --rate-limits", options.rate_limits});
  if (inputs.rate_limits)
    files.push_back({"the state of --rate-limits", inputs.rate_limits->state});
  if (!options.auth_file.empty()) files.push_back({"the --auth-file", options.auth_file});
  return files;
}

std::string problem_of(const Output& output, const RunOptions& options,
                       const std::vector<Input>& inputs) {
  if (const auto number = named_descriptor(output.path)) return problem_of_descriptor(*number);
  if (path_below(real(output.path), real(options.out)))
    return "lies in --out, whose files are the run's own; what it asks for is written there anyway";
  const Target target = target_at(output.path);
  if (!target.problem.empty()) return target.problem;
  if (target.kind == Target::Kind::written_into) return "";
  for (const Input& input : inputs)
    if (is_same_file(output.path, input.path)) return "is " + input.what + ", which the run reads";
  return "";
}

/// Why --anchor can't be used, beside what is wrong with its file. A descriptor is kept from the
/// run's commands.
std::string problem_of_anchor(const Output& output, const RunInputs& inputs) {
  const auto number = named_descriptor(output.path);
  if (number && *number <= STDERR_FILENO)
    return "is a standard stream: name a file, a pipe or another descriptor";
  if (number) ::fcntl(*number, F_SETFD, FD_CLOEXEC);
  if (number) return "";
  if (path_below(real(output.path), inputs.workspace))
    return "lies in the workspace, where the run's tools write; name a file elsewhere";
  if (inputs.policy.sandbox != SandboxMode::workspace_write) return "";
  for (const std::string& entry : inputs.policy.write)
    if (path_below(real(output.path), real(inputs.workspace / entry)))
      return "lies in " + path_text(entry) +
             " (paths.write), where the run's commands write; name a file elsewhere";
  return "";
}

}  // namespace

void resolve_stdout(RunOptions& options) {
  std::string wanted = options.json ? "--json" : "";
  const auto settle = [&wanted](const char* flag, std::string& path) {
    if (!path.empty() && path != "-" && named_descriptor(path) == STDOUT_FILENO) path = "-";
    if (path != "-") return;
    if (!wanted.empty())
      throw InputError(wanted + " and " + flag + " - both want stdout: give " + flag + " a file");
    wanted = std::string(flag) + " -";
  };
  settle("--diff", options.diff);
  settle("--output-last-message", options.last_message);
}

void check_flag_outputs(const RunOptions& options, const RunInputs& inputs) {
  std::vector<Output> outputs = late_outputs(options);
  if (!options.record.empty()) outputs.push_back({"--record", options.record});
  const int anchor = anchor_descriptor(options.anchor);
  if (!options.anchor.empty())
    outputs.push_back(
        {"--anchor", anchor < 0 ? options.anchor : "/dev/fd/" + std::to_string(anchor)});
  const std::vector<Input> read = files_read(options, inputs);
  std::string problems;
  const auto note = [&problems](const Output& output, const std::string& problem) {
    problems += (problems.empty() ? "" : "\n") + output.flag + " " + path_text(output.path) + ": " +
                problem;
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (const std::string problem = problem_of(outputs[i], options, read); !problem.empty())
      note(outputs[i], problem);
    else if (outputs[i].flag == "--anchor")
      if (const std::string why = problem_of_anchor(outputs[i], inputs); !why.empty())
        note(outputs[i], why);
  }
  if (!problems.empty()) throw InputError(problems);
}

void check_distinct_outputs(const RunOptions& options) {
  std::vector<Output> outputs = late_outputs(options);
  if (!options.record.empty()) outputs.push_back({"--record", options.record});
  if (!options.anchor.empty() && anchor_descriptor(options.anchor) < 0)
    outputs.push_back({"--anchor", options.anchor});
  if (!options.status_file.empty()) outputs.push_back({"--status-file", options.status_file});
  std::error_code error;
  // Several may be written to one pipe, device or descriptor.
  std::erase_if(outputs, [&error](const Output& output) {
    const auto there = fs::status(output.path, error);
    return named_descriptor(output.path) || (fs::exists(there) && !fs::is_regular_file(there));
  });
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (real(outputs[i].path) == real(outputs[j].path) ||
          is_same_file(outputs[i].path, outputs[j].path))
        throw InputError(outputs[i].flag + " " + path_text(outputs[i].path) +
                         ": is the same file as that of " + outputs[j].flag);
}

std::shared_ptr<const HeldOutputs> hold_outputs(const RunOptions& options) {
  auto held = std::make_shared<HeldOutputs>();
  for (const Output& output : late_outputs(options)) held->emplace_back(output.flag, output.path);
  return held;
}

void remove_stale(const RunOptions& options) {
  if (!options.held) return;
  for (const HeldOutput& output : *options.held) output.remove_stale();
}

void write_flag_files(const RunOptions& options, std::string_view diff, std::string_view message,
                      const std::stop_token& stop) {
  if (!options.held) return;
  for (const HeldOutput& output : *options.held) {
    const bool is_diff = output.flag() == "--diff";
    // People read stderr, but a CI system obeys commands in it.
    if (!is_diff && output.is_stderr())
      output.write(without_ci_commands(std::string(message), ci_systems()), stop);
    else
      output.write(is_diff ? diff : message, stop);
  }
}

}  // namespace sortie

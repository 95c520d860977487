#include "app/exec/exec.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "app/artifacts/flag_outputs.h"
#include "app/exec/config_values.h"
#include "app/exec/exec_prompt.h"
#include "app/exec/exec_settings.h"
#include "app/exec/exec_task.h"
#include "app/exec/thread_limits.h"
#include "app/exec/thread_store.h"
#include "app/inputs/inputs.h"
#include "app/inputs/thread_run.h"
#include "app/run/run.h"
#include "app/run/told_failure.h"
#include "app/run/told_run.h"
#include "app/show/failure.h"
#include "app/show/standard_output.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/own_variable.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/secrets/redact.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"
#include "policies/environment/known_secrets.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// A turn that was aborted needs up to 5 s for its end, and its caller may go on at once.
constexpr std::chrono::seconds kPatience{10};
constexpr std::uint64_t kMostProfile = 1u << 20;

/// A line on stderr; it may quote the command line, so the environment's secrets are redacted.
void tell(const std::string& text) {
  Redactor redactor;
  redactor.add_all(known_secrets(Policy{}, own_environment()).values);
  print_error("sortie: " + redactor.text(text, Audience::people) + "\n");
}

/// @throws InputError  always; a prompt is what -p has with other runners
[[noreturn]] void refuse_profile(const std::string& name, const std::string& why) {
  const bool is_prompt = name.find_first_of(" \n") != std::string::npos;
  throw InputError("--profile " + one_line(name, 60) + ": " + why +
                   (is_prompt ? "; -p is a profile here, and the prompt an argument: "
                                "'sortie exec PROMPT'"
                              : ""));
}

/// The configuration of -p NAME: NAME.config.toml of codex's home, else the table profiles.NAME of its
/// config.toml. Nothing else of that folder is read.
/// @throws Error
ConfigValues profile_of(const std::string& name) {
  const std::string home = own_variable("CODEX_HOME");
  const fs::path folder =
      !home.empty() ? fs::path(home) : fs::path(own_variable("HOME")) / ".codex";
  if (name.find('/') != std::string::npos || name.starts_with('.'))
    refuse_profile(name, "not a name");
  const fs::path own = folder / (name + ".config.toml");
  std::error_code error;
  const bool is_own = fs::exists(own, error);
  const fs::path file = is_own ? own : folder / "config.toml";
  const TextFile read = read_text_file(file, kMostProfile);
  if (!read.problem.empty()) refuse_profile(name, path_text(file) + ": " + read.problem);
  ConfigValues values = config_of(read.text, file.string());
  if (is_own) return values;
  ConfigValues chosen;
  const std::string prefix = "profiles." + name + ".";
  for (auto& [key, value] : values)
    if (key.starts_with(prefix))
      chosen[key.substr(prefix.size())] = value;
    else if (key.starts_with("model_providers."))
      chosen.emplace(key, value);
  if (chosen.empty())
    refuse_profile(name, path_text(file) + " has no [profiles." + one_line(name, 60) + "]");
  return chosen;
}

/// The command line itself is wrong; what it names may be.
class WrongCommandLine : public InputError {
  using InputError::InputError;
};

/// Does something with flags and the configuration alone. @throws WrongCommandLine  one is wrong
template <class Step>
auto of_command_line(const Step& step) {
  try {
    return step();
  } catch (const Error& error) {
    if (error.code() == ExitCode::usage) throw WrongCommandLine(error.what());
    throw;
  }
}

/// @param values  of the profile
/// @throws InputError  a wrong value, or with --strict-config an unknown key
ExecSettings settings_of(const ExecOptions& options, ConfigValues values) {
  ConfigValues given;
  for (const std::string& assignment : options.config) add_assignment(assignment, given);
  for (auto& [key, value] : given) values[key] = value;
  std::vector<std::string> unknown;
  ExecSettings settings = read_settings(values, unknown);
  std::string text;
  for (const std::string& key : unknown) {
    if (options.strict_config && given.count(key) == 0) continue;  // of the profile
    const std::string nearest = nearest_name(key, known_config_keys());
    text += (text.empty() ? "-c " : ", ") + one_line(key, 80) +
            (nearest.empty() ? "" : " (did you mean " + nearest + "?)");
  }
  if (text.empty()) return settings;
  if (options.strict_config) throw InputError(text + ": unknown, and --strict-config is given");
  tell("warning: " + text + ": means nothing here, and is left out");
  return settings;
}

/// Whether a folder, or one above it, has a repository.
bool is_in_repository(const fs::path& folder) {
  std::error_code error;
  for (fs::path at = folder;; at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) return true;
    if (at == at.parent_path()) return false;
  }
}

/// One call of `exec`.
class Exec {
 public:
  Exec(ExecOptions options, OutputStyle style) : options_(std::move(options)), style_(style) {}
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;
  ~Exec();

  /// @throws Error  before the run has begun
  ExitCode run();
  /// Removes the files of -o and --diff of an earlier call, so that nobody takes them for this one's. Once
  /// the run has begun, that is its own business: commands may have moved what the paths lead to.
  void remove_stale_answers() const noexcept;

 private:
  const std::vector<std::string>& words() const;
  std::size_t words_before_prompt() const { return options_.resume && !options_.last ? 1 : 0; }
  std::optional<std::string> prompt_argument() const;
  std::string prompt_of(const std::optional<std::string>& argument, const PipedInput& piped) const;
  ExecSettings check_command_line();
  ExitCode judge_stdout(ExitCode code) const;
  void find_workspace();
  void find_thread();
  void take_folder();
  void explain_sandbox(const ExecSettings& settings) const;
  void explain_approval() const;
  ExitCode begin_run(EarlyKeeper* early_keeper);
  ExitCode begin(const std::optional<std::string>& argument, const PipedInput& piped,
                 EarlyKeeper* early_keeper);

  ExecOptions options_;
  OutputStyle style_;
  fs::path workspace_;
  ThreadStore store_;
  ThreadRun thread_;
  fs::path kept_;     ///< the run's folder in the store; "" with --ephemeral
  fs::path private_;  ///< instead of it: removed at the end
  Fd lock_;           ///< of the thread, unless it is kept nowhere
  bool begun_ = false;
  std::atomic<int> stdout_failure_ = 0;  ///< the errno for which it did not take the whole answer
};

Exec::~Exec() {
  try {
    if (!private_.empty()) remove_tree(private_);
  } catch (const std::exception&) {  // a folder in $TMPDIR is left behind
  }
}

/// The words are PROMPT; behind `resume` ID and PROMPT, with --last PROMPT alone.
const std::vector<std::string>& Exec::words() const {
  if (options_.review) return options_.review_words;
  return options_.resume ? options_.resume_words : options_.words;
}

std::optional<std::string> Exec::prompt_argument() const {
  const ReviewTarget& target = options_.reviewed;
  const bool named = target.uncommitted || !target.base.empty() || !target.commit.empty();
  if (options_.review && named && words().empty()) return "";  // what is piped in belongs to it
  if (words().size() <= words_before_prompt()) return std::nullopt;
  return words()[words_before_prompt()];
}

ExecSettings Exec::check_command_line() {
  if (options_.resume && !options_.last && words().empty())
    throw WrongCommandLine("resume: give it the id of a thread, or --last");
  if (words().size() > words_before_prompt() + 1)
    throw WrongCommandLine(
        "one argument too many: " + in_quotes(words()[words_before_prompt() + 1]) +
        "; a prompt of several words stands in quotes");
  if (options_.full_auto && options_.unsandboxed)
    throw WrongCommandLine(
        "--full-auto has a sandbox, and --dangerously-bypass-approvals-and-sandbox has none: give "
        "it one of them");
  if (!options_.local_provider.empty() && !options_.oss)
    throw WrongCommandLine("--local-provider " + options_.local_provider +
                           ": takes effect with --oss alone; write: --oss --local-provider " +
                           options_.local_provider);
  ConfigValues profile;
  if (!options_.profile.empty()) profile = profile_of(options_.profile);
  return of_command_line([&] {
    resolve_stdout(options_.run);
    check_flags(options_.run);
    return settings_of(options_, std::move(profile));
  });
}

void Exec::find_workspace() {
  const std::string named = options_.run.workspace.empty() ? "." : options_.run.workspace;
  std::error_code error;
  workspace_ = fs::canonical(named, error);
  if (error) throw InputError("-C " + one_line(named, 200) + ": " + error.message());
  if (!fs::is_directory(workspace_, error))
    throw InputError("-C " + one_line(named, 200) + ": not a folder");
  if (options_.skip_git_check || options_.unsandboxed || is_in_repository(workspace_)) return;
  throw InputError("Not inside a trusted directory: " + workspace_.string() +
                   " is in no git repository; --skip-git-repo-check works in it nevertheless");
}

/// Finds the thread that is gone on with, or begins a new one.
void Exec::find_thread() {
  thread_.run_id = new_run_id();
  thread_.id = thread_.run_id;
  if (!options_.resume) return;
  const std::string id = options_.last ? "" : words().front();
  auto found =
      options_.last ? store_.newest(options_.all ? fs::path() : workspace_) : store_.find(id);
  const std::string where = store_.folder().empty() ? "" : " in " + path_text(store_.folder());
  if (!found)
    throw InputError(
        !options_.last ? "resume " + one_line(id, 80) + ": there is no such thread" + where
        : options_.all ? "resume --last: there is no thread" + where
                       : "resume --last: there is no thread of " + workspace_.string() + where +
                             "; --all takes the newest of any folder");
  if (!options_.ephemeral) {
    lock_ = lock_thread(found->folder, kPatience);
    if (auto now = store_.find(found->id)) found = std::move(now);  // a turn may have ended
  }
  thread_.id = found->id;
  thread_.earlier = ThreadStore::transcripts(*found);
}

/// The folder of the run's record, there before its first event.
void Exec::take_folder() {
  const std::string& out = options_.run.out;
  std::error_code error;
  thread_.store = store_.folder();
  const fs::path named = out.empty() ? fs::path() : fs::absolute(out, error);
  std::string why;
  if (!options_.ephemeral) kept_ = store_.begin(thread_.id, thread_.run_id, workspace_, named, why);
  if (!kept_.empty()) thread_.place = kept_.string() + kPlaceSuffix;
  if (!kept_.empty() && !lock_) lock_ = lock_thread(kept_.parent_path(), kPatience);
  if (!why.empty()) tell("this thread is not kept, and can't be resumed: " + why);
  if (!out.empty()) return;
  if (kept_.empty()) private_ = make_temporary_folder("sortie-exec");
  options_.run.out = (kept_.empty() ? private_ : kept_).string();
  if (!kept_.empty()) thread_.covered = store_.folder();
}

std::string Exec::prompt_of(const std::optional<std::string>& argument,
                            const PipedInput& piped) const {
  if (!options_.review) return compose_prompt(argument, piped, options_.images);
  const bool named = argument && argument->empty();  // by flags
  const bool none = !argument && trimmed(piped.text).empty();
  std::string own = named || none ? "" : compose_prompt(argument, piped);
  return of_command_line([&] {
    std::string prompt = review_prompt(options_.reviewed, own);
    return named ? compose_prompt(prompt, piped) : prompt;
  });
}

/// Says what --add-dir, --trust, and -s beside --full-auto, do not do.
void Exec::explain_sandbox(const ExecSettings& settings) const {
  if (!options_.run.policy.empty()) return;
  if (const std::string sandbox = sandbox_of(options_, settings);
      options_.full_auto && !options_.sandbox.empty() && options_.sandbox != "workspace-write")
    tell("--full-auto -s " + options_.sandbox + ": the stricter one counts, " + sandbox);
  const bool read_only = sandbox_of(options_, settings) == "read-only";
  if (options_.trust && read_only && options_.sandbox.empty())
    tell(
        "--trust and --approve-for-me change nothing here: the sandbox is read-only; "
        "-s workspace-write lets the folder be written to");
  for (const std::string& folder : options_.add_dirs)
    if (is_own_to_commands(folder))
      tell("--add-dir " + one_line(folder, 60) + ": commands have a /tmp of their own");
    else if (read_only)
      tell("--add-dir " + one_line(folder, 200) +
           ": can be read, but not written to, since the sandbox is read-only; -s workspace-write "
           "lets it be written to");
}

/// Says what --ask-for-approval does not do.
void Exec::explain_approval() const {
  const std::string& when = options_.ask_for_approval;
  if (!when.empty() && when != "never")
    tell("-a " + when +
         ": nobody is asked; what the sandbox does not allow is denied, as with -a never. "
         "--policy FILE can have an 'approver:', a program that decides");
}

ExitCode Exec::run() {
  const std::optional<std::string> argument = prompt_argument();
  const PipedInput piped = read_piped_input(argument && *argument != "-");
  bool begun = false;
  try {
    return judge_stdout(tell_outcome(options_.run, style_, [&](EarlyKeeper* early_keeper) {
      begun = true;
      return begin(argument, piped, early_keeper);
    }));
  } catch (const InputError& error) {
    if (!begun) throw WrongCommandLine(error.what());  // of --status-file
    throw;
  }
}

/// The answer is what a caller wants of stdout: the record, which has it, may be kept nowhere.
ExitCode Exec::judge_stdout(ExitCode code) const {
  if (stdout_failure_ == 0) return code;
  const fs::path has_it = thread_.own_out ? fs::path(options_.run.out) : kept_;
  const bool fine = code == ExitCode::success;
  tell(std::string(stdout_error(stdout_failure_).what()) + "; it did not take the whole answer" +
       (fine ? ", so the status is 1" : "") +
       (has_it.empty() ? "" : "; " + path_text(has_it) + " has all of it"));
  return fine ? ExitCode::task_failed : code;
}

/// The run; what was made for one that did not begin is removed.
ExitCode Exec::begin_run(EarlyKeeper* early_keeper) {
  try {
    return run_task(options_.run, style_, early_keeper);
  } catch (const std::exception&) {
    begun_ = false;  // no command was run
    if (!kept_.empty()) ThreadStore::drop(kept_);
    throw;
  }
}

ExitCode Exec::begin(const std::optional<std::string>& argument, const PipedInput& piped,
                     EarlyKeeper* early_keeper) {
  const ThreadLimits limits = read_thread_limits(own_variable("SORTIE_KEEP_THREADS"));
  const ExecSettings settings = check_command_line();
  find_workspace();
  const std::string prompt = prompt_of(argument, piped);
  if (!piped.note.empty()) tell(piped.note);
  find_thread();
  RunOptions& run = options_.run;
  thread_.keeps_start = !run.out.empty() || !run.diff.empty();
  thread_.own_events = options_.own_events;
  thread_.bounded = !run.policy.empty();
  explain_sandbox(settings);
  explain_approval();
  thread_.task = exec_task(options_, settings, prompt);
  of_command_line([&] {
    choose_model(settings, options_, thread_.task);
    thread_.policy = exec_policy(options_, settings, thread_.task);
  });
  if (run.policy.empty()) run.policy = thread_.policy.name;
  run.task = "-";
  run.thread = &thread_;
  // Its caller reads stderr as the reason of a failure.
  if (run.json && !style_.verbose) style_.quiet = true;
  thread_.own_out = !run.out.empty();
  take_folder();
  thread_.kept = !kept_.empty();
  begun_ = true;
  std::error_code unknown;
  const fs::path real_out = fs::weakly_canonical(run.out, unknown);
  thread_.on_stdout_failure = [this](int number) { stdout_failure_ = number; };
  const ExitCode code = of_command_line([&] { return begin_run(early_keeper); });
  if (thread_.kept) remove_old_threads(store_.folder(), limits);
  if (thread_.own_out && thread_.kept) {
    try {
      ThreadStore::keep(unknown ? fs::path(run.out) : real_out, kept_);
    } catch (const Error& error) {
      tell(std::string("warning: the thread is kept only as long as --out: ") + error.what());
    }
  }
  return code;
}

void Exec::remove_stale_answers() const noexcept {
  if (begun_) return;
  std::error_code error;
  std::vector<std::string> inputs = options_.images;
  for (const std::string& one :
       {options_.output_schema, options_.run.policy, options_.run.api_key_file,
        options_.run.auth_file, options_.run.rate_limits})
    if (!one.empty()) inputs.push_back(one);
  for (const std::string& file : {options_.run.last_message, options_.run.diff}) {
    if (file.empty() || file == "-" || !fs::is_regular_file(fs::symlink_status(file, error)))
      continue;
    const auto is_it = [&](const std::string& input) { return fs::equivalent(file, input, error); };
    if (std::none_of(inputs.begin(), inputs.end(), is_it)) fs::remove(file, error);
  }
}

/// What the caller of codex expects: its own status words are 0 and 1.
ExitCode status_of_codex(ExitCode code, bool retryable_apart) {
  if (retryable_apart && is_retryable(code)) return code;
  switch (code) {
    case ExitCode::success:
    case ExitCode::interrupted:
    case ExitCode::terminated:
      return code;
    default:
      return ExitCode::task_failed;
  }
}

}  // namespace

ExitCode run_exec(ExecOptions options, OutputStyle style) {
  const bool retryable_apart = options.retryable_apart;
  Exec exec(std::move(options), style);
  try {
    return status_of_codex(exec.run(), retryable_apart);
  } catch (const WrongCommandLine& error) {
    exec.remove_stale_answers();
    tell_failure(error);
    return ExitCode::usage;
  } catch (const std::exception& error) {
    exec.remove_stale_answers();
    const Error failure = failure_of(error);
    if (failure.code() == ExitCode::busy)
      tell_failure(failure, "wait for its end, and run the same command again");
    else
      tell_failure(failure);
    return status_of_codex(failure.code(), retryable_apart);
  }
}

}  // namespace sortie

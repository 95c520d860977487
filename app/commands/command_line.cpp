#include "app/commands/command_line.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/commands/manual.h"
#include "app/commands/usage_problem.h"
#include "app/commands/version_text.h"
#include "app/exec/exec_prompt.h"
#include "app/run/signals.h"
#include "app/run/told_failure.h"
#include "app/show/failure.h"
#include "app/show/standard_output.h"
#include "app/show/words.h"
#include "core/base/error.h"
#include "core/base/exit_code.h"

namespace sortie {
CLI::App& add_command(CommandTable& table, CLI::App& parent, const std::string& name,
                      const std::string& description, const std::string& example,
                      CommandBody body) {
  CLI::App* app = parent.add_subcommand(name, description);
  app->option_defaults()->group("Options");  // not the last group of the parent
  app->footer("Example:\n  " + example);
  app->add_option("--color", table.style.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app->add_flag("-q,--quiet", table.style.quiet, "on stderr nothing but errors");
  app->add_flag("-v,--verbose", table.style.verbose, "more on stderr: of a run the tools' output");
  table.bodies[app] = std::move(body);
  return *app;
}

namespace {

int print(const std::string& text) {
  print_out(text);
  return 0;
}

int fail(const Error& error) {
  tell_failure(error);
  return static_cast<int>(error.code());
}

bool is_exec(const CLI::App& root) {
  const auto commands = root.get_subcommands();
  return !commands.empty() && commands.front()->get_name() == "exec";
}

int run_parsed(CLI::App& root, const CommandTable& table, std::vector<std::string> words) {
  try {
    root.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    // The root prints the help of the named command, with the full command in its usage.
    return print(root.help());
  } catch (const CLI::CallForVersion&) {
    return print(root.version() + "\n");
  } catch (const CLI::ParseError& error) {
    if (is_exec(root)) drain_piped_input();  // whoever writes there must not fail
    tell_failure(InputError(usage_problem(root, error)),
                 "see 'sortie " + words_of_command(root) + "--help'");
    return static_cast<int>(ExitCode::usage);
  }
  check_current_folder();
  return static_cast<int>(table.bodies.at(&chosen_command(root))());
}

/// The words for the parser. `exec` has `-i FILE…`, which would take the subcommand or the prompt.
std::vector<std::string> words_of(int argc, const char* const* argv) {
  const std::vector<std::string> given =
      with_exec_first(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  if (given.empty() || given.front() != "exec") return marked_words(argc, argv);
  const std::vector<std::string> apart = with_images_apart(given);
  std::vector<const char*> words = {argv[0]};
  for (const std::string& word : apart) words.push_back(word.c_str());
  auto marked = marked_words(static_cast<int>(words.size()), words.data());
  // What stands behind it has its marks; the parser would take it for the end of the command.
  std::erase(marked, "--");
  return marked;
}

/// The exit code as --exit-map has it.
int mapped(int code, const CommandTable& table) {
  return is_retryable(static_cast<ExitCode>(code)) ? table.retryable_code.value_or(code) : code;
}

/// A descriptor 0, 1 or 2 that the caller closed would be taken by the first file opened, and then
/// be written to by mistake.
void open_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // Not the other way round: writing to a closed stdout has to fail, not to succeed unseen.
    const int opened = ::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
    (void)opened;  // takes the lowest free number, which is `descriptor`
  }
}

/// Files that their owner can't read, write or enter would stop sortie at its own files; and nobody
/// else may write to its files, such as a result.
void keep_own_rights() {
  const mode_t caller = ::umask(S_IRWXO);
  ::umask((caller & ~static_cast<mode_t>(S_IRWXU)) | S_IWOTH);
}

struct KnownCommand {
  std::string_view name;
  void (*add)(CommandTable& table);
};

/// In the order of the help.
constexpr KnownCommand kCommands[] = {
    {"run", add_run},
    {"exec", add_exec},
    {"batch", add_batch},
    {"init", add_init},
    {"verify", add_verify},
    {"land", add_land},
    {"report", add_report},
    {"show", add_show},
    {"replay", add_replay},
    {"policy", add_policy},
    {"task", add_task},
    {"sandbox", add_sandbox},
    {"apply-patch", add_apply_patch},
    {"schema", add_schema},
    {"doctor", add_doctor},
    {"completion", add_completion},
};

/// Adds the command that the words begin with: the flags of all are a tenth of the start of a run. Adds
/// all of them if the words begin with none, and for the completion, which is of all.
/// @param words  the last one first, as the parser takes them
void add_commands(CommandTable& table, const std::vector<std::string>& words) {
  const auto named = std::find_if(
      std::begin(kCommands), std::end(kCommands),
      [&words](const KnownCommand& one) { return !words.empty() && words.back() == one.name; });
  if (named != std::end(kCommands) && named->add != add_completion) return named->add(table);
  for (const KnownCommand& one : kCommands) one.add(table);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  set_up_signals();
  open_standard_descriptors();
  keep_own_rights();
  if (const std::string problem = widen_stack(); !problem.empty()) {
    print_error("sortie: environment (7): " + problem + "\n");
    return static_cast<int>(ExitCode::environment);
  }
  // Large blocks go back to the machine when they are freed. Otherwise the threshold grows with
  // the first of them, and the heap keeps the peak of the largest response or output.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  CLI::App root(
      "One-shot batch runner for coding agents: a task and a policy in, a diff and a "
      "transcript out.",
      "sortie");
  root.set_version_flag("-V,--version", version_text());
  root.footer("Example:\n  sortie run task.yaml --policy policy.yaml --out sortie-out");
  root.require_subcommand(1);
  bool manual = false;
  root.add_flag("--man", manual, "Print the man page")->group("");
  OutputStyle style;
  CommandTable table{root, style, {}, {}};
  try {
    const std::vector<std::string> words = words_of(argc, argv);
    add_commands(table, words);
    take_words_as_given(root);
    if (argc == 2 && std::string_view(argv[1]) == "--man") return print(man_page(root));
    return mapped(run_parsed(root, table, words), table);
  } catch (const std::exception& error) {
    return mapped(fail(failure_of(error)), table);
  }
}

}  // namespace sortie

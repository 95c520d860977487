// What the strict reader lists is compared with what bash executes: a PATH of stubs that record
// their argv, tens of thousands of generated scripts, one bash process a script.
#include <fcntl.h>
#include <fnmatch.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "policies/engine/engine.h"
#include "policies/shell/script.h"
#include "tests/policies/policies.h"
#include "tests/policies/shell/script_generator.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
namespace fs = std::filesystem;

namespace {

using Argv = std::vector<std::string>;

constexpr const char* kBash = "/bin/bash";

const std::vector<std::string> kPlainNames = {"aa", "bb", "c-c", "d.d", "e_e", "f+g", "7h", "22"};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string base_name(const std::string& word) { return word.substr(word.rfind('/') + 1); }

/// What one run of bash did.
struct Observed {
  std::vector<Argv> commands;  ///< in the order in which they started
  std::string errors;          ///< stderr
  int status = 0;
};

/// A folder of stubs, a folder to work in with files that globs find, and bash.
class Oracle {
 public:
  Oracle() {
    for (const std::string& name : kPlainNames) add_stub(name);
    for (const char* number : {"nproc", "getconf"})
      fs::create_symlink(fs::path("/usr/bin") / number, bin() / number);
    for (const char* file :
         {"a.c", "b.c",  "ab",  "a",  "b",   "x y.c",   "in.txt",     "src/a.c", "src/b", "src/-n",
          "-n",  "-x.c", "*",   "[",  "xzy", ".hidden", "\xc3\xa9.c", "~",       "a#b",   "=a",
          "]",   "a\\b", "\\*", "-v", "-c",  "-R",      "--",         "-exec"}) {
      write_file(work() / file, "");
    }
    write_file(record_, "");
    std::ifstream names(builtins_list());
    std::string disable = "enable -n";
    for (std::string name; std::getline(names, name);) {
      builtins_.push_back(name);
      disable += " " + name;
    }
    write_file(no_builtins_, disable + "\n");
  }

  fs::path bin() const { return folder_ / "bin"; }
  fs::path work() const { return folder_ / "work"; }
  const std::vector<std::string>& builtins() const { return builtins_; }
  bool is_builtin(const std::string& name) const {
    return std::find(builtins_.begin(), builtins_.end(), name) != builtins_.end();
  }
  void add_stub(const std::string& name) {
    if (!stubs_.insert(name).second) return;
    fs::create_directories(bin());
    fs::create_hard_link(stub_copy(), bin() / name);
  }

  /// @param disable_builtins  each name is then a stub's, also that of a builtin
  Observed run(const std::string& script, const std::string& failing, bool disable_builtins) {
    if (::truncate(record_.c_str(), 0) != 0) throw std::runtime_error("truncate");
    std::vector<std::string> variables = {"PATH=" + bin().string(), "RECORD=" + record_.string(),
                                          "FAILING=" + failing, "LC_ALL=C.UTF-8"};
    if (disable_builtins) variables.push_back("BASH_ENV=" + no_builtins_.string());
    Observed observed;
    observed.status = spawn({kBash, "--noprofile", "--norc", "-c", script}, variables, "/dev/null");
    observed.errors = read_file(errors_);
    const std::string record = read_file(record_);
    std::size_t at = 0;
    const auto next = [&] {
      const auto end = record.find('\0', at);
      return record.substr(std::exchange(at, end + 1), end - at);
    };
    while (at < record.size()) {
      Argv argv(static_cast<std::size_t>(std::stoi(next())));
      for (std::string& word : argv) word = next();
      observed.commands.push_back(std::move(argv));
    }
    return observed;
  }

 private:
  fs::path stub_copy() {
    const fs::path copy = folder_ / "stub";
    if (!fs::exists(copy)) fs::copy_file(SORTIE_RECORDING_STUB, copy);
    return copy;
  }

  fs::path builtins_list() {
    const fs::path list = folder_ / "builtins";
    spawn({kBash, "--noprofile", "--norc", "-c", "compgen -b"}, {}, list);
    return list;
  }

  int spawn(Argv argv, std::vector<std::string> variables, const fs::path& output) {
    std::vector<char*> words;
    for (std::string& word : argv) words.push_back(word.data());
    words.push_back(nullptr);
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    fs::create_directories(work());
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT, 0600);
    ::posix_spawn_file_actions_addopen(&actions, 2, errors_.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       0600);
    ::posix_spawn_file_actions_addchdir_np(&actions, work().c_str());
    pid_t child = 0;
    // Bash and its children start with the signal ignored and can't change that. Else a subshell
    // that writes into a pipe (`time`, an error) dies or not by when the reader ended.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    const int failed =
        ::posix_spawn(&child, kBash, &actions, nullptr, words.data(), environment.data());
    std::signal(SIGPIPE, before);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error("bash can't be started");
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  test::TemporaryFolder folder_;
  fs::path record_ = folder_ / "record";
  fs::path errors_ = folder_ / "errors";
  fs::path no_builtins_ = folder_ / "no_builtins";
  std::set<std::string> stubs_;
  std::vector<std::string> builtins_;
};

/// Whether the command's redirections let it start.
bool starts(const SimpleCommand& command, const fs::path& work) {
  return std::all_of(command.redirections.begin(), command.redirections.end(),
                     [&](const ScriptRedirection& redirection) {
                       return redirection.kind != ScriptRedirection::Kind::input ||
                              fs::exists(work / redirection.file);
                     });
}

/// What runs by the reader's listing: an oracle of its own for links, loops and conditions, so that
/// one misread is seen.
class Expected {
 public:
  using Group = std::vector<const SimpleCommand*>;

  Expected(const ScriptReading& reading, const std::string& failing, const fs::path& work)
      : commands_(reading.commands), failing_(failing), work_(work) {
    run(reading.root, groups_);
  }
  /// Those of one pipeline in a group.
  const std::vector<Group>& groups() const { return groups_; }

 private:
  /// @return whether it succeeds
  bool run(const ScriptNode& node, std::vector<Group>& groups) {
    return run_plain(node, groups) != node.negated;
  }

  bool run_plain(const ScriptNode& node, std::vector<Group>& groups) {
    using Kind = ScriptNode::Kind;
    if (node.kind == Kind::command) return run_command(commands_[node.command], groups);
    if (node.kind == Kind::pipeline) return run_pipeline(node, groups);
    if (node.kind == Kind::choice) return run_choice(node, groups);
    bool succeeded = true;
    for (const ScriptNode& part : node.parts) {
      const ScriptLink link = &part == &node.parts.front() ? ScriptLink::then : part.link;
      const bool skipped = link == ScriptLink::and_then  ? !succeeded
                           : link == ScriptLink::or_else ? succeeded
                                                         : false;
      if (!skipped) succeeded = run(part, groups);
    }
    return succeeded;
  }

  bool run_command(const SimpleCommand& command, std::vector<Group>& groups) {
    if (!starts(command, work_)) return false;
    groups.push_back({&command});
    return failing_.find('/' + base_name(command.words[0].text) + '/') == std::string::npos;
  }

  bool run_pipeline(const ScriptNode& node, std::vector<Group>& groups) {
    Group all;
    bool succeeded = true;
    for (const ScriptNode& part : node.parts) {
      std::vector<Group> inner;
      succeeded = run(part, inner);
      for (const Group& group : inner) all.insert(all.end(), group.begin(), group.end());
    }
    groups.push_back(std::move(all));
    return succeeded;
  }

  bool run_choice(const ScriptNode& node, std::vector<Group>& groups) {
    for (std::size_t i = 0; i + 1 < node.parts.size(); i += 2)
      if (run(node.parts[i], groups)) return run(node.parts[i + 1], groups);
    return node.parts.size() % 2 == 0 || run(node.parts.back(), groups);
  }

  const std::vector<SimpleCommand>& commands_;
  const std::string& failing_;
  const fs::path& work_;
  std::vector<Group> groups_;
};

/// The word as a glob of fnmatch.
std::string as_glob(std::string text) {
  for (auto at = text.find(kNumberMark); at != std::string::npos; at = text.find(kNumberMark))
    text.replace(at, 1, "[0-9]*");
  return text;
}

/// The same where it matches no file and stays as it is.
std::string as_literal(const std::string& text) {
  std::string literal;
  for (const char c : text) {
    if (std::string("*?[]\\").find(c) != std::string::npos) literal += '\\';
    literal += c;
  }
  return as_glob(literal);
}

/// The same in a loop over a glob: `[a-z]"$f"` is listed as `[a-z]*.c`, and where no file's name
/// fits, bash leaves the set as it is, with a name behind it. The policy takes a set for anything.
std::string with_literal_sets(const std::string& text) {
  std::string glob;
  for (const char c : text) {
    if (std::string("[]\\").find(c) != std::string::npos) glob += '\\';
    glob += c;
  }
  return as_glob(glob);
}

/// Whether the command's words from `word` on can have become the argv from `at` on.
bool words_match(const SimpleCommand& command, std::size_t word, const Argv& argv, std::size_t at) {
  if (word == command.words.size()) return at == argv.size();
  if (at == argv.size()) return false;
  const ScriptWord& listed = command.words[word];
  const auto fits = [&](const std::string& glob) {
    return ::fnmatch(glob.c_str(), argv[at].c_str(), 0) == 0;
  };
  const bool stays = argv[at] == listed.text || (listed.glob && fits(as_literal(listed.text))) ||
                     (listed.glob && command.repeats && fits(with_literal_sets(listed.text)));
  if (stays && words_match(command, word + 1, argv, at + 1)) return true;
  if (!listed.glob) return false;
  // A glob: one or more names. Quoted letters of it stand for themselves, which is not seen here.
  for (; at < argv.size(); ++at) {
    const bool first_is_literal = std::string("*?[\x02").find(listed.text[0]) == std::string::npos;
    if (first_is_literal && argv[at][0] != listed.text[0]) return false;
    if (::fnmatch(as_glob(listed.text).c_str(), argv[at].c_str(), FNM_NOESCAPE) != 0) return false;
    if (words_match(command, word + 1, argv, at + 1)) return true;
  }
  return false;
}

/// Gives each command of a pipeline an argv of its own, since they start at the same time.
/// @return one for which none is left, or nullptr
const SimpleCommand* without_argv(const Expected::Group& group, std::span<const Argv> seen) {
  std::vector<std::size_t> owners(seen.size(), group.size());
  std::vector<bool> tried;
  const auto place = [&](const auto& self, std::size_t command) -> bool {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (tried[i] || !words_match(*group[command], 0, seen[i], 0)) continue;
      tried[i] = true;
      // Globs match much: the owner may do with another.
      if (owners[i] != group.size() && !self(self, owners[i])) continue;
      owners[i] = command;
      return true;
    }
    return false;
  };
  for (std::size_t command = 0; command < group.size(); ++command) {
    tried.assign(seen.size(), false);
    if (!place(place, command)) return group[command];
  }
  return nullptr;
}

/// "" where bash ran what was expected, in order, and nothing else.
std::string difference(const std::vector<Expected::Group>& groups, const std::vector<Argv>& seen) {
  std::size_t at = 0;
  for (const auto& group : groups) {
    if (seen.size() - at < group.size()) return "a command listed did not run";
    const auto* command = without_argv(group, std::span(seen).subspan(at, group.size()));
    if (command != nullptr) return "what ran instead of " + command->words[0].text;
    at += group.size();
  }
  return at == seen.size() ? "" : "a command ran that was not listed";
}

/// Whether each command that ran is listed: a loop over a glob lists its commands once.
bool each_is_listed(const std::vector<SimpleCommand>& commands, const std::vector<Argv>& seen) {
  return std::all_of(seen.begin(), seen.end(), [&](const Argv& argv) {
    return std::any_of(commands.begin(), commands.end(), [&](const SimpleCommand& command) {
      return words_match(command, 0, argv, 0);
    });
  });
}

std::string shown(const std::vector<Argv>& commands) {
  std::string text;
  for (const Argv& argv : commands) {
    for (const std::string& word : argv) text += '<' + word + "> ";
    text += '\n';
  }
  return text;
}

/// Runs an accepted script and compares. @return "" or what is wrong; nothing: it was not run,
/// since it names a program by a path that is none of the stubs
std::optional<std::string> check(Oracle& oracle, const std::string& script,
                                 const ScriptReading& reading, const std::string& failing,
                                 bool disable_builtins) {
  bool missing_input = false;
  for (const SimpleCommand& command : reading.commands) {
    const std::string& name = command.words[0].text;
    const bool is_path = name.find('/') != std::string::npos;
    if (is_path && name != (oracle.bin() / base_name(name)).string()) return std::nullopt;
    if (oracle.is_builtin(name)) disable_builtins = true;
    oracle.add_stub(base_name(name));
    missing_input = missing_input || !starts(command, oracle.work());
  }
  const Observed observed = oracle.run(script, failing, disable_builtins);
  std::string wrong =
      difference(Expected(reading, failing, oracle.work()).groups(), observed.commands);
  const bool repeats = std::any_of(reading.commands.begin(), reading.commands.end(),
                                   [](const SimpleCommand& each) { return each.repeats; });
  if (repeats && each_is_listed(reading.commands, observed.commands)) wrong.clear();
  const bool says_more = missing_input || script.find("time") != std::string::npos;
  if (wrong.empty() && !observed.errors.empty() && !says_more) wrong = observed.errors;
  if (wrong.empty()) return "";
  return wrong + "\nscript: " + script + "\nfailing: " + failing + "\nran:\n" +
         shown(observed.commands) + observed.errors;
}

/// Every line of these, with each command, and some twice.
std::vector<std::string> lines_that_run_others() {
  const char* const before[] = {"find . | xargs",
                                "find . -print0 | xargs -0",
                                "find src -name '*' -print0 | xargs -0 -n1",
                                "find src . -type f | sort | head -n 5 | xargs -r",
                                "ls | xargs",
                                "ls -a | xargs -n1 -P2",
                                "grep -rl '' . | xargs -t",
                                "ls | grep -v x | xargs -I{}",
                                "find . -print0 | xargs -0 -I{}",
                                "timeout 9",
                                "timeout -k 1 -s KILL 9",
                                "nice -n 5",
                                "nice -5",
                                "env CI=1 NO_COLOR=1",
                                "stdbuf -oL",
                                "env timeout 9 nice",
                                "find . -exec",
                                "find src -type f -exec",
                                "CI=1 time -p",
                                "for f in a 'x y.c' -n; do",
                                "for f in *; do",
                                "for f in ./*; do",
                                "if true; then",
                                "find . -name '*.c' | xargs rg",
                                "command",
                                "ls | xargs -d '\\n'",
                                "ls | xargs -0",
                                "echo /proc/self/environ | xargs",
                                "cat list | xargs",
                                "find / -maxdepth 1 | xargs",
                                "find . -printf '/proc/x ' | xargs",
                                "timeout -f 9",
                                "env -u CI",
                                "env PATH=.",
                                "nice -n"};
  const char* const commands[] = {"wc -l",     "cat",     "rg foo",   "rg foo --",  "rg -e --",
                                  "file",      "file --", "sort",     "du -h",      "stat -c %s",
                                  "sed -n 1p", "rm",      "git diff", "git log --", "rg -nz",
                                  "sh -c",     "cd",      "uniq",     "tool",       "lint -q"};
  std::vector<std::string> lines;
  for (const std::string first : before) {
    for (const std::string command : commands) {
      const bool loop = first.starts_with("for");
      std::string end = first.find("-exec") != std::string::npos  ? " {} +"
                        : first.find("-I{}") != std::string::npos ? " {}"
                        : loop                                    ? " \"$f\"; done"
                        : first.starts_with("if")                 ? " a; fi"
                                                                  : "";
      lines.push_back(first + ' ' + command + end);
      if (end == " {} +") lines.push_back(first + ' ' + command + " x{} \\;");
      if (loop) lines.push_back(first + ' ' + command + " $f; done");
      lines.push_back("cd src && " + lines.back());
    }
  }
  return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(script_oracle)

BOOST_AUTO_TEST_CASE(bash_runs_what_the_reader_lists_and_nothing_else) {
  if (::access(kBash, X_OK) != 0) {
    BOOST_TEST_MESSAGE("skipped: no " << kBash);
    return;
  }
  std::setlocale(LC_ALL, "C.UTF-8");  // globs count characters, here as in bash
  Oracle oracle;
  BOOST_REQUIRE(oracle.builtins().size() > 50);
  std::vector<std::string> names = kPlainNames;
  for (const char* builtin : {"echo", "[", "test", "cd", "export", "eval", "set", "printf"}) {
    names.emplace_back(builtin);
    oracle.add_stub(builtin);
  }
  const char* seed = std::getenv("SORTIE_ORACLE_SEED");
  const char* count = std::getenv("SORTIE_ORACLE_SCRIPTS");
  const int scripts = count == nullptr ? 24000 : std::atoi(count);
  tests::ScriptGenerator plain(seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10), kPlainNames,
                               oracle.bin());
  tests::ScriptGenerator with_builtins(plain.below(1u << 31), names, oracle.bin());

  int ran = 0;
  int refused = 0;
  int wrong = 0;
  for (int i = 0; i < scripts && wrong < 20; ++i) {
    const bool disable_builtins = i % 4 == 3;
    tests::ScriptGenerator& generator = disable_builtins ? with_builtins : plain;
    const std::string script = generator.script();
    std::string failing = "/";
    for (const std::string& name : names) {
      if (generator.below(10) < 3) failing += name + '/';
    }
    const ScriptReading reading = read_script(script);
    if (reading.refused) {
      ++refused;
      continue;
    }
    const auto found = check(oracle, script, reading, failing, disable_builtins);
    if (!found) continue;
    ++ran;
    if (found->empty()) continue;
    ++wrong;
    BOOST_ERROR(*found);
  }
  BOOST_TEST_MESSAGE(scripts << " scripts, " << ran << " read and run, " << refused << " refused");
  // The generator reaches both sides of the border.
  BOOST_TEST(ran > scripts / 3);
  BOOST_TEST(refused > scripts / 4);
}

BOOST_AUTO_TEST_CASE(no_glob_becomes_an_option_that_runs_or_sets_something) {
  if (::access(kBash, X_OK) != 0) {
    BOOST_TEST_MESSAGE("skipped: no " << kBash);
    return;
  }
  const test::TemporaryFolder folder;
  // What a glob may become, and what a PATH of "0" or "x" would find.
  for (const char* file : {"-v", "-R", "-c", "-S", "-o", "--", "-", "a", "%n", "PATH", "x"})
    write_file(folder.path() / file, "");
  const fs::path trace = folder.path() / "ran";
  const std::string payload = "'a[$(echo >" + trace.string() + ")]'";
  write_file(folder.path() / "0" / "ls", "#!/bin/sh\necho >" + trace.string() + "\n");
  fs::permissions(folder.path() / "0" / "ls", fs::perms::owner_all);

  std::vector<CommandRule> rules;
  for (const char* name : {"test", "[", "printf", "command", "bash", "env", "echo"})
    rules.push_back(tests::command_rule(Effect::allow, {{name}}));
  const Policy policy = tests::strict_policy(rules);
  const Engine engine(policy, policy.approval, folder.path(), {}, {"/usr/bin", "/bin"});
  int allowed = 0;
  for (const std::string name : {"test", "[", "printf", "command", "bash", "echo"}) {
    for (const std::string first : {"?v", "[-]v", "*v", "-*", "?R", "?c", "*", "?n", "--", "./-v",
                                    "'%s\\n'", "%n", "'%d'", "a*", "!"}) {
      for (const std::string& second : {payload, std::string("PATH"), std::string("?v " + payload),
                                        "'echo >" + trace.string() + "'"}) {
        std::string script = name + " " + first + " " + second;
        if (name == "[") script += " ]";
        script += "; ls";
        if (engine.decide(RunCommand{{"bash", "-c", script}, folder.path()}).effect !=
            Effect::allow)
          continue;
        ++allowed;
        const std::string line = "cd '" + folder.path().string() +
                                 "' && exec env - PATH=/usr/bin:/bin " + std::string(kBash) +
                                 " -c \"$SCRIPT\" >/dev/null 2>&1 </dev/null";
        ::setenv("SCRIPT", script.c_str(), 1);
        (void)!std::system(line.c_str());
        BOOST_TEST(!fs::exists(trace), script);
        fs::remove(trace);
      }
    }
  }
  ::unsetenv("SCRIPT");
  BOOST_TEST(allowed > 20);
}

BOOST_AUTO_TEST_CASE(what_a_wrapper_find_xargs_or_a_loop_runs_is_allowed_by_itself) {
  if (::access(kBash, X_OK) != 0) {
    BOOST_TEST_MESSAGE("skipped: no " << kBash);
    return;
  }
  Oracle oracle;
  for (const char* real :
       {"find", "xargs", "timeout", "nice", "env", "stdbuf", "ls", "grep", "head", "true", "echo"})
    if (const fs::path program = fs::path("/usr/bin") / real; fs::exists(program))
      fs::create_symlink(program, oracle.bin() / real);
  for (const char* stub : {"wc", "cat", "rg", "file", "sort", "du", "stat", "sed", "rm", "git",
                           "sh", "uniq", "tool", "lint"})
    oracle.add_stub(stub);
  for (const char* file : {"--pre=x", "-z", "a'b", "a\nb", "src/--output=x", "src/a b", "\"", "-C"})
    write_file(oracle.work() / file, "");
  const Policy policy =
      tests::strict_policy({tests::command_rule(Effect::allow, {{"tool"}}),
                            tests::command_rule(Effect::allow, {{"lint"}},
                                                {"-[!q]*", "--*", "/*", "..", "../*", "*/.."})});
  const Engine engine(policy, policy.approval, oracle.work(), {}, {"/usr/bin", "/bin"});
  int allowed = 0;
  for (const std::string& line : lines_that_run_others()) {
    const RunCommand command{{"bash", "-c", line}, oracle.work()};
    if (engine.decide(command).effect != Effect::allow) continue;
    ++allowed;
    for (const Argv& argv : oracle.run(line, "/", false).commands) {
      // Only what a run may look up: `cd src` changes nothing about these words.
      const Decision decision = engine.decide(RunCommand{argv, oracle.work() / "src"});
      BOOST_TEST((decision.effect == Effect::allow), line << " ran " << shown({argv}));
    }
  }
  BOOST_TEST(allowed > 150);
}

BOOST_AUTO_TEST_SUITE_END()

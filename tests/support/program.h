#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/json/json.h"

namespace sortie::test {

/// How to start a program.
struct ProgramStart {
  std::vector<std::string> argv;
  std::filesystem::path folder;                    ///< its current folder; "" is the test's
  std::map<std::string, std::string> environment;  ///< added to the test's own; "" unsets
  std::string input;                               ///< its stdin; then its end
  bool close_output = false;                       ///< stdout is a pipe that nobody reads
  bool leave_output = false;                       ///< stdout is a pipe that is never read
  std::optional<uid_t> uid;                        ///< run as this user and group
  /// Its stdout is the event stream of a run: checked at its end, see ProgramEnd::events.
  bool shows_events = false;
};

/// Who starts a program, and what the system lets it have.
struct Caller {
  const char* name = "";
  std::optional<uid_t> uid;  ///< nothing: the test's own user
  bool namespaces = true;    ///< false: refused, as in a container engine's default profile
};

/// Root and an ordinary user, each with and without namespaces, as far as this user can play them.
std::vector<Caller> all_callers();

/// The same program, started by this caller.
ProgramStart as_caller(const Caller& caller, ProgramStart start);

/// Makes the tree the user's own, where this process may.
void give_to(const std::filesystem::path& tree, std::optional<uid_t> uid);

/// How a program ended.
struct ProgramEnd {
  int status = -1;  ///< exit code, or 128 + signal
  std::string output;
  std::string errors;
  /// Of a run that shows them: what it printed. `output` is what it would have printed otherwise:
  /// the final message of a success.
  std::vector<Json> events{};
  /// All that it printed on both, for searches.
  std::string printed() const;
};

/// A program under way; killed with its group when this object goes.
class Program {
 public:
  explicit Program(const ProgramStart& start);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  /// Reads stderr until it holds the text; false when the program ended before that.
  bool wait_for_error_text(const std::string& text);
  /// The same of its stdout.
  bool wait_for_output_text(const std::string& text);
  /// Reads everything and waits; a program that takes longer than the limit is killed, with
  /// status 137.
  ProgramEnd finish(std::chrono::seconds limit = std::chrono::seconds(120));

 private:
  void take_events();
  bool read_some(std::chrono::milliseconds wait);

  pid_t pid_ = -1;
  Fd output_;
  Fd left_;  ///< stdout's end that nobody reads
  Fd errors_;
  Fd input_;
  bool shows_events_ = false;
  ProgramEnd end_;
};

/// Starts it and waits for its end.
ProgramEnd run_program(const ProgramStart& start);

/// The program that is tested.
std::string sortie_binary();

/// Copies a folder tree with its modes and links.
void copy_tree(const std::filesystem::path& from, const std::filesystem::path& to);

/// Every file of a tree: path → mode, kind and content in one string; to compare two trees.
std::map<std::string, std::string> read_tree(const std::filesystem::path& root);

/// The ids of processes whose command line holds the text.
std::vector<pid_t> processes_with(const std::string& text);

}  // namespace sortie::test

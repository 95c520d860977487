// What a user names on the command line, to be read or to be written: files, pipes, devices.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <list>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/base/patient_io.h"
#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

bool says(const ProgramEnd& end, const std::string& part) {
  return end.errors.find(part) != std::string::npos;
}

void write_good_task(const RunFolder& folder, const std::string& more = {}) {
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > b"}).next().message("done"),
                    "policy: auto\n" + more);
}

/// A run whose diff is too large for a pipe.
void write_large_task(const RunFolder& folder) {
  folder.write_task(CassetteWriter().shell({"sh", "-c", "seq 100000 > b"}).next().message("done"),
                    "policy: auto\n");
}

fs::path make_fifo(const RunFolder& folder, const std::string& name) {
  BOOST_REQUIRE(::mkfifo(folder.path(name).c_str(), 0600) == 0);
  return folder.path(name);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(named_streams)

BOOST_AUTO_TEST_CASE(a_device_or_pipe_is_written_into_and_stays_what_it_is) {
  const RunFolder folder;
  write_good_task(folder);
  const fs::path fifo = make_fifo(folder, "fifo");
  fs::create_symlink("/dev/null", folder.path("link"));
  struct stat null {};
  BOOST_REQUIRE(::stat("/dev/null", &null) == 0);

  Program run(folder.start({"--diff", fifo.string(), "-o", folder.path("link").string()}));
  const Fd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const ReadBytes read = read_to_end(reader.get(), {.quiet = std::chrono::seconds(60)});
  const ProgramEnd end = run.finish();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(read.bytes == folder.artifact("changes.diff"));
  BOOST_TEST(fs::is_fifo(fifo));
  BOOST_TEST(fs::is_symlink(folder.path("link")));
  struct stat now {};
  BOOST_TEST((::lstat("/dev/null", &now) == 0 && now.st_ino == null.st_ino));
}

BOOST_AUTO_TEST_CASE(a_descriptor_of_the_shell_is_written_to) {
  const RunFolder folder;
  write_good_task(folder);
  ProgramStart start = folder.plain_start({"--diff", "/dev/fd/5"});
  start.argv.insert(start.argv.begin(), {"sh", "-c", "exec \"$0\" \"$@\" 5> five"});

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(read_file(folder.path("five")) == folder.artifact("changes.diff"));
}

BOOST_AUTO_TEST_CASE(a_dash_or_a_name_of_stdout_is_stdout_and_one_may_have_it) {
  const RunFolder folder;
  write_good_task(folder);
  for (const char* name : {"-", "/dev/stdout", "/proc/self/fd/1"}) {
    const ProgramEnd end = run_program(folder.plain_start({"--diff", name}));
    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(end.output == folder.artifact("changes.diff"));
  }
  const ProgramEnd message = run_program(folder.plain_start({"-o", "-"}));
  BOOST_TEST(message.status == 0, message.errors);
  BOOST_TEST(message.output == "done\n");
  BOOST_TEST(!fs::exists(folder.path("-")));
  const std::vector<std::vector<std::string>> two_of_them = {
      {"--json", "-o", "-"}, {"--json", "--diff", "/dev/stdout"}, {"--diff", "-", "-o", "-"}};
  for (const auto& flags : two_of_them) {
    const ProgramEnd end = run_program(folder.plain_start(flags));
    BOOST_TEST(end.status == 2);
    BOOST_TEST(says(end, "both want stdout"), end.errors);
  }
}

BOOST_AUTO_TEST_CASE(what_must_not_be_replaced_is_refused_before_anything_starts) {
  const RunFolder folder;
  write_good_task(folder, "prompt_file: prompt.md\n");
  folder.write("task.yaml",
               "version: 1\nprompt_file: prompt.md\nworkspace: {path: work}\npolicy: policy.yaml\n"
               "vars: {a: {default: x}}\n"
               "model: {provider: replay, cassette: cassette.jsonl}\n");
  folder.write("prompt.md", "Do it.\n");
  folder.write("base.yaml", "version: 1\nextends: auto\n");
  folder.write("policy.yaml", "version: 1\nextends: ./base.yaml\n");
  folder.write("vars", "a=b\n");
  folder.write("target", "mine\n");
  fs::create_symlink(folder.path("target"), folder.path("link"));
  fs::create_symlink(folder.path("nowhere"), folder.path("dangling"));
  fs::create_hard_link(folder.path("task.yaml"), folder.path("same-as-task"));
  folder.write("plain", "x");
  const struct {
    std::string name;
    const char* why;
  } rows[] = {
      {"task.yaml", "is the task"},
      {"same-as-task", "is the task"},
      {"prompt.md", "is a prompt of the task"},
      {"cassette.jsonl", "is a file of the task"},
      {"policy.yaml", "is a file of the policy"},
      {"base.yaml", "is a file of the policy"},
      {"vars", "is the --var-file"},
      {"link", "is a link"},
      {"dangling", "is a link"},
      {"work", "is a folder"},
      {"no/such/folder", "its folder no/such"},
      {"plain/x", "Not a directory"},
      {"out/changes.diff", "lies in --out"},
      {"out/new", "lies in --out"},
      {"/dev/fd/77", "descriptor 77 is not open"},
      {"/dev/stdin", "is open only for reading"},
  };
  const auto before = read_tree(folder.path(""));
  for (const char* flag : {"--diff", "-o", "--record"}) {
    for (const auto& row : rows) {
      const ProgramEnd end = run_program(
          folder.plain_start({flag, row.name, "--var-file", "vars", "--provider", "local", "-m",
                              "m", "--base-url", "http://127.0.0.1:9/v1"}));
      BOOST_TEST(end.status == 2, flag << " " << row.name << ": " << end.errors);
      BOOST_TEST(says(end, row.why), flag << " " << row.name << ": " << end.errors);
    }
  }
  const ProgramEnd twice = run_program(folder.plain_start({"--diff", "x", "-o", "./x"}));
  BOOST_TEST(twice.status == 2);
  BOOST_TEST(says(twice, "is the same file"), twice.errors);
  BOOST_TEST((read_tree(folder.path("")) == before));
}

BOOST_AUTO_TEST_CASE(a_base_that_is_not_there_is_told_before_the_work) {
  const RunFolder folder;
  write_good_task(folder, "output: {diff: {base: head}}\n");

  const ProgramEnd end = run_program(folder.plain_start());

  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(says(end, "the workspace has no commit"), end.errors);
  BOOST_TEST(!fs::exists(folder.out()));
}

BOOST_AUTO_TEST_CASE(an_empty_flag_is_an_error_and_not_left_out) {
  const RunFolder folder;
  write_good_task(folder);
  for (const std::string flag :
       {"--policy",     "--approval",  "-C",       "--out",      "--diff",      "-o",
        "--var",        "--var-file",  "-m",       "--provider", "--base-url",  "--api-key-file",
        "--api-key-fd", "--auth-file", "--replay", "--record",   "--isolation", "--max-turns",
        "--max-tokens", "--max-cost",  "--timeout"}) {
    for (const bool glued : {false, true}) {
      if (glued && !flag.starts_with("--")) continue;
      ProgramStart start = folder.plain_start();
      if (glued) {
        start.argv.push_back(flag + "=");
      } else {
        start.argv.push_back(flag);
        start.argv.emplace_back("");
      }
      const ProgramEnd end = run_program(start);
      BOOST_TEST(end.status == 2, flag << ": " << end.errors);
      BOOST_TEST(says(end, "is empty"), flag << ": " << end.errors);
    }
  }
  BOOST_TEST(!fs::exists(folder.out()));
}

BOOST_AUTO_TEST_CASE(words_reach_a_command_and_a_variable_as_they_were_given) {
  const RunFolder folder;
  folder.write("task.yaml",
               "version: 1\nprompt: '<{{a}}>'\nvars: {a: {}, b: {default: none}}\n"
               "workspace: {path: work}\nmodel: {provider: replay, cassette: c}\n");
  folder.write("c", R"({"sse":""})");
  for (const std::string value : {"[x]", "[]", "[a,b]", "[a=x,b=y]", "{}", "%%", "++", "a=b"}) {
    for (const bool glued : {false, true}) {
      ProgramStart start;
      start.argv = {sortie_binary(), "task", "check", folder.task().string()};
      if (glued) {
        start.argv.push_back("--var=a=" + value);
      } else {
        start.argv.insert(start.argv.end(), {"--var", "a=" + value});
      }
      const ProgramEnd end = run_program(start);
      BOOST_TEST(end.status == 0, value << end.errors);
      BOOST_TEST(end.output.find("<" + value + ">") != std::string::npos, value << end.output);
    }
  }
  const std::vector<std::string> words = {"[x]", "[]", "[a,b]", "", "{}", "%%", "++", "--", "-v"};
  for (const std::string& word : words) {
    ProgramStart start;
    start.argv = {sortie_binary(), "policy", "check", "strict", "--", word};
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == 3, "'" << word << "' " << end.output << end.errors);
  }
  ProgramStart start;
  start.argv = {sortie_binary(), "sandbox", "--policy", "auto", "--", "printf", "<%s>"};
  start.argv.insert(start.argv.end(), words.begin(), words.end());
  start.folder = folder.workspace();
  const ProgramEnd end = run_program(start);
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "<[x]><[]><[a,b]><><{}><%%><++><--><-v>");
}

// One test, since all of them wait for as long as the limits are: beside each other.
BOOST_AUTO_TEST_CASE(whoever_neither_writes_nor_reads_is_not_waited_for_without_end) {
  const RunFolder folder;
  write_good_task(folder);
  const std::string fifo = make_fifo(folder, "fifo").string();
  folder.write("of-pipe.yaml",
               "version: 1\nprompt: x\nworkspace: {path: work}\npolicy: auto\n"
               "model: {provider: replay, cassette: fifo}\n");
  const RunFolder large;
  write_large_task(large);
  const RunFolder to_pipe;
  write_good_task(to_pipe);
  const std::string unread = make_fifo(to_pipe, "unread").string();
  const auto command = [&](std::vector<std::string> arguments) {
    ProgramStart start = folder.plain_start();
    start.argv = {sortie_binary()};
    start.argv.insert(start.argv.end(), arguments.begin(), arguments.end());
    return start;
  };
  std::string task = folder.task().string();
  ProgramStart stalled = large.plain_start({"--diff", "-"});
  stalled.leave_output = true;
  folder.write("long.yaml", "version: 1\nprompt: " + std::string(200'000, 'x') +
                                "\nworkspace: {path: work}\n"
                                "model: {provider: replay, cassette: cassette.jsonl}\n");
  ProgramStart check = command({"task", "check", folder.path("long.yaml").string()});
  check.leave_output = true;
  const RunFolder kept;
  const Fd lock(::open(kept.workspace().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  BOOST_REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
  ProgramStart patch =
      command({"apply-patch", "*** Begin Patch\n*** Add File: b\n+b\n*** End Patch"});
  patch.folder = kept.workspace();
  const Pipe never = make_pipe();
  ::fcntl(never.read.get(), F_SETFD, 0);
  const struct {
    ProgramStart start;
    int status;
    const char* why;
  } rows[] = {
      {command({"run", fifo}), 2, "no byte for 10 s"},
      {command({"run", task, "--policy", fifo}), 2, "no byte for 10 s"},
      {command({"run", task, "--var-file", fifo}), 2, "no byte for 10 s"},
      {command({"run", task, "--replay", fifo}), 2, "no byte for 10 s"},
      {command({"run", folder.path("of-pipe.yaml").string()}), 2, "no byte for 10 s"},
      {command({"run", "/dev/fd/" + std::to_string(never.read.get())}), 2, "no byte for 10 s"},
      {command({"run", task, "--replay", "/dev/zero"}), 2, "is larger than 67108864 bytes"},
      {command({"run", "/dev/zero"}), 2, "is larger than 1048576 bytes"},
      {stalled, 7, "stdout: its reader took nothing for 30 s"},
      {check, 7, "stdout: its reader took nothing for 30 s"},
      {to_pipe.plain_start({"--diff", unread}), 7, "its reader took nothing for 30 s"},
      {patch, 12, "kept this folder locked for 30 s"},
  };
  std::list<Program> programs;
  for (const auto& row : rows) programs.emplace_back(row.start);

  auto program = programs.begin();
  for (const auto& row : rows) {
    const ProgramEnd end = (program++)->finish();
    BOOST_TEST(end.status == row.status, row.why << ": " << end.errors);
    BOOST_TEST(says(end, row.why), end.errors);
  }
  BOOST_TEST(!fs::exists(kept.path("work/b")));
  BOOST_TEST(!fs::exists(large.out() / "changes.diff"));
  BOOST_TEST(fs::exists(large.out() / "partial.diff"));
}

BOOST_AUTO_TEST_CASE(a_pipe_that_is_written_to_is_read_wherever_a_flag_names_a_file) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"),
                    "policy: auto\nexpect: {changes: any}\n"
                    "vars: {a: {default: x}}\n");
  const std::string sortie = sortie_binary();
  for (const std::string words :
       {"<(cat task.yaml) --replay cassette.jsonl", "task.yaml --replay <(cat cassette.jsonl)",
        "task.yaml --var-file <(echo a=b)", "task.yaml --policy <(echo 'version: 1')",
        "/dev/stdin --replay cassette.jsonl < <(cat task.yaml)", "- < <(cat task.yaml)",
        "/proc/self/fd/9 --replay cassette.jsonl 9< task.yaml"}) {
    ProgramStart start = folder.plain_start();
    start.argv = {"bash", "-c", "exec '" + sortie + "' run -q --fresh -C work " + words};

    const ProgramEnd end = run_program(start);

    BOOST_TEST(end.status == 0, words << ": " << end.errors);
  }
}

BOOST_AUTO_TEST_CASE(verify_waits_for_no_pipe) {
  const RunFolder folder;
  write_good_task(folder);
  BOOST_REQUIRE(folder.run().status == 0);
  const auto verify = [&] {
    ProgramStart start;
    start.argv = {sortie_binary(), "verify", folder.out().string()};
    return run_program(start);
  };
  BOOST_REQUIRE(verify().status == 0);
  for (const char* name : {"result.json", "changes.diff", "transcript.jsonl"}) {
    const fs::path file = folder.out() / name;
    fs::rename(file, folder.path("kept"));
    BOOST_REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    BOOST_TEST((verify().status == 8 || verify().status == 2), name);
    fs::remove(file);
    fs::create_symlink("/dev/zero", file);
    BOOST_TEST((verify().status == 8 || verify().status == 2), name);
    fs::remove(file);
    fs::rename(folder.path("kept"), file);
  }
}

BOOST_AUTO_TEST_CASE(a_pipe_that_is_called_an_ignore_file_is_not_opened) {
  const RunFolder folder;
  folder.write("work/a", "a\n");
  folder.commit_workspace();
  for (const char* name : {".gitignore", ".gitattributes"}) {
    write_good_task(folder);
    BOOST_REQUIRE(::mkfifo((folder.workspace() / name).c_str(), 0600) == 0);

    const ProgramEnd end = run_program(folder.plain_start({"--fresh"}));

    BOOST_TEST(end.status == 7, end.errors);
    BOOST_TEST(says(end, name), end.errors);
    fs::remove(folder.workspace() / name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

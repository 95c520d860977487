#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/end_to_end/command_run.h"
#include "tests/support/git_repository.h"
#include "tests/support/images.h"
#include "tests/support/run_folder.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// A run of one harmless command.
void write_plain_task(const RunFolder& folder, const std::string& more = "") {
  folder.write("work/a.txt", "a\n");
  folder.write_task(CassetteWriter().shell({"ls"}).next().message("done"),
                    "policy: strict\nexpect: {changes: any}\n" + more);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_places)

BOOST_AUTO_TEST_CASE(a_pipe_in_out_is_not_waited_for) {
  const RunFolder folder;
  write_plain_task(folder);
  folder.write("out/.lock", "1");
  BOOST_REQUIRE(::mkfifo((folder.out() / "result.json").c_str(), 0644) == 0);

  BOOST_TEST(folder.run().status == 2);
  BOOST_TEST(folder.run({"--fresh"}).status == 2);  // no run wrote it

  fs::remove(folder.out() / "result.json");
  BOOST_REQUIRE(folder.run().status == 0);
  fs::remove(folder.out() / "result.json");
  BOOST_REQUIRE(::mkfifo((folder.out() / "result.json").c_str(), 0644) == 0);
  BOOST_TEST(folder.run().status == 0);  // the transcript proves a run, and tells how it ended
  BOOST_TEST(fs::is_regular_file(folder.path("out/result.json")));
}

BOOST_AUTO_TEST_CASE(a_pipe_among_gits_files_is_not_waited_for) {
  for (const char* name : {"HEAD's object", "refs/heads/main", "objects/info/commit-graph"}) {
    BOOST_TEST_CONTEXT(name) {
      const RunFolder folder;
      write_plain_task(folder);
      make_repository(folder.workspace());
      commit_all(folder.workspace());
      const std::string id = git(folder.workspace(), {"rev-parse", "HEAD"}).substr(0, 40);
      const fs::path pipe = folder.workspace() / ".git" /
                            (name == std::string_view("HEAD's object")
                                 ? fs::path("objects") / id.substr(0, 2) / id.substr(2)
                                 : fs::path(name));
      fs::remove(pipe);
      fs::create_directories(pipe.parent_path());
      BOOST_REQUIRE(::mkfifo(pipe.c_str(), 0644) == 0);

      const ProgramEnd run = folder.run();
      ProgramStart start{.argv = {sortie_binary(), "sandbox", "--", "true"}};
      start.folder = folder.workspace();
      const ProgramEnd sandbox = run_program(start);

      for (const ProgramEnd* end : {&run, &sandbox}) {
        BOOST_TEST(end->status == 0, end->errors);
        BOOST_TEST(end->errors.find("git would block on it") != std::string::npos, end->errors);
        BOOST_TEST(end->errors.find(pipe.filename()) != std::string::npos, end->errors);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pipe_that_gits_configuration_names_for_rules_is_not_waited_for) {
  for (const char* key : {"core.excludesFile", "core.attributesFile"}) {
    BOOST_TEST_CONTEXT(key) {
      const RunFolder folder;
      write_plain_task(folder);
      make_repository(folder.workspace());
      commit_all(folder.workspace());
      BOOST_REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0644) == 0);
      git(folder.workspace(), {"config", key, folder.path("pipe").string()});

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == 7, end.errors);
      BOOST_TEST(end.errors.find(" regular file") != std::string::npos, end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_user_without_a_name_a_home_or_a_folder_for_temporary_files_can_run) {
  if (::getuid() != 0) {
    BOOST_TEST_MESSAGE("skipped: playing another user needs root");
    return;
  }
  const std::map<std::string, std::string> surroundings[] = {
      {{"HOME", ""}, {"USER", ""}, {"LOGNAME", ""}, {"TMPDIR", ""}},
      {{"HOME", "/no/such/home"}, {"TMPDIR", "/no/such/folder"}},
      {{"HOME", "/usr"}, {"TMPDIR", "/usr"}}};
  for (const bool namespaces : {true, false}) {
    const Caller unknown{.name = "an unknown uid", .uid = 54321, .namespaces = namespaces};
    for (const auto& environment : surroundings) {
      const RunFolder folder;
      write_plain_task(folder);
      const auto run = [&](ProgramStart start) {
        start.folder = folder.workspace();
        for (const auto& [name, value] : environment) start.environment[name] = value;
        const ProgramEnd end = folder.run_as(unknown, start);
        BOOST_TEST(end.status == 0, (namespaces ? "with" : "without")
                                        << " namespaces, HOME " << environment.at("HOME") << ": "
                                        << end.errors << end.output);
      };
      run(folder.start());
      run({.argv = {sortie_binary(), "sandbox", "--", "true"}});
      run({.argv = {sortie_binary(), "doctor"}});
    }
  }
}

BOOST_AUTO_TEST_CASE(links_laid_in_out_lead_no_output_elsewhere) {
  const RunFolder folder;
  folder.write("work/big.txt", std::string(200'000, 'x'));
  folder.write_task(CassetteWriter().shell({"cat", "big.txt"}).next().message("done"),
                    "policy: strict\nexpect: {changes: any}\n");
  BOOST_REQUIRE(folder.run().status == 0);
  fs::remove_all(folder.out() / "blobs");
  fs::create_directories(folder.path("victim"));
  fs::create_directory_symlink(folder.path("victim"), folder.out() / "blobs");
  fs::create_directories(folder.path("sortie-state-victim"));
  fs::create_directory_symlink(folder.path("sortie-state-victim"), folder.out() / "state");

  const ProgramEnd end = folder.run({"--fresh"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(fs::is_empty(folder.path("victim")));
  BOOST_TEST(fs::exists(folder.path("sortie-state-victim")));
  BOOST_TEST(!fs::is_symlink(folder.out() / "blobs"));
}

BOOST_AUTO_TEST_CASE(a_finished_run_is_not_moved_over_files_of_others) {
  const RunFolder folder;
  write_plain_task(folder);
  BOOST_TEST(folder.run().status == 0);
  folder.write("out.prev/precious.txt", "kept\n");

  BOOST_TEST(folder.run().status == 2);

  BOOST_TEST(read_file(folder.path("out.prev/precious.txt"), 100) == "kept\n");
  BOOST_TEST(folder.run({"--fresh"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_task_can_not_send_hidden_files_as_project_docs) {
  const RunFolder folder;
  folder.write("work/.env", "PLAIN=hidden-by-the-policy\n");
  folder.write("work/a.txt", "a\n");
  folder.write_task(CassetteWriter().message("done"),
                    "policy: strict\nexpect: {changes: any}\n"
                    "tools: {enable: [shell]}\n");
  const std::string task = read_file(folder.task(), 1 << 20);
  const auto at = task.find("workspace: {");
  BOOST_REQUIRE(at != std::string::npos);
  write_file(folder.task(), std::string(task).insert(at + 12, "project_docs: [.env], "));

  const ProgramEnd named = folder.run();

  BOOST_TEST(named.status == 2, named.errors);
  BOOST_TEST(named.errors.find("'.env': the policy's paths.hide hides it") != std::string::npos,
             named.errors);

  // A link of another name is seen once it is followed.
  fs::create_symlink(".env", folder.workspace() / "NOTES.md");
  write_file(folder.task(), std::string(task).insert(at + 12, "project_docs: [NOTES.md], "));

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.artifact("transcript.jsonl").find("hidden-by-the-policy") == std::string::npos);
  BOOST_TEST(end.errors.find("NOTES.md was not read") != std::string::npos, end.errors);
}

BOOST_AUTO_TEST_CASE(a_policy_that_hides_the_usual_project_docs_leaves_them_out) {
  const RunFolder folder;
  folder.write("work/AGENTS.md", "hidden-by-the-policy\n");
  folder.write("policy.yaml", "version: 1\nextends: strict\npaths: {hide: [AGENTS.md]}\n");
  folder.write_task(CassetteWriter().message("done"),
                    "policy: policy.yaml\nexpect: {changes: any}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.artifact("transcript.jsonl").find("hidden-by-the-policy") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_protected_link_does_not_keep_a_run_from_starting) {
  const RunFolder folder;
  folder.write("work/CLAUDE.md", "Be brief.\n");
  fs::create_symlink("CLAUDE.md", folder.workspace() / "AGENTS.md");
  write_plain_task(folder);

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
}

BOOST_AUTO_TEST_CASE(a_protected_link_that_was_changed_fails_the_run) {
  const RunFolder folder;
  folder.write("work/CLAUDE.md", "Be brief.\n");
  fs::create_symlink("CLAUDE.md", folder.workspace() / "AGENTS.md");
  folder.write_task(
      CassetteWriter().shell({"sh", "-c", "ln -sf other AGENTS.md"}).next().message("done"),
      "policy: auto\nexpect: {tool_success: false}\n");

  BOOST_TEST(folder.run().status == 8);
}

BOOST_AUTO_TEST_CASE(a_folder_that_nobody_may_enter_is_the_tasks_fault_and_leaves_no_state) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write_task(CassetteWriter()
                        .shell({"sh", "-c", "mkdir -p m/n; echo x > m/n/y; chmod 000 m/n m"})
                        .next()
                        .message("done")
                        .message("still done"),
                    "policy: auto\nexpect: {changes: any}\nverify: {rounds: 1}\n");
  ProgramStart start = folder.start();
  if (::geteuid() == 0) {  // root may enter every folder
    start.uid = 1234;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path("")))
      BOOST_REQUIRE(::lchown(entry.path().c_str(), 1234, 1234) == 0);
    BOOST_REQUIRE(::chown(folder.path("").c_str(), 1234, 1234) == 0);
  }

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(!fs::exists(folder.out() / "state"));
}

BOOST_AUTO_TEST_CASE(a_task_can_not_put_hidden_files_or_pipes_into_its_prompt) {
  const RunFolder folder;
  folder.write("work/.env", "PLAIN=hidden-by-the-policy\n");
  folder.write("work/seen.txt", "seen-by-the-model\n");
  BOOST_REQUIRE(::mkfifo((folder.workspace() / "pipe").c_str(), 0644) == 0);
  folder.write("policy.yaml", "version: 1\nextends: [strict]\npaths: {read: [.]}\n");
  folder.write_task(CassetteWriter().message("done"),
                    "policy: policy.yaml\nexpect: {changes: any}\n");
  const std::string task = read_file(folder.task(), 1 << 20);
  const auto run_with = [&](const std::string& name) {
    std::string text = task;
    text.replace(text.find("Do it."), 6, "\"{{file:" + name + "}}\"");
    write_file(folder.task(), text);
    return folder.run();
  };

  BOOST_TEST(run_with("seen.txt").status == 0);
  const ProgramEnd hidden = run_with(".env");
  const ProgramEnd pipe = run_with("pipe");

  BOOST_TEST(hidden.status == 2);
  BOOST_TEST(hidden.errors.find("paths.hide") != std::string::npos, hidden.errors);
  BOOST_TEST(pipe.status == 2);
  BOOST_TEST(pipe.errors.find(" regular file") != std::string::npos, pipe.errors);
}

BOOST_AUTO_TEST_CASE(what_a_task_names_is_read_only_where_the_policy_lets_it) {
  const struct {
    const char* what;
    const char* task;       ///< what the task says; ELSEWHERE is a folder of its own
    const char* more;       ///< of the policy
    const char* says = "";  ///< on stderr; "" where the run takes the file
  } rows[] = {
      {"a prompt beside the task", "prompt_file: prompt.md", ""},
      {"a prompt of the workspace", "prompt_file: work/prompt.md", ""},
      {"a link that stays", "prompt_file: work/inner.md", ""},
      {"a prompt elsewhere", "prompt_file: ELSEWHERE/secret", "", "leads out of the task's folder"},
      {"by a way up", "prompt_file: ../SHORT/secret", "", "leads out of the task's folder"},
      {"a link that leads out", "prompt_file: work/outer.md", "", "leads out of the task's folder"},
      {"a folder that leads out", "prompt_file: work/folder/secret", "",
       "leads out of the task's folder"},
      {"elsewhere, by paths.read", "prompt_file: work/outer.md", "paths: {read: [ELSEWHERE]}"},
      {"hidden", "prompt_file: work/prompt.md", "paths: {hide: ['prompt.md']}", "paths.hide"},
      {"a link to what is hidden", "prompt_file: work/inner.md", "paths: {hide: ['prompt.md']}",
       "paths.hide"},
      {"hidden under paths.read", "prompt_file: ELSEWHERE/secret",
       "paths: {read: [ELSEWHERE], hide: ['ELSEWHERE/secret']}", "paths.hide"},
      {"a stage's", "stages: [{name: a, prompt_file: work/outer.md}]", "",
       "leads out of the task's folder"},
      {"functions", "prompt: x\ntools: {functions: work/outer.md}", "",
       "leads out of the task's folder"},
      {"a schema", "prompt: x\noutput: {schema: ELSEWHERE/secret}", "",
       "leads out of the task's folder"},
      {"an image", "prompt: x\nimages: [work/outer.png]", "", "leads out of the task's folder"},
      {"an image beside the task", "prompt: x\nimages: [image.png]", ""},
  };
  const TemporaryFolder elsewhere;
  const std::string place = elsewhere.path().string();
  write_file(elsewhere / "secret", "TOPSECRET: not for the model\n");
  write_file(elsewhere / "image.png", images::kPng);
  const auto filled = [&](std::string text) {
    for (const auto& [name, value] :
         {std::pair("ELSEWHERE", place), std::pair("SHORT", elsewhere.path().filename().string())})
      for (std::size_t at; (at = text.find(name)) != std::string::npos;)
        text.replace(at, std::string_view(name).size(), value);
    return text + "\n";
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.what) {
      const RunFolder folder;
      for (const char* name : {"prompt.md", "work/prompt.md"}) folder.write(name, "Do it.\n");
      folder.write("image.png", images::kPng);
      fs::create_symlink("prompt.md", folder.workspace() / "inner.md");
      fs::create_symlink(elsewhere / "secret", folder.workspace() / "outer.md");
      fs::create_symlink(elsewhere / "image.png", folder.workspace() / "outer.png");
      fs::create_directory_symlink(elsewhere.path(), folder.workspace() / "folder");
      CassetteWriter().message("done").save(folder.path("cassette.jsonl"));
      folder.write("policy.yaml", filled(std::string("version: 1\nextends: strict\n") + row.more));
      folder.write("task.yaml",
                   filled(std::string("version: 1\nworkspace: {path: work}\npolicy: policy.yaml\n"
                                      "expect: {changes: any}\n"
                                      "model: {provider: replay, cassette: cassette.jsonl}\n") +
                          row.task));

      const ProgramEnd end = folder.run();

      const bool taken = *row.says == '\0';
      BOOST_TEST(end.status == (taken ? 0 : 2), end.errors);
      BOOST_TEST(end.errors.find(row.says) != std::string::npos, end.errors);
      BOOST_TEST(end.errors.find("TOPSECRET") == std::string::npos, end.errors);
    }
  }
}

/// "./" in front of a glob, and "/" behind it, change nothing.
BOOST_AUTO_TEST_CASE(a_glob_of_everything_hides_and_protects_everything) {
  for (const char* glob : {"**", "./**", "./**/", "*", "./*"}) {
    BOOST_TEST_CONTEXT(glob) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.write("work/below/b.txt", "b\n");
      const auto end_of = [&](const std::string& paths, const std::string& line) {
        folder.write("policy.yaml", "version: 1\nextends: auto\npaths: {" + paths + ": ['" +
                                        std::string(glob) + "']}\n");
        ProgramStart start = start_command(folder, {});
        start.argv = {sortie_binary(),
                      "sandbox",
                      "--policy",
                      folder.path("policy.yaml").string(),
                      "--",
                      "sh",
                      "-c",
                      line};
        start.folder = folder.workspace();
        return run_program(start);
      };
      const ProgramEnd read = end_of("hide", "exec 2>/dev/null; cat a.txt below/b.txt; echo over");
      BOOST_TEST(read.output == "over\n", read.printed());
      const ProgramEnd written =
          end_of("protect", "exec 2>/dev/null; echo x > a.txt; echo x > below/b.txt; echo over");
      BOOST_TEST(written.output == "over\n", written.printed());
      BOOST_TEST(read_file(folder.path("work/a.txt")) == "a\n");
      BOOST_TEST(read_file(folder.path("work/below/b.txt")) == "b\n");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
